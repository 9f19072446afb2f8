#!/usr/bin/env python3
"""Models how many rays a second GPUs cast, from what is counted here: bench/results/gpu_model.txt.

    gpu_model.py MACHINE_CODE DIVERGENCE     prints it

A warp executes the steps that DIVERGENCE has (bench_divergence), each as many instructions as MACHINE_CODE has of it
(machine_code.py). It executes the kernel's other instructions once. docs/gpu_tuning.md has the formula and its limits.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import machine_code

# Clocks that a step waits for memory: an answer of the second-level cache, which the stack's private memory has too.
WAIT = 300
SECTORS = 3 * 32  # bytes of memory of a node of 80
TRIANGLE = 2 * 32  # and of a triangle of 48


class Card(NamedTuple):
    """Published: units (a fourth of a multiprocessor, or a SIMD of a compute unit), their clock, and memory."""

    target: str  # whose machine code is counted in place of the card's
    lanes: int
    units: int
    hertz: float
    registers: int  # of a lane, over all warps of a unit
    granule: int  # registers are given in
    warps: int  # of a unit at most
    bytes_a_second: float


CARDS = {
    "H100": Card("sm_90", 32, 4 * 132, 1.98e9, 512, 8, 16, 3.35e12),
    "H200": Card("sm_90", 32, 4 * 132, 1.98e9, 512, 8, 16, 4.8e12),
    "4070Ti": Card("sm_86", 32, 4 * 60, 2.61e9, 512, 8, 12, 0.504e12),
    "MI300X": Card("gfx906", 64, 4 * 304, 2.1e9, 512, 8, 8, 5.3e12),
}
QUERIES = {"closest": 0, "any": 2}
Counts = dict[str, int]
# Instructions of those of NVIDIA's units that are half as wide as a warp: two clocks each. The multipliers do a product
# of integers in two as well. Conversions have an eighth.
HALF_RATE = ("minmax", "select", "integer", "move")


def clocks(counts: Counts, card: Card) -> float:
    """Of a unit, for the instructions of one warp: one clock each to issue them, or what its busiest part takes."""
    if card.target.startswith("sm"):
        products = counts["fma"] + counts["add"] + counts["mul"] + 2 * counts["imad"]
        return max(counts["all"], 2 * sum(counts[name] for name in HALF_RATE), products, 8 * counts["convert"])
    return 4.0 * (counts["all"] - counts["branch"] - counts["constant"])  # four clocks for 64 lanes; others go beside


def resident(registers: int, card: Card) -> int:
    """Warps of a unit: groups have 64 work-items."""
    given = -(-registers // card.granule) * card.granule
    return min(card.warps, card.registers // given)


PARTS = ("node", "triangle", "exact")  # exact: the rest of a triangle after its short test


class Steps(NamedTuple):
    """A warp's, on average."""

    taken: tuple[float, ...]  # of each of PARTS
    bytes: float  # if no cache held anything


class Prediction(NamedTuple):
    rays: float  # per second
    from_memory: float  # at most, if no cache held anything


def predict(card: Card, kernel: Counts, parts: list[Counts], steps: Steps) -> Prediction:
    rest = {name: max(0, kernel[name] - sum(part[name] for part in parts)) for name in ("all", *machine_code.CLASSES)}
    warps = resident(kernel["registers"], card)
    spent = clocks(rest, card)
    for count, part in zip(steps.taken, parts):
        work = clocks(part, card)
        spent += count * max(work, (work + WAIT) / warps)
    return Prediction(card.lanes * card.units * card.hertz / spent, card.lanes * card.bytes_a_second / steps.bytes)


class Row(NamedTuple):
    scene: str
    rays: str
    query: str
    steps: dict[int, Steps]  # by lanes


def read_divergence(text: str) -> list[Row]:
    rows: dict[tuple[str, str, str], Row] = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#") or not words:
            continue
        scene, rays, query, lanes = words[:4]
        triangles, node_steps, triangle_steps, exact_steps, apart = (float(words[at]) for at in (6, 7, 9, 11, 13))
        read = node_steps * apart * SECTORS + triangles * int(lanes) * TRIANGLE
        row = rows.setdefault((scene, rays, query), Row(scene, rays, query, {}))
        row.steps[int(lanes)] = Steps((node_steps, triangle_steps, exact_steps), read)
    return list(rows.values())


HEAD = """\
# Billions of rays per second that the counts of machine_code.txt and divergence.txt let expect of kernels that cast on
# compressed BVHs of triangles. docs/gpu_tuning.md describes the model, and has an H200's speeds beside it. memory: at
# most, of an H100, if no cache held anything. MI300X: by the code for gfx906, the latest that is made of those with 64
# lanes.
# Made by `./dev gate --model`.
#"""


def table(code: machine_code.Rows, rows: list[Row]) -> str:
    title = f"{'# scene':16} {'rays':8} {'query':8}" + "".join(f"{name:>8}" for name in CARDS) + "  memory"
    lines = [HEAD, title]
    for row in rows:
        cells = []
        for card in CARDS.values():
            variant = f"compressed-query{QUERIES[row.query]}-kinds16"
            kernel, *parts = (code[variant, card.target, part] for part in ("kernel", *PARTS))
            cells.append(predict(card, kernel, parts, row.steps[card.lanes]))
        figures = [each.rays for each in cells] + [cells[0].from_memory]
        lines.append(f"{row.scene:16} {row.rays:8} {row.query:8}" + "".join(f"{1e-9 * each:8.2f}" for each in figures))
    return "\n".join(lines)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    _, code = machine_code.read_table(Path(sys.argv[1]).read_text())
    print(table(code, read_divergence(Path(sys.argv[2]).read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
