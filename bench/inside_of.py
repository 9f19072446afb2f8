"""Inside or outside from Python: Slabcast beside Open3D, trimesh with embreex, pysdf and libigl, where they are
installed.

    python bench/inside_of.py MESH.obj [POINTS]

Time: the points of points.py about the mesh, which must be closed. Every side is called in turn, five times after one
that is not counted; medians. "differ": of winding numbers and of signs of distances.

Fractions: the same mesh without the triangles about 12 of its vertices, at the same points. Errors are those of the
first 1,000, against the sum of all solid angles in double.

Right answers: boxes of 64 by 64 squares per side, whose vertices are multiples of 1/16. Points are at multiples of
1/32, so that rays along axes go through edges and vertices. Or they are at vertices and edges, with each coordinate
moved by its last place or not. None is on a surface. So whether a point is inside is known exactly. First one box, then
two that overlap.
"""

import statistics
import sys
import time

import numpy as np
from points import points_of, read

import slabcast

ROUNDS = 5


def box(shift, cells=64, size=4.0):
    """A box from (shift) on, of cells x cells squares per side: vertices and triangles that face outward."""
    vertices, faces = [], []
    step = size / cells
    u, v = np.meshgrid(np.arange(cells + 1), np.arange(cells + 1), indexing="ij")
    for axis in range(3):
        for end in (0, 1):
            first = sum(len(part) for part in vertices)
            part = np.zeros((*u.shape, 3))
            part[..., axis], part[..., (axis + 1) % 3], part[..., (axis + 2) % 3] = end * size, u * step, v * step
            vertices.append(part.reshape(-1, 3) + shift)
            corner = (first + np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
            a, b, c, d = corner, corner + cells + 1, corner + cells + 2, corner + 1
            quads = np.concatenate([np.stack(t, axis=1) for t in ((a, b, c), (a, c, d))])
            faces.append(quads if end else quads[:, ::-1])
    # one vertex per place, so that others see a closed mesh
    places, index = np.unique(np.concatenate(vertices), axis=0, return_inverse=True)
    return places.astype(np.float32), index.reshape(-1)[np.concatenate(faces)].astype(np.uint32)


def of_slabcast(vertices, faces, fraction=False):
    scene = slabcast.Scene("cpu")
    scene.add_mesh(vertices, faces)
    scene.commit()
    if fraction:
        return {"slabcast, winding_number": scene.winding_number}
    return {
        "slabcast, winding": lambda points: scene.winding(points) != 0,
        "slabcast, contains": scene.contains,
        "slabcast, signed_distance": lambda points: scene.signed_distance(points) < 0,
    }


def of_open3d(vertices, faces):
    import open3d

    scene = open3d.t.geometry.RaycastingScene()
    scene.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(faces))
    ask = lambda call: lambda points: call(open3d.core.Tensor(points)).numpy()
    name = f"Open3D {open3d.__version__}"
    occupied = ask(scene.compute_occupancy)
    distance = ask(scene.compute_signed_distance)
    three = ask(lambda points: scene.compute_occupancy(points, nsamples=3))
    return {
        f"{name}, compute_occupancy": lambda points: occupied(points) > 0,
        f"{name}, compute_occupancy, nsamples=3": lambda points: three(points) > 0,
        f"{name}, compute_signed_distance": lambda points: distance(points) < 0,
    }


def of_trimesh(vertices, faces):
    import embreex  # noqa: F401
    import trimesh

    mesh = trimesh.Trimesh(vertices, faces, process=False)
    return {f"trimesh {trimesh.__version__} with embreex, contains": mesh.contains}


def of_pysdf(vertices, faces):
    import pysdf

    return {"pysdf, contains": pysdf.SDF(vertices, faces).contains}


def of_libigl(vertices, faces, fraction=False):
    import importlib.metadata

    import igl

    corners, triangles = vertices.astype(np.float64), faces.astype(np.int32)
    name = f"libigl {importlib.metadata.version('libigl')}, fast_winding_number"
    ask = lambda points: igl.fast_winding_number(corners, triangles, points.astype(np.float64))
    return {name: ask if fraction else lambda points: ask(points) > 0.5}


def sides_of(vertices, faces):
    sides = {}
    for make in (of_slabcast, of_open3d, of_trimesh, of_pysdf, of_libigl):
        try:
            sides.update(make(vertices, faces))
        except ImportError as missing:
            print(f"{make.__name__}: {missing}")
    return sides


def sides_of_open(vertices, faces):
    """The same of an open mesh, for which slabcast has another call."""
    number = of_slabcast(vertices, faces, fraction=True)["slabcast, winding_number"]
    sides = {"slabcast, winding_number above 0.5": lambda points: number(points) > 0.5}
    return {**sides, **{k: ask for k, ask in sides_of(vertices, faces).items() if k != "slabcast, contains"}}


def medians(sides, points):
    """Best and median of each side, in ms, called in turn."""
    seconds = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, ask in sides.items():
            begun = time.perf_counter()
            ask(points)
            seconds[side].append(1e3 * (time.perf_counter() - begun))
    return {side: (min(each), statistics.median(each)) for side, each in seconds.items()}


