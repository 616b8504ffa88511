"""report.html: a run to look at in a browser, one file that needs no network."""

from fecontact.output.report.gather import Report, gather
from fecontact.output.report.page import render, write_report

__all__ = ["Report", "gather", "render", "write_report"]
