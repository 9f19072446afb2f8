"""Meshes and rays of the tests, and answers that share nothing with the library: brute force in float64."""

import numpy as np


def box():
    """A closed box from 0 to 1: (8, 3) float32 and (12, 3) uint32, outward."""
    vertices = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.uint32)


def torus(around=24, along=12):
    """A closed torus in multiples of 2^-10, so that rays can be aimed exactly."""
    i, j = np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    a, b = 2 * np.pi * i / around, 2 * np.pi * j / along
    points = np.stack([(2 + np.cos(b)) * np.cos(a), (2 + np.cos(b)) * np.sin(a), np.sin(b)], axis=-1)
    corners = [((i + di) % around) * along + (j + dj) % along for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))]
    faces = np.concatenate(
        [np.stack([corners[k] for k in which], axis=-1).reshape(-1, 3) for which in ((0, 1, 2), (0, 2, 3))]
    )
    return (np.round(points.reshape(-1, 3) * 1024) / 1024).astype(np.float32), faces.astype(np.uint32)


def rays_around(vertices, count, seed):
    """From anywhere around a mesh in any direction: (count, 8) float32."""
    random = np.random.default_rng(seed)
    lower, upper = vertices.min(0), vertices.max(0)
    rays = np.zeros((count, 8), np.float32)
    rays[:, :3] = random.uniform(lower - 0.5, upper + 0.5, (count, 3))
    rays[:, 4:7] = random.normal(size=(count, 3))
    rays[:, 7] = np.inf
    return rays


def aimed_rays(vertices, faces, count, seed):
    """From outside exactly at vertices and middles of edges."""
    random = np.random.default_rng(seed)
    corners = faces[random.integers(len(faces), size=count)]
    a, b = vertices[corners[:, 0]], vertices[corners[:, 1]]
    rays = np.zeros((count, 8), np.float32)
    rays[:, :3] = [8, 0.5, 0.25] + np.round(random.normal(size=(count, 3)) * 16) / 16
    rays[:, 4:7] = np.where(random.random((count, 1)) < 0.5, a, (a + b) / 2) - rays[:, :3]
    rays[:, 7] = np.inf
    return rays


def hit_distances(vertices, faces, rays):
    """t of every ray and triangle (rays, triangles) float64, inf where it is missed, by Cramer's rule. The second
    result is how close to an edge the crossing is, in weights, so that tests can leave out rays that rounding may
    decide."""
    a, b, c = (vertices[faces[:, k]].astype(np.float64) for k in range(3))
    o, d = rays[:, None, :3].astype(np.float64), rays[:, None, 4:7].astype(np.float64)
    columns = np.broadcast_arrays(b - a, c - a, -d)
    volume = np.einsum("rti,rti->rt", columns[0], np.cross(columns[1], columns[2]))
    from_a = o - a
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("rti,rti->rt", from_a, np.cross(columns[1], columns[2])) / volume
        v = np.einsum("rti,rti->rt", columns[0], np.cross(from_a, columns[2])) / volume
        t = np.einsum("rti,rti->rt", columns[0], np.cross(columns[1], from_a)) / volume
        least = np.minimum(np.minimum(u, v), 1 - u - v)
    inside = (least >= 0) & (t >= rays[:, 3:4]) & (t <= rays[:, 7:8])
    return np.where(inside, t, np.inf), np.abs(least)
