"""General board game learning in JAX: TD-FARL on n-tuple value functions, in lockstep."""

from jaxgbg.games import make

__all__ = ["make"]