def times(name, sides, points):
    want = next(iter(sides.values()))(points)
    differ = {side: int((np.asarray(ask(points)) != want).sum()) for side, ask in sides.items()}
    print(f"{name}, {len(points)} points")
    told = medians(sides, points)
    for side, (best, median) in told.items():
        ratio = median / told["slabcast, winding"][1]
        print(f"  {side:44} {best:9.1f} {median:9.1f} ms, x {ratio:7.2f}, {differ[side]} differ")


def rights(name, parts, beside, count):
    vertices = np.concatenate([v for v, _ in parts])
    before = np.cumsum([0] + [len(v) for v, _ in parts])
    faces = np.concatenate([f + np.uint32(n) for (_, f), n in zip(parts, before)])
    random = np.random.default_rng(2)
    points = (random.integers(-32, 9 * 32, (4 * count, 3)) / 32).astype(np.float32)
    if beside:
        points = vertices[random.integers(len(vertices), size=4 * count)]
        points[::2] += np.float32(1 / 32) * (random.integers(3, size=(2 * count, 1)) == np.arange(3))
        moved = np.nextafter(points, np.float32(np.inf) * random.choice(np.float32([-1, 1]), points.shape))
        points = np.where(random.random(points.shape) < 0.6, moved, points)
    inside, on = np.zeros(len(points), bool), np.zeros(len(points), bool)
    for v, _ in parts:
        lower, upper = v.min(axis=0), v.max(axis=0)
        within = ((points >= lower) & (points <= upper)).all(axis=1)
        strictly = ((points > lower) & (points < upper)).all(axis=1)
        inside |= strictly
        on |= within & ~strictly
    points, inside = points[~on][:count], inside[~on][:count]
    print(f"{name}, {len(faces)} triangles, {len(points)} points, {inside.mean():.0%} inside")
    for side, ask in sides_of(vertices, faces).items():
        print(f"  {side:44} {int((np.asarray(ask(points)) != inside).sum()):9} wrong")


def with_holes(vertices, faces, holes=12):
    """The faces that are left of a mesh with holes of 1 % to 3 % of its diagonal."""
    random = np.random.default_rng(5)
    diagonal = np.linalg.norm(vertices.max(axis=0) - vertices.min(axis=0))
    middles, kept = vertices[faces].mean(axis=1), np.ones(len(faces), bool)
    for middle in vertices[random.integers(len(vertices), size=holes)]:
        kept &= np.linalg.norm(middles - middle, axis=1) > 0.02 * diagonal * (0.5 + random.random())
    return faces[kept]


def exact_numbers(corners, points):
    """Sums of solid angles, by the tangents of their halves (Van Oosterom and Strackee 1983)."""
    numbers = []
    for point in points.astype(np.float64):
        a, b, c = (corners[:, k] - point for k in range(3))
        la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        across = (a * np.cross(b, c)).sum(axis=1)
        along = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
        numbers.append(np.arctan2(across, along).sum() / (2 * np.pi))
    return np.array(numbers)


def open_edges(faces):
    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    key = (ends << 32)[:, 0] | ends[:, 1]
    return int((~np.isin(key, (ends << 32)[:, 1] | ends[:, 0])).sum())


def fractions(name, vertices, faces, points):
    sides = {}
    for make in (of_slabcast, of_libigl):
        try:
            sides.update(make(vertices, faces, fraction=True))
        except ImportError as missing:
            print(f"{make.__name__}: {missing}")
    want = exact_numbers(vertices[faces].astype(np.float64), points[:1000])
    print(f"{name}, {len(points)} points")
    errors = {side: np.abs(np.asarray(ask(points))[:1000] - want) for side, ask in sides.items()}
    for (side, (best, median)), error in zip(medians(sides, points).items(), errors.values()):
        print(
            f"  {side:44} {best:9.1f} {median:9.1f} ms, off by {error.max():.1e} at most, {np.median(error):.1e} median"
        )


def holes(name, vertices, faces, opened, points):
    """Prints which sides still find the inside of the closed mesh when it has holes."""
    closed = slabcast.Scene("cpu")
    closed.add_mesh(vertices, faces)
    inside = closed.contains(points)
    print(f"{name}, {len(points)} points, {inside.mean():.0%} inside")
    for side, ask in sides_of_open(vertices, opened).items():
        print(f"  {side:44} {int((np.asarray(ask(points)) != inside).sum()):9} wrong")


def main():
    vertices, faces = read(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    _, points = points_of(vertices, faces, count)
    sides = sides_of(vertices, faces)
    for which, given in points.items():
        times(f"{sys.argv[1].rsplit('/', 1)[-1]}, {len(faces)} triangles, {which}", sides, given)
    opened = with_holes(vertices, faces)
    for which, given in points.items():
        name = f"{sys.argv[1].rsplit('/', 1)[-1]} with holes, {len(opened)} triangles, {open_edges(opened)} open edges"
        fractions(f"{name}, {which}", vertices, opened, given)
        holes(f"{name}, {which}", vertices, faces, opened, given)
    for beside, places in ((False, "points between vertices"), (True, "points beside vertices and edges")):
        rights(f"one box, {places}", [box(1.0)], beside, count)
        rights(f"two boxes that overlap, {places}", [box(1.0), box(3.0)], beside, count)


if __name__ == "__main__":
    main()
