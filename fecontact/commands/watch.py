"""``fecontact run --watch``: the report page of a run, served on loopback while it computes.

The page asks every second whether there is more. Reading the saved fields for it is done in the
thread that answers, so that a run that nobody looks at is not slowed down.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fecontact.errors import InputError
from fecontact.output.report.gather import Cache, Report, gather
from fecontact.output.report.page import render
from fecontact.output.summary import build_summary
from fecontact.schemes import StepResult
from fecontact.simulation import Result, Simulation

HOST = "127.0.0.1"
PORT = 8765
"""Tried first where no port is asked for; any free one after it."""
_LOOKS = 3.0
_WAIT = 15.0


class LiveReport:
    """Follows a run and holds what its page shows; put it after the writer of the folder.

    Parameters
    ----------
    folder
        Where the run writes its files.
    case
        The case as it was given.
    """

    def __init__(self, folder: Path, case: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self.case = case
        self.version = 0
        title = (case or {}).get("title") or folder.name
        self._summary: dict[str, Any] = {"title": title, "running": True}
        self._cache: Cache = {}
        self._made: Report | None = None
        self._made_version = -1
        self._lock = threading.Lock()
        self._result: Result | None = None
        self._ended = False

    def begin(self, simulation: Simulation) -> None:
        """Before the first step."""
        self._result = Result(simulation, simulation.history())
        self._tell()

    def step(self, result: StepResult, saved: bool) -> None:
        """After a converged step: pages hear of it when it is saved."""
        if self._result is None:
            return
        known = self._result
        known.last = result
        known.worst_balance = max(known.worst_balance, result.balance)
        if result.report is not None:
            known.worst_residual = max(known.worst_residual, result.report.residual)
        if saved:
            self._tell()

    def end(self, result: Result) -> None:
        """After the last step: the summary is in its file."""
        self._summary, self._ended = {}, True
        self.version += 1

    def _tell(self) -> None:
        if self._result is not None:
            summary = build_summary(self._result, self.case)
            self._summary = {**summary, "converged": False, "running": True}
            self.version += 1

    def report(self) -> Report:
        """What there is to show now."""
        with self._lock:
            if self._made is None or self._made_version != self.version:
                version, summary = self.version, self._summary
                started = self._ended or (self._result is not None and self._result.last)
                # until the first step has converged the folder may hold an earlier run
                folder = self.folder if started else self.folder / "nothing yet"
                self._made = gather(folder, summary or None, self._cache)
                self._made.data["version"] = version
                self._made_version = version
            return self._made


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        # a name that leads to loopback must not let a foreign page read the results
        if self.headers.get("Host", "").rpartition(":")[0] not in (HOST, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        self.server.seen = monotonic()
        url = urlsplit(self.path)
        live = self.server.live
        if url.path == "/":
            self._answer(render(live.report(), live=True), "text/html")
        elif url.path == "/data.json":
            since = parse_qs(url.query).get("since", [""])[0]
            if since == str(live.version):
                self.send_response(HTTPStatus.NO_CONTENT)
                self.end_headers()
            else:
                self._answer(json.dumps(live.report().data), "application/json")
        elif url.path.startswith("/chunk/"):
            chunk = live.report().chunks.get(url.path.removeprefix("/chunk/"))
            if chunk is None:
                self.send_error(HTTPStatus.NOT_FOUND)
            else:
                self._answer(chunk, "text/plain")
        elif url.path == "/bye":
            self.server.seen = 0.0
            self._answer("", "text/plain")
        elif self._is_file(url.path):
            self._answer((live.folder / url.path[1:]).read_bytes(), "application/octet-stream")
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _is_file(self, path: str) -> bool:
        return path[1:] in {file["name"] for file in self.server.live.report().data["files"]}

    def _answer(self, content: str | bytes, kind: str) -> None:
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal shows the progress of the run."""


class PageServer(ThreadingHTTPServer):
    """Serves the page of a `LiveReport` on loopback, in threads of its own."""

    daemon_threads = True

    def __init__(self, live: LiveReport, port: int | None = None) -> None:
        self.live = live
        self.seen = 0.0
        try:
            super().__init__((HOST, PORT if port is None else port), _Handler)
        except (OSError, OverflowError) as error:
            if port is not None:
                raise InputError(f"--port {port}: it cannot be served on: {error}") from None
            super().__init__((HOST, 0), _Handler)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    def start(self) -> None:
        """Answer from now on."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stop, after the pages that look have fetched the end of the run (15 s at most)."""
        latest = monotonic() + _WAIT
        while monotonic() - self.seen < _LOOKS and monotonic() < latest:
            sleep(0.1)
        self.shutdown()
        self.server_close()


@contextmanager
def watching(
    folder: Path, case: Mapping[str, Any] | None = None, port: int | None = None
) -> Iterator[LiveReport]:
    """Serve the page of a run while the block runs; it must be among the observers of the run."""
    live = LiveReport(folder, case)
    server = PageServer(live, port)
    print(f"Watch at {server.url}", file=sys.stderr)
    server.start()
    try:
        yield live
    finally:
        server.stop()
