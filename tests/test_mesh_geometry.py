"""Geometries meshed through gmsh, and what is said where gmsh cannot be loaded."""

from __future__ import annotations

import builtins
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fecontact.errors import MeshError, MissingDependency
from fecontact.mesh import mesh_geometry, quality
from fecontact.mesh.geometry import pipes_kept


def test_the_disk_is_round_graded_and_named(gmsh: Any, meshes: Path) -> None:
    mesh = mesh_geometry(meshes / "disk.py", radius=2.0, center_y=3.0, fine=0.05, coarse=0.4)
    rim = mesh.nodes[np.unique(mesh.boundary_edges())]
    np.testing.assert_allclose(np.hypot(rim[:, 0], rim[:, 1] - 3.0), 2.0, rtol=1e-12)
    # the polygon is inside the circle, by the order of the square of the size
    area = mesh.areas().sum()
    assert 0.995 * 4 * np.pi < area < 4 * np.pi
    np.testing.assert_allclose(mesh.nodes[mesh.node_numbers("bottom")], [[0, 1]], atol=1e-12)
    np.testing.assert_allclose(mesh.nodes[mesh.node_numbers("center")], [[0, 3]], atol=1e-12)
    (lower,) = mesh.chains("contact")
    ends = mesh.nodes[lower[[0, -1]]]
    # with the body on its left the lower arc goes from left to right, 30 degrees each way
    np.testing.assert_allclose(ends, [[-1, 3 - 3**0.5], [1, 3 - 3**0.5]], atol=1e-12)
    lengths = np.linalg.norm(np.diff(mesh.nodes[lower], axis=0), axis=1)
    assert lengths.min() < 0.06
    (rest,) = mesh.chains("free")
    coarse = np.linalg.norm(np.diff(mesh.nodes[rest], axis=0), axis=1)
    assert coarse.max() > 4 * lengths.min()
    assert len(mesh.edges("contact")) + len(mesh.edges("free")) == len(mesh.boundary_edges())
    assert quality(mesh).min_angle.min() > 20.0
    assert len(mesh.elements("disk")) == mesh.n_elements


def test_the_block_takes_parameters_and_forgets_them(gmsh: Any, meshes: Path) -> None:
    mesh = mesh_geometry(meshes / "block.geo", width=3.0, height=2.0, fine=0.25, coarse=0.5)
    np.testing.assert_allclose(mesh.areas().sum(), 6.0)
    np.testing.assert_allclose(mesh.nodes[mesh.node_numbers("top_right")], [[3, 2]])
    assert len(mesh.edges("bottom")) == 12
    again = mesh_geometry(meshes / "block.geo")
    np.testing.assert_allclose(again.areas().sum(), 2.0)
    assert len(again.edges("bottom")) == 20
    quads = mesh_geometry(meshes / "block.geo", quads=1)
    assert "quad" in quads.cells


def test_size_bounds_the_elements(gmsh: Any, meshes: Path) -> None:
    fine = mesh_geometry(meshes / "block.geo", size=0.1)
    assert len(fine.edges("top")) == 20
    with pytest.raises(MeshError, match="size=-1: expected a positive"):
        mesh_geometry(meshes / "block.geo", size=-1)


