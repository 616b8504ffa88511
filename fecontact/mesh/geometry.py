"""Meshes from geometries, through the gmsh package at run time."""

from __future__ import annotations

import ast
import ctypes
import inspect
import re
import runpy
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.errors import MeshError, MissingDependency, choices
from fecontact.mesh.blocks import Block, mesh_from_blocks
from fecontact.mesh.checks import check_mesh
from fecontact.mesh.core import Mesh
from fecontact.mesh.msh import TYPES
from fecontact.typing import FloatArray

PACKAGES = {
    "libGLU": "libglu1-mesa",
    "libGL": "libgl1",
    "libOpenGL": "libopengl0",
    "libX11": "libx11-6",
    "libXext": "libxext6",
    "libXrender": "libxrender1",
    "libXcursor": "libxcursor1",
    "libXfixes": "libxfixes3",
    "libXft": "libxft2",
    "libXinerama": "libxinerama1",
    "libfontconfig": "libfontconfig1",
    "libfreetype": "libfreetype6",
    "libgomp": "libgomp1",
}
"""Debian and Ubuntu packages of the system libraries that the gmsh wheel loads."""

USUAL = ("libglu1-mesa", "libxrender1", "libxcursor1", "libxft2", "libxinerama1")


def mesh_geometry(
    path: str | Path,
    *,
    size: float | None = None,
    merge: bool = False,
    allow_duplicates: bool = False,
    **parameters: float | str,
) -> Mesh:
    """Mesh a plane geometry.

    Physical groups of surfaces become element groups, those of curves edge groups, those of points
    node groups. If there are physical surfaces, only these are kept.

    Parameters
    ----------
    path
        A Gmsh script (.geo), whose parameters are declared by `DefineConstant`, or a Python file
        (.py) with a function `build(gmsh, **parameters)` that describes the geometry with the gmsh
        module it is given; it neither initialises nor finalises it, and need not mesh.
    size
        Upper bound of the element size, beside those that the geometry sets.
    merge, allow_duplicates
        See `check_mesh`.
    parameters
        Values for the parameters of the geometry.

    Raises
    ------
    MissingDependency
        Naming the package to install, where gmsh or a library that it needs is missing.
    MeshError
        Where the geometry cannot be built or meshed.
    """
    path = Path(path)
    if not path.is_file():
        raise MeshError(f"geometry file {str(path)!r} does not exist")
    if path.suffix not in (".geo", ".py"):
        raise MeshError(f"geometry file {str(path)!r}: expected a .geo or a .py file")
    if size is not None and not (np.isfinite(size) and size > 0):
        raise MeshError(f"size={size!r}: expected a positive number")
    build = _script(path, parameters) if path.suffix == ".geo" else _function(path, parameters)
    with _session() as gmsh:
        try:
            gmsh.model.add(path.stem)
            if size is not None:
                gmsh.option.setNumber("Mesh.MeshSizeMax", size)
            build(gmsh)
            if not gmsh.isInitialized():
                raise MeshError("build must not call gmsh.finalize()")
            if len(gmsh.model.mesh.getElementTypes(2)) == 0:
                gmsh.model.mesh.generate(2)
            points, blocks = _contents(gmsh)
            return check_mesh(
                mesh_from_blocks(points, blocks, {}),
                drop_unused=True,
                merge=merge,
                allow_duplicates=allow_duplicates,
            )
        except MeshError as error:
            raise MeshError(f"geometry {str(path)!r}: {error}") from error
        except Exception as error:
            # gmsh raises plain exceptions, and a user's function may raise any
            raise MeshError(f"geometry {str(path)!r} cannot be meshed: {error}") from error


def load_gmsh() -> Any:
    """The gmsh module; where it cannot be loaded, a message that names what to install."""
    try:
        import gmsh
    except ImportError as error:
        raise MissingDependency(
            "meshing a geometry needs the gmsh package, which is not installed: "
            f'pip install "fecontact[gmsh]" (or pip install gmsh) [{error}]'
        ) from error
    except OSError as error:
        found = re.search(r"(lib[\w+-]+?)(?:-\d[\d.]*)?\.so[.\d]*", str(error))
        name = found.group(1) if found else ""
        if name in PACKAGES:
            rest = " ".join(dict.fromkeys((PACKAGES[name], *USUAL)))
            raise MissingDependency(
                f"the gmsh package needs the system library {found.group() if found else ''}, "
                f"which is not installed; it is in the package {PACKAGES[name]} of Debian and "
                f"Ubuntu. All that gmsh usually lacks: apt-get install {rest}"
            ) from error
        raise MissingDependency(
            f"the gmsh package is installed but a system library cannot be loaded: {error}. "
            f"On Debian and Ubuntu it usually lacks: apt-get install {' '.join(USUAL)}"
        ) from error
    return gmsh


