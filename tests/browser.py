"""A real browser for the tests of pages: Debian's Chromium, driven by selenium."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

REQUIRED = os.environ.get("FECONTACT_REQUIRE_BROWSER") == "1"
_SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--hide-scrollbars",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
)
# from the event to the frame after the one that shows it
_MOVE = """
const [index, number, done] = arguments;
const slider = document.getElementById('step'), stage = document.querySelector('.stage');
const started = performance.now();
slider.value = index;
slider.dispatchEvent(new Event('input'));
(function wait() {
  if (stage.dataset.step === String(number))
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - started)));
  else setTimeout(wait, 1);
})();
"""
# until a page that follows the window has its width and its observers have had their frames
_SETTLE = """
const [width, done] = arguments, follows = document.querySelector('meta[name=viewport]');
(function wait(frames) {
  if (follows && document.documentElement.clientWidth !== width) frames = 3;
  if (frames === 0) done(true);
  else requestAnimationFrame(() => wait(frames - 1));
})(3);
"""
_COPY = """
const paint = document.querySelector('.stage canvas.paint');
const copy = document.createElement('canvas');
const width = copy.width = paint.width, height = copy.height = paint.height;
const context = copy.getContext('2d');
context.drawImage(paint, 0, 0);
const data = context.getImageData(0, 0, width, height).data;
"""
_PICTURE = f"""{_COPY}
let sum = 0, drawn = 0;
for (let i = 0; i < data.length; i += 4) {{
  if (data[i + 3]) drawn++;
  sum = (sum * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2] + 17 * data[i + 3]) % 4294967296;
}}
return [sum, drawn / (width * height)];
"""
_PIXELS = f"""{_COPY}
let text = '';
for (let i = 0; i < data.length; i += 8192)
  text += String.fromCharCode(...data.subarray(i, i + 8192));
return [width, height, btoa(text)];
"""


_PROBE = """
const over = document.querySelector('.stage canvas.over'), box = over.getBoundingClientRect();
over.dispatchEvent(new PointerEvent('pointermove', {
  clientX: box.left + arguments[0] * box.width, clientY: box.top + arguments[1] * box.height }));
return document.querySelector('.tip').textContent;
"""


class Page:
    """A report page in the browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        """Load a page and wait until it is drawn."""
        self.driver.get_log("browser")
        self.driver.get("about:blank")
        self.driver.get(url)
        self.wait("return document.documentElement.dataset.ready")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, seconds: float = 20.0) -> Any:
        """Wait until a script returns something true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.02).until(lambda _: self.run(script))

    def move(self, index: int, number: int) -> float:
        """Move the slider to a saved step; milliseconds until it is seen."""
        return float(self.driver.execute_async_script(_MOVE, index, number))

    def picture(self) -> tuple[int, float]:
        """A fingerprint of the painted body, and the part of the canvas that it covers."""
        fingerprint, covered = self.run(_PICTURE)
        return int(fingerprint), float(covered)

    def pixels(self) -> NDArray[np.uint8]:
        """The painted body as (height, width, 4)."""
        width, height, data = self.run(_PIXELS)
        raw = np.frombuffer(base64.b64decode(data), np.uint8)
        return raw.reshape(height, width, 4)

    def probe(self, across: float, down: float) -> str:
        """What is told at a place of the body's canvas, given in parts of its size."""
        return str(self.run(_PROBE, across, down))

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", selector)

    def choose(self, name: str, value: str) -> None:
        """Choose an option of a list by its value."""
        self.run(
            "const s = document.querySelector(`select[name=${arguments[0]}]`);"
            "s.value = arguments[1]; s.dispatchEvent(new Event('change'))",
            name,
            value,
        )

    def errors(self) -> list[str]:
        """What the console holds of errors since the page was opened."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def resize(self, width: int, height: int) -> None:
        """Give the window a size, and wait until the page has taken it."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.driver.execute_async_script(_SETTLE, width)


def _missing(reason: str) -> None:
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def browser() -> Iterator[Page]:
    """A browser; skips without one, unless FECONTACT_REQUIRE_BROWSER=1 says it must be there."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        _missing("no browser: install Debian's packages chromium and chromium-driver")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        _missing("no selenium: pip install selenium")
    options = Options()
    options.binary_location = str(program)
    for switch in _SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(str(driver)))
    try:
        found.set_script_timeout(30)
        yield Page(found)
    finally:
        found.quit()
