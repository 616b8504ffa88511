"""The page: one HTML file with its data, its program and its style inside."""

from __future__ import annotations

import html
import json
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fecontact.output.atomic import replacing
from fecontact.output.report.gather import Report, gather

NAME = "report.html"
_SCRIPTS = (
    "uPlot.iife.min.js",
    "data.js",
    "format.js",
    "fields.js",
    "colours.js",
    "paint_gl.js",
    "paint_raster.js",
    "viewer.js",
    "charts.js",
    "contacts.js",
    "history.js",
    "tables.js",
    "setup.js",
    "main.js",
)
_STYLES = ("uPlot.min.css", "style.css")


@cache
def _asset(name: str) -> str:
    return resources.files("fecontact.output.report").joinpath("assets", name).read_text("utf-8")


def _json(data: Any) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def render(report: Report, live: bool = False) -> str:
    """HTML of a report; a live page asks its server for the chunks and for what is new."""
    chunks = [] if live else list(report.chunks.items())
    embedded = "\n".join(
        f'<script type="text/plain" id="chunk-{name}">{text}</script>' for name, text in chunks
    )
    # scripts are ours and hold no closing tag; one pass, so that data cannot be taken for a mark
    parts = {
        "title": html.escape(str(report.data["title"])),
        "style": "\n".join(map(_asset, _STYLES)),
        "data": _json({**report.data, "live": live}),
        "chunks": embedded,
        "script": "\n".join(map(_asset, _SCRIPTS)),
    }
    pieces = _asset("page.html").split("@@")
    return "".join(parts[p] if i % 2 else p for i, p in enumerate(pieces))


def write_report(folder: str | os.PathLike[str]) -> Path:
    """Make report.html from the files of a run; returns its path."""
    folder = Path(folder)
    path = folder / NAME
    text = render(gather(folder))
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path
