#!/usr/bin/env python3
"""Many worlds that move, from Python: Slabcast beside MuJoCo (worlds_mujoco.py) and NVIDIA Warp on the processor
(worlds_warp.py), where they are installed.

    python bench/worlds.py BENCH_WORLDS [OPTION...] [WORLDSxPARTSxRAYS...]      (./dev bench worlds_python; --help)

The program bench_worlds makes the frames, and says what is in them. All sides have as many threads; ours and the
fastest of Warp are measured with one thread too, which is what Warp has by itself. Sides take turns in each round, the
first of which is not counted. t of each is compared with ours in every round, to 1e-3. Ratios are those of medians, to
ours of as many threads. Rays get the results of mj_multiRay, t and the object that was hit, without normals; Warp
gives t alone.
"""

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

import numpy as np

import slabcast

AGREE = 1e-3
HEADER = (
    "date,device,driver,compiler,commit,time,worlds,parts,rays,side,threads,rounds,move_ms,cast_ms,frame_ms,best_ms,"
    "one_ms,apart\n"
)


def mesh_of(folder, name):
    vertices = np.fromfile(folder / f"{name}.vertices", "f4").reshape(-1, 3)
    return vertices, np.fromfile(folder / f"{name}.triangles", "u4").reshape(-1, 3)


