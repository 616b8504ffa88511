r"""A section of the crust in two layers, cut by a fault from the surface to the bottom.

      y = 0   +---------- surface ----------+---- surface ---+
              |    upper_left              /                 |
         left |                           /   upper_right    | right
              +--------------------------/- - layer boundary +
              |    lower_left           /     lower_right    |
              |                        /                     |
      -depth  +------- bottom --------+------- bottom -------+
                        fault_left  (/)  fault_right

The fault dips towards the left, so that the left block is the hanging wall: pushed from the left it
rides up the right block. Both sides of the fault have their own nodes, in the same places.

Groups: elements `upper` and `lower` (layers), `left_block` and `right_block`; edges `left`,
`right`, `bottom`, `surface`, `fault_left`, `fault_right`; nodes `top_left`, `top_right`,
`fault_left_top`, `fault_right_top`, `fault_left_bottom`, `fault_right_bottom`.
"""

from math import isfinite, radians, tan

COARSER = 1.04
"""Elements away from the fault, relative to the spacing of the nodes along it."""


def build(
    gmsh,
    length=20e3,
    depth=10e3,
    layer_depth=5e3,
    dip=60.0,
    position=0.5,
    candidates=25,
    refine=1.0,
):
    """Describe the section.

    `dip` is in degrees (90 is vertical, beyond it the fault dips to the right), `position` is where
    the middle of the fault is, as a part of the length. Each side of the fault has `candidates`
    nodes with `refine=1`; `refine=2` halves all elements' sizes.
    """
    values = (length, depth, layer_depth, dip, position, candidates, refine)
    if not all(isfinite(v) for v in values):
        raise ValueError(f"parameters {values} are not all finite")
    if not 0.0 < layer_depth < depth:
        raise ValueError(f"layer_depth = {layer_depth:g} must lie between 0 and depth = {depth:g}")
    if not 10.0 <= dip <= 170.0:
        raise ValueError(f"dip = {dip:g} degrees must be between 10 and 170")
    if candidates < 3 or refine <= 0:
        raise ValueError(f"candidates = {candidates:g} and refine = {refine:g}: too few nodes")
    half = 0.5 * depth / tan(radians(dip)) if dip != 90.0 else 0.0
    low, high = position * length - half, position * length + half
    if not (min(low, high) > 0.0 and max(low, high) < length):
        raise ValueError(
            f"the fault reaches from x = {low:g} at the bottom to x = {high:g} at the surface, "
            f"outside the section from 0 to {length:g}: it must meet surface and bottom"
        )
    fault_length = ((high - low) ** 2 + depth**2) ** 0.5
    intervals = max(2, round((candidates - 1) * refine))
    size = COARSER * fault_length / intervals
    crossing = low + (high - low) * (1.0 - layer_depth / depth)
    below = min(max(1, round(intervals * (1.0 - layer_depth / depth))), intervals - 1)

    geo = gmsh.model.geo

    def point(x, y):
        return geo.addPoint(x, y, 0.0, size)

    def cells(extent):
        return max(1, round(extent / size))

    curves = {"left": [], "right": [], "bottom": [], "surface": []}
    surfaces = {"upper": [], "lower": [], "left_block": [], "right_block": []}
    corners = {}
    for side, outer in (("left", 0.0), ("right", length)):
        ends = {
            "bottom": (point(outer, -depth), point(low, -depth)),
            "middle": (point(outer, -layer_depth), point(crossing, -layer_depth)),
            "surface": (point(outer, 0.0), point(high, 0.0)),
        }
        corners[f"top_{side}"] = ends["surface"][0]
        corners[f"fault_{side}_top"] = ends["surface"][1]
        corners[f"fault_{side}_bottom"] = ends["bottom"][1]
        along = {}
        for name, (a, b) in ends.items():
            x = {"bottom": low, "middle": crossing, "surface": high}[name]
            along[name] = geo.addLine(a, b)
            geo.mesh.setTransfiniteCurve(along[name], cells(abs(x - outer)) + 1)
        fault = []
        for lower, upper, number, height, layer in (
            ("bottom", "middle", below, depth - layer_depth, "lower"),
            ("middle", "surface", intervals - below, layer_depth, "upper"),
        ):
            edge = geo.addLine(ends[lower][0], ends[upper][0])
            cut = geo.addLine(ends[lower][1], ends[upper][1])
            geo.mesh.setTransfiniteCurve(edge, cells(height) + 1)
            geo.mesh.setTransfiniteCurve(cut, number + 1)
            loop = [along[lower], cut, -along[upper], -edge]
            # counter-clockwise on both sides
            sign = 1 if side == "left" else -1
            loop = geo.addCurveLoop([sign * c for c in loop[::sign]])
            surface = geo.addPlaneSurface([loop])
            curves[side].append(edge)
            fault.append(cut)
            surfaces[layer].append(surface)
            surfaces[f"{side}_block"].append(surface)
        curves[f"fault_{side}"] = fault
        curves["bottom"].append(along["bottom"])
        curves["surface"].append(along["surface"])
    geo.synchronize()
    for name, tags in surfaces.items():
        gmsh.model.addPhysicalGroup(2, tags, name=name)
    for name, tags in curves.items():
        gmsh.model.addPhysicalGroup(1, tags, name=name)
    for name, tag in corners.items():
        gmsh.model.addPhysicalGroup(0, [tag], name=name)
    gmsh.option.setNumber("Mesh.Algorithm", 6)
