r"""The lower half of a disk, or its right quarter, that touches y = 0 at the origin.

        top
    .---------------.
    |               |
     \             /      contact: the arc around the lowest point, of half opening `opening`
       `--..*..--'        side: the rest of the arc
          bottom          axis: the left edge of the quarter

Groups: elements `disk`; edges `contact`, `side`, `top`, `axis` (quarter only); node `bottom`.
Elements have the size `fine` up to the distance `zone` of the lowest point and grow from there.
"""

from math import cos, radians, sin


def build(
    gmsh,
    radius=1.0,
    fine=0.02,
    coarse=0.2,
    zone=0.1,
    opening=30.0,
    quarter=0,
    center_x=0.0,
    bottom_y=0.0,
):
    """Describe the body; `opening` is in degrees, `quarter=1` takes the half x > center_x."""
    geo = gmsh.model.geo
    x, y = center_x, bottom_y + radius
    dx, dy = radius * sin(radians(opening)), radius * cos(radians(opening))
    center, bottom = geo.addPoint(x, y, 0), geo.addPoint(x, y - radius, 0)
    right, end = geo.addPoint(x + dx, y - dy, 0), geo.addPoint(x + radius, y, 0)
    contact = [geo.addCircleArc(bottom, center, right)]
    side = [geo.addCircleArc(right, center, end)]
    top = [geo.addLine(end, center)]
    axis = []
    if quarter:
        axis = [geo.addLine(center, bottom)]
        loop = [*contact, *side, *top, *axis]
    else:
        left, other = geo.addPoint(x - dx, y - dy, 0), geo.addPoint(x - radius, y, 0)
        contact.insert(0, geo.addCircleArc(left, center, bottom))
        side.append(geo.addCircleArc(other, center, left))
        top.append(geo.addLine(center, other))
        loop = [contact[0], contact[1], side[0], *top, side[1]]
    surface = geo.addPlaneSurface([geo.addCurveLoop(loop)])
    geo.synchronize()
    gmsh.model.addPhysicalGroup(2, [surface], name="disk")
    groups = {"contact": contact, "side": side, "top": top, "axis": axis}
    for name, curves in groups.items():
        if curves:
            gmsh.model.addPhysicalGroup(1, curves, name=name)
    gmsh.model.addPhysicalGroup(0, [bottom], name="bottom")
    # distance beyond the zone, times the growth that reaches `coarse` at the top
    growth = (coarse - fine) / (radius - zone)
    distance = f"Sqrt((x-({x}))^2+(y-({bottom_y}))^2)"
    size = gmsh.model.mesh.field.add("MathEval")
    text = f"{fine}+{growth}*Max(0,{distance}-{zone})"
    gmsh.model.mesh.field.setString(size, "F", text)
    gmsh.model.mesh.field.setAsBackgroundMesh(size)
    for option in ("FromPoints", "FromCurvature", "ExtendFromBoundary"):
        gmsh.option.setNumber(f"Mesh.MeshSize{option}", 0)
