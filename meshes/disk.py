r"""A disk that touches its support at the lowest point, with small elements there.

            .-------.
          /           \
         |      + center|
          \           /
            '---*---'     contact: the lower arc, of half opening `opening`
              bottom

Groups: elements `disk`; edges `contact` (lower arc) and `free` (the rest of the circle); nodes
`bottom`, `top` and `center`.
"""

from math import cos, radians, sin


def build(
    gmsh,
    radius=1.0,
    center_x=0.0,
    center_y=1.0,
    fine=0.02,
    coarse=0.2,
    opening=30.0,
    quads=0,
):
    """Describe the disk.

    `fine` and `coarse` are the element sizes at the bottom and at the top, `opening` is in degrees,
    `quads=1` asks for quadrilaterals (a few triangles may remain).
    """
    geo = gmsh.model.geo
    dx, dy = radius * sin(radians(opening)), radius * cos(radians(opening))
    # the size grows linearly with the distance from the bottom
    edge = fine + (coarse - fine) * 2 * sin(radians(opening / 2)) / 2
    center = geo.addPoint(center_x, center_y, 0, (fine + coarse) / 2)
    bottom = geo.addPoint(center_x, center_y - radius, 0, fine)
    right = geo.addPoint(center_x + dx, center_y - dy, 0, edge)
    top = geo.addPoint(center_x, center_y + radius, 0, coarse)
    left = geo.addPoint(center_x - dx, center_y - dy, 0, edge)
    # an arc must be smaller than a half turn
    arcs = [
        geo.addCircleArc(start, center, end)
        for start, end in ((left, bottom), (bottom, right), (right, top), (top, left))
    ]
    surface = geo.addPlaneSurface([geo.addCurveLoop(arcs)])
    geo.synchronize()
    gmsh.model.mesh.embed(0, [center], 2, surface)
    gmsh.model.addPhysicalGroup(2, [surface], name="disk")
    gmsh.model.addPhysicalGroup(1, arcs[:2], name="contact")
    gmsh.model.addPhysicalGroup(1, arcs[2:], name="free")
    for name, point in (("bottom", bottom), ("top", top), ("center", center)):
        gmsh.model.addPhysicalGroup(0, [point], name=name)
    if quads:
        gmsh.model.mesh.setRecombine(2, surface)
