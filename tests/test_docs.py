"""The README's code runs, its commands name what exists, and the written pages are current."""

from __future__ import annotations

import importlib.util
import itertools
import re
import shlex
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MADE = ("_text", "gallery")  # texts without their tables, and pages that the build writes
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name not in MADE),
]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands() -> list[list[str]]:
    lines = "".join(blocks(README, "sh")).splitlines()
    return [shlex.split(line) for line in lines if line.strip()]


def test_readme_has_code_and_commands() -> None:
    assert len(blocks(README, "python")) >= 1
    assert {command[0] for command in commands()} >= {"make", "fecontact"}


@pytest.mark.parametrize("code", blocks(README, "python"))
def test_readme_python_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    exec(compile(code, "README.md", "exec"), names)
    assert "5 separated, 7 sliding, 4 sticking" in capsys.readouterr().out
    written = {path.name for path in (tmp_path / "results" / "python").iterdir()}
    assert written >= {"contact.csv", "history.csv", "summary.json", "fields.pvd", "deformed.png"}


def test_readme_commands_name_what_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands():
        if command[0] == "make":
            for target in command[1:]:
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), command
        for word in command:
            if word.endswith((".toml", ".geo", ".msh", ".py")):
                assert (ROOT / word).is_file(), command


def test_readme_settings_are_keys_of_the_case() -> None:
    from fecontact.case import read_case
    from fecontact.case.variants import parse_axis

    for command in commands():
        cases = [word for word in command if word.endswith(".toml")]
        for flag, setting in itertools.pairwise(command):
            if flag in ("--set", "--vary"):
                for choices in parse_axis(setting):
                    read_case(ROOT / cases[0]).with_values({c.key: c.value for c in choices})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http") and "gallery" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_theory_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\*Code:\*(.*?)\n\n", text, flags=re.MULTILINE | re.DOTALL):
        folder = ROOT / "fecontact"
        for name in re.findall(r"`([\w/]+(?:\.py|/))`", line):
            path = ROOT / name if name.startswith("fecontact/") else ROOT / "fecontact" / name
            if not path.exists():
                path = folder / name
            assert path.exists(), name
            folder = path.parent


def test_case_reference_is_current() -> None:
    page = (ROOT / "docs" / "case-file.md").read_text(encoding="utf-8")
    assert page == script("make_case_reference").render(), (
        "docs/case-file.md is out of date: run python docs/make_case_reference.py"
    )


def test_case_reference_names_every_table() -> None:
    from fecontact.case.schema import CaseSpec

    page = (ROOT / "docs" / "case-file.md").read_text(encoding="utf-8")
    for name in CaseSpec.model_fields:
        assert re.search(rf"`\[{name}(\.NAME)?\]`|^\| `{name}` ", page, re.MULTILINE), name


def test_case_reference_tells_kinds_of_meshes_apart() -> None:
    page = (ROOT / "docs" / "case-file.md").read_text(encoding="utf-8")
    mesh = page.partition("## `[mesh]`")[2].partition("\n## ")[0]
    kinds = re.findall(r"^### `(\w+)", mesh, re.MULTILINE)
    assert kinds == ["generator", "file", "geometry", "parts"]


def test_verification_page_tells_how_to_repeat_it() -> None:
    from fecontact.case import read_case
    from fecontact.case.variants import variants
    from fecontact.cli import parser

    page = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    for section in page.split("\n## ")[1:]:
        commands = re.findall(r"^fecontact (.*)$|`fecontact (.*)`", section, re.MULTILINE)
        commands = ["".join(found) for found in commands]
        assert commands or section.startswith("A Maxwell point"), section.splitlines()[0]
        for command in commands:
            given = parser().parse_args(command.split())
            case = read_case(ROOT / given.case, given.settings)
            if given.command == "compare":
                assert len(variants(case, given.vary)) >= 2


def test_verification_page_is_current() -> None:
    page = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    found = script("make_verification")
    for line in (
        *found.admissibility_section(),
        *found.refinement_section((16, 32)),
        *found.patch_section(),
        *found.ironing_section(),
        *found.slope_section(),
        *found.maxwell_section(),
    ):
        assert line in page, "run python docs/make_verification.py"
    shape = re.compile(r"\d\.\de-\d\d")
    listed = [shape.sub("#", line) for line in page.splitlines()]
    for line in found.tables_section():
        assert shape.sub("#", line) in listed


def test_page_of_commands_is_current() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert page == script("make_commands").render(), "run python docs/make_commands.py"


def test_page_on_choosing_is_current() -> None:
    page = (ROOT / "docs" / "guide" / "choosing.md").read_text(encoding="utf-8")
    found = script("make_choosing")
    for paragraph in found.TEXT.read_text(encoding="utf-8").split("\n\n"):
        assert paragraph.startswith("{") or paragraph.strip() in page, "run docs/make_choosing.py"
    for section in (found.uniqueness_section, found.reactions_section):
        for line in section():
            assert line in page, "run python docs/make_choosing.py"


def test_reference_has_every_public_name() -> None:
    import fecontact

    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    named = set(" ".join(re.findall(r":: (?!rest)(.*)", page)).split())
    left_out = re.search(r":without: (.*)", page)
    assert left_out is not None
    # what is not named comes under "rest"
    assert set(left_out.group(1).split()) == named
    assert named <= set(fecontact._WHERE)


def test_page_on_testing_is_written_from_what_campaigns_leave() -> None:
    found = script("make_testing")
    page = found.PAGE.read_text(encoding="utf-8")
    for name in ("coverage", "mutants"):
        assert all(marker in page for marker in found.markers(name))
    covered = {"covered_lines": 6, "covered_branches": 3, "num_statements": 8, "num_branches": 4}
    kernels = {"covered_lines": 0, "covered_branches": 0, "num_statements": 8, "num_branches": 0}
    files = {"fecontact/contact/laws.py": covered, "fecontact/solvers/fronts.py": kernels}
    files |= {f"fecontact/{part}/x.py": covered for part in ("solvers", "schemes", "certificate")}
    table = found.coverage_table({"files": {k: {"summary": v} for k, v in files.items()}})
    assert "| all of the package | 64.3 % |" in table
    assert "| `contact` | 75.0 % |" in table
    assert "| `solvers`, without them | 75.0 % |" in table
    known, new = (
        {"line": 3, "text": "a | b", "change": "x"},
        {"line": 5, "text": "c", "change": "y"},
    )
    lines = found.mutants_tables(
        {"modules": {"m.py": {"tried": 9, "noticed": 7, "survivors": [known, new]}}},
        [{"module": "m.py", "text": "a | b", "change": "x", "kind": "idle", "why": "not used"}],
    )
    assert "| `m.py` | 9 | 7 |" in lines
    assert "- 1 change what is not used or cannot differ" in lines
    assert "- 1 were not looked at yet" in lines
    assert "| `m.py:3` | `a \\| b` | x | not used |" in lines
    begin, end = found.markers("mutants")
    assert found.replaced(f"a\n{begin}\nold\n{end}\nb\n", "mutants", ["new"]) == (
        f"a\n{begin}\n\nnew\n\n{end}\nb\n"
    )


def test_survivors_that_were_looked_at_are_of_a_known_kind() -> None:
    found = script("make_testing")
    for one in tomllib.loads(found.LOOKED_AT.read_text(encoding="utf-8"))["survivor"]:
        assert one["kind"] in found.KINDS
        text = (ROOT / "fecontact" / one["module"]).read_text(encoding="utf-8")
        assert one["text"] in {line.strip() for line in text.splitlines()}, one["text"]
