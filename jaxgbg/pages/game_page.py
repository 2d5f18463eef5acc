"""One game as a self-contained HTML file, like the sample games of the report."""

from jaxgbg.pages.positions import shape_markup
from jaxgbg.pages.record_view import RecordView
from jaxgbg.pages.records import GameRecord


def game_page(record: GameRecord) -> str:
    """The text of the file."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("jaxgbg.pages", "page")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
    view = RecordView(record, "game-shape")
    page = environment.get_template("game.html.j2")
    return page.render(record=view, shapes=shape_markup(view.drawing, view.shapes))
