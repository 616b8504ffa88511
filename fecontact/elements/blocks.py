"""Elements of one kind, with the tables that the compiled loops read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fecontact.elements.kinematics import Kinematics
from fecontact.elements.quadrature import quad_rule, triangle_rule
from fecontact.elements.shapes import SHAPES
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ElementBlock:
    """All elements of one kind of a mesh and their integration points.

    Attributes
    ----------
    kind : "triangle" or "quad"
    cells : (ne, nn) int32
        Node numbers, counter-clockwise.
    first_element, first_point
        Numbers of the block's first element and first integration point in the whole body. The
        points of an element follow one another.
    N, dN, weights : (np, nn), (np, nn, 2), (np,)
        Shape functions, reference derivatives and weights at the integration points.
    mass_N, mass_dN, mass_weights
        The same at the points of the richer rule for masses and body forces.
    kinematics
        How strains are made.
    extrapolation : (nn, np)
        Takes values at the points to values at the nodes of the element.
    """

    kind: str
    cells: NDArray[np.int32]
    first_element: int
    first_point: int
    N: FloatArray
    dN: FloatArray
    weights: FloatArray
    mass_N: FloatArray
    mass_dN: FloatArray
    mass_weights: FloatArray
    kinematics: Kinematics
    extrapolation: FloatArray

    @property
    def n_elements(self) -> int:
        return int(self.cells.shape[0])

    @property
    def n_element_nodes(self) -> int:
        return int(self.cells.shape[1])

    @property
    def n_element_points(self) -> int:
        return int(self.weights.shape[0])

    @property
    def n_points(self) -> int:
        return self.n_elements * self.n_element_points

    @property
    def elements(self) -> slice:
        """Place of the block's elements in arrays over all elements."""
        return slice(self.first_element, self.first_element + self.n_elements)

    @property
    def points(self) -> slice:
        """Place of the block's points in arrays over all integration points."""
        return slice(self.first_point, self.first_point + self.n_points)

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shape functions, derivatives and weights at the integration points."""
        return self.N, self.dN, self.weights

    @property
    def mass_tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same at the points of the mass rule."""
        return self.mass_N, self.mass_dN, self.mass_weights

    @property
    def size(self) -> tuple[int, ...]:
        """A tuple as long as an element has nodes (its length is a constant to the compiler)."""
        return (0,) * self.n_element_nodes

    @property
    def point_size(self) -> tuple[int, ...]:
        """A tuple as long as an element has integration points."""
        return (0,) * self.n_element_points

    def __repr__(self) -> str:
        return (
            f"ElementBlock({self.kind!r}, {self.n_elements} elements, "
            f"{self.n_element_points} point(s) each)"
        )


def element_block(
    kind: str, cells: IntArray, first_element: int, first_point: int, kinematics: Kinematics
) -> ElementBlock:
    """Block of T3 (one point) or Q4 (2 x 2 points) elements.

    The mass rule is exact for constant density; the radius in the integral of axisymmetry needs a
    richer one.
    """
    if kind == "triangle":
        rule, mass_rule = triangle_rule(1), triangle_rule(4 if kinematics.axisymmetric else 2)
    else:
        rule, mass_rule = quad_rule(2), quad_rule(3 if kinematics.axisymmetric else 2)
    N, dN = SHAPES[kind](rule[0])
    mass_N, mass_dN = SHAPES[kind](mass_rule[0])
    extrapolation = np.ones((3, 1)) if kind == "triangle" else np.linalg.inv(N).astype(np.float64)
    return ElementBlock(
        kind=kind,
        cells=np.array(cells, dtype=np.int32, order="C"),
        first_element=first_element,
        first_point=first_point,
        N=np.ascontiguousarray(N),
        dN=np.ascontiguousarray(dN),
        weights=rule[1].copy(),
        mass_N=np.ascontiguousarray(mass_N),
        mass_dN=np.ascontiguousarray(mass_dN),
        mass_weights=mass_rule[1].copy(),
        kinematics=kinematics,
        extrapolation=extrapolation,
    )
