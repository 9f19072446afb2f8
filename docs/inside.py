#!/usr/bin/env python3
"""Draws docs/inside.png, a slice through two knots that overlap, and docs/inside-holes.png, one through a knot with holes,
by each of the packages that bench/inside_of.py compares.

    python docs/inside.py

Red is wrong: not the union of the knots' insides, or not the inside of the knot before it had holes. Needs slabcast,
NumPy and Pillow; the packages are those that are installed."""

import re
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python/examples")]
from inside_of import sides_of, sides_of_open, with_holes  # noqa: E402

import slabcast  # noqa: E402

PANEL, COLUMNS = (416, 300), 3
OUTSIDE, INSIDE, WRONG = np.array([[233, 230, 223], [47, 143, 168], [214, 40, 57]], np.uint8)
SKIPPED = re.compile("slabcast, winding$|compute_signed|nsamples")
FONT = ImageFont.load_default(15)


def knots():
    """Two tubes along trefoils, one of them turned: each is closed."""
    import runpy

    vertices, faces = runpy.run_path(str(ROOT / "python/examples/inside.py"))["knot"](600, 40)
    turned = vertices @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], np.float32) + np.float32([0.9, 0.2, 0.1])
    return [(vertices, faces), (turned.astype(np.float32), faces)]


def draw(path, sides, points, right, shape):
    """A panel per side."""
    rows = -(-len(sides) // COLUMNS)
    picture = Image.new("RGB", (COLUMNS * PANEL[0], rows * PANEL[1]), "white")
    pen = ImageDraw.Draw(picture)
    for k, (name, ask) in enumerate(sides.items()):
        inside = np.asarray(ask(points)).astype(bool)
        colors = np.where(inside[:, None], INSIDE, OUTSIDE)
        colors[inside != right] = WRONG
        left, top = k % COLUMNS * PANEL[0], k // COLUMNS * PANEL[1]
        picture.paste(Image.fromarray(colors.reshape(*shape, 3).astype(np.uint8)), (left, top + 28))
        share = (inside != right).sum() / right.sum()
        pen.text((left + 8, top + 6), f"{name}: {share:.1%} wrong", "black", FONT)
    picture.save(path, optimize=True)


def of_one(vertices, faces, points):
    alone = slabcast.Scene("cpu")
    alone.add_mesh(vertices, faces)
    return alone.contains(points)


def main():
    parts = knots()
    vertices = np.concatenate([v for v, _ in parts])
    faces = np.concatenate([f + np.uint32(k * len(parts[0][0])) for k, (_, f) in enumerate(parts)])
    width, height = PANEL[0], PANEL[1] - 28
    x = np.linspace(-4.2, 5.2, width)
    y = np.linspace(1, -1, height) * (x[-1] - x[0]) / 2 * height / width
    points = np.stack(np.broadcast_arrays(x, y[:, None], 0.05), axis=-1).reshape(-1, 3).astype(np.float32)
    right = of_one(*parts[0], points) | of_one(*parts[1], points)
    shown = lambda sides: {name: ask for name, ask in sides.items() if not SKIPPED.search(name)}
    draw(ROOT / "docs/inside.png", shown(sides_of(vertices, faces)), points, right, (height, width))
    vertices, faces = parts[0]
    sides = sides_of_open(vertices, with_holes(vertices, faces, 30))
    draw(ROOT / "docs/inside-holes.png", shown(sides), points, of_one(vertices, faces, points), (height, width))


if __name__ == "__main__":
    main()
