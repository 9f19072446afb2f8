"""A thousand legged robots walk over one terrain, each in a world of its own, and scan it:

    python legged_robots.py scans.npz [ROBOTS [FRAMES]]

A robot sees the terrain, and the crates of its world. Masks hide its own body from it, and worlds all other robots."""

import sys
import time

import numpy as np
from numpy.typing import NDArray

import slabcast

Floats = NDArray[np.float64]
SIZE, SEEN, BODY = 64, 1, 2  # of the terrain, in metres; masks
# Beams of a robot: 17 x 11 downward from 2 m above it, 0.1 m apart; then a LiDAR's on its back, 15 rows of 90.
DOWN = [(x / 10, y / 10, 2, 0, 0, -1) for x in range(-8, 9) for y in range(-5, 6)]
TURNS = [(np.radians(up), np.radians(turn)) for up in range(-45, 15, 4) for turn in range(0, 360, 4)]
BEAMS = np.array(DOWN + [(0, 0, 0.15, np.cos(u) * np.cos(a), np.cos(u) * np.sin(a), np.sin(u)) for u, a in TURNS])


def terrain() -> tuple[Floats, NDArray[np.int64]]:
    """Hills with steps: vertices and triangles."""
    x, y = np.meshgrid(np.arange(0, SIZE + 0.1, 0.125), np.arange(0, SIZE + 0.1, 0.125), indexing="ij")
    steps = np.random.default_rng(2).random((SIZE + 1, SIZE + 1)).repeat(8, 0).repeat(8, 1)[: len(x), : len(x)]
    z, at = 0.5 * np.sin(0.4 * x) * np.cos(0.3 * y) + 0.2 * steps, np.arange(x.size).reshape(x.shape)
    corners = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, :-1], at[1:, 1:], at[:-1, 1:]
    return np.stack([x, y, z], -1).reshape(-1, 3), np.stack(corners, -1).reshape(-1, 3)


def poses(at: Floats, yaw: Floats, pitch: Floats) -> Floats:
    """(n, 3, 4): at these places, turned about z and about their own y."""
    c, s, p, q = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    rows = [c * p, -s, c * q, at[:, 0], s * p, c, s * q, at[:, 1], -q, 0 * q, p, at[:, 2]]
    return np.stack(rows, -1).reshape(-1, 3, 4)


def bodies(at: Floats, yaw: Floats, phase: Floats) -> Floats:
    """A trunk and four legs of two links for each robot, (n, 9, 3, 4); links are the trunk's box, smaller."""
    parts = [poses(at, yaw, 0 * yaw) * [0.6, 0.3, 0.12, 1]]
    for x, y, turn in (0.25, 0.13, 0), (0.25, -0.13, np.pi), (-0.25, 0.13, np.pi), (-0.25, -0.13, 0):
        joint, swing = poses(at, yaw, 0 * yaw) @ [x, y, 0, 1], 0.3 * np.sin(phase + turn)
        for pitch in 0.6 + swing, swing - 0.6:
            link = poses(joint, yaw, pitch)
            parts.append(poses(link @ [0, 0, -0.13, 1], yaw, pitch) * [0.06, 0.06, 0.3, 1])
            joint = link @ [0, 0, -0.26, 1]
    return np.stack(parts, 1)


def above(scene: slabcast.Scene, at: Floats, height: float) -> Floats:
    """The places at this height above the terrain, which rays in no world see alone."""
    top = at * [1, 1, 0] + [0, 0, 3]
    return top + [0, 0, 1] * (height - scene.distance(top, [0, 0, -1], mask=SEEN)[:, None])


def main(path: str, robots: int = 1024, frames: int = 50) -> None:
    rng, scene, box, worlds = np.random.default_rng(1), slabcast.Scene(), slabcast.Scene(), np.arange(1, robots + 1)
    at, (yaw, phase) = rng.uniform(6, SIZE - 6, (robots, 3)), rng.uniform(0, 7, (2, robots))
    box.add_boxes([-0.5] * 3, [0.5] * 3)
    scene.set_worlds(robots)
    scene.add_mesh(*terrain(), mask=SEEN)
    crates = poses(above(scene, at + rng.uniform(-1.5, 1.5, (robots, 3)), 0.2), phase, 0 * yaw) * [0.5, 0.5, 0.5, 1]
    scene.add_instances(box, crates, mask=SEEN, world=worlds)
    body = scene.add_instances(box, bodies(at, yaw, phase).reshape(-1, 3, 4), mask=BODY, world=worlds.repeat(9))
    begin = time.perf_counter()
    for _ in range(frames):
        ahead, phase = np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], -1), phase + 0.3
        at = above(scene, at + 0.02 * ahead, 0.45)
        scene.update_instances(body, bodies(at, yaw, phase).reshape(-1, 3, 4))
        seen = scene.distance(slabcast.RaySet.beams(poses(at, yaw, 0 * yaw), BEAMS), mask=SEEN, world=worlds[:, None])
    each = 1e3 * (time.perf_counter() - begin) / frames
    print(f"{robots} robots, {seen.size} rays a frame: {each:.1f} ms, with the moves of {9 * robots} parts")
    np.savez(path, at=at, yaw=yaw, phase=phase, crates=crates, heights=2 - seen[:, :187], ranges=seen[:, 187:])


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
