r"""A block below y = 0 with small elements around the origin of its upper side.

    *-------o-------*   top
    |               |
    |               |   left, right
    *---------------*   bottom

Groups: elements `block`; edges `top`, `bottom`, `left`, `right`.
"""


def build(gmsh, left=-1.0, right=1.0, depth=1.0, fine=0.02, coarse=0.2, zone=0.1):
    """Describe the block from x = `left` to `right`.

    Elements have the size `fine` up to the distance `zone` of the origin, and grow from there to
    `coarse` at the distance `depth`.
    """
    geo = gmsh.model.geo
    corners = ((left, -depth), (right, -depth), (right, 0), (left, 0))
    points = [geo.addPoint(x, y, 0) for x, y in corners]
    lines = [geo.addLine(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]
    surface = geo.addPlaneSurface([geo.addCurveLoop(lines)])
    geo.synchronize()
    gmsh.model.addPhysicalGroup(2, [surface], name="block")
    for name, line in zip(("bottom", "right", "top", "left"), lines, strict=True):
        gmsh.model.addPhysicalGroup(1, [line], name=name)
    growth = (coarse - fine) / (depth - zone)
    size = gmsh.model.mesh.field.add("MathEval")
    text = f"{fine}+{growth}*Max(0,Sqrt(x^2+y^2)-{zone})"
    gmsh.model.mesh.field.setString(size, "F", text)
    gmsh.model.mesh.field.setAsBackgroundMesh(size)
    for option in ("FromPoints", "FromCurvature", "ExtendFromBoundary"):
        gmsh.option.setNumber(f"Mesh.MeshSize{option}", 0)
