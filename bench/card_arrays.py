#!/usr/bin/env python3
"""Arrays of PyTorch, CuPy and JAX on a card, cast where they lie: card_arrays.py [--card N] [--rays N] [--dry].

Answers come first: each query equals the processor's bit by bit, on the package's own streams. Rays go before the cast
has run. They are given by origins and directions, with masks, after hits, and in a kernel of CUDA C++. Then rays per
second: of arrays on the card, waited for once, beside arrays of the host; and how long one call keeps the host.
Packages that are not installed are left out, and so is the kernel where there is no NVRTC. Exit code 1: an answer
differs; 77: there is no card, or no package.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from contextlib import nullcontext
from functools import partial

import numpy as np

import slabcast

QUERIES = "closest", "nearest", "distance", "any", "count", "interval"
SOURCE = """
#include <slabcast_device.h>
extern "C" __global__ void seen(SLAB_SCENE_PARAMETERS, const slab_ray *rays, unsigned n, unsigned char *hit) {
  SLAB_SCENE(scene);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const slab_ray ray = rays[i];
  hit[i] = slab_trace_any(&scene, &ray);
}
"""
GROUP = 128


class Torch:
    is_read_only = False

    def __init__(self, module, card):
        self.torch, self.card = module, card

    def put(self, array):
        return self.torch.as_tensor(array, device=f"cuda:{self.card}")

    def copy(self, array):
        return array.clone()

    def fetch(self, array):
        return array.cpu().numpy()

    def streams(self):
        """Contexts that make another stream the current one."""
        return [nullcontext, lambda: self.torch.cuda.stream(self.torch.cuda.Stream(self.card))]

    def finish(self, results):
        self.torch.cuda.synchronize(self.card)


class CuPy:
    is_read_only = False

    def __init__(self, module, card):
        self.cupy, self.card = module, card
        module.cuda.Device(card).use()

    def put(self, array):
        return self.cupy.asarray(array)

    def copy(self, array):
        return array.copy()

    def fetch(self, array):
        return array.get()

    def streams(self):
        return [nullcontext, lambda: self.cupy.cuda.Stream(non_blocking=True)]

    def finish(self, results):
        self.cupy.cuda.Device(self.card).synchronize()


class Jax:
    is_read_only = True

    def __init__(self, module, card):
        self.jax, self.device = module, module.devices("gpu")[card]

    def put(self, array):
        return self.jax.device_put(array, self.device)

    def copy(self, array):
        return self.jax.numpy.copy(array)

    def fetch(self, array):
        return np.asarray(array)

    def streams(self):
        return [nullcontext]

    def finish(self, results):
        self.jax.block_until_ready(getattr(results, "rows", results))


PACKAGES = {"torch": Torch, "cupy": CuPy, "jax": Jax}


def packages(card):
    """The sides that are installed and have the card."""
    for name, kind in PACKAGES.items():
        try:
            yield name, kind(importlib.import_module(name), card)
        except Exception as error:  # each has its own where a part of it is missing
            print(f"{name}: left out: {type(error).__name__}: {str(error)[:100]}")


def torus(around, along):
    """A closed mesh: (n, 3) float32 and (m, 3) uint32."""
    i, j = np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    a, b = 2 * np.pi * i / around, 2 * np.pi * j / along
    points = np.stack([(2 + np.cos(b)) * np.cos(a), (2 + np.cos(b)) * np.sin(a), np.sin(b)], axis=-1)
    corners = [((i + di) % around) * along + (j + dj) % along for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))]
    faces = [np.stack([corners[k] for k in which], axis=-1).reshape(-1, 3) for which in ((0, 1, 2), (0, 2, 3))]
    return (np.round(points.reshape(-1, 3) * 4096) / 4096).astype("f4"), np.concatenate(faces).astype("u4")


def rays_of(count):
    random = np.random.default_rng(1)
    rays = np.zeros((count, 8), "f4")
    rays[:, :3] = random.uniform(-3, 3, (count, 3))
    rays[:, 4:7] = random.normal(size=(count, 3))
    rays[:, 7] = np.inf
    rays[::97, 4] = np.nan
    return rays


def kernel_of(card):
    """A kernel that traces rays; None: there is no compiler."""
    try:
        return card.program(SOURCE).kernel("seen")
    except slabcast.Unsupported as error:
        print(f"kernels of one's own: left out: {error}")
        return None


def answers(side, card, host, rays, kernel):
    """The names of the casts whose answers differ, and how many there were."""
    wrong, asked = [], 0

    def ask(name, got, expected):
        nonlocal asked
        asked += 1
        got = got.get() if isinstance(got, slabcast.CardRecords) else side.fetch(got)
        if got.tobytes() != expected.tobytes():
            wrong.append(name)

    for number, stream in enumerate(side.streams()):
        with stream():
            base = side.put(rays)
            parts = side.put(np.ascontiguousarray(rays[:, :3])), side.put(np.ascontiguousarray(rays[:, 4:7]))
            for query in QUERIES:
                given = side.copy(base)
                got = getattr(card, query)(given)
                del given
                other = [side.copy(base) * 2 for _ in range(4)]  # where the rays lay, if they went too early
                ask(f"{query}, stream {number}", got, getattr(host, query)(rays))
                del other
            for most in (0, 1):
                found, expected = card.all(base, max_hits=most), host.all(rays, max_hits=most)
                ask(f"all, at most {most}, stream {number}", found.hits, expected.hits)
                ask(f"offsets, stream {number}", found.offsets, expected.offsets.astype("u4"))
            first = card.closest(base)
            expected = host.closest(rays, skip=host.closest(rays))
            ask(f"skip, stream {number}", card.closest(base, skip=first), expected)
            joined = host.closest(rays[:, :3], rays[:, 4:7], t_max=5)
            ask(f"origins and directions, stream {number}", card.closest(*parts, t_max=5), joined)
            masks = (np.arange(len(rays)) % 3).astype("i4")
            expected = host.closest(rays, mask=masks.view("u4"))
            ask(f"masks, stream {number}", card.closest(base, mask=side.put(masks)), expected)
            for query in ("closest", "nearest"):
                found, expected = (getattr(scene, query)(given) for scene, given in ((card, base), (host, rays)))
                ask(f"after {query}, stream {number}", card.count(base, after=found), host.count(rays, after=expected))
            if kernel is not None and not side.is_read_only:
                hit = side.put(np.full(len(rays), 7, "u1"))
                whole = -(-len(rays) // GROUP) * GROUP
                kernel(None, (whole,), base, np.uint32(len(rays)), hit, local_size=(GROUP,))
                ask(f"kernel, stream {number}", hit, host.any(rays).view("u1"))
            side.finish(first)
    return wrong, asked


def seconds(side, call, least):
    """Of one call, enqueued as many times as take `least` seconds together."""
    side.finish(call())
    times = 1
    while True:
        begin = time.perf_counter()
        for _ in range(times):
            results = call()
        enqueued = time.perf_counter() - begin
        side.finish(results)
        whole = time.perf_counter() - begin
        if whole >= least:
            return whole / times, enqueued / times
        times *= 2


def tell_speeds(name, side, card, rays, least):
    lies, one = side.put(rays), side.put(rays[:1])
    for query in QUERIES:
        cast = getattr(card, query)
        there, here = (seconds(side, partial(cast, given), least)[0] for given in (lies, rays))
        held = seconds(side, partial(cast, one), least)[1]
        print(
            f"{name} {query}: {len(rays) / there / 1e6:.1f} M rays/s on the card, {len(rays) / here / 1e6:.1f} from "
            f"the host's memory; a call keeps the host {1e6 * held:.1f} us"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--card", type=int, default=0, help="as the driver counts them")
    parser.add_argument("--rays", type=int, default=10_000_000)
    parser.add_argument("--dry", action="store_true", help="little of everything, which measures nothing")
    options = parser.parse_args()
    try:
        card, host = slabcast.Scene(f"cuda:{options.card}"), slabcast.Scene("cpu")
    except slabcast.NoDevice as error:
        print(f"card_arrays: skipped: {error}")
        return 77
    for scene in (card, host):
        scene.add_mesh(*(torus(24, 12) if options.dry else torus(700, 350)))
    few, many = (rays_of(300), rays_of(600)) if options.dry else (rays_of(200_000), rays_of(options.rays))
    kernel, outcomes = kernel_of(card), []
    for name, side in packages(options.card):
        wrong, asked = answers(side, card, host, few, kernel)
        print(f"{name}: {asked} casts, {len(wrong)} of them wrong" + "".join(f"\n  wrong: {each}" for each in wrong))
        tell_speeds(name, side, card, many, 0.001 if options.dry else 1.0)
        outcomes.append(not wrong)
    if not outcomes:
        print("card_arrays: skipped: none of torch, cupy and jax has the card")
        return 77
    return int(not all(outcomes))


if __name__ == "__main__":
    sys.exit(main())
