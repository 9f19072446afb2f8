#!/usr/bin/env python3
"""The package slabcast beside Open3D's RaycastingScene, and trimesh with embreex: ./dev bench python [OPTION...].

All sides get the same mesh, the same rays and as many threads, and take turns; their answers are compared. A ratio is
the time of the other side by ours, of medians and of the best: above 1 ours is faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import open3d
import trimesh

import slabcast
import slabcast.trimesh

FIRST_ANSWER = """
import numpy, time
begin = time.perf_counter()
import slabcast
scene = slabcast.Scene()
scene.add_mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
assert scene.closest([0.25, 0.25, 1], [0, 0, -1])["t"] == 1
print(time.perf_counter() - begin)
"""


def torus(around, along):
    """A closed mesh with shared vertices: (n, 3) float32 in multiples of 2^-12, and (m, 3) uint32."""
    i, j = np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    a, b = 2 * np.pi * i / around, 2 * np.pi * j / along
    tube = 0.75 + 0.125 * np.sin(7 * a) * np.cos(5 * b)
    points = np.stack(
        [(2 + tube * np.cos(b)) * np.cos(a), (2 + tube * np.cos(b)) * np.sin(a), tube * np.sin(b)], axis=-1
    )

    def number(i, j):
        return (i % around) * along + j % along

    corners = [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)]
    triangles = np.concatenate(
        [np.stack([corners[k] for k in which], axis=-1).reshape(-1, 3) for which in ((0, 1, 2), (0, 2, 3))]
    )
    return (np.round(points.reshape(-1, 3) * 4096) / 4096).astype("f4"), triangles.astype("u4")


def random_rays(vertices, count, random):
    """From anywhere in the mesh's box in any direction: (count, 8) float32."""
    lower, upper = vertices.min(0), vertices.max(0)
    rays = np.zeros((count, 8), "f4")
    rays[:, :3] = lower + random.random((count, 3)) * (upper - lower)
    directions = random.normal(size=(count, 3))
    rays[:, 4:7] = directions / np.linalg.norm(directions, axis=1)[:, None]
    rays[:, 7] = np.inf
    return rays


def camera_rays(vertices, count):
    """Rows of pixels of a camera that sees the whole mesh: (side * side, 8) float32."""
    side = int(count**0.5)
    lower, upper = vertices.min(0), vertices.max(0)
    center, size = (lower + upper) / 2, np.linalg.norm(upper - lower)
    rays = np.zeros((side, side, 8), "f4")
    given = slabcast_pinhole(45, center, center + size * np.array([0.6, 0.5, 1.0]), side)
    rays[..., :3], rays[..., 4:7], rays[..., 7] = given[..., :3], given[..., 3:], np.inf
    return rays.reshape(-1, 8)


def slabcast_pinhole(field, center, eye, side):
    return open3d.t.geometry.RaycastingScene.create_rays_pinhole(
        field, list(map(float, center)), list(map(float, eye)), [0.0, 1.0, 0.0], side, side
    ).numpy()


def aimed_rays(vertices, triangles, count, random):
    """From far outside exactly at vertices, middles of edges and beyond: all coordinates are small dyadic numbers, so
    the directions are exact. (count, 8) float32."""
    corner = triangles[random.integers(len(triangles), size=count)]
    a, b = vertices[corner[:, 0]], vertices[corner[:, 1]]
    target = np.where(random.random((count, 1)) < 0.5, a, (a + b) / 2)
    rays = np.zeros((count, 8), "f4")
    rays[:, :3] = np.round(random.normal(size=(count, 3)) * 256) / 64
    rays[:, :3][np.linalg.norm(rays[:, :3], axis=1) < 4] = [8, 0.5, 0.25]
    rays[:, 4:7] = target - rays[:, :3]
    rays[:, 7] = np.inf
    return rays


class Table:
    def __init__(self, rounds):
        self.rounds = rounds
        print(f"{'':34}{'ours, ms':>10}{'best':>9}{'theirs':>10}{'best':>9}{'ratio':>8}{'of best':>8}  answers")

    def row(self, name, ours, theirs, agree, repeat=1):
        """Both sides in turns; the first round warms up and is compared. repeat: calls in one measurement."""
        told = agree(ours(), theirs())
        seconds = [[], []]
        for turn in range(2 * self.rounds):
            side = turn % 2
            begin = time.perf_counter()
            for _ in range(repeat):
                (ours, theirs)[side]()
            seconds[side].append((time.perf_counter() - begin) / repeat)
        medians, best = [statistics.median(s) for s in seconds], [min(s) for s in seconds]
        print(
            f"{name:34}{1e3 * medians[0]:10.3f}{1e3 * best[0]:9.3f}{1e3 * medians[1]:10.3f}{1e3 * best[1]:9.3f}"
            f"{medians[1] / medians[0]:8.2f}{best[1] / best[0]:8.2f}  {told}",
            flush=True,
        )


def share(equal):
    return f"{100 * np.mean(equal):.3f} % equal"


