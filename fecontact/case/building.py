"""From a checked case to the same objects that the Python interface uses."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from fecontact.body import Solid
from fecontact.case import schema
from fecontact.case.files import Files
from fecontact.case.reading import Case
from fecontact.conditions import (
    BodyForce,
    Gravity,
    Initial,
    Lithostatic,
    Load,
    PointForce,
    Prescribed,
    Pressure,
    Spring,
    Traction,
    Winkler,
)
from fecontact.contact import (
    Contact,
    Disk,
    HalfPlane,
    Law,
    Obstacle,
    PairContact,
    Polyline,
)
from fecontact.errors import CaseError, at
from fecontact.expressions import Expression
from fecontact.history import Probe
from fecontact.materials import (
    Branch,
    Damping,
    GeneralisedMaxwell,
    IsotropicElastic,
    Material,
    Maxwell,
    OrthotropicElastic,
)
from fecontact.mesh import Mesh, mesh_geometry, read_mesh, rectangle
from fecontact.model import Model
from fecontact.schemes import Newmark, QuasiStatic, Scheme, Theta
from fecontact.schemes.explicit import Explicit
from fecontact.schemes.implicit import Implicit
from fecontact.simulation import Drawing, Simulation, Times
from fecontact.solvers import Margins, Options
from fecontact.solvers import solver as find_solver
from fecontact.typing import BoolArray, FloatArray

_LOADS: dict[str, Any] = {
    "pressure": Pressure,
    "traction": Traction,
    "body_force": BodyForce,
    "gravity": Gravity,
    "point_force": PointForce,
}
_OBSTACLES: dict[str, Any] = {"half_plane": HalfPlane, "disk": Disk, "polyline": Polyline}
ALL = "all"
"""Element group made for a material that names no region."""


def build(case: Case, mesh: Mesh | None = None) -> Simulation:
    """The simulation that a case describes; nothing is computed or written yet.

    A mesh given stands for the one that the case describes, its groups included.
    """
    with at(str(case.path)):
        return _build(case, mesh)


def _build(case: Case, mesh: Mesh | None) -> Simulation:
    spec = case.spec
    _check_scheme(spec)
    if mesh is None:
        mesh = build_mesh(spec, case.files)
    materials: dict[str, Material] = {}
    for name, given in spec.materials.items():
        material = _material(name, given)
        if given.regions is None:
            if len(spec.materials) > 1:
                raise CaseError(
                    f"materials.{name}.regions: with several materials each must name its regions"
                )
            mesh = mesh.with_groups(elements={ALL: np.arange(mesh.n_elements)})
        for region in [ALL] if given.regions is None else given.regions:
            if region in materials:
                raise CaseError(f"materials.{name}.regions: {region!r} has a material already")
            materials[region] = material
    with at("materials"):
        solid = Solid(
            mesh,
            materials,
            hypothesis=spec.model.hypothesis,
            thickness=spec.model.thickness,
            quad=spec.model.quad,
        )
    model = Model(
        solid,
        prescribed=[
            Prescribed(name=name, **given.model_dump()) for name, given in spec.prescribed.items()
        ],
        loads=[_load(name, given) for name, given in spec.loads.items()],
        springs=[
            _spring(name, given, spec.model.thickness) for name, given in spec.springs.items()
        ],
        contacts=[_contact(name, given) for name, given in spec.contact.items()],
        initial=[Initial(name=name, **given.model_dump()) for name, given in spec.initial.items()],
        prestress=None if spec.prestress is None else Lithostatic(spec.prestress.ratio),
    )
    with at("solver.name"):
        find_solver(spec.solver.name)
    solver = spec.solver.model_dump()
    return Simulation(
        model,
        scheme=_scheme(spec.scheme),
        times=Times(**spec.time.model_dump(), outputs=tuple(spec.output.times)),
        options=Options(
            solver=solver.pop("name"), margins=Margins(**solver.pop("margins")), **solver
        ),
        save_every=spec.output.every,
        title=spec.title or case.name,
        probes=[Probe(name, **given.model_dump()) for name, given in spec.probes.items()],
        drawings=_drawings(spec.output),
    )


def _drawings(given: schema.OutputSpec) -> list[Drawing]:
    if given.fault is None:
        return []
    from fecontact.output.fault import FaultFigures

    return [FaultFigures(**given.fault.model_dump())]


def _check_scheme(spec: schema.CaseSpec) -> None:
    """Refuse what the schemes of linear bodies would leave out without a word."""
    name = spec.scheme.name
    if name in ("implicit", "explicit"):
        return
    advice = f"the scheme {name!r} does not follow; choose scheme.name = implicit or explicit"
    for material, given in spec.materials.items():
        if isinstance(given, schema.MaxwellSpec | schema.GeneralisedMaxwellSpec):
            raise CaseError(
                f"materials.{material}.law: {given.law!r} has a history, which {advice}"
            )
    if spec.prestress is not None:
        raise CaseError(f"prestress: stresses at the start, which {advice}")


def build_mesh(spec: schema.CaseSpec, files: Files) -> Mesh:
    """The mesh of a case, its parts put together, with the groups that expressions define."""
    if isinstance(spec.mesh, schema.Parts):
        parts = {name: _source(given, files) for name, given in spec.mesh.parts.items()}
        mesh = Mesh.merge(parts)
    else:
        mesh = _source(spec.mesh, files)
    for name, group in spec.groups.items():
        mesh = _with_group(mesh, name, group)
    return mesh


def _source(given: schema.Rectangle | schema.MeshFile | schema.Geometry, files: Files) -> Mesh:
    if isinstance(given, schema.Rectangle):
        arguments = given.model_dump(exclude={"generator", "scale"})
        arguments["origin"] = tuple(arguments["origin"])
        mesh = rectangle(**arguments)
    elif isinstance(given, schema.MeshFile):
        options = given.model_dump(exclude={"file", "scale"})
        mesh = read_mesh(files.find(given.file), **options)
    else:
        parameters: dict[str, Any] = dict(given.parameters)
        for key in sorted(set(parameters) & {"size", "merge", "allow_duplicates"}):
            raise CaseError(f"mesh.parameters.{key}: this name is taken; set mesh.{key} instead")
        options = given.model_dump(include={"size", "merge", "allow_duplicates"})
        mesh = mesh_geometry(files.find(given.geometry), **options, **parameters)
    return mesh if given.scale == 1.0 else replace(mesh, nodes=mesh.nodes * given.scale)


def _with_group(mesh: Mesh, name: str, group: schema.Group) -> Mesh:
    expression = Expression(group.where)
    if expression.varies_in_time:
        raise CaseError(
            f"groups.{name}.where: {group.where!r} changes with t; groups are made of x and y"
        )

    def inside(points: FloatArray) -> BoolArray:
        values = expression(points, 0.0)
        other = np.flatnonzero((values != 0.0) & (values != 1.0))
        if len(other):
            x, y = points[other[0]]
            raise CaseError(
                f"groups.{name}.where: {group.where!r} is {values[other[0]]:g} at x = {x:g}, "
                f"y = {y:g}; expected something true or false, such as x < {x:g}"
            )
        return np.asarray(values != 0.0)

    if group.kind == "nodes":
        found = np.flatnonzero(inside(mesh.nodes))
        changed = mesh.with_groups(nodes={name: found})
    elif group.kind == "edges":
        edges = mesh.boundary_edges()
        found = edges[inside(mesh.nodes[edges].mean(axis=1))]
        changed = mesh.with_groups(edges={name: found})
    else:
        found = np.flatnonzero(inside(mesh.centroids()))
        changed = mesh.with_groups(elements={name: found})
    if len(found) == 0:
        raise CaseError(f"groups.{name}.where: no {group.kind[:-1]} satisfies {group.where!r}")
    return changed


def _material(name: str, given: Any) -> Material:
    constants = given.model_dump(exclude={"law", "regions", "damping", "viscosity", "branches"})
    with at(f"materials.{name}"):
        damping = Damping(**given.damping.model_dump())
        if isinstance(given, schema.MaxwellSpec):
            return Maxwell(damping=damping, eta=given.viscosity, **constants)
        if isinstance(given, schema.GeneralisedMaxwellSpec):
            branches = [Branch(**branch.model_dump()) for branch in given.branches]
            return GeneralisedMaxwell(damping=damping, branches=branches, **constants)
        if isinstance(given, schema.Isotropic):
            return IsotropicElastic(damping=damping, **constants)
        return OrthotropicElastic(damping=damping, **constants)


def _load(name: str, given: Any) -> Load:
    load: Load = _LOADS[given.type](name=name, **given.model_dump(exclude={"type"}))
    return load


def _spring(name: str, given: schema.SpringSpec, thickness: float) -> Spring | Winkler:
    if given.bed is not None:
        return Winkler(given.on, given.bed, thickness, name)
    return Spring(given.on, given.kx, given.ky, name)


def _scheme(given: schema.SchemeSpec) -> Scheme:
    if given.name in ("implicit", "explicit"):
        options = given.model_dump(include=schema.SCHEME_KEYS[given.name])
        return Implicit(**options) if given.name == "implicit" else Explicit(**options)
    lumped = given.mass == "lumped"
    if given.name == "theta":
        return Theta(given.theta, lumped, given.settle)
    if given.name == "newmark":
        return Newmark(given.beta, given.gamma, lumped, given.settle)
    return QuasiStatic()


_LAW = tuple(field.name for field in fields(Law))


def _contact(name: str, given: schema.ContactSpec) -> Contact | PairContact:
    law = Law(**{key: getattr(given, key) for key in _LAW})
    shared: dict[str, Any] = {
        "reactions": given.reactions,
        "exclude": tuple(given.exclude),
        "name": name,
    }
    if given.obstacle is None:
        return PairContact(
            given.candidates,
            str(given.antagonists),
            law=law,
            passes=given.passes,
            self_contact=given.self_contact,
            initial=given.initial,
            alert=given.alert,
            **shared,
        )
    with at(f"contact.{name}"):
        obstacle: Obstacle = _OBSTACLES[given.obstacle.type](
            **given.obstacle.model_dump(exclude={"type"})
        )
    return Contact(given.candidates, obstacle, law=law, **shared)
