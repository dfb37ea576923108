"""Sphinx configuration."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

from headstack import __version__

project = "headstack"
author = "The headstack contributors"
copyright = author  # noqa: A001
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "requirements.txt"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Links to files of the repository outside docs/ are for readers of the repository.
suppress_warnings = ["myst.xref_missing"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["formulas.css"]
html_title = f"headstack {version}"


def _mathml(display: str) -> Any:
    """A visitor that writes a formula as MathML, which browsers draw without a script from elsewhere."""

    def visit(writer: Any, node: nodes.Node) -> None:
        writer.body.append(convert(node.astext(), display=display))
        raise nodes.SkipNode

    return visit


def setup(app: Any) -> None:
    """Tell Sphinx how formulas are drawn."""
    app.add_html_math_renderer("mathml", (_mathml("inline"), None), (_mathml("block"), None))