class Frames:
    """The files that `bench_worlds --write FOLDER` left there."""

    def __init__(self, folder):
        plan = dict(line.split() for line in (folder / "plan").read_text().splitlines())
        self.worlds, self.models, self.each, self.rays_each = (
            int(plan[name]) for name in ("worlds", "models", "each", "rays")
        )
        self.parts = self.models * self.each
        self.meshes = [mesh_of(folder, f"model{k}") for k in range(self.models)]
        self.terrain = mesh_of(folder, "terrain")
        self.rays = np.fromfile(folder / "rays", "f4").reshape(-1, 8)
        self.reach = float(self.rays[0, 7])
        shape = int(plan["frames"]), self.models, self.worlds, self.each, 3, 4
        self.transforms = np.fromfile(folder / "transforms", "f4").reshape(shape)

    def places(self, frame):
        """Positions and quaternions, the real part last, as transforms lie: all turn about z alone."""
        m = self.transforms[frame].astype("f8")
        half = np.arctan2(m[..., 1, 0], m[..., 0, 0]) / 2
        zero = np.zeros_like(half)
        return m[..., 3], np.stack([zero, zero, np.sin(half), np.cos(half)], axis=-1)

    def shares(self, threads):
        """From which world to which each thread goes."""
        ends = [self.worlds * k // threads for k in range(threads + 1)]
        return list(zip(ends, ends[1:]))


class Slabcast:
    def __init__(self, frames, threads):
        self.name, self.threads, self.frames = "Slabcast: Python", threads, frames
        self.call = f"Slabcast {slabcast.__version__}: update_instances, commit; nearest"
        self.scene = slabcast.Scene("cpu", threads=threads)
        self.scene.set_worlds(frames.worlds)
        self.scene.add_mesh(*frames.terrain)
        world_of = np.repeat(np.arange(1, frames.worlds + 1, dtype="u4"), frames.each)
        self.ids = np.zeros(frames.models, "u4")
        for k, mesh in enumerate(frames.meshes):
            model = slabcast.Scene("cpu", threads=threads)
            model.add_mesh(*mesh)
            self.ids[k] = self.scene.add_instances(model, frames.transforms[0, k].reshape(-1, 3, 4), world=world_of)
        self.scene.commit()
        self.worlds = np.repeat(np.arange(1, frames.worlds + 1, dtype="u4"), frames.rays_each)
        self.hits = np.empty(len(frames.rays), slabcast.SHORT_HIT)

    def prepare(self, frame):
        self.transforms = self.frames.transforms[frame].reshape(-1, 3, 4)

    def move(self):
        self.scene.update_instances(self.ids, self.transforms)
        self.scene.commit()

    def cast(self):
        self.scene.nearest(self.frames.rays, world=self.worlds, out=self.hits)

    def t(self):
        return np.where(slabcast.is_hit(self.hits), self.hits["t"], np.inf)


def mujoco(frames, threads):
    from worlds_mujoco import MuJoCo

    return MuJoCo(frames, threads)


def warp_groups(frames, threads):
    from worlds_warp import Warp

    return Warp(frames, threads, groups=True)


def warp_loop(frames, threads):
    from worlds_warp import Warp

    return Warp(frames, threads, groups=False)


def sides_of(frames, threads):
    """Ours first. A side that is not installed is reported."""
    wanted = [(make, threads) for make in (Slabcast, mujoco, warp_groups, warp_loop)]
    if threads > 1:
        wanted += [(make, 1) for make in (Slabcast, warp_groups)]
    sides = []
    for make, n in wanted:
        try:
            sides.append(make(frames, n))
            print(f"  {sides[-1].call}; threads: {n}", flush=True)
        except ImportError as missing:
            print(f"  {make.__name__} is not measured: {missing}")
    return sides


def measure(side):
    """Seconds of moving, and of casting."""
    begun = time.perf_counter()
    if hasattr(side, "frame"):
        moved = side.frame()
    else:
        side.move()
        moved = time.perf_counter() - begun
        side.cast()
    return moved, time.perf_counter() - begun - moved


def apart_of(side, ours):
    t, want = side.t(), ours.t()
    both = np.isfinite(t) & np.isfinite(want)
    return int((np.abs(t[both] - want[both]) > AGREE).sum() + (np.isfinite(t) != np.isfinite(want)).sum())


def run(sides, frames, rounds):
    """Of each side: seconds of moving and of casting, (rounds, 2), and the most rays apart from ours."""
    times, apart = np.zeros((len(sides), rounds + 1, 2)), np.zeros(len(sides), int)
    for turn in range(rounds + 1):
        others = list(range(1, len(sides)))
        first = turn % max(len(others), 1)
        for nth in [0, *others[first:], *others[:first]]:  # ours first: others are compared with it
            sides[nth].prepare(turn % len(frames.transforms))
            times[nth, turn] = measure(sides[nth])
            apart[nth] = max(apart[nth], apart_of(sides[nth], sides[0]))
    return list(zip(times[:, 1:], apart))


def tell(sides, told, frames, csv):
    median = lambda seconds: 1e3 * statistics.median(seconds)
    ours = {side.threads: median(times.sum(axis=1)) for side, (times, _) in zip(sides, told) if type(side) is Slabcast}
    titles = ("threads", "move", "cast", "frame", "best", "ratio", "apart")
    print(f"{'ms: median':20}" + "".join(f"{title:>10}" for title in titles))
    for side, (times, apart) in zip(sides, told):
        frame = times.sum(axis=1)
        figures = *(median(each) for each in (times[:, 0], times[:, 1], frame)), 1e3 * min(frame)
        ratio = figures[2] / ours[side.threads]
        print(
            f"{side.name:20}{side.threads:10}" + "".join(f"{ms:10.2f}" for ms in figures) + f"{ratio:10.2f}{apart:10}"
        )
        if csv is not None:
            write_row(csv, side, frames, len(frame), figures, apart)


def write_row(csv, side, frames, rounds, figures, apart):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    by = f'{now},"{slabcast.Scene("cpu").device.name}","{slabcast.__version__}","Python {platform.python_version()}"'
    size = f"{frames.worlds},{frames.parts},{frames.rays_each}"
    milliseconds = ",".join(f"{ms:.4g}" for ms in figures)
    csv.write(f"{by},,wall,{size},{side.name},{side.threads},{rounds},{milliseconds},,{apart}\n")
    csv.flush()


def measure_size(options, size, csv):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.program, "--write", folder, "--rounds", "3", size], check=True)
        frames = Frames(pathlib.Path(folder))
    print(f"{frames.worlds} worlds of {frames.parts} instances, {frames.rays_each} rays each", flush=True)
    sides = sides_of(frames, options.threads)
    tell(sides, run(sides, frames, options.rounds), frames, csv)


def main():
    parser = argparse.ArgumentParser(description="many worlds that move, from Python, beside MuJoCo and Warp")
    parser.add_argument("program", help="bench_worlds, which makes the frames")
    parser.add_argument("sizes", nargs="*", metavar="WORLDSxPARTSxRAYS", help="default: one, of the next three")
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--rays", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--csv", help="for ./dev plot: rows are added to this file, such as bench_worlds wrote")
    options = parser.parse_intermixed_args()
    csv = open(options.csv, "a", encoding="utf-8") if options.csv else None
    if csv is not None and csv.tell() == 0:
        csv.write(HEADER)
    for size in options.sizes or [f"{options.worlds}x{options.parts}x{options.rays}"]:
        measure_size(options, size, csv)


if __name__ == "__main__":
    main()
