"""The site's settings; `make docs` builds it, without the network and without warnings."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The pages import the modules of the tutorial.
sys.path[:0] = [str(HERE / "_ext"), str(HERE / "tutorial"), str(HERE.parent)]

project = "jaxgbg"
copyright = "the jaxgbg developers"
html_title = "jaxgbg"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "boards",
    "command_help",
    "docstrings",
    "gathered",
    "mathml",
    "picture",
    "self_contained",
]
exclude_patterns = ["_build", "_ext", "jupyter_execute", "tutorial"]
highlight_language = "text"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
# No page asks for a library from elsewhere; formulas are MathML (see _ext/mathml.py).
nb_ipywidgets_js = {}
# What the notebooks show is what `make notebooks` has kept in them.
nb_execution_mode = "off"
# A board that has no Python to ask is a picture.
nb_mime_priority_overrides = [("*", "application/vnd.jupyter.widget-view+json", None)]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
# A property says in its docstring or by its name what it is; an inherited docstring is repeated by
# nobody.
autodoc_inherit_docstrings = False
napoleon_use_ivar = True
# The pages' examples are run here, those of docstrings by pytest.
doctest_test_doctest_blocks = ""
doctest_global_setup = "import jax, jaxgbg, numpy as np"