def test_meshing_is_repeatable_silent_and_leaves_no_trace(
    gmsh: Any, meshes: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("disk.py", "block.geo"):
        one, two = mesh_geometry(meshes / name), mesh_geometry(meshes / name)
        np.testing.assert_array_equal(one.nodes, two.nodes)
        np.testing.assert_array_equal(one.cells["triangle"], two.cells["triangle"])
    assert not gmsh.isInitialized()
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_is_handled_as_before_during_and_after(gmsh: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import signal\n"
        "def build(gmsh):\n"
        "    assert callable(signal.getsignal(signal.SIGINT)), 'handler replaced'\n"
        "    gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)\n"
        "    gmsh.model.occ.synchronize()\n"
    )

    def own(*_: object) -> None: ...

    # a handler of its own: an earlier test may have left gmsh's, the default action
    before = signal.signal(signal.SIGINT, own)
    try:
        mesh = mesh_geometry(path)
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
    # without physical groups all surfaces are kept, as one group
    assert len(mesh.elements("body")) == mesh.n_elements


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no such signal here")
@pytest.mark.parametrize("threaded", [False, True])
def test_a_pipe_that_nobody_reads_does_not_end_the_process(
    gmsh: Any, meshes: Path, threaded: bool
) -> None:
    code = (
        "import os, sys, threading\n"
        "from fecontact.mesh import mesh_geometry\n"
        f"thread = threading.Thread(target=mesh_geometry, args=({str(meshes / 'block.geo')!r},))\n"
        f"(thread.start(), thread.join()) if {threaded} else thread.run()\n"
        "ends = os.pipe()\n"
        "os.close(ends[0])\n"
        "try:\n"
        "    os.write(ends[1], b'x')\n"
        "except BrokenPipeError:\n"
        "    sys.exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr


def test_unknown_parameters_are_named_with_the_known(gmsh: Any, meshes: Path) -> None:
    with pytest.raises(MeshError, match=r"no parameter 'raduis'; did you mean 'radius'\?"):
        mesh_geometry(meshes / "disk.py", raduis=2.0)
    with pytest.raises(MeshError, match=r"no parameter 'widht' .*did you mean 'width'\?.*coarse"):
        mesh_geometry(meshes / "block.geo", widht=2.0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.geo", "Point(1) = {0, 0, 0;\n", "line 1.*syntax error"),
        ("a.geo", "Point(1) = {0, 0, 0, 1};\n", "no surface|no elements"),
        ("a.py", "x = 1\n", "has no function build"),
        ("a.py", "def build(gmsh) -> None\n", "cannot be loaded: .*SyntaxError"),
        (
            "a.py",
            "def build(gmsh):\n    raise ValueError('radius too large')\n",
            "radius too large",
        ),
        ("a.py", "def build(gmsh):\n    gmsh.finalize()\n", "must not call gmsh.finalize"),
        ("a.stp", "", r"expected a \.geo or a \.py file"),
    ],
)
def test_geometries_that_fail_say_why_and_leave_gmsh_closed(
    gmsh: Any,
    name: str,
    text: str,
    message: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(MeshError, match=message) as caught:
        mesh_geometry(path)
    assert str(path) in str(caught.value)
    assert not gmsh.isInitialized()
    assert capfd.readouterr() == ("", "")


def test_quadratic_meshes_are_refused(gmsh: Any, tmp_path: Path, meshes: Path) -> None:
    path = tmp_path / "a.geo"
    path.write_text((meshes / "block.geo").read_text() + "Mesh.ElementOrder = 2;\n")
    with pytest.raises(MeshError, match=r"quadratic.*triangle6.*order 1"):
        mesh_geometry(path)
    assert mesh_geometry(meshes / "block.geo").n_elements > 10


def test_gmsh_in_use_is_left_alone(gmsh: Any, meshes: Path) -> None:
    with pipes_kept():
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        with pytest.raises(MeshError, match="already in use"):
            mesh_geometry(meshes / "block.geo")
        assert gmsh.isInitialized()
    finally:
        gmsh.finalize()


def fail_import(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    real = builtins.__import__

    def patched(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name == "gmsh":
            raise error
        return real(name, *arguments, **keywords)

    monkeypatch.delitem(sys.modules, "gmsh", raising=False)
    monkeypatch.setattr(builtins, "__import__", patched)


def test_a_missing_wheel_is_named(monkeypatch: pytest.MonkeyPatch, meshes: Path) -> None:
    fail_import(monkeypatch, ModuleNotFoundError("No module named 'gmsh'", name="gmsh"))
    with pytest.raises(MissingDependency, match=r'pip install "fecontact\[gmsh\]"'):
        mesh_geometry(meshes / "block.geo")


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libGLU.so.1", "libglu1-mesa"),
        ("libGL.so.1", "libgl1"),
        ("libX11.so.6", "libx11-6"),
        ("libXrender.so.1", "libxrender1"),
        ("libXcursor.so.1", "libxcursor1"),
        ("libXft.so.2", "libxft2"),
        ("libXinerama.so.1", "libxinerama1"),
        ("libfontconfig.so.1", "libfontconfig1"),
    ],
)
def test_a_missing_system_library_is_named_with_its_package(
    library: str, package: str, monkeypatch: pytest.MonkeyPatch, meshes: Path
) -> None:
    text = f"{library}: cannot open shared object file: No such file or directory"
    fail_import(monkeypatch, OSError(text))
    with pytest.raises(MissingDependency, match=f"{library}.*in the package {package} of Debian"):
        mesh_geometry(meshes / "block.geo")


def test_an_unknown_system_library_is_quoted(monkeypatch: pytest.MonkeyPatch, meshes: Path) -> None:
    fail_import(monkeypatch, OSError("libodd.so.3: cannot open shared object file"))
    with pytest.raises(MissingDependency, match=r"libodd\.so\.3.*apt-get install libglu1-mesa"):
        mesh_geometry(meshes / "block.geo")
