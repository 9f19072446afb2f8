"""drawings.py DATA FOLDER: the drawings of docs/how.md, from what slab_drawings wrote and from casts of the package."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import slabcast

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import PatchCollection, PolyCollection  # noqa: E402
from matplotlib.colors import ListedColormap  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

TEAL, SAND, RED, INK, GREY = "#0b6e75", "#e9b44c", "#c8553d", "#22313a", "#9aa5ab"
pyplot.rcParams.update(
    {
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": GREY,
        "axes.titlesize": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "slabcast",
        "savefig.facecolor": "white",
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.h_pad": 0.12,
        "figure.constrained_layout.w_pad": 0.12,
    }
)


def read(path):
    """The rows of each word, and the grid of cells."""
    rows, cells = {}, None
    lines = iter(Path(path).read_text().splitlines())
    for line in lines:
        word, *numbers = line.split()
        rows.setdefault(word, []).append([float(number) for number in numbers])
        if word == "cells":
            cells = np.array([[int(digit) for digit in next(lines)] for _ in range(int(numbers[1]))])
    return {word: np.array(numbers) for word, numbers in rows.items()}, cells


def rectangles(rows, **style):
    return PatchCollection([Rectangle((x, y), right - x, top - y) for x, y, right, top in rows], **style)


def counted(count, noun):
    plural = {"leaf": "leaves"}.get(noun, noun + "s")
    return f"{count or 'no'} {noun if count == 1 else plural}"


def draw_bvh(data):
    """A panel for each depth; the last one has leaves alone. The ground, a box below all, is left out."""
    sizes = data["city"][:, 2:] - data["city"][:, :2]
    houses = data["city"][sizes.max(axis=1) < 10]
    depths = int(data["node"][:, 0].max())
    figure, panels = pyplot.subplots(1, depths, figsize=(3.3 * depths, 3.5), sharex=True, sharey=True)
    for depth, panel in enumerate(panels, 1):
        rows = data["node"][data["node"][:, 0] == depth]
        inner, leaves = rows[rows[:, 1] == 0], rows[rows[:, 1] == 1]
        panel.add_collection(rectangles(houses, facecolor="#c3cace", edgecolor="none"))
        panel.add_collection(rectangles(leaves[:, 2:], facecolor=TEAL + "1c", edgecolor=TEAL, linewidth=1.1))
        panel.add_collection(rectangles(inner[:, 2:], facecolor="none", edgecolor=SAND, linewidth=2.2))
        panel.set(title=f"depth {depth}: {counted(len(inner), 'node')}, {counted(len(leaves), 'leaf')}")
        panel.set(xlim=(-11, 11), ylim=(-11, 11))
        panel.set_aspect("equal")
        panel.axis("off")
    return figure


def draw_packet(data, cells):
    _, _, left, low, right, high = data["cells"][0]
    figure, panel = pyplot.subplots(figsize=(9, 4.7))
    colours = ListedColormap(["#ffffff", SAND + "66", TEAL + "99"])
    extent = (left, right, low, high)
    panel.imshow(cells, origin="lower", extent=extent, cmap=colours, interpolation="nearest", vmin=0, vmax=2)
    for x, y, dx, dy in data["ray"]:
        panel.annotate(
            "", (x + 6.5 * dx, y + 6.5 * dy), (x, y), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 0.8}
        )
        panel.plot(x, y, "o", color=INK, markersize=3)
    shares = [np.count_nonzero(cells == value) for value in (2, 1)]
    panel.plot([], [], "s", color=TEAL + "99", markersize=9, label=f"cells that some ray may overlap: {shares[0]:,}")
    panel.plot([], [], "s", color=SAND + "66", markersize=9, label=f"that the hull alone accepts: {shares[1]:,}")
    panel.legend(loc="upper left", frameon=False)
    panel.set_ylim(data["ray"][:, 1].min() - 0.1, high)
    panel.axis("off")
    return figure


# ---- edges ----


def fan():
    """Six triangles around a vertex, all on a lattice, over which rays fall at the lattice's points."""
    ring = [[4, 0], [2, 4], [-2, 4], [-4, 0], [-2, -4], [2, -4]]
    return np.array([[0, 0], *ring], np.float32), [[0, 1 + k, 1 + (k + 1) % 6] for k in range(6)]


