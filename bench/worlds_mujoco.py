"""The worlds of worlds.py by MuJoCo: a model of one mesh geom per part, each in a mocap body, and the terrain's mesh.

Each thread has an mjData and a share of the worlds, and goes through it world by world: places, mj_kinematics, then
mj_multiRay, all that this needs. Rays meet the meshes' triangles, not their hulls. The GIL is free in these calls, and
the work of Python between them is one hundredth of a frame. Places are turned into quaternions beforehand.
"""

import concurrent.futures
import time

import mujoco
import numpy as np


class MuJoCo:
    def __init__(self, frames, threads):
        self.frames, self.threads = frames, threads
        self.name = "MuJoCo"
        self.call = f"MuJoCo {mujoco.__version__}: mj_kinematics; mj_multiRay, an mjData a thread"
        self.model = model_of(frames)
        self.data = [mujoco.MjData(self.model) for _ in range(threads)]
        self.origins = frames.rays[:: frames.rays_each, :3].astype("f8")
        self.directions = frames.rays[:, 4:7].astype("f8").reshape(frames.worlds, -1)
        self.distances = np.zeros((frames.worlds, frames.rays_each))
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)

    def prepare(self, frame):
        at, turned = self.frames.places(frame)
        self.at, self.turned = self.by_world(at), self.by_world(np.roll(turned, 1, axis=-1))

    def by_world(self, rows):
        rows = np.ascontiguousarray(np.moveaxis(rows, 1, 0))
        return rows.reshape(self.frames.worlds, self.frames.parts, -1)

    def share(self, data, first_and_end):
        """Moves and casts some worlds; the seconds that it moved."""
        moved, rays, geoms = 0.0, self.frames.rays_each, np.zeros(self.frames.rays_each, "i4")
        for w in range(*first_and_end):
            begun = time.perf_counter()
            data.mocap_pos, data.mocap_quat = self.at[w], self.turned[w]
            mujoco.mj_kinematics(self.model, data)
            moved += time.perf_counter() - begun
            given = self.origins[w], self.directions[w], None, 1, -1, geoms, self.distances[w], None, rays
            mujoco.mj_multiRay(self.model, data, *given, self.frames.reach)
        return moved

    def frame(self):
        """The seconds that the thread moved which moved longest; the rest it cast."""
        return max(self.pool.map(self.share, self.data, self.frames.shares(self.threads)))

    def t(self):
        t = self.distances.ravel()
        return np.where((t >= 0) & (t <= self.frames.reach), t, np.inf)


def model_of(frames):
    spec = mujoco.MjSpec()
    add_mesh(spec, "terrain", frames.terrain)
    add_geom(spec.worldbody, "terrain")
    for k, mesh in enumerate(frames.meshes):
        add_mesh(spec, f"model{k}", mesh)
        for _ in range(frames.each):
            body = spec.worldbody.add_body()
            body.mocap = True
            add_geom(body, f"model{k}")
    return spec.compile()


def add_mesh(spec, name, vertices_and_triangles):
    vertices, triangles = vertices_and_triangles
    mesh = spec.add_mesh()
    mesh.name, mesh.inertia = name, mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    mesh.uservert, mesh.userface = vertices.astype("f8").ravel(), triangles.astype("i4").ravel()


def add_geom(body, mesh):
    geom = body.add_geom()
    geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh
    geom.contype = geom.conaffinity = 0  # so no hull is made
