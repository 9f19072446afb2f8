#!/usr/bin/env python3
"""All hits of random rays at a mesh: slab_all against Open3D's RaycastingScene.list_intersections, which is Embree's.

    open3d_all.py LIBRARY MESH [RAYS [ROUNDS [AWAY]]]

LIBRARY: libslabcast.so; more than one, joined by commas, take turns too. MESH: a file, or soup:TRIANGLES:SIZE. Wants
numpy and open3d. Rays begin anywhere in the scene's box, AWAY times its size from where it is (default 0), and go
anywhere. All sides get the same rays and as many threads; they take turns, the first round warms up, and the numbers of
hits are printed. Processor time is for machines that are not quiet.
"""
import ctypes
import os
import statistics
import sys
import time

import numpy as np
import open3d as o3d

HIT = np.dtype([("t", "f4"), ("normal", "f4", 3), ("u", "f4"), ("v", "f4"), ("primitive", "u4"), ("geometry", "u4")])


class Mesh(ctypes.Structure):
    _fields_ = [("vertices", ctypes.c_void_p), ("vertex_stride", ctypes.c_size_t), ("vertex_count", ctypes.c_uint32),
                ("indices", ctypes.c_void_p), ("triangle_count", ctypes.c_uint32)]


class Options(ctypes.Structure):
    _fields_ = [("tree", ctypes.c_int), ("rest", ctypes.c_uint8 * 256)]


def read_mesh(name, random):
    if name.startswith("soup:"):
        _, count, size = name.split(":")
        corners = random.random((int(count), 1, 3)) + float(size) * (random.random((int(count), 3, 3)) - 0.5)
        vertices = corners.reshape(-1, 3)
        return vertices.astype("f4"), np.arange(len(vertices), dtype="u4").reshape(-1, 3)
    mesh = o3d.io.read_triangle_mesh(name)
    return np.asarray(mesh.vertices, "f4"), np.asarray(mesh.triangles, "u4")


def random_rays(vertices, count, random, away):
    lower, upper = vertices.min(0), vertices.max(0)
    rays = np.zeros((count, 8), "f4")
    rays[:, :3] = lower + random.random((count, 3)) * (upper - lower) + away * (upper - lower)
    direction = random.normal(size=(count, 3))
    rays[:, 4:7] = direction / np.linalg.norm(direction, axis=1)[:, None]
    rays[:, 7] = np.inf
    return rays


class Slabcast:
    def __init__(self, path, vertices, triangles, rays):
        self.lib = lib = ctypes.CDLL(os.path.abspath(path))
        self.name = path
        lib.slab_message.restype = ctypes.c_char_p
        self.context, self.scene = ctypes.c_void_p(), ctypes.c_void_p()
        mesh = Mesh(vertices.ctypes.data, 12, len(vertices), triangles.ctypes.data, len(triangles))
        options = Options(tree=3)
        self.must(lib.slab_context_create(None, ctypes.byref(self.context)))
        self.must(lib.slab_scene_create(self.context, ctypes.byref(self.scene)))
        self.must(lib.slab_scene_add_mesh(self.scene, ctypes.byref(mesh), None, None))
        self.must(lib.slab_scene_commit(self.scene, ctypes.byref(options)))
        self.rays, self.offsets = rays, np.zeros(len(rays) + 1, "u8")
        self.hits = np.zeros(self.list(0) + 1, HIT)

    def must(self, status):
        if status != 0:
            sys.exit(self.lib.slab_message().decode())

    def list(self, capacity):
        data = self.hits.ctypes.data if capacity else None
        required = ctypes.c_uint64()
        self.must(self.lib.slab_all(self.scene, ctypes.c_void_p(self.rays.ctypes.data), ctypes.c_size_t(len(self.rays)),
                                    ctypes.c_void_p(self.offsets.ctypes.data), ctypes.c_void_p(data),
                                    ctypes.c_uint64(capacity), ctypes.byref(required), None))
        return required.value

    def run(self):
        return self.list(len(self.hits))


class Counting:
    """What capacity 0 takes: one of the two passes."""

    def __init__(self, slabcast):
        self.name, self.slabcast = slabcast.name + ", counts alone", slabcast

    def run(self):
        return self.slabcast.list(0)


class Open3D:
    name = "Open3D"

    def __init__(self, vertices, triangles, rays):
        self.scene = o3d.t.geometry.RaycastingScene(nthreads=os.cpu_count())
        self.scene.add_triangles(o3d.core.Tensor(vertices), o3d.core.Tensor(triangles))
        self.rays = o3d.core.Tensor(np.concatenate([rays[:, :3], rays[:, 4:7]], 1))

    def run(self):
        return self.scene.list_intersections(self.rays)["t_hit"].shape[0]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    libraries, name = sys.argv[1].split(","), sys.argv[2]
    count = int(float(sys.argv[3])) if len(sys.argv) > 3 else 1000000
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    away = float(sys.argv[5]) if len(sys.argv) > 5 else 0.0
    random = np.random.default_rng(20260711)
    vertices, triangles = read_mesh(name, random)
    rays = random_rays(vertices, count, random, away)
    sides = [Slabcast(path, vertices, triangles, rays) for path in libraries]
    sides += [Counting(sides[-1]), Open3D(vertices, triangles, rays)]
    seconds, processor, hits = [[] for _ in sides], [[] for _ in sides], [0] * len(sides)
    for turn in range(rounds + 1):
        for i, side in enumerate(sides):
            begin, begun = time.perf_counter(), time.process_time()
            hits[i] = side.run()
            if turn > 0:
                seconds[i].append(time.perf_counter() - begin)
                processor[i].append(time.process_time() - begun)
    medians, spent = [statistics.median(s) for s in seconds], [statistics.median(s) for s in processor]
    print(f"{name}, {len(triangles)} triangles, {count} rays, {rounds} rounds in turns, {os.cpu_count()} threads")
    print("wall: median, least, part of Open3D's; processor, of all threads: median, least, part; hits a ray")
    for i, side in enumerate(sides):
        print(f"{1e3 * medians[i]:8.1f} {1e3 * min(seconds[i]):8.1f} {medians[i] / medians[-1]:5.2f}   "
              f"{1e3 * spent[i]:8.1f} {1e3 * min(processor[i]):8.1f} {spent[i] / spent[-1]:5.2f}   "
              f"{hits[i] / count:8.4f}  {side.name}")
    same = all(np.array_equal(s.hits[:-1].view("u4"), sides[0].hits[:-1].view("u4")) and
               np.array_equal(s.offsets, sides[0].offsets) for s in sides[:len(libraries)])
    print("the libraries' hits are the same bytes" if same else "the libraries' hits DIFFER")


main()