def draw_edges():
    vertices, triangles = fan()
    x, y = np.meshgrid(np.arange(-5, 6), np.arange(-5, 6))
    rays = np.stack([x, y, np.ones_like(x)], axis=-1).astype(np.float32).reshape(-1, 3)
    down = np.array([0, 0, -1], np.float32)
    scene = slabcast.Scene()
    scene.add_mesh(np.c_[vertices, np.zeros(len(vertices), np.float32)], triangles)
    figure, panels = pyplot.subplots(1, 2, figsize=(9.6, 4.8))
    palette = ["#7fb7be", "#e9b44c", "#b5c99a", "#d98f6c", "#8d99ae", "#c9ada7"]
    for panel, edges, title in zip(
        panels, ("half_open", "closed"), ("half open: each ray hits one", "closed: each ray hits all that it touches")
    ):
        hit = scene.nearest(rays, down, edges=edges)["primitive"]
        count = scene.count(rays, down, edges=edges)
        panel.add_collection(
            PolyCollection(
                [vertices[t] for t in triangles],
                facecolors=[colour + "55" for colour in palette],
                edgecolors="white",
                linewidths=2,
            )
        )
        struck = count > 0
        panel.scatter(*rays[~struck, :2].T, s=14, facecolors="none", edgecolors=GREY)
        panel.scatter(
            *rays[struck, :2].T, s=130, c=[palette[k] for k in hit[struck]], edgecolors=INK, linewidths=0.7, zorder=3
        )
        for at, n in zip(rays[struck], count[struck]):
            panel.text(*at[:2], n, ha="center", va="center_baseline", fontsize=8, zorder=4)
        panel.set(title=title, xlim=(-5.6, 5.6), ylim=(-5.6, 5.6))
        panel.set_aspect("equal")
        panel.axis("off")
    return figure


# ---- padded bounds ----

UNIT = 2.0**-24


def cast_at_edge(count):
    """Rays at the lower edge of a triangle 1000 long, y = 0. The results are how far beyond it they pass, in UNITs of
    its longest side, computed in higher precision, and whether they hit."""
    random = np.random.default_rng(20260101)
    corners = np.array([[0.125, 0, 0], [1000, 0, 0.3], [333, 1, 0]], np.float32)
    scene = slabcast.Scene()
    scene.add_mesh(corners)
    a, b, c = corners.astype(np.longdouble)
    along = random.random((count, 1))
    target = a * (1 - along) + b * along
    target[:, 1] += (random.random(count) - 0.5) * UNIT * 1000
    origins = (target + random.normal(size=(count, 3)) * [300, 1, 1] + [0, 0, 2]).astype(np.float32)
    directions = (target - origins).astype(np.float32)
    normal = np.cross(b - a, c - a)
    o, d = origins.astype(np.longdouble), directions.astype(np.longdouble)
    crossing = o + ((a - o) @ normal / (d @ normal))[:, None] * d
    return (-crossing[:, 1] / (UNIT * 1000)).astype(float), scene.any(origins, directions)


def draw_padded():
    beyond, hit = cast_at_edge(2_000_000)
    farthest = beyond[hit].max()
    figure, (near, far) = pyplot.subplots(1, 2, figsize=(9.6, 3.4), gridspec_kw={"width_ratios": (1, 1.5)})
    edges = np.linspace(-0.05, 0.05, 81)
    share = np.histogram(beyond[hit], edges)[0] / np.histogram(beyond, edges)[0]
    near.stairs(100 * share, edges, fill=True, color=TEAL + "66")
    near.axvline(0, color=INK, linewidth=1)
    near.set(title="rays that hit, %", xlabel="beyond the bounds, in 2$^{-24}$ of the longest side")

    far.axvspan(-8, 0, color=TEAL + "66", lw=0)
    far.axvspan(0, 6, color=SAND + "55", lw=0)
    far.axvline(0, color=INK, linewidth=1)
    far.axvline(32, color=RED, linewidth=2)
    far.plot(farthest, 0.62, "o", color=TEAL, clip_on=False)
    far.annotate(f"the farthest of {np.count_nonzero(hit):,} hits: {farthest:.2f}", (farthest, 0.62), (8, 0.62),
                 va="center", arrowprops={"arrowstyle": "-", "color": GREY})  # fmt: skip
    far.text(-4, 0.9, "the\ntriangle", ha="center", va="center")
    far.text(6.4, 0.25, "error by the side, as derived: 6", ha="left", va="center")
    far.text(31.4, 0.9, "padded bounds: 32", ha="right", va="center", color=RED)
    far.set(title="what the pad is for", xlabel="the same, farther out", xlim=(-8, 36), ylim=(0, 1), yticks=[])
    return figure


data, cells = read(sys.argv[1])
folder = Path(sys.argv[2])
for name, figure in {
    "bvh": draw_bvh(data),
    "packet": draw_packet(data, cells),
    "edges": draw_edges(),
    "padded": draw_padded(),
}.items():
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    if len(sys.argv) > 3:
        figure.savefig(folder / f"{name}.png", dpi=80)
