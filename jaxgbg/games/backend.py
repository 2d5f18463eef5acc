"""Whether JAX can start on the device that was asked for."""

from jaxgbg.lazy import jax


class NoBackend(ValueError):
    """JAX cannot start."""


def check_backend() -> None:
    """Start JAX unless it has started; raises NoBackend, in one line, where it cannot.

    Call it before a `try` that blames other code for every error.
    """
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        # JAX ends in a bare assertion where a driver is all that is missing.
        reason = " ".join(str(error).split()).partition(" (set JAX_PLATFORMS")[0]
        told = f": {reason}" if reason else ""
        platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
        if not platforms:
            raise NoBackend(f"JAX cannot start{told}") from error
        raise NoBackend(
            f"JAX cannot start on {platforms} (JAX_PLATFORMS={platforms}){told};"
            " set JAX_PLATFORMS=cpu, or install what this device needs"
        ) from error
