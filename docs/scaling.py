#!/usr/bin/env python3
"""How long `slabcast-mpi cast` takes on so many nodes: the model of scaling.md, one node a rank.

    scaling.py table [OPTION...]     the table of scaling.md
    scaling.py predict [OPTION...]   the seconds of one run, phase by phase

Options are the fields of Job with dashes, as in --nodes 8 --read-cap 5e11; those not given have the values below."""
import argparse
import dataclasses
import math
import sys

BATCH = 1 << 20  # most rays of a batch, as in program/io/caster.h
SHARE = 1 << 28  # most bytes of one broadcast, as in program/mpi/team.c


@dataclasses.dataclass
class Job:
    nodes: float = 1
    rays: float = 1e11
    ray_bytes: float = 32
    result_bytes: float = 32  # closest; distance 4, any 1, interval 16
    rate: float = 2.5e8  # rays/s per node, batches in host memory to results there
    start: float = 5.0  # s: launcher, MPI, the device's compiler with a warm cache
    start_node: float = 0.005  # s more for each node
    scene: float = 8.0  # s: rank 0 reads the scene and builds its tree
    blob: float = 8.4e8  # bytes of the packed scene: 84 for a triangle, here 10 million of them
    share_latency: float = 5e-6  # s for each depth of the broadcast's tree
    share_rate: float = 5e9  # bytes/s of a pipelined broadcast: half of a link that sends and receives 10e9
    unpack_rate: float = 2e9  # bytes/s: checking, copying and uploading the packed scene
    read_latency: float = 2e-3  # s per call
    read_link: float = 5e9  # bytes/s that one node can read
    read_cap: float = 5e11  # bytes/s that the file system can give to all
    write_latency: float = 5e-3
    write_link: float = 5e9
    write_cap: float = 3e11
    end: float = 1.0  # s: written data reach the disks, the file gets its name


def depth(job):
    return math.ceil(math.log2(job.nodes)) if job.nodes > 1 else 0


def share(job):
    """The packed scene to all: its size, the bytes in pieces; and the name and the header of the output."""
    if job.nodes == 1:
        return 0.0
    calls = 3 + math.ceil(job.blob / SHARE)
    return calls * depth(job) * job.share_latency + job.blob / job.share_rate + job.blob / job.unpack_rate


def rounds(job):
    return max(1, math.ceil(job.rays / (job.nodes * BATCH)))


def transfer(job, bytes_each, latency, link, cap):
    """A rank's calls, one a round, all ranks at once: each has its link or its share of the file system."""
    rays = math.ceil(job.rays / (job.nodes * rounds(job))) * rounds(job)
    return rounds(job) * latency + rays * bytes_each / min(link, cap / job.nodes)


def phases(job):
    return {
        "start": job.start + job.start_node * job.nodes,
        "scene": job.scene,
        "share": share(job),
        "read": transfer(job, job.ray_bytes, job.read_latency, job.read_link, job.read_cap),
        "cast": job.rays / job.nodes / job.rate,
        "write": transfer(job, job.result_bytes, job.write_latency, job.write_link, job.write_cap),
        "end": job.end,
    }


def seconds(job):
    return sum(phases(job).values())


def at(job, nodes):
    return dataclasses.replace(job, nodes=nodes)


def table(job):
    print("| nodes | seconds | speed-up | efficiency | start | scene | share | read | cast | write | end |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    one = seconds(at(job, 1))
    for nodes in (1, 4, 16, 64, 128, 256, 512, 1000, 2000, 4000):
        each = phases(at(job, nodes))
        total = sum(each.values())
        cells = " | ".join(f"{value:.3g}" for value in each.values())
        print(f"| {nodes} | {total:.4g} | {one / total:.3g} | {one / total / nodes:.2f} | {cells} |")
    half = next(n for n in range(1, 10**6) if one / seconds(at(job, n)) / n < 0.5)
    read, write = job.rays * job.ray_bytes / job.read_cap, job.rays * job.result_bytes / job.write_cap
    best = min(range(1, 20001), key=lambda n: seconds(at(job, n)))
    print(f"\nEfficiency falls below one half at {half} nodes. The least time is that of {best} nodes,")
    print(f"{seconds(at(job, best)):.3g} s; the file system alone takes {read:.3g} s to give and {write:.3g} s to take.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("table", "predict"))
    for field in dataclasses.fields(Job):
        parser.add_argument("--" + field.name.replace("_", "-"), type=float, default=field.default)
    values = vars(parser.parse_args())
    command = values.pop("command")
    job = Job(**values)
    if command == "table":
        table(job)
    else:
        for name, value in phases(job).items():
            print(f"{name} {value:.4f}")
        print(f"total {seconds(job):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
