"""A page that shows runs in progress: curves, rate, time left, a game of the newest agent."""
