"""Meshes: the frozen `Mesh`, its checks, structured generators, files and Gmsh geometries."""

from fecontact.mesh.checks import check_mesh
from fecontact.mesh.core import Mesh
from fecontact.mesh.formats import read_mesh
from fecontact.mesh.geometry import mesh_geometry
from fecontact.mesh.measures import Quality, quality
from fecontact.mesh.structured import graded, rectangle
from fecontact.mesh.writing import write_mesh

__all__ = [
    "Mesh",
    "Quality",
    "check_mesh",
    "graded",
    "mesh_geometry",
    "quality",
    "read_mesh",
    "rectangle",
    "write_mesh",
]
