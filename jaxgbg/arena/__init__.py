"""Tournaments: who meets whom, the games that were played, and ratings of the players."""
