"""One game as a self-contained HTML file, like the sample games of the report."""

from jaxgbg.web.positions import shape_markup
from jaxgbg.web.record_view import RecordView
from jaxgbg.web.records import GameRecord


def game_page(record: GameRecord) -> str:
    """The text of the file."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("jaxgbg.web", "page")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
    view = RecordView(record, "game-shape")
    page = environment.get_template("game.html.j2")
    return page.render(record=view, shapes=shape_markup(view.drawing, view.shapes))
