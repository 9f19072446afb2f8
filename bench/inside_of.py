"""Inside or outside from Python: Slabcast beside Open3D, trimesh with embreex, pysdf and libigl, where they are
installed.

    python bench/inside_of.py MESH.obj [POINTS]

Time: the points of points.py about the mesh, which must be closed. Every side is asked in turn, five times after one
that is not counted; medians. "differ": of winding numbers and of signs of distances.

Right answers: boxes of 64 by 64 squares a side, whose vertices are multiples of 1/16. Points are at multiples of 1/32,
so that rays along axes go through edges and vertices; or at vertices and edges, with each coordinate moved by its last
place or not. None is on a surface. So whether a point is inside is known exactly. First one box, then two that overlap.
"""

import statistics
import sys
import time

import numpy as np
from points import points_of, read

import slabcast

ROUNDS = 5


def box(shift, cells=64, size=4.0):
    """A box from (shift) on, of cells x cells squares a side: vertices and triangles that face outward."""
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
    # one vertex a place, so that others see a closed mesh
    places, index = np.unique(np.concatenate(vertices), axis=0, return_inverse=True)
    return places.astype(np.float32), index.reshape(-1)[np.concatenate(faces)].astype(np.uint32)


def of_slabcast(vertices, faces):
    scene = slabcast.Scene("cpu")
    scene.add_mesh(vertices, faces)
    scene.commit()
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


def of_libigl(vertices, faces):
    import importlib.metadata

    import igl

    corners, triangles = vertices.astype(np.float64), faces.astype(np.int32)
    name = f"libigl {importlib.metadata.version('libigl')}, fast_winding_number"
    return {name: lambda points: igl.fast_winding_number(corners, triangles, points.astype(np.float64)) > 0.5}


def sides_of(vertices, faces):
    sides = {}
    for make in (of_slabcast, of_open3d, of_trimesh, of_pysdf, of_libigl):
        try:
            sides.update(make(vertices, faces))
        except ImportError as missing:
            print(f"{make.__name__}: {missing}")
    return sides


def times(name, sides, points):
    want = next(iter(sides.values()))(points)
    differ = {side: int((np.asarray(ask(points)) != want).sum()) for side, ask in sides.items()}
    seconds = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, ask in sides.items():
            begun = time.perf_counter()
            ask(points)
            seconds[side].append(time.perf_counter() - begun)
    own = statistics.median(seconds["slabcast, winding"])
    print(f"{name}, {len(points)} points")
    for side in sides:
        median = statistics.median(seconds[side])
        print(
            f"  {side:44} {1e3 * min(seconds[side]):9.1f} {1e3 * median:9.1f} ms, x {median / own:7.2f}, "
            f"{differ[side]} differ"
        )


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


def main():
    vertices, faces = read(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    _, points = points_of(vertices, faces, count)
    sides = sides_of(vertices, faces)
    for which, given in points.items():
        times(f"{sys.argv[1].rsplit('/', 1)[-1]}, {len(faces)} triangles, {which}", sides, given)
    for beside, places in ((False, "points between vertices"), (True, "points beside vertices and edges")):
        rights(f"one box, {places}", [box(1.0)], beside, count)
        rights(f"two boxes that overlap, {places}", [box(1.0), box(3.0)], beside, count)


if __name__ == "__main__":
    main()
