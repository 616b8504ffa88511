"""Formulas as MathML, which browsers show by themselves: the pages need no network."""

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def _converted(text: str, display: str = "inline") -> str:
    found = convert(text, display=display)
    if "<mi>&</mi>" in found:
        # the converter does not know environments such as aligned, and says nothing
        raise ValueError(f"formula {text!r}: alignment outside of a matrix cannot be shown")
    return str(found)


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(_converted(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    name = f' id="{escape(node["ids"][0])}"' if node.get("ids") else ""
    writer.body.append(f'<div class="formula"{name}>')
    writer.body.append(_converted(node.astext(), "block"))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
