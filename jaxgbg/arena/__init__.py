"""Matches: which games an evaluation plays, and how they are played."""

from jaxgbg.arena.matches import Protocol, compete, no_history, play, start_states

__all__ = ["Protocol", "compete", "no_history", "play", "start_states"]
