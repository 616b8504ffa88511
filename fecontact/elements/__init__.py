"""Shape functions, quadrature and strain operators of the elements."""

from fecontact.elements.blocks import ElementBlock, element_block
from fecontact.elements.hypotheses import (
    HYPOTHESES,
    QUAD_OPTIONS,
    Hypothesis,
    QuadOption,
    check_hypothesis,
    check_quad_option,
)
from fecontact.elements.kinematics import Kinematics
from fecontact.elements.quadrature import edge_rule, quad_rule, triangle_rule
from fecontact.elements.shapes import SHAPES, quad_shapes, triangle_shapes

__all__ = [
    "HYPOTHESES",
    "QUAD_OPTIONS",
    "SHAPES",
    "ElementBlock",
    "Hypothesis",
    "Kinematics",
    "QuadOption",
    "check_hypothesis",
    "check_quad_option",
    "edge_rule",
    "element_block",
    "quad_rule",
    "quad_shapes",
    "triangle_rule",
    "triangle_shapes",
]
