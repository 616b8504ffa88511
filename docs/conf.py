"""Configuration of the documentation: sphinx-build -W docs results/docs."""

import re
import sys
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import fecontact

project = "fecontact"
author = "The fecontact developers"
copyright = author
version = release = fecontact.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "mathml",
    "publicnames",
]
exclude_patterns = ["_ext", "_static", "_text"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "code"
# not the dashes: options begin with two hyphens
smartquotes_action = "qe"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_rtype = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = "fecontact"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_copy_source = False


def _bars(app, what, name, obj, options, lines):
    # |x| in docstrings is an absolute value, not a substitution of reStructuredText
    for i, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
        lines[i] = "``".join(parts)


def _numbers(app, doctree):
    # a line may break at the hyphen of 1e-05, which a number does not survive
    for cell in doctree.findall(nodes.entry):
        if re.fullmatch(r"[\d.]+e-\d+", cell.astext()):
            cell["classes"].append("number")


def setup(app):
    """Connect what the configuration adds."""
    app.connect("doctree-read", _numbers)
    app.connect("autodoc-process-docstring", _bars, priority=900)
