"""Fixtures shared by the tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fecontact.errors import MissingDependency
from tests.interpreted import interpret

interpret()


@pytest.fixture(scope="session")
def meshes() -> Path:
    """Folder of the geometries shipped with the project."""
    return Path(__file__).parent.parent / "meshes"


@pytest.fixture(scope="session")
def gmsh() -> Any:
    """The gmsh module; skips without it, unless FECONTACT_REQUIRE_GMSH=1 says it must be there."""
    from fecontact.mesh.geometry import load_gmsh

    try:
        return load_gmsh()
    except MissingDependency as error:
        if os.environ.get("FECONTACT_REQUIRE_GMSH") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