def beside_open3d(table, name, vertices, triangles, rays):
    """Each query of Scene on (n, 8) arrays, and Open3D's on tensors of (n, 6)."""
    scene = slabcast.Scene(build="high")
    scene.add_mesh(vertices, triangles)
    other = open3d.t.geometry.RaycastingScene(nthreads=os.cpu_count())
    other.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(triangles))
    given = open3d.core.Tensor(np.concatenate([rays[:, :3], rays[:, 4:7]], axis=1))
    table.row(
        f"first hit, {name}",
        lambda: scene.closest(rays),
        lambda: other.cast_rays(given),
        lambda a, b: share(a["primitive"] == b["primitive_ids"].numpy()),
    )
    table.row(
        f"any, {name}",
        lambda: scene.any(rays),
        lambda: other.test_occlusions(given),
        lambda a, b: share(a == b.numpy()),
    )
    table.row(
        f"count, {name}",
        lambda: scene.count(rays),
        lambda: other.count_intersections(given),
        lambda a, b: share(a == b.numpy()),
    )
    table.row(
        f"all hits, {name}",
        lambda: scene.all(rays),
        lambda: other.list_intersections(given),
        lambda a, b: share(a.offsets == b["ray_splits"].numpy()) + f", {len(a.hits) / len(rays):.2f} a ray",
    )


def beside_trimesh(table, name, mesh, rays):
    ours, theirs = slabcast.trimesh.RayMeshIntersector(mesh), trimesh.ray.ray_pyembree.RayMeshIntersector(mesh)
    origins, directions = rays[:, :3].astype("f8"), rays[:, 4:7].astype("f8")
    table.row(
        f"trimesh first, {name}",
        lambda: ours.intersects_first(origins, directions),
        lambda: theirs.intersects_first(origins, directions),
        lambda a, b: share(a == b),
    )


def contains(table, mesh, count, random):
    ours, theirs = slabcast.trimesh.RayMeshIntersector(mesh), trimesh.ray.ray_pyembree.RayMeshIntersector(mesh)
    points = mesh.bounds[0] + random.random((count, 3)) * mesh.extents
    table.row(
        f"trimesh contains, {count} points",
        lambda: ours.contains_points(points),
        lambda: theirs.contains_points(points),
        lambda a, b: share(a == b),
    )


def one_ray(table, vertices, triangles, rays):
    scene = slabcast.Scene()
    scene.add_mesh(vertices, triangles)
    other = open3d.t.geometry.RaycastingScene()
    other.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(triangles))
    ray, given = rays[:1].copy(), open3d.core.Tensor(np.concatenate([rays[:1, :3], rays[:1, 4:7]], axis=1))
    table.row(
        "one ray a call",
        lambda: scene.closest(ray),
        lambda: other.cast_rays(given),
        lambda a, b: share(a["primitive"] == b["primitive_ids"].numpy()),
        repeat=2000,
    )


def first_answer(rounds):
    seconds = [
        float(subprocess.run([sys.executable, "-c", FIRST_ANSWER], check=True, capture_output=True).stdout)
        for _ in range(rounds)
    ]
    print(f"import to first answer: {statistics.median(seconds):.3f} s, best {min(seconds):.3f}, numpy's import apart")


def parity(count, random):
    """Rays that are aimed at vertices and edges of a closed mesh, from outside: odd counts are wrong."""
    vertices, triangles = torus(160, 80)
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    scene = slabcast.Scene()
    scene.add_mesh(vertices, triangles)
    other = open3d.t.geometry.RaycastingScene()
    other.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(triangles))
    third = trimesh.ray.ray_pyembree.RayMeshIntersector(mesh)
    wrong, cast = [0, 0, 0], [0, 0, 0]
    for begin in range(0, count, 1 << 20):
        rays = aimed_rays(vertices, triangles, min(count - begin, 1 << 20), random)
        wrong[0] += int((scene.count(rays) & 1).sum())
        cast[0] += len(rays)
        if begin > 0:
            continue
        few = rays[:100000]
        given = open3d.core.Tensor(np.concatenate([few[:, :3], few[:, 4:7]], axis=1))
        wrong[1] += int((other.count_intersections(given).numpy() & 1).sum())
        cast[1] += len(few)
        few = rays[:20000].astype("f8")
        hit = third.intersects_id(few[:, :3], few[:, 4:7])[1]
        wrong[2] += int((np.bincount(hit, minlength=len(few)) & 1).sum())
        cast[2] += len(few)
    for name, odd, all_of in zip(("slabcast", "Open3D", "trimesh with embreex"), wrong, cast):
        print(f"aimed rays with a wrong parity, {name}: {odd:,} of {all_of:,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mesh", help="a closed mesh; default: a torus of 102,400 triangles")
    parser.add_argument("--rays", type=int, default=1000000)
    parser.add_argument("--points", type=int, default=100000)
    parser.add_argument("--aimed", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    random = np.random.default_rng(20260711)
    if options.mesh is None:
        vertices, triangles = torus(320, 160)
    else:
        mesh = trimesh.load(options.mesh, process=False, force="mesh")
        vertices, triangles = np.array(mesh.vertices, "f4"), np.array(mesh.faces, "u4")
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    print(
        f"slabcast {slabcast.__version__}, Open3D {open3d.__version__}, trimesh {trimesh.__version__}; "
        f"{options.mesh or 'a torus'}, {len(triangles):,} triangles, {options.rays:,} rays, {os.cpu_count()} threads, "
        f"{options.rounds} rounds in turns, load {os.getloadavg()[0]:.1f}; {slabcast.devices()[0].version}"
    )
    table = Table(options.rounds)
    sets = {"random": random_rays(vertices, options.rays, random), "camera": camera_rays(vertices, options.rays)}
    for name, rays in sets.items():
        beside_open3d(table, name, vertices, triangles, rays)
    for name, rays in sets.items():
        beside_trimesh(table, name, mesh, rays)
    contains(table, mesh, options.points, random)
    one_ray(table, vertices, triangles, sets["camera"])
    first_answer(options.rounds)
    parity(options.aimed, random)


main()
