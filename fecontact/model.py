"""The whole mechanical problem: a solid, what moves it, what loads it, what it may touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.conditions import (
    Constraints,
    ExternalForces,
    Initial,
    Lithostatic,
    Load,
    Prescribed,
    Spring,
    Winkler,
    initial_motion,
)
from fecontact.contact import Contact, Interface, PairContact
from fecontact.errors import ConditionError, ContactError
from fecontact.mesh import Mesh
from fecontact.naming import controls
from fecontact.typing import FloatArray, IntArray


def contact_line(interface: Interface) -> str:
    """A contact in one line: candidates, reactions, friction and what it may meet."""
    low, high = interface.friction.min(), interface.friction.max()
    friction = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return (
        f"Contact {interface.name}: {interface.n_candidates} candidates of {interface.group!r}, "
        f"{interface.reactions} reactions, friction {friction}, against {interface.partner}"
    )


@dataclass(frozen=True, eq=False)
class Model:
    """A solid (one or several bodies in one mesh) with its conditions and contacts.

    Making a model binds everything to the mesh, so that a group that does not exist or a condition
    that contradicts another is found here, before anything is computed.
    """

    solid: Solid
    prescribed: Sequence[Prescribed] = ()
    loads: Sequence[Load] = ()
    springs: Sequence[Spring | Winkler] = ()
    contacts: Sequence[Contact | PairContact] = ()
    initial: Sequence[Initial] = ()
    prestress: Lithostatic | None = None

    def __post_init__(self) -> None:
        _ = self.constraints, self.external, self.spring_stiffness, self.interfaces
        _ = self.initial_motion

    def __repr__(self) -> str:
        fixed = len(self.constraints.fixed)
        lines = [
            f"Model: {self.n_dofs} degrees of freedom, {fixed} prescribed",
            f"  {self.solid!r}",
        ]
        lines += [f"  prescribed {p.label} on {p.on!r}" for p in self.prescribed]
        lines += [f"  load {load.label}: {type(load).__name__}" for load in self.loads]
        lines += [f"  {spring!r}" for spring in self.springs]
        lines += [f"  {contact_line(interface)}" for interface in self.interfaces]
        return "\n".join(lines)

    @property
    def mesh(self) -> Mesh:
        return self.solid.mesh

    @property
    def n_dofs(self) -> int:
        return self.mesh.n_nodes * self.mesh.dim

    @cached_property
    def assembler(self) -> Assembler:
        return Assembler(self.solid)

    @cached_property
    def constraints(self) -> Constraints:
        return Constraints(self.mesh, self.prescribed)

    @cached_property
    def external(self) -> ExternalForces:
        return ExternalForces(self.solid, self.loads)

    @cached_property
    def spring_stiffness(self) -> FloatArray:
        """Diagonal (ndof,) of the grounded springs."""
        total = np.zeros(self.n_dofs)
        for spring in self.springs:
            if isinstance(spring, Winkler) and self.solid.is_axisymmetric:
                raise ConditionError(
                    f"springs.{spring.label}: a bed is not available in axisymmetry; give springs "
                    "with ky at the nodes, for the full turn"
                )
            total += spring.diagonal(self.mesh)
        return total

    @cached_property
    def initial_motion(self) -> tuple[FloatArray, FloatArray]:
        """Displacement and velocity (ndof,) at time 0, prescribed velocities included."""
        u, v = initial_motion(self.mesh, self.initial)
        turned = self.constraints.with_velocities(self.constraints.to_turned(v), 0.0)
        return u, self.constraints.to_global(turned)

    @cached_property
    def interfaces(self) -> tuple[Interface, ...]:
        """The contacts, bound to the mesh."""
        passes = [one for c in self.contacts for one in c.expand()]
        labels = [c.label for c in passes]
        for repeated in {n for n in labels if labels.count(n) > 1}:
            raise ContactError(f"two contacts are called {repeated!r}: give each its own name")
        for label in labels:
            if found := controls(label):
                raise ContactError(f"contact {label!r}: its name holds {found!r}; give plain text")
        fixed = np.zeros(self.n_dofs, dtype=bool)
        fixed[self.constraints.fixed] = True
        held = np.asarray(fixed.reshape(self.mesh.n_nodes, self.mesh.dim).all(axis=1))
        return tuple(c.bind(self.solid, held) for c in passes)

    @cached_property
    def glue(self) -> sparse.csr_array:
        """H (ndof, n) of the glued contacts, in global axes; it is the same at all times."""
        glued = [i for i in self.interfaces if i.law.friction_law == "glued"]
        columns = [i.detect(self.mesh.nodes, 0.0, 1.0).H for i in glued]
        empty = sparse.csr_array((self.n_dofs, 0))
        return sparse.csr_array(sparse.hstack([empty, *columns], format="csr"))

    @cached_property
    def touched_dofs(self) -> IntArray:
        """Dofs of all nodes that a contact reaction may act on, sorted."""
        if not self.interfaces:
            return np.zeros(0, dtype=np.int64)
        nodes = np.unique(np.concatenate([i.touched for i in self.interfaces]))
        dim = self.mesh.dim
        return np.asarray((nodes[:, None] * dim + np.arange(dim)).ravel())
