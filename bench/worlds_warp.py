"""The worlds of worlds.py by NVIDIA Warp on the processor: one wp.Mesh per model, and kernels over rays.

A ray meets the terrain by mesh_query_ray, then instances, each in its own space and up to the nearest t yet. By groups:
those that bvh_query_ray meets in its world's group of a wp.Bvh; a frame is new transforms, their bounds and a refit. By
a loop: all of its world; a frame is new transforms. A call of wp.launch runs on the thread that calls it, with the GIL
free, so that each thread here launches a share of the rays.
"""

import concurrent.futures

import numpy as np
import warp as wp

wp.config.log_level = wp.LOG_ERROR
wp.set_module_options({"enable_backward": False})

words, floats, points = wp.array(dtype=int), wp.array(dtype=float), wp.array(dtype=wp.vec3)
transforms, meshes = wp.array(dtype=wp.transform), wp.array(dtype=wp.uint64)


@wp.func
def meet(mesh: wp.uint64, origin: wp.vec3, direction: wp.vec3, t: float):
    query = wp.mesh_query_ray(mesh, origin, direction, t)
    if query.result:
        return query.t
    return t


@wp.func
def meet_placed(mesh: wp.uint64, placed: wp.transform, origin: wp.vec3, direction: wp.vec3, t: float):
    back = wp.transform_inverse(placed)
    return meet(mesh, wp.transform_point(back, origin), wp.transform_vector(back, direction), t)


@wp.kernel
def bounds(first: int, half: points, placed: transforms, each: int, lower: points, upper: points):
    i = first + wp.tid()
    at = wp.transform_get_translation(placed[i])
    m = wp.quat_to_matrix(wp.transform_get_rotation(placed[i]))
    h = half[i // each]
    size = wp.vec3(
        wp.abs(m[0, 0]) * h[0] + wp.abs(m[0, 1]) * h[1] + wp.abs(m[0, 2]) * h[2],
        wp.abs(m[1, 0]) * h[0] + wp.abs(m[1, 1]) * h[1] + wp.abs(m[1, 2]) * h[2],
        wp.abs(m[2, 0]) * h[0] + wp.abs(m[2, 1]) * h[1] + wp.abs(m[2, 2]) * h[2],
    )
    lower[i] = at - size
    upper[i] = at + size


@wp.kernel
def by_groups(
    first: int,
    bvh: wp.uint64,
    terrain: wp.uint64,
    models: meshes,
    placed: transforms,
    each: int,
    origins: points,
    directions: points,
    worlds: words,
    reach: float,
    distances: floats,
):
    i = first + wp.tid()
    t = meet(terrain, origins[i], directions[i], reach)
    near = wp.bvh_query_ray(bvh, origins[i], directions[i], wp.bvh_get_group_root(bvh, worlds[i]))
    part = wp.int32(0)
    while wp.bvh_query_next(near, part, t):
        t = meet_placed(models[part // each], placed[part], origins[i], directions[i], t)
    distances[i] = t


@wp.kernel
def by_loop(
    first: int,
    own: int,
    terrain: wp.uint64,
    models: meshes,
    placed: transforms,
    each: int,
    origins: points,
    directions: points,
    worlds: words,
    reach: float,
    distances: floats,
):
    i = first + wp.tid()
    t = meet(terrain, origins[i], directions[i], reach)
    for k in range(models.shape[0]):
        for j in range(own):
            part = k * each + worlds[i] * own + j
            t = meet_placed(models[k], placed[part], origins[i], directions[i], t)
    distances[i] = t


def array(rows, dtype):
    return wp.array(np.ascontiguousarray(rows), dtype=dtype, device="cpu")


def mesh_of(vertices, triangles):
    return wp.Mesh(array(vertices, wp.vec3), array(triangles.astype("i4").ravel(), wp.int32))


class Warp:
    """groups: whether by a BVH of instances, one group per world."""

    def __init__(self, frames, threads, groups):
        self.frames, self.threads = frames, threads
        self.name = "Warp: groups" if groups else "Warp: loop"
        how = "refit; bvh_query_ray of a group, mesh_query_ray" if groups else "a loop of mesh_query_ray"
        self.call = f"Warp {wp.config.version}: {how}"
        self.terrain, self.meshes = mesh_of(*frames.terrain), [mesh_of(*mesh) for mesh in frames.meshes]
        self.models = array([mesh.id for mesh in self.meshes], wp.uint64)
        self.half = array([np.abs(vertices).max(axis=0) for vertices, _ in frames.meshes], wp.vec3)
        self.origins, self.directions = array(frames.rays[:, :3], wp.vec3), array(frames.rays[:, 4:7], wp.vec3)
        self.worlds = array(np.repeat(np.arange(frames.worlds, dtype="i4"), frames.rays_each), int)
        self.distances = wp.zeros(len(frames.rays), dtype=float, device="cpu")
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        wp.load_module(device="cpu")  # so that threads do not compile it at once
        self.bvh = self.open_groups() if groups else None

    def open_groups(self):
        count = self.frames.worlds * self.frames.parts
        self.lower, self.upper = (wp.zeros(count, dtype=wp.vec3, device="cpu") for _ in range(2))
        self.prepare(0)
        self.place()
        world_of = np.repeat(np.arange(self.frames.worlds, dtype="i4"), self.frames.each)
        return wp.Bvh(self.lower, self.upper, groups=array(np.tile(world_of, self.frames.models), wp.int32))

    def launch(self, kernel, each, given):
        """Over so many rows of each world."""

        def share(first_and_end):
            first, end = (each * world for world in first_and_end)
            wp.launch(kernel, dim=end - first, inputs=[first, *given], device="cpu")

        list(self.pool.map(share, self.frames.shares(self.threads)))

    def prepare(self, frame):
        at, turned = self.frames.places(frame)
        self.given = np.concatenate([at, turned], axis=-1).reshape(-1, 7).astype("f4")
        self.placed = wp.zeros(len(self.given), dtype=wp.transform, device="cpu")

    def place(self):
        self.placed.assign(self.given)
        each = self.frames.worlds * self.frames.each
        self.launch(bounds, self.frames.parts, [self.half, self.placed, each, self.lower, self.upper])

    def move(self):
        if self.bvh is None:
            self.placed.assign(self.given)
            return
        self.place()
        self.bvh.refit()

    def cast(self):
        kernel, own = (by_loop, self.frames.each) if self.bvh is None else (by_groups, self.bvh.id)
        scene = own, self.terrain.id, self.models, self.placed, self.frames.worlds * self.frames.each
        rays = self.origins, self.directions, self.worlds, self.frames.reach, self.distances
        self.launch(kernel, self.frames.rays_each, [*scene, *rays])

    def t(self):
        t = self.distances.numpy()
        return np.where(t < self.frames.reach, t, np.inf)
