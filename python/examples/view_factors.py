"""View factors: the share of the light that leaves one square and arrives at another, as radiation of heat asks.

    python view_factors.py shares.npy
    python view_factors.py shares.npy --points 65536 --rays 1024

Two pairs of unit squares: face to face at distance 1, and at right angles with an edge in common. From random points of
the first square rays go out, spread as the cosine; the share of all of them that meets the second one is the view
factor. The points' spread gives its error: sigma is their standard deviation over the root of their number. For that
each point has a frame of its own, turned by chance about its normal. Unturned directions would give all points one
error, which no spread shows. Their elevations stay the same, whose error of 0.00004 for 256 rays is small beside sigma.
Sizes: 4096 points of each pair, with 256 rays each, of which none is stored.

Reference: closed forms, which J. R. Howell's catalog of configuration factors has as C-11 and C-14. The program exits
with 0 only where both pairs are within 3 sigma of them.

shares.npy has a row of points for each pair: the share of a point's rays that arrive.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

import slabcast
from slabcast import RaySet, tables

Floats = NDArray[np.float32]
# The second square of each pair: a corner, and two edges from there. The first is from 0 to 1 in x and y.
PAIRS = {"face to face": [[0, 0, 1], [1, 0, 0], [0, 1, 0]], "at right angles": [[0, 0, 0], [0, 1, 0], [0, 0, 1]]}


def known(pair: str) -> float:
    """The closed form of a pair of unit squares."""
    if pair == "face to face":
        root = np.sqrt(2)
        terms = np.log(2 / np.sqrt(3)) + 2 * root * np.arctan(1 / root) - 2 * np.arctan(1)
        return float(2 / np.pi * terms)
    terms = 2 * np.arctan(1) - np.sqrt(2) * np.arctan(1 / np.sqrt(2)) + np.log(3 / 4) / 4
    return float(terms / np.pi)


def square(corner: Floats, first: Floats, second: Floats) -> slabcast.Scene:
    """A scene of one square."""
    scene = slabcast.Scene()
    corners = np.stack([corner, corner + first, corner + first + second, corner + second])
    scene.add_mesh(corners, [[0, 1, 2], [0, 2, 3]])
    return scene


def frames(points: int, seed: int, turned: bool = True) -> Floats:
    """Random points of the first square as poses (points, 3, 4): z is the normal, x and y are turned about it."""
    rng = np.random.default_rng(seed)
    poses = np.zeros((points, 3, 4), np.float32)
    poses[:, :, :3] = np.eye(3)
    poses[:, :2, 3] = rng.random((points, 2), np.float32)
    return tables.spun_poses(poses, 360 * rng.random(points, np.float32)) if turned else poses


def shares(scene: slabcast.Scene, poses: Floats, rays: int) -> NDArray[np.float64]:
    """The share of each point's rays that meets the scene. No ray is stored: a set describes them."""
    directions = tables.hemisphere(rays, cosine=True)
    beams = np.concatenate([np.zeros_like(directions), directions], axis=1)
    sums = scene.sums(RaySet.beams(poses, beams), query="any")
    return sums.hits / sums.rays


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("npy", help="the file to write")
    parser.add_argument("--points", type=int, default=4096, help="of each pair")
    parser.add_argument("--rays", type=int, default=256, help="of each point")
    parser.add_argument("--seed", type=int, default=1, help="of points and turns")
    args = parser.parse_args()

    rows, all_right = [], True
    for number, (pair, edges) in enumerate(PAIRS.items()):
        poses = frames(args.points, args.seed + 1000 * number)
        row = shares(square(*np.array(edges, np.float32)), poses, args.rays)
        factor, sigma = row.mean(), row.std(ddof=1) / np.sqrt(args.points)
        away = (factor - known(pair)) / sigma
        print(f"{pair}: {factor:.5f} +- {sigma:.5f}, closed form {known(pair):.6f}: {away:+.2f} sigma")
        all_right &= bool(abs(away) < 3)
        rows.append(row)
    np.save(args.npy, np.stack(rows))
    sys.exit(0 if all_right else "a view factor is not within 3 sigma")


if __name__ == "__main__":
    main()
