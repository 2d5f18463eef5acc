"""A page that shows runs in progress: curves, rate, remaining time, a game of the latest agent."""

PORT = 8485
"""The port of the page."""
