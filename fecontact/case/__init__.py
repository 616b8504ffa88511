"""Case files: TOML tables to the objects of the Python interface."""

from fecontact.case.building import build, build_mesh
from fecontact.case.reading import Case, parse_value, read_case
from fecontact.case.schema import CaseSpec

__all__ = ["Case", "CaseSpec", "build", "build_mesh", "parse_value", "read_case"]
