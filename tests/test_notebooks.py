"""Each notebook is a pair that agrees, and was run from top to bottom."""

import re
from pathlib import Path

import jupytext
import pytest
from jupytext.compare import NotebookDifference, compare_notebooks
from nbconvert import HTMLExporter

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def outputs(notebook):
    """The outputs of all cells as text, pictures among them."""
    return [str(output) for cell in notebook.cells for output in cell.get("outputs", ())]


def test_every_notebook_is_a_pair():
    assert SCRIPTS
    notebooks = sorted(FOLDER.glob("*.ipynb"))
    assert [path.stem for path in notebooks] == [path.stem for path in SCRIPTS]


@each_script
def test_both_of_a_pair_hold_the_same_cells(script):
    notebook = jupytext.read(script.with_suffix(".ipynb"))
    # Only what has run has a kernel.
    del notebook.metadata["kernelspec"]
    compare_notebooks(notebook, jupytext.read(script), fmt="py:percent")
    notebook.cells[-1].source += " And one thing more."
    with pytest.raises(NotebookDifference):
        compare_notebooks(notebook, jupytext.read(script), fmt="py:percent")


@each_script
def test_a_notebook_was_run_in_order_and_nothing_failed(script):
    notebook = jupytext.read(script.with_suffix(".ipynb"))
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    kinds = {output.output_type for cell in notebook.cells for output in cell.get("outputs", ())}
    assert "error" not in kinds


@each_script
def test_a_board_is_a_picture_to_whoever_has_no_kernel(script):
    notebook = jupytext.read(script.with_suffix(".ipynb"))
    assert "widgets" not in notebook.metadata
    shown = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())
    ]
    boards = [
        at for at, data in enumerate(shown) if "application/vnd.jupyter.widget-view+json" in data
    ]
    # The picture is an output of its own.
    assert all({"image/svg+xml", "text/html"} <= shown[at + 1].keys() for at in boards)
    assert bool(boards) == ("jaxgbg.board(" in script.read_text())


def test_nbconvert_shows_the_picture_of_a_board_and_loads_nothing_for_it():
    page, _ = HTMLExporter().from_filename(str(FOLDER / "first_steps.ipynb"))
    assert len(re.findall(r'<img [^>]*src="data:image/svg\+xml;base64,', page)) == 1
    assert "widget-view+json" not in page


@each_script
def test_what_came_out_is_small_and_says_nothing_of_the_machine(script):
    path = script.with_suffix(".ipynb")
    assert path.stat().st_size < 300_000
    for output in outputs(jupytext.read(path)):
        assert not re.search(r"/(home|Users|root|tmp|work)/|[A-Z]:\\\\", output)
