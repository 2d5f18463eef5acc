"""Drawings of boards, and the pages that show them."""
