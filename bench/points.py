"""Closest points from Python: Slabcast beside Open3D's RaycastingScene and fcpw, where they are installed.

    python bench/points.py MESH.obj [POINTS]

Random points in 1.2 times the bounds, and points of the surface off by 1 % of the diagonal. Every side is called in
turn, seven times after one that is not counted. Printed are the medians, and how many distances are off by 1e-5 of the
diagonal.
"""

import statistics
import sys
import time

import numpy as np

import slabcast


def read(path):
    """Vertices and triangles of an OBJ file of triangles."""
    vertices, faces = [], []
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(x) for x in words[1:4]])
        if words[:1] == ["f"]:
            faces.append([int(word.split("/")[0]) - 1 for word in words[1:4]])
    return np.array(vertices, np.float32), np.array(faces, np.uint32)


def points_of(vertices, faces, count):
    random = np.random.default_rng(1)
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    diagonal = float(np.linalg.norm(upper - lower))
    anywhere = lower + (1.2 * random.random((count, 3)) - 0.1) * (upper - lower)
    weights = random.dirichlet((1, 1, 1), count)[..., None]
    near = (vertices[faces[random.integers(len(faces), size=count)]] * weights).sum(axis=1)
    near += 0.01 * diagonal * random.normal(size=(count, 3))
    return diagonal, {"random": anywhere.astype(np.float32), "near": near.astype(np.float32)}


def of_slabcast(vertices, faces):
    scene = slabcast.Scene("cpu")
    scene.add_mesh(vertices, faces)
    scene.commit()
    return f"slabcast {slabcast.__version__}, closest_points", lambda points: scene.closest_points(points).distance


def of_open3d(vertices, faces):
    import open3d

    scene = open3d.t.geometry.RaycastingScene()
    scene.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(faces))

    def ask(points):
        found = scene.compute_closest_points(open3d.core.Tensor(points))["points"].numpy()
        return np.linalg.norm(found - points, axis=1)

    return f"Open3D {open3d.__version__}, compute_closest_points", ask


def of_fcpw(vertices, faces):
    import importlib.metadata

    import fcpw

    scene = fcpw.scene_3D()
    scene.set_object_count(1)
    scene.set_object_vertices(vertices, 0)
    scene.set_object_triangles(faces.astype(np.int32), 0)
    scene.build(fcpw.aggregate_type.bvh_surface_area, True)

    def ask(points):
        found = fcpw.interaction_3D_list()
        scene.find_closest_points(points, np.full(len(points), np.inf, np.float32), found)
        return np.array([each.d for each in found], np.float32)

    def timed(points):  # without the list of Python's objects
        found = fcpw.interaction_3D_list()
        scene.find_closest_points(points, np.full(len(points), np.inf, np.float32), found)

    return f"fcpw {importlib.metadata.version('fcpw')}, find_closest_points, vectorised", ask, timed


def main():
    vertices, faces = read(sys.argv[1])
    diagonal, points = points_of(vertices, faces, int(sys.argv[2]) if len(sys.argv) > 2 else 1000000)
    sides = []
    for make in (of_slabcast, of_open3d, of_fcpw):
        try:
            sides.append(make(vertices, faces))
        except ImportError as missing:
            print(f"{make.__name__}: {missing}")
    for which, given in points.items():
        want, times = None, [[] for _ in sides]
        off = []
        for _, ask, *_ in sides:
            distance = ask(given)
            want = distance if want is None else want
            off.append(int((np.abs(distance - want) > 1e-5 * diagonal).sum()))
        for _ in range(7):
            for seconds, (_, ask, *timed) in zip(times, sides):
                begun = time.perf_counter()
                (timed[0] if timed else ask)(given)
                seconds.append(time.perf_counter() - begun)
        own = statistics.median(times[0])
        print(f"{sys.argv[1].rsplit('/', 1)[-1]}, {which}, {len(given)} points")
        for (name, *_), seconds, wrong in zip(sides, times, off):
            median = statistics.median(seconds)
            print(f"  {name:48} {1e3 * min(seconds):9.1f} {1e3 * median:9.1f} ms, x {median / own:6.2f}, {wrong} apart")


if __name__ == "__main__":
    main()
