"""Slow serial algorithms in float64 that state what the fast ones must compute.

They are written from the published algorithms and share no code with the package under test.
"""
