"""A LiDAR sweep to a labelled point cloud: a sensor with many beams drives down a street, or stands around a mesh.

    python lidar.py sweep.ply                      a street that is made here
    python lidar.py sweep.ply --mesh model.obj     a mesh, which trimesh reads

Each point of the PLY file has the id of the geometry that it lies on. For the street, LABELS names the ids.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import slabcast

Floats = NDArray[np.float32]
LABELS = ("ground", "houses", "cars", "trunks", "crowns")
LENGTH, REACH = 160, 100  # of the street and of the sensor, in metres


def house(x: float, y: float, width: float, depth: float, eaves: float, ridge: float) -> Floats:
    """Triangles (14, 3, 3): four walls, two gables and a roof with its ridge along x."""
    a, b, c, d = ((x, y), (x + width, y), (x + width, y + depth), (x, y + depth))
    ridges = [(x, y + depth / 2, ridge), (x + width, y + depth / 2, ridge)]
    low, high = [[(*corner, z) for corner in (a, b, c, d)] for z in (0, eaves)]
    quads = [(low[i], low[i - 3], high[i - 3], high[i]) for i in range(4)]
    quads += [(high[0], high[1], ridges[1], ridges[0]), (high[2], high[3], ridges[0], ridges[1])]
    triangles = [(p, q, r) for p, q, r, _ in quads] + [(p, r, s) for p, _, r, s in quads]
    triangles += [(high[3], high[0], ridges[0]), (high[1], high[2], ridges[1])]
    return np.array(triangles, np.float32)


def along_kerbs(rng: np.random.Generator, apart: int, away: float) -> Floats:
    """Places (n, 3) on the ground at both sides of the street, so far from its middle."""
    x, side = np.meshgrid(np.arange(apart / 2, LENGTH, apart), [-1.0, 1.0])
    x += rng.uniform(-1, 1, x.shape)
    return np.stack([x, away * side, 0 * x], axis=-1).reshape(-1, 3).astype(np.float32)


def add_street(scene: slabcast.Scene) -> None:
    """Adds the geometries of LABELS, in this order; the street runs along x."""
    rng = np.random.default_rng(7)
    scene.add_planes([0, 0, 1], 0)

    houses = []
    for side in (-1, 1):
        x = -8.0
        while x < LENGTH + 8:
            width, eaves = rng.uniform(8, 15), rng.uniform(5, 12)
            front = rng.uniform(9.5, 12)
            houses.append(house(x, front if side > 0 else -front - 11, width, 11, eaves, eaves + rng.uniform(2, 4)))
            x += width + (0 if rng.random() < 0.6 else rng.uniform(2, 5))
    scene.add_mesh(np.concatenate(houses).reshape(-1, 3))

    # Cars at both kerbs: a body, and a shorter cabin on it.
    cars = along_kerbs(rng, 8, 4.2)[rng.random(2 * LENGTH // 8) < 0.7]
    parts = np.array([[[-2.2, -0.9, 0.25], [2.2, 0.9, 0.95]], [[-1.3, -0.8, 0.95], [1.0, 0.8, 1.5]]], np.float32)
    scene.add_boxes(cars[:, None] + parts[:, 0], cars[:, None] + parts[:, 1])

    # Trees behind them: a trunk, and a crown of five spheres.
    trees = along_kerbs(rng, 16, 6.6)
    trunk = np.array([0.18, 0.18, 0], np.float32)
    scene.add_boxes(trees - trunk, trees + trunk + np.array([0, 0, 4], np.float32))
    crowns = trees[:, None] + rng.normal([0, 0, 5], [0.8, 0.8, 0.7], (len(trees), 5, 3)).astype(np.float32)
    scene.add_spheres(crowns, rng.uniform(0.9, 1.5, crowns.shape[:2]).astype(np.float32))


def add_file(scene: slabcast.Scene, path: str) -> Floats:
    """Adds a mesh, and returns places around it from which all of it is in reach."""
    import trimesh

    mesh = trimesh.load_mesh(path)
    scene.add_mesh(mesh.vertices.astype(np.float32), mesh.faces)
    center, radius = mesh.bounds.mean(axis=0), np.linalg.norm(mesh.extents) / 2
    angle = np.arange(4) * np.pi / 2
    around = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    return np.asarray(center + 1.5 * radius * around, np.float32)


def beams(rows: int, columns: int) -> Floats:
    """Unit directions (rows, columns, 3): a full turn about z, 45 degrees high."""
    up = np.radians(np.linspace(22.5, -22.5, rows))[:, None]
    around = np.linspace(0, 2 * np.pi, columns, endpoint=False)[None, :]
    shape = np.broadcast_shapes(up.shape, around.shape)
    parts = np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.broadcast_to(np.sin(up), shape)
    return np.stack(parts, axis=-1).astype(np.float32)


def sweep(scene: slabcast.Scene, stops: Floats, directions: Floats, reach: float, noise: float) -> NDArray[np.void]:
    """The points that the sensor sees from each stop (n, 3): rows of x, y, z and label."""
    hits = scene.nearest(stops[:, None, None], directions, t_max=reach)
    # The sensor's error lies along the beam.
    t = hits["t"] + np.random.default_rng(1).normal(0, noise, hits.shape)
    with np.errstate(invalid="ignore"):  # of misses, whose t is infinite
        points = stops[:, None, None] + t[..., None] * directions
    is_hit = slabcast.is_hit(hits)
    rows = np.empty(np.count_nonzero(is_hit), [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("label", "u1")])
    for axis, name in enumerate("xyz"):
        rows[name] = points[is_hit, axis]
    rows["label"] = hits["geometry"][is_hit]
    return rows


def write_ply(path: str, rows: NDArray[np.void]) -> None:
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(rows)}\n"
    header += "property float x\nproperty float y\nproperty float z\nproperty uchar label\nend_header\n"
    with open(path, "wb") as file:
        file.write(header.encode() + rows.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ply", help="the file to write")
    parser.add_argument("--mesh", help="a file that trimesh reads; else the street")
    parser.add_argument("--beams", type=int, default=64)
    parser.add_argument("--steps", type=int, default=2048, help="of one turn")
    parser.add_argument("--stops", type=int, default=12, help="turns along the street")
    parser.add_argument("--noise", type=float, default=0.01, help="standard deviation of a distance")
    args = parser.parse_args()

    scene = slabcast.Scene()
    if args.mesh:
        stops, reach = add_file(scene, args.mesh), np.inf
    else:
        add_street(scene)
        x = np.linspace(0, LENGTH, args.stops)
        stops, reach = np.stack([x, 0 * x, 0 * x + 1.9], axis=-1).astype(np.float32), REACH
    rows = sweep(scene, stops, beams(args.beams, args.steps), reach, args.noise)
    write_ply(args.ply, rows)
    print(f"{len(stops) * args.beams * args.steps} beams, {len(rows)} points in {args.ply}")
    for label in np.unique(rows["label"]):
        print(f"{np.count_nonzero(rows['label'] == label):9d} on {'the mesh' if args.mesh else LABELS[label]}")


if __name__ == "__main__":
    main()