@contextmanager
def _session() -> Iterator[Any]:
    """A gmsh that is silent, repeatable, leaves signals alone, and is finalised in any case."""
    gmsh = load_gmsh()
    if gmsh.isInitialized():
        raise MeshError("gmsh is already in use in this process; call gmsh.finalize() before")
    with pipes_kept():
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setNumber("General.NumThreads", 1)
        gmsh.option.setNumber("Mesh.RandomSeed", 1)
        yield gmsh
    finally:
        if gmsh.isInitialized():
            gmsh.finalize()


@contextmanager
def pipes_kept() -> Iterator[None]:
    """What a pipe that nobody reads does stays as it was.

    Starting gmsh has it end the process, without a word: a run whose page a browser has left, or
    whose output has gone, would be lost. Python's own functions set it from the main thread only.
    """
    number = getattr(signal, "SIGPIPE", None)
    if number is None:
        yield
        return
    get, put = ctypes.pythonapi.PyOS_getsig, ctypes.pythonapi.PyOS_setsig
    get.restype = put.restype = ctypes.c_void_p
    get.argtypes, put.argtypes = [ctypes.c_int], [ctypes.c_int, ctypes.c_void_p]
    before = get(number)
    try:
        yield
    finally:
        put(number, before)


def _script(path: Path, parameters: Mapping[str, float | str]) -> Callable[[Any], None]:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    declared = _declared(text)
    included = re.search(r"^\s*(Include|Merge)\b", text, re.M)
    for name in parameters:
        if name not in declared and not included:
            raise MeshError(
                f"geometry {str(path)!r} declares no parameter {name!r} by DefineConstant; "
                f"{choices(name, declared, 'parameters')}"
            )

    def build(gmsh: Any) -> None:
        for name, value in parameters.items():
            if isinstance(value, str):
                gmsh.parser.setString(name, [value])
            else:
                gmsh.parser.setNumber(name, [float(value)])
        # unlike numbers set on gmsh's command line, these do not outlive the session
        gmsh.merge(str(path))

    return build


def _declared(text: str) -> list[str]:
    """Names declared by DefineConstant[ a = 1, b = {2, Name "b"} ] in a script."""
    names = []
    for content in re.findall(r"DefineConstant\s*\[(.*?)\]\s*;", text, re.S):
        # options in braces may hold commas and equal signs
        flat = re.sub(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "", content)
        names += re.findall(r"(?:^|,)\s*(\w+)", flat)
    return names


def _function(path: Path, parameters: Mapping[str, float | str]) -> Callable[[Any], None]:
    try:
        # a program that describes no geometry is not run
        top = ast.parse(path.read_bytes()).body
        known = any(isinstance(part, ast.FunctionDef) and part.name == "build" for part in top)
        function = runpy.run_path(str(path)).get("build") if known else None
    except Exception as error:
        raise MeshError(
            f"geometry {str(path)!r} cannot be loaded: {error} ({type(error).__name__})"
        ) from error
    if not callable(function):
        raise MeshError(f"geometry {str(path)!r} has no function build(gmsh, **parameters)")
    accepted = inspect.signature(function).parameters
    names = list(accepted)[1:]
    if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values()):
        for name in parameters:
            if name not in names:
                raise MeshError(
                    f"geometry {str(path)!r} has no parameter {name!r}; "
                    f"{choices(name, names, 'parameters')}"
                )
    return lambda gmsh: function(gmsh, **parameters)


def _contents(gmsh: Any) -> tuple[FloatArray, list[Block]]:
    """Nodes (n, 3) and blocks of the current model."""
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    if len(tags) == 0:
        raise MeshError("the geometry has no surface to mesh")
    tags = np.asarray(tags, dtype=np.int64)
    position = np.full(tags.max() + 1, -1)
    position[tags] = np.arange(len(tags))
    names: dict[tuple[int, int], list[str]] = {}
    for dimension, number in gmsh.model.getPhysicalGroups():
        name = gmsh.model.getPhysicalName(dimension, number) or str(number)
        for entity in gmsh.model.getEntitiesForPhysicalGroup(dimension, number):
            names.setdefault((dimension, abs(int(entity))), []).append(name)
    chosen = any(dimension == 2 for dimension, _ in names)
    blocks = []
    for dimension, entity in gmsh.model.getEntities():
        groups = names.get((dimension, entity), [])
        if dimension > 2 or (not groups and (dimension < 2 or chosen)):
            continue
        kinds, _, corners = gmsh.model.mesh.getElements(dimension, entity)
        for kind, nodes in zip(kinds, corners, strict=True):
            name, width = TYPES.get(int(kind), (f"gmsh type {kind}", 1))
            numbers = position[np.asarray(nodes, dtype=np.int64)].reshape(-1, width)
            rows = np.arange(len(numbers))
            blocks.append(Block(name, numbers, dict.fromkeys(groups, rows)))
    return np.asarray(coordinates).reshape(-1, 3), blocks
