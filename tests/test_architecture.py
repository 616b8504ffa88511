"""No arrow of the design turns back: every module imports only its own layer or lower ones."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fecontact

ROOT = Path(fecontact.__file__).parent
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("naming", "typing"),
    ("threads", "timing"),
    ("expressions", "units"),
    ("mesh",),
    ("elements",),
    ("materials",),
    ("body",),
    ("assembly", "recovery", "loads"),
    ("conditions",),
    ("contact",),
    ("closed_forms",),
    ("model",),
    ("rigid",),
    ("schemes",),
    ("history",),
    ("simulation",),
    ("certificate",),
    ("output",),
    ("case",),
    ("verification",),
    ("study",),
    ("commands",),
    ("cli",),
    ("__main__",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# solvers stand aside: they know only (W, q, mu), and only schemes and what is above may use them
SOLVERS_KNOW = {"solvers", "errors", "typing"}
ASIDE = {"solvers", "fclib"}
LOWEST_USER_OF_SOLVERS = LEVEL["schemes"]
# the exceptions: what a notebook holds writes and shows itself through the layer above, imported
# when called
SHOWS = {
    "simulation.py": {"save", "plot", "to_pyvista", "_repr_html_"},
    "mesh/core.py": {"plot", "_repr_html_"},
    "contact/results.py": {"plot", "_repr_html_"},
}
ALLOWED = {(file, "output", method) for file, methods in SHOWS.items() for method in methods}
# and what a result is has its certificate made above
ALLOWED |= {("simulation.py", "certificate", "certify")}


def package_of(path: Path) -> str:
    """Layer of a file: the first part of its path below the package."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path, source: str | None = None) -> set[tuple[str, str]]:
    """(layer imported, innermost function around or "") for every import of this package."""
    found: set[tuple[str, str]] = set()

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import in line {node.lineno}"
            module = node.module or ""
            if module == "fecontact":
                modules = [f"fecontact.{alias.name}" for alias in node.names]
            else:
                modules = [module]
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module"
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            modules = [str(node.args[0].value)]
        for module in modules:
            parts = module.split(".")
            if parts[0] == "fecontact" and len(parts) > 1:
                found.add((parts[1], function))
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(ast.parse(path.read_text() if source is None else source), "")
    return found


def violations(path: Path, source: str | None = None) -> list[str]:
    own = package_of(path)
    wrong = []
    for target, function in sorted(imports(path, source)):
        if target.startswith("__") and target != "__main__":
            continue  # fecontact.__version__ and the like
        place = path.relative_to(ROOT).as_posix()
        if (place, target, function) in ALLOWED or target == own:
            continue
        if own == "solvers" or own == "fclib":
            fine = target in SOLVERS_KNOW
        elif target in ASIDE:
            fine = LEVEL[own] >= LOWEST_USER_OF_SOLVERS
        else:
            fine = LEVEL[target] < LEVEL[own]
        if not fine:
            wrong.append(f"{path.relative_to(ROOT)} imports {target} in {function or 'its head'}")
    return wrong


FILES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


def test_every_module_has_a_layer() -> None:
    assert {package_of(p) for p in FILES} <= set(LEVEL) | ASIDE
    assert len(FILES) > 40


def test_imports_go_downwards_only() -> None:
    assert [v for path in FILES for v in violations(path)] == []


def test_contact_never_imports_solvers() -> None:
    for path in (ROOT / "contact").rglob("*.py"):
        assert "solvers" not in {target for target, _ in imports(path)}


def test_the_allowed_exception_is_still_needed() -> None:
    for file, methods in SHOWS.items():
        assert {("output", method) for method in methods} <= imports(ROOT / file)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("mesh/core.py", "from fecontact.body import Solid"),
        ("loads.py", "import fecontact.assembly"),
        ("contact/local.py", "def f():\n    from fecontact.solvers import solve"),
        ("contact/local.py", "from fecontact import solvers"),
        ("solvers/nsgs.py", "from fecontact.mesh import Mesh"),
        ("solvers/nsgs.py", "class A:\n    def f(self):\n        import fecontact.timing"),
        ("simulation.py", "from fecontact.output import save_result"),
        ("mesh/core.py", "def save(self):\n    from fecontact.output import save_result"),
        ("simulation.py", "def run():\n    from fecontact.output import save_result"),
        ("rigid.py", "from importlib import import_module\nimport_module('fecontact.schemes')"),
    ],
)
def test_a_wrong_import_is_found(file: str, source: str) -> None:
    assert len(violations(ROOT / file, source)) == 1


def test_importing_the_package_is_cheap() -> None:
    code = (
        "import sys, fecontact\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'meshio', 'gmsh'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
