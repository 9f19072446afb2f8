"""How much of the sky roofs see, as whoever places solar panels or plants asks.

    python sky_exposure.py roofs.npy                    a town that is made here
    python sky_exposure.py roofs.npy --mesh town.obj    a mesh in metres with z upward, which trimesh reads

The exposure of a point is the share of an even sky's light that arrives there, against a level place in the open. The
file roofs.npy has a row for each place on a roof: building, x, y, z, exposure.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import slabcast

Floats = NDArray[np.float32]
BLOCK = 1 << 12  # places whose rays are in memory at once
# A building: corners of the ground 0 to 3, of the eaves 4 to 7, and the ends of the ridge 8 and 9.
WALLS = [(0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7), (0, 3, 2), (0, 2, 1)]
ROOF = [(4, 5, 9), (4, 9, 8), (5, 6, 9), (6, 7, 8), (6, 8, 9), (7, 4, 8)]


def town(blocks: int) -> Floats:
    """Buildings (n, 10, 3) in blocks of nine lots, higher towards the middle, with flat roofs or hipped ones."""
    rng = np.random.default_rng(3)
    lots = np.stack(np.meshgrid(np.arange(3 * blocks), np.arange(3 * blocks), indexing="ij"), axis=-1).reshape(-1, 2)
    corner = 18.0 * lots + 14.0 * (lots // 3)  # streets of 14 m around each block
    n, size = len(lots), 18 - rng.uniform(1, 5, lots.shape)
    extent = 18.0 * 3 * blocks + 14.0 * (blocks - 1)
    middle = np.exp(-3.5 * ((corner + 9 - extent / 2) ** 2).sum(axis=-1) / extent**2 * 4)
    eaves = rng.uniform(6, 11, n) + middle * rng.gamma(2.0, 8.0, n)
    ridge = eaves + np.where((eaves < 16) & (rng.random(n) < 0.8), rng.uniform(3, 5.5, n), 0)

    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    plan = np.concatenate([square, square, [[0.3, 0.5], [0.7, 0.5]]])
    xy = corner[:, None] + size[:, None] * plan
    # The ridge runs along the longer side, so the others take a quarter turn.
    turned, quarter = size[:, 1] > size[:, 0], np.stack([1 - plan[:, 1], plan[:, 0]], axis=-1)
    xy[turned] = corner[turned, None] + size[turned, None] * quarter
    z = np.concatenate([np.zeros((n, 4)), np.repeat(eaves[:, None], 4, 1), np.repeat(ridge[:, None], 2, 1)], axis=1)
    return np.concatenate([xy - extent / 2, z[..., None]], axis=-1).astype(np.float32)


def roofs(scene: slabcast.Scene, spacing: float, lowest: float) -> tuple[Floats, NDArray[np.void]]:
    """Hits of rays from above, without walls and places below `lowest`: places (n, 3) and hits."""
    lower, upper = (np.array(bound) for bound in (scene.info.lower, scene.info.upper))
    x, y = (np.arange(lower[k] + spacing / 2, upper[k], spacing) for k in (0, 1))
    above = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((len(x), len(y)), upper[2] + 1)], axis=-1)
    above = above.reshape(-1, 3).astype(np.float32)
    hits = scene.closest(above, np.array([0, 0, -1], np.float32), face_forward=True)
    places = above.copy()
    places[:, 2] -= hits["t"]  # of a miss -inf
    is_roof = (hits["normal"][:, 2] > 0.3) & (places[:, 2] > lowest)
    return places[is_roof], hits[is_roof]


def disc(count: int) -> Floats:
    """Points spread evenly over the unit disc. Lifted to the hemisphere they are directions as dense as the cosine, so
    that each carries the same share of the light."""
    k = np.arange(count) + 0.5
    radius, angle = np.sqrt(k / count), k * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).astype(np.float32)


def exposure(scene: slabcast.Scene, places: Floats, hits: NDArray[np.void], count: int) -> Floats:
    """The share of `count` rays from each place that leave upward and meet nothing."""
    rng, spread = np.random.default_rng(4), disc(count)
    shares = np.empty(len(places), np.float32)
    for begin in range(0, len(places), BLOCK):
        part = slice(begin, begin + BLOCK)
        normal = hits["normal"][part]
        # Two axes across each normal, turned by chance: else all places would have the same error.
        side = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [[1, 0, 0]], [[0, 1, 0]]))
        side /= np.linalg.norm(side, axis=-1, keepdims=True)
        other, turn = np.cross(normal, side), rng.uniform(0, 2 * np.pi, (len(normal), 1))
        first = np.cos(turn) * side + np.sin(turn) * other
        second = np.cos(turn) * other - np.sin(turn) * side
        lift = np.sqrt(1 - (spread**2).sum(axis=-1))[:, None]
        rays = spread[:, :1] * first[:, None] + spread[:, 1:] * second[:, None] + lift * normal[:, None]
        rays = rays.astype(np.float32)
        # A ray does not see the triangle that it leaves, nor at its edge the next one.
        own = np.repeat(hits[part, None], count, axis=1)
        is_dark = scene.any(places[part, None], rays, t_min=1e-3, skip=own) | (rays[..., 2] <= 0)
        shares[part] = 1 - is_dark.mean(axis=-1)
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("npy", help="the file to write")
    parser.add_argument("--mesh", help="a file that trimesh reads; else the town")
    parser.add_argument("--blocks", type=int, default=5, help="of the town, along each side")
    parser.add_argument("--spacing", type=float, default=1.0, help="of places on roofs, in metres")
    parser.add_argument("--rays", type=int, default=256, help="of each place")
    parser.add_argument("--lowest", type=float, default=2.5, help="height below which nothing is a roof")
    args = parser.parse_args()

    scene = slabcast.Scene()
    if args.mesh:
        import trimesh

        mesh = trimesh.load_mesh(args.mesh)
        scene.add_mesh(mesh.vertices.astype(np.float32), mesh.faces)
    else:
        for corners in town(args.blocks):  # a geometry each, so that a hit's id is its building
            scene.add_mesh(corners, WALLS + ROOF)
    places, hits = roofs(scene, args.spacing, args.lowest)
    shares = exposure(scene, places, hits, args.rays)

    rows = np.empty(len(places), [("building", "u4"), ("x", "f4"), ("y", "f4"), ("z", "f4"), ("exposure", "f4")])
    rows["building"], rows["x"], rows["y"], rows["z"], rows["exposure"] = hits["geometry"], *places.T, shares
    np.save(args.npy, rows)
    print(f"{len(places)} places on roofs, {len(places) * args.rays} rays")
    buildings, which, held = np.unique(rows["building"], return_inverse=True, return_counts=True)
    mean = np.bincount(which, shares) / held
    for k in np.argsort(-mean)[:5]:
        print(f"building {buildings[k]}: {held[k] * args.spacing**2:.0f} m2 see {100 * mean[k]:.1f} % of the sky")


if __name__ == "__main__":
    main()
