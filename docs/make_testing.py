"""Write the tables of coverage and of mutants into testing.md, from what those campaigns left.

python docs/make_testing.py

``make coverage`` leaves results/coverage/table.json and ``make mutants`` results/mutants.json; both
call this script. A table whose file is not there stays as it is.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).parent / "testing.md"
COVERAGE = ROOT / "results" / "coverage" / "table.json"
MUTANTS = ROOT / "results" / "mutants.json"
LOOKED_AT = ROOT / "tests" / "survivors.toml"
KERNELS = tuple(f"solvers/{name}.py" for name in ("multifrontal", "dissection", "fronts", "graph"))
"""They stay compiled, since they call BLAS by address: no tool sees what runs."""
PARTS: dict[str, Callable[[str], bool]] = {
    "all of the package": lambda name: True,
    "without the kernels of the direct solver": lambda name: name not in KERNELS,
    "`solvers`, without them": lambda name: name.startswith("solvers/") and name not in KERNELS,
    "`contact`": lambda name: name.startswith("contact/"),
    "`schemes`": lambda name: name.startswith("schemes/"),
    "`certificate`": lambda name: name.startswith("certificate/"),
}
KINDS = {
    "speed": "change how fast or how often, not what comes out",
    "equal": "change a comparison where both sides give the same at equality",
    "idle": "change what is not used or cannot differ",
    "margin": "change a margin that nothing sharp depends on",
    "missed": "are faults that no test notices",
}
"""What survivors come to, see tests/survivors.toml."""


def markers(name: str) -> tuple[str, str]:
    """Lines around a table of the page."""
    return f"<!-- {name}: written by docs/make_testing.py -->", f"<!-- end of {name} -->"


def coverage_table(found: dict[str, Any]) -> list[str]:
    """Tabulate the share of lines and branches that ran, by part of the package."""
    lines = ["| part | covered |", "|---|---|"]
    for part, holds in PARTS.items():
        done = total = 0
        for path, one in found["files"].items():
            if holds(path.replace("\\", "/").partition("fecontact/")[2]):
                told = one["summary"]
                done += told["covered_lines"] + told["covered_branches"]
                total += told["num_statements"] + told["num_branches"]
        lines.append(f"| {part} | {100.0 * done / total:.1f} % |")
    return lines


def mutants_tables(found: dict[str, Any], looked_at: list[dict[str, str]]) -> list[str]:
    """Tabulate how many mutants of each module are noticed, and what the others come to."""
    lines = ["| module | tried | noticed |", "|---|---|---|"]
    for module, one in found["modules"].items():
        lines.append(f"| `{module}` | {one['tried']} | {one['noticed']} |")
    tried, noticed = (
        sum(one[k] for one in found["modules"].values()) for k in ("tried", "noticed")
    )
    lines.append(f"| all | {tried} | {noticed} |")
    known = {(one["module"], one["text"], one["change"]): one for one in looked_at}
    counts: Counter[str] = Counter()
    rows = []
    for module, one in found["modules"].items():
        for left in one["survivors"]:
            judged = known.get((module, left["text"], left["change"]))
            counts[judged["kind"] if judged else ""] += 1
            text = left["text"].replace("|", "\\|")
            why = judged["why"] if judged else "not looked at yet"
            rows.append(f"| `{module}:{left['line']}` | `{text}` | {left['change']} | {why} |")
    lines += ["", f"The {tried - noticed} others, one by one:", ""]
    lines += [f"- {counts[kind]} {words}" for kind, words in KINDS.items() if counts[kind]]
    lines += [f"- {counts['']} were not looked at yet"] if counts[""] else []
    return [*lines, "", "| where | line | change | why it survives |", "|---|---|---|---|", *rows]


def replaced(text: str, name: str, lines: list[str]) -> str:
    """The page with other lines between two markers."""
    begin, end = markers(name)
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE}: the lines {begin!r} and {end!r} are not there")
    return "\n".join([before + begin, "", *lines, "", end + after])


def main() -> None:
    """Write the tables whose campaigns have been run."""
    text = PAGE.read_text(encoding="utf-8")
    if COVERAGE.is_file():
        text = replaced(text, "coverage", coverage_table(json.loads(COVERAGE.read_text("utf-8"))))
    if MUTANTS.is_file():
        looked_at = tomllib.loads(LOOKED_AT.read_text(encoding="utf-8"))["survivor"]
        found = json.loads(MUTANTS.read_text(encoding="utf-8"))
        text = replaced(text, "mutants", mutants_tables(found, looked_at))
    PAGE.write_text(text, encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
