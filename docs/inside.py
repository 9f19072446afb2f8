#!/usr/bin/env python3
"""Draws docs/inside.png, a slice through two knots that overlap, by each of the packages that bench/inside_of.py asks.

    python docs/inside.py

Red is wrong: not the union of what each knot holds alone. Needs slabcast, NumPy and Pillow; the packages are those that
are installed."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python/examples")]
from inside_of import sides_of  # noqa: E402

import slabcast  # noqa: E402

PANEL, COLUMNS = (416, 300), 3
OUTSIDE, INSIDE, WRONG = np.array([[233, 230, 223], [47, 143, 168], [214, 40, 57]], np.uint8)
SKIPPED = "slabcast, winding", "compute_signed", "nsamples"
FONT = ImageFont.load_default(15)


def knots():
    """Two tubes along trefoils, one of them turned: each is closed."""
    import runpy

    vertices, faces = runpy.run_path(str(ROOT / "python/examples/inside.py"))["knot"](600, 40)
    turned = vertices @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], np.float32) + np.float32([0.9, 0.2, 0.1])
    return [(vertices, faces), (turned.astype(np.float32), faces)]


def main():
    parts = knots()
    vertices = np.concatenate([v for v, _ in parts])
    faces = np.concatenate([f + np.uint32(k * len(parts[0][0])) for k, (_, f) in enumerate(parts)])
    width, height = PANEL[0], PANEL[1] - 28
    x = np.linspace(-4.2, 5.2, width)
    y = np.linspace(1, -1, height) * (x[-1] - x[0]) / 2 * height / width
    points = np.stack(np.broadcast_arrays(x, y[:, None], 0.05), axis=-1).reshape(-1, 3).astype(np.float32)
    right = np.zeros(len(points), bool)
    for v, f in parts:
        alone = slabcast.Scene("cpu")
        alone.add_mesh(v, f)
        right |= alone.contains(points)
    asked = sides_of(vertices, faces)
    sides = {name: ask for name, ask in asked.items() if not any(k in name for k in SKIPPED)}
    rows = -(-len(sides) // COLUMNS)
    picture = Image.new("RGB", (COLUMNS * PANEL[0], rows * PANEL[1]), "white")
    draw = ImageDraw.Draw(picture)
    for k, (name, ask) in enumerate(sides.items()):
        inside = np.asarray(ask(points)).astype(bool)
        colors = np.where(inside[:, None], INSIDE, OUTSIDE)
        colors[inside != right] = WRONG
        left, top = k % COLUMNS * PANEL[0], k // COLUMNS * PANEL[1]
        picture.paste(Image.fromarray(colors.reshape(height, width, 3).astype(np.uint8)), (left, top + 28))
        share = (inside != right).sum() / right.sum()
        draw.text((left + 8, top + 6), f"{name}: {share:.1%} wrong", "black", FONT)
    picture.save(ROOT / "docs/inside.png", optimize=True)


if __name__ == "__main__":
    main()
