"""Parts of the page as markup."""

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    places = [("jaxgbg.web", "page"), ("jaxgbg.web.watch", "page")]
    loader = ChoiceLoader([PackageLoader(*place) for place in places])
    return Environment(loader=loader, autoescape=True, trim_blocks=True)


def rendered(name: str, **content: object) -> str:
    """Fill in a template."""
    text: str = _environment().get_template(name).render(**content)
    return text
