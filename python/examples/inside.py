"""Which points lie inside a closed mesh: a mesh turned into cells, by its winding number.

    python inside.py cells.npy                      a knotted tube that is made here
    python inside.py cells.npy --mesh model.obj     a closed mesh, which trimesh reads

cells.npy is an array of bool, true where the middle of a cell is inside. One ray per point is enough, since a ray
through an edge or a vertex of a closed mesh crosses it once.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

import slabcast

Floats = NDArray[np.float32]
Faces = NDArray[np.uint32]


def knot(along: int = 600, around: int = 40, radius: float = 0.42) -> tuple[Floats, Faces]:
    """A tube along a trefoil knot: vertices and triangles, facing outward."""
    s = np.linspace(0, 2 * np.pi, along, endpoint=False)
    curve = np.stack([np.sin(s) + 2 * np.sin(2 * s), np.cos(s) - 2 * np.cos(2 * s), -np.sin(3 * s)], axis=-1)
    ahead = np.roll(curve, -1, axis=0) - np.roll(curve, 1, axis=0)
    # A frame across the curve, which nowhere runs along z.
    side = np.cross(ahead, [0, 0, 1])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    up = np.cross(side, ahead)
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)[:, None]
    ring = np.cos(angle) * side[:, None] + np.sin(angle) * up[:, None]
    vertices = (curve[:, None] + radius * ring).reshape(-1, 3).astype(np.float32)

    i, j = np.meshgrid(np.arange(along), np.arange(around), indexing="ij")
    next_i, next_j = (i + 1) % along, (j + 1) % around
    a, b, c, d = (k * around + m for k, m in ((i, j), (i, next_j), (next_i, next_j), (next_i, j)))
    faces = np.stack([a, c, b, a, d, c], axis=-1).reshape(-1, 3).astype(np.uint32)
    return vertices, faces


def centers(vertices: Floats, cells: int) -> tuple[Floats, float]:
    """The middles (nx, ny, nz, 3) of cubes that fill the mesh's bounds, `cells` along the longest side; their size."""
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    size = float((upper - lower).max()) / cells
    counts = np.maximum(np.ceil((upper - lower) / size).astype(int), 1)
    grid = np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in counts), indexing="ij"), axis=-1)
    return (lower + size * grid).astype(np.float32), size


def volume(vertices: Floats, faces: Faces) -> float:
    """Of a closed mesh, by the tetrahedra between its triangles and the origin."""
    a, b, c = (vertices[faces[:, k]].astype(np.float64) for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("npy", help="the file to write")
    parser.add_argument("--mesh", help="a file that trimesh reads; else the knot")
    parser.add_argument("--cells", type=int, default=160, help="along the longest side")
    args = parser.parse_args()

    if args.mesh:
        import trimesh

        mesh = trimesh.load_mesh(args.mesh)
        vertices, faces = mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32)
    else:
        vertices, faces = knot()
    scene = slabcast.Scene()
    scene.add_mesh(vertices, faces)
    points, size = centers(vertices, args.cells)
    scene.commit()

    begin = time.perf_counter()
    is_inside = scene.contains(points)
    seconds = time.perf_counter() - begin
    np.save(args.npy, is_inside)
    held = np.count_nonzero(is_inside)
    print(f"{len(faces)} triangles, {is_inside.size} points, {seconds:.3f} s: {held} inside")
    print(f"volume by cells {held * size**3:.4f}, by triangles {volume(vertices, faces):.4f}")


if __name__ == "__main__":
    main()
