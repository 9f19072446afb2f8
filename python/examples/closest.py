"""Where a camera's rays meet a box and a sphere, and which points lie inside a mesh. Prints what it found."""

from __future__ import annotations

import numpy as np

import slabcast

scene = slabcast.Scene()
scene.add_boxes([[-3, -1, -1]], [[-1, 1, 1]])
scene.add_spheres([[2, 0, 0]], [1.5])

# Origins and directions are broadcast: 3 x 4 rays from one point.
x, y = np.meshgrid(np.linspace(-0.6, 0.6, 4), np.linspace(-0.2, 0.2, 3))
origin = np.array([0, 0, 6], np.float32)
directions = np.stack([x, y, np.full_like(x, -1)], axis=-1).astype(np.float32)

hits = scene.closest(origin, directions)
for row in hits:
    print(" ".join(f"{hit.t:.2f}" if slabcast.is_hit(hit) else "." for hit in row))

# A hit's own surface is skipped by t_min, or for triangles by skip=hits.
points = origin + hits.t[..., None] * directions
struck = slabcast.is_hit(hits)
lit = struck & ~scene.any(points, np.array([0, 1, 0], np.float32), t_min=1e-3)
print(f"{np.count_nonzero(lit)} of {np.count_nonzero(struck)} see the sky")

tetrahedron = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
with slabcast.Scene("cpu") as mesh:
    mesh.add_mesh(tetrahedron, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    print(mesh.contains([[0.2, 0.2, 0.2], [0.5, 0.5, 0.5]]))
