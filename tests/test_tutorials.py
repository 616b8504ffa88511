"""Every command and every line of Python of the README, the guide and the tutorials runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from fecontact.cli import main
from fecontact.output import writer
from fecontact.study import sweeping
from fecontact.study.tasks import run_task

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(p for part in ("guide", "tutorials") for p in (ROOT / "docs" / part).glob("*.md")),
]
GEOMETRIES = {"README.md", "hertz.md", "fault.md"}


def blocks(text: str) -> list[tuple[str, str]]:
    found = re.findall(r"^```(sh|python)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(language, content) for language, content in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    parts = blocks(page.read_text(encoding="utf-8"))
    if not parts:
        pytest.skip("nothing to run on this page")
    if page.name in GEOMETRIES:
        request.getfixturevalue("gmsh")
    monkeypatch.chdir(tmp_path)
    for name in ("cases", "meshes"):
        (tmp_path / name).symlink_to(ROOT / name)
    # figures and workers are tested elsewhere, and take most of the time
    monkeypatch.setattr(writer, "write_figures", lambda folder, result: [])
    monkeypatch.setattr(sweeping, "run_tasks", lambda tasks, *_: map(run_task, tasks))
    names: dict[str, object] = {"__name__": page.stem}
    for language, content in parts:
        if language == "python":
            exec(compile(content, str(page), "exec", dont_inherit=True), names)
            continue
        for line in content.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "fecontact":
                assert main(words[1:]) == 0, line


def test_tutorials_have_commands_and_code() -> None:
    tutorials = [p for p in PAGES if p.parent.name == "tutorials" and p.stem != "index"]
    assert len(tutorials) >= 6
    for page in tutorials:
        assert any(language == "python" for language, _ in blocks(page.read_text()))
