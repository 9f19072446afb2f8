#!/usr/bin/env python3
"""Draws docs/examples/*.png from what the examples write: `./dev pictures` runs it.

    examples.py BIN [NAME...]     BIN: the folder of the built programs; NAME: lidar, sight_lines, ...; else all

Needs slabcast, NumPy and Pillow. Pictures of meshes are cast by slabcast too."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import slabcast

if len(sys.argv) < 2:
    sys.exit(__doc__)
ROOT, BIN = Path(__file__).resolve().parents[1], Path(sys.argv[1])
WIDTH, HEIGHT, FINE = 1280, 560, 2  # of a picture, and how many times finer it is drawn
NIGHT = np.array([11, 15, 24]) / 255
FONT = ImageFont.load_default(15)


def run(*command: str) -> str:
    """A command's output, which is also printed."""
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(f"$ {' '.join(command)}\n{printed}", end="", flush=True)
    return printed


def python(name: str, *arguments: str) -> str:
    return run(sys.executable, str(ROOT / "python/examples" / f"{name}.py"), *arguments)


def read_ply(path: Path) -> dict[str, np.ndarray]:
    """Its elements, each an array with the names of its properties; lists are of three."""
    header, data = path.read_bytes().split(b"end_header\n", 1)
    kinds = {"float": "<f4", "double": "<f8", "uchar": "u1", "ushort": "<u2", "int": "<i4", "uint": "<u4"}
    elements: dict[str, tuple[int, list[tuple]]] = {}
    for word in (line.split() for line in header.decode().splitlines()):
        if word[0] == "element":
            fields: list[tuple] = []
            elements[word[1]] = int(word[2]), fields
        elif word[0] == "property" and word[1] == "list":
            fields += [("count", kinds[word[2]]), (word[4], kinds[word[3]], (3,))]
        elif word[0] == "property":
            fields.append((word[2], kinds[word[1]]))
    arrays, at = {}, 0
    for name, (count, fields) in elements.items():
        arrays[name] = np.frombuffer(data, fields, count, at)
        at += arrays[name].nbytes
    return arrays


# ---- cameras and light ----


class Camera:
    """At `eye`, looking to `to`, z upward; fov in degrees, from top to bottom."""

    def __init__(self, eye, to, fov: float) -> None:
        self.eye = np.array(eye, float)
        ahead = np.array(to, float) - self.eye
        self.ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(self.ahead, [0, 0, 1])
        self.right = right / np.linalg.norm(right)
        self.up = np.cross(self.right, self.ahead)
        self.scale = HEIGHT * FINE / 2 / np.tan(np.radians(fov) / 2)

    def rays(self) -> np.ndarray:
        """Unit directions (HEIGHT * FINE, WIDTH * FINE, 3)."""
        x = (np.arange(WIDTH * FINE) + 0.5 - WIDTH * FINE / 2)[None, :, None]
        y = (np.arange(HEIGHT * FINE) + 0.5 - HEIGHT * FINE / 2)[:, None, None]
        directions = self.scale * self.ahead + x * self.right - y * self.up
        return (directions / np.linalg.norm(directions, axis=-1, keepdims=True)).astype(np.float32)

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Column, row and depth of points (n, 3)."""
        away = points - self.eye
        depth = away @ self.ahead
        with np.errstate(all="ignore"):
            scale = self.scale / depth
            return WIDTH * FINE / 2 + scale * (away @ self.right), HEIGHT * FINE / 2 - scale * (away @ self.up), depth


def color(*values: int) -> np.ndarray:
    return np.array([[v >> 16 & 255, v >> 8 & 255, v & 255] for v in values]).squeeze() / 255


def ramp(share: np.ndarray, *stops: int) -> np.ndarray:
    """Colours between stops that are evenly apart."""
    stop, at = color(*stops), np.linspace(0, 1, len(stops))
    return np.stack([np.interp(share, at, stop[:, k]) for k in range(3)], axis=-1)


def hemisphere(count: int) -> np.ndarray:
    """Unit directions (count, 3) about z, as dense as the cosine."""
    k = np.arange(count) + 0.5
    radius, angle = np.sqrt(k / count), k * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - k / count)], axis=-1)


def lit(scene: slabcast.Scene, camera: Camera, shade, sun=(-0.45, -0.6, 0.66), rays: int = 64, told=None) -> np.ndarray:
    """A picture by sun and sky: shade(hits, points) gives the colours of the hits, `rays` go to the sky. Colours of
    told(hits), the hits that a colour bar explains, stay as they are."""
    sun = (sun / np.linalg.norm(sun)).astype(np.float32)
    picture, rng, dome = [], np.random.default_rng(5), hemisphere(rays)
    eye = camera.eye.astype(np.float32)
    for directions in np.array_split(camera.rays(), HEIGHT * FINE // 20):
        flat = directions.reshape(-1, 3)
        hits = scene.closest(eye, flat, face_forward=True)
        is_hit = slabcast.is_hit(hits)
        hits, normal = hits[is_hit], hits["normal"][is_hit]
        near = hits["t"][:, None] * (1 - 1e-5)
        points = (eye + near * flat[is_hit] + 1e-4 * near * normal).astype(np.float32)
        side = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [[1, 0, 0]], [[0, 1, 0]]))
        side /= np.linalg.norm(side, axis=-1, keepdims=True)
        other, turn = np.cross(normal, side), rng.uniform(0, 2 * np.pi, (len(normal), 1))
        first, second = np.cos(turn) * side + np.sin(turn) * other, np.cos(turn) * other - np.sin(turn) * side
        up = (dome @ np.stack([first, second, normal], axis=1)).astype(np.float32)
        sky = 1 - scene.any(points[:, None], up).mean(axis=1)
        direct = np.maximum(normal @ sun, 0) * ~scene.any(points, sun)
        light = 0.6 * sky[:, None] * [0.9, 0.97, 1.1] + 0.75 * direct[:, None] * [1.1, 1.0, 0.86]
        if told:
            light[told(hits)] = 1
        strip = np.full((len(flat), 3), np.nan)
        strip[is_hit] = (shade(hits, points) ** 2.2 * light) ** (1 / 2.2)  # light adds up in linear numbers
        picture.append(strip.reshape(directions.shape))
    return np.concatenate(picture)


def over(picture: np.ndarray, background: np.ndarray) -> np.ndarray:
    """The picture, and a background where nothing was hit."""
    return np.where(np.isnan(picture), background, picture)


def save(name: str, picture: np.ndarray, label=None, colors: int = 256) -> None:
    """A picture of floats from 0 to 1, FINE times too fine, as a PNG of so many colours."""
    pixels = (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)
    small = Image.fromarray(pixels).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    if label:
        label(ImageDraw.Draw(small))
    path = ROOT / "docs/examples" / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    small.quantize(colors, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size} bytes", flush=True)


# ---- charts ----

PALE, FAINT = (214, 220, 232), (92, 102, 124)
INFERNO = (0x1B0C41, 0x4A0C6B, 0x781C6D, 0xA52C60, 0xCF4446, 0xED6925, 0xFB9B06, 0xF7D13D, 0xFCFFA4)


def night() -> np.ndarray:
    """A picture of nothing, no finer than it is saved."""
    return np.tile(NIGHT, (HEIGHT, WIDTH, 1))


class Axes:
    """A rectangle of a picture, from left, top to right, bottom in pixels, and the meaning of its sides. The axes x and
    y go from the first number of a pair to the second."""

    def __init__(self, box: tuple[int, int, int, int], x: tuple[float, float], y: tuple[float, float]) -> None:
        self.box, self.ends = box, (x, y)

    def at(self, x, y):
        """Pixels of a place."""
        (left, top, right, bottom), (ends_x, ends_y) = self.box, self.ends
        across = left + (np.asarray(x) - ends_x[0]) / (ends_x[1] - ends_x[0]) * (right - left)
        return across, bottom - (np.asarray(y) - ends_y[0]) / (ends_y[1] - ends_y[0]) * (bottom - top)

    def draw(self, draw, ticks_x: dict[float, str], ticks_y: dict[float, str], title: str, name_x: str = "") -> None:
        left, top, right, bottom = self.box
        draw.rectangle([left - 1, top - 1, right, bottom], None, FAINT)
        for value, text in ticks_x.items():
            x, _ = self.at(value, 0)
            draw.line([(x, bottom), (x, bottom + 4)], PALE)
            draw.text((x, bottom + 6), text, PALE, FONT, "ma")
        for value, text in ticks_y.items():
            _, y = self.at(0, value)
            draw.line([(left - 5, y), (left - 1, y)], PALE)
            draw.text((left - 8, y), text, PALE, FONT, "rm")
        draw.text((left, top - 8), title, "white", FONT, "ls")
        draw.text((right, bottom + 24), name_x, PALE, FONT, "ra")


def color_bar(draw, box: tuple[int, int, int, int], stops, ticks: dict[float, str], ink=PALE) -> None:
    """Upright; ticks: by the share of its height."""
    left, top, right, bottom = box
    for y in range(top, bottom):
        share = (bottom - 1 - y) / (bottom - 1 - top)
        draw.line([(left, y), (right, y)], tuple((ramp(share, *stops) * 255 + 0.5).astype(int)))
    for share, text in ticks.items():
        y = bottom - 1 - share * (bottom - 1 - top)
        draw.line([(right, y), (right + 4, y)], ink)
        draw.text((right + 8, y), text, ink, FONT, "lm")


def put(picture: np.ndarray, colors: np.ndarray, left: int, top: int) -> None:
    picture[top : top + colors.shape[0], left : left + colors.shape[1]] = colors


# ---- the pictures ----


def cloud(points: np.ndarray, shade: np.ndarray, camera: Camera, sizes) -> np.ndarray:
    """Points in the night, the farthest first. sizes: (pixels, depth): so large are points nearer than that."""
    column, row, depth = camera.project(points)
    picture = np.tile(NIGHT, (HEIGHT * FINE, WIDTH * FINE, 1))
    order = np.argsort(-depth)
    order = order[depth[order] > 0.5]
    for size, nearer in sizes:
        some = order[depth[order] < nearer]
        for dx in range(size):
            for dy in range(size):
                x, y = (column[some] + dx).astype(int), (row[some] + dy).astype(int)
                seen = (x >= 0) & (x < WIDTH * FINE) & (y >= 0) & (y < HEIGHT * FINE)
                picture[y[seen], x[seen]] = shade[some[seen]]
    return picture


def lidar(work: Path) -> None:
    python("lidar", str(work / "sweep.ply"))
    ply = read_ply(work / "sweep.ply")["vertex"]
    points = np.stack([ply["x"], ply["y"], ply["z"]], axis=-1)
    camera = Camera((-4, -3.5, 12.5), (40, 1, -0.3), 46)
    depth = camera.project(points)[2]
    # Of each label the colours from the ground up to a height.
    shade = np.empty(points.shape)
    for label, top, *stops in (
        (0, 1, 0x3F5FB5, 0x3F5FB5),
        (1, 14, 0x3A5FD0, 0x35A7EA, 0x86ECE4, 0xFBFFE0),
        (2, 1.6, 0xE8501E, 0xFFD166),
        (3, 4, 0x8A6A4A, 0xA98A66),
        (4, 7.5, 0x2FB565, 0xC8F58A),
    ):
        own = ply["label"] == label
        shade[own] = ramp(points[own, 2] / top, *stops)
    shade = shade * (0.35 + 0.65 * np.exp(-np.maximum(depth - 15, 0) / 120))[:, None]
    save("lidar", cloud(points, shade, camera, ((1, np.inf), (2, 60.0), (3, 22.0))), colors=40)


def robot_cell(work: Path) -> None:
    run(str(BIN / "robot_cell"), str(work / "cloud.ply"), "5", "224")
    ply = read_ply(work / "cloud.ply")["vertex"]
    ply = ply[(np.abs(ply["x"]) < 3.05) & (ply["y"] < 2.15)]  # without the floor behind the fence
    points = np.stack([ply["x"], ply["y"], ply["z"]], axis=-1)
    shade = color(0x2B3A66, 0x4F7CC4, 0x9A7B52, 0)[ply["label"]]
    arm = ply["label"] == 3
    shade[arm] = ramp(ply["frame"][arm] / ply["frame"].max(), 0xF0406A, 0xFFB454, 0xFFF6C8, 0x8CE07A, 0x38C4F0)
    camera = Camera((0.5, -5.4, 2.9), (0, 0.1, 0.62), 31)
    save("robot_cell", cloud(points, shade, camera, ((2, np.inf), (3, 6.5))), colors=64)


def sight_lines(work: Path) -> None:
    printed = run(str(BIN / "sight_lines"), str(work / "seen.ply"))
    ply = read_ply(work / "seen.ply")
    vertices, faces = ply["vertex"], np.ascontiguousarray(ply["face"]["vertex_indices"])
    points = np.stack([vertices["x"], vertices["y"], vertices["z"]], axis=-1)
    colors = np.stack([vertices["red"], vertices["green"], vertices["blue"]], axis=-1) / 255
    masts = np.array(re.findall(r"\((\S+), (\S+), (\S+)\)", printed), float)
    scene = slabcast.Scene()
    scene.add_mesh(points, faces)
    source = (ROOT / "examples/sight_lines.c").read_text()
    palette = np.array(re.findall(r"\{(\d+), (\d+), (\d+)\}", source), float) / 255
    # The masts are drawn far too large, to be seen at all.
    foot, tip = np.array([40, 40, 60], np.float32), np.array([40, 40, 420], np.float32)
    scene.add_boxes((masts - foot).astype(np.float32), (masts + tip).astype(np.float32))
    scene.add_spheres((masts + [0, 0, 480]).astype(np.float32), np.full(len(masts), 130, np.float32))

    def shade(hits, _):
        flat = colors[faces[np.where(hits["geometry"] == 0, hits["primitive"], 0)]]
        u, v = hits["u"][:, None], hits["v"][:, None]
        result = flat[:, 0] * (1 - u - v) + flat[:, 1] * u + flat[:, 2] * v
        result[hits["geometry"] == 1] = 0.95
        tips = hits["geometry"] == 2
        result[tips] = palette[hits["primitive"][tips]]
        return result

    picture = lit(scene, Camera((-7600, -9800, 6600), (700, -200, 0), 40), shade, (-0.8, 0.3, 0.5))
    save("sight_lines", over(picture, NIGHT), colors=128)


def sky_exposure(work: Path) -> None:
    spacing = 0.5
    python("sky_exposure", str(work / "roofs.npy"), "--spacing", str(spacing))
    rows, example = np.load(work / "roofs.npy"), runpy.run_path(str(ROOT / "python/examples/sky_exposure.py"))
    buildings = example["town"](5)
    scene = slabcast.Scene()
    for corners in buildings:
        scene.add_mesh(corners, example["WALLS"] + example["ROOF"])
    ground = scene.add_planes([0, 0, 1], 0)
    # The places are on a grid, whose cells the points of the picture look up.
    lower = np.array([rows["x"].min(), rows["y"].min()])
    cell = np.rint((np.stack([rows["x"], rows["y"]], axis=-1) - lower) / spacing).astype(int)
    grid = np.full(cell.max(axis=0) + 1, np.nan)
    grid[cell[:, 0], cell[:, 1]] = rows["exposure"]
    stops = (0x2D1160, 0x8C2981, 0xDE4968, 0xFE9F6D, 0xFCFDBF)

    def shade(hits, points):
        colors = np.where((hits["geometry"] == ground)[:, None], color(0xB4BAC2), color(0xDADBDE))
        at = np.clip(np.rint((points[:, :2] - lower) / spacing).astype(int), 0, np.array(grid.shape) - 1)
        share = grid[at[:, 0], at[:, 1]]
        roof = (hits["normal"][:, 2] > 0.3) & (points[:, 2] > 2.5) & ~np.isnan(share)
        colors[roof] = ramp((share[roof] - 0.4) / 0.6, *stops)
        return colors

    def label(draw):
        for x in range(200):
            draw.line([(40 + x, 32), (40 + x, 46)], tuple((ramp(x / 199, *stops) * 255).astype(int)))
        for x, text in ((40, "40 %"), (140, "70 %"), (240, "100 % of the sky")):
            draw.text((x, 50), text, (20, 24, 32), FONT, "ma")

    picture = lit(scene, Camera((-190, -300, 205), (12, -2, 0), 31), shade)
    save("sky_exposure", over(picture, color(0xAFC6DC)), label)


def picking(work: Path) -> None:
    printed = run(str(BIN / "picking"), str(work / "picture.ppm"))
    clicks = re.findall(r"pixel \((\d+), (\d+)\): (box \d+)", printed)

    def label(draw):
        for x, y, box in clicks:
            x, y = int(x) // FINE, int(y) // FINE
            mouse = [(0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (13, 12)]
            draw.polygon([(x + dx, y + dy) for dx, dy in mouse], "white", "black")
            draw.text((x + 16, y + 12), box, "white", FONT, stroke_width=2, stroke_fill=(11, 15, 24))

    save("picking", np.asarray(Image.open(work / "picture.ppm")) / 255, label, colors=160)


def culling(work: Path) -> None:
    run(str(BIN / "culling"), str(work / "map.ppm"))

    def label(draw):
        # The camera's place on the map and what its picture, 16 to 9 and 40 degrees high, has in view.
        x, y = WIDTH // 10, HEIGHT // 2
        slope = np.tan(np.radians(20)) * 16 / 9
        for side in (-1, 1):
            draw.line([(x, y), (x + y / slope, y + side * y)], "white", 1)
        draw.ellipse([x - 5, y - 5, x + 5, y + 5], "white")
        draw.text((x - 12, y - 8), "camera", "white", FONT, "ra", stroke_width=2, stroke_fill=(11, 15, 24))

    save("culling", np.asarray(Image.open(work / "map.ppm")) / 255, label)


def beside(work: Path, name: str) -> None:
    """A gray picture of an example's, in the middle, as high as the page's pictures."""
    run(str(BIN / name), str(work / "gray.pgm"))
    gray = Image.open(work / "gray.pgm").convert("RGB")
    share = HEIGHT / gray.height
    size = (round(gray.width * share), HEIGHT)
    picture = np.broadcast_to(NIGHT, (HEIGHT, WIDTH, 3)).copy()
    left = (WIDTH - size[0]) // 2
    picture[:, left : left + size[0]] = np.asarray(gray.resize(size, Image.Resampling.LANCZOS)) / 255
    save(name, picture, colors=64)


def occlusion(work: Path) -> None:
    beside(work, "occlusion")


def walk(work: Path) -> None:
    beside(work, "walk")


def sky_view(work: Path) -> None:
    axes = Axes((70, 46, 70 + 1056, 46 + 440), (0, 720), (0, 300))
    run(str(BIN / "sky_view"), str(work / "map.pfm"), "1056")
    kind, size, _, data = (work / "map.pfm").read_bytes().split(b"\n", 3)
    across, along = map(int, size.split())
    assert kind == b"Pf" and (across, along) == (1056, 440)
    values = np.frombuffer(data, "<f4").reshape(along, across)[::-1]
    roofs = (0x26303F, 0x8FA3BF)
    picture, is_house = night(), (values < 0)[..., None]
    put(picture, np.where(is_house, ramp((-values - 8) / 72, *roofs), ramp(values, *INFERNO)), 70, 46)

    def label(draw):
        metres = {x: f"{x:g}" for x in range(0, 721, 120)}, {y: f"{y:g}" for y in range(0, 301, 60)}
        title = "Sky view of a city's ground: the share of an even sky's light that arrives"
        axes.draw(draw, *metres, title, "metres, to the east and to the north")
        rays = across * along * 1024 / 1e6
        told = f"{across} x {along} places, 1024 rays from each: {rays:.0f} million, of which none is stored"
        draw.text((70, 510), told, PALE, FONT, "la")
        draw.text((1152, 38), "sky view", "white", FONT, "ls")
        color_bar(draw, (1152, 46, 1172, 246), INFERNO, {0: "0 %", 0.25: "25 %", 0.5: "50 %", 0.75: "75 %", 1: "100 %"})
        draw.text((1152, 318), "roofs, height", "white", FONT, "ls")
        color_bar(draw, (1152, 326, 1172, 486), roofs, {0: "8 m", 0.5: "44 m", 1: "80 m"})

    save("sky_view", picture, label)


def lidar_drive(work: Path) -> None:
    run(str(BIN / "lidar_drive"), str(work / "cloud.ply"), "24", "1024")
    ply, frames, shown, near, far = read_ply(work / "cloud.ply")["vertex"], 24, 11, 3, 60
    picture = night()
    # From above: 6.6 pixels per metre; each point in the colour of its turn, points on the ground last and larger.
    above = Axes((70, 46, 70 + 1056, 46 + 264), (-50, 110), (-20, 20))
    times = (0x3B4CC0, 0x35A7EA, 0x5FE3B0, 0xFFD166, 0xF0406A)
    for is_ground, size in ((True, 1), (False, 2)):
        some = ply[((ply["label"] == 0) == is_ground) & (ply["x"] > -50) & (np.abs(ply["y"]) < 20)]
        some = some[np.argsort(-some["frame"].astype(int), kind="stable")]
        column, row = (k.astype(int) for k in above.at(some["x"], some["y"]))
        shade = ramp(some["frame"] / (frames - 1), *times) * (0.6 if is_ground else 1)
        for pixel in range(size * size):
            x, y = np.minimum(column + pixel % size, 70 + 1055), np.minimum(row + pixel // size, 46 + 263)
            picture[y, x] = shade
    # One turn as an image: a column a firing, with the left of the car left of the middle.
    ranges = np.full((32, 1024), np.nan)
    own = ply[ply["frame"] == shown]
    ranges[own["beam"], (511 - own["firing"].astype(int)) % 1024] = own["range"]
    image = ramp(np.log(ranges / near) / np.log(far / near), *reversed(INFERNO))
    image = np.where(np.isnan(ranges)[..., None], NIGHT * 1.6, image).repeat(4, axis=0)
    turn = Axes((70, 392, 70 + 1024, 392 + 128), (180, -180), (-28.75 - 0.625, 10.625))
    put(picture, image, 70, 392)

    def label(draw):
        title = "A LiDAR drive from above: the points of 24 turns; a white dot where the car is when one begins"
        above.draw(
            draw, {x: f"{x:g}" for x in range(-40, 101, 20)}, {y: f"{y:g}" for y in (-20, 0, 20)}, title, "metres"
        )
        draw.text((1152, 38), "turn", "white", FONT, "ls")
        color_bar(draw, (1152, 46, 1172, 310), times, {0: "first", 0.5: "12th", 1: "last"})
        for frame in range(frames):
            x, y = above.at(3 * frame, 0)
            draw.ellipse([x - 2, y - 2, x + 2, y + 2], "white")
        degrees = {180: "behind", 90: "left, 90°", 0: "ahead", -90: "right, -90°", -180: "behind"}
        title = "The 12th turn as the sensor sees it: 32 beams high, 1024 firings wide; dark is where nothing stands"
        turn.draw(draw, degrees, {10: "10°", 0: "0°", -15: "-15°", -28.75: "-29°"}, title)
        draw.text((1152, 384), "range", "white", FONT, "ls")
        metres = {float(np.log(m / near) / np.log(far / near)): f"{m} m" for m in (near, 6, 12, 25, far)}
        color_bar(draw, (1152, 392, 1172, 520), INFERNO[::-1], metres)

    save("lidar_drive", picture, label)


def view_factors(work: Path) -> None:
    python("view_factors", str(work / "shares.npy"), "--points", "16384")
    rows, example = np.load(work / "shares.npy"), runpy.run_path(str(ROOT / "python/examples/view_factors.py"))
    fine = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE), tuple((NIGHT * 255).astype(int)))
    brush, count, first = ImageDraw.Draw(fine, "RGBA"), np.arange(1, rows.shape[1] + 1), 16
    amber, charts = (255, 180, 84), []
    for number, ((pair, edges), row) in enumerate(zip(example["PAIRS"].items(), rows)):
        top, most = 44 + 266 * number, (0.012, 0.03)[number]
        squares(brush, example, np.array(edges, np.float32), (196, top + 196), 130)
        chart = Axes((450, top, 1240, top + 190), (np.log10(first), np.log10(len(row))), (-most, most))
        charts.append((chart, pair, example["known"](pair), row, most))
        # After each point more: the mean, and what the spread of the points so far lets expect.
        mean = np.cumsum(row) / count
        sigma = np.sqrt(np.maximum(np.cumsum(row**2) / count - mean**2, 0) / np.maximum(count - 1, 1))

        def line(values, chart=chart, most=most):
            places = chart.at(np.log10(count), np.clip(values, -most, most))
            return [tuple(place) for place in np.stack(places, axis=-1)[first - 1 :] * FINE]

        for times, strength in ((3, 46), (1, 70)):
            brush.polygon([*line(times * sigma), *reversed(line(-times * sigma))], (*amber, strength))
        brush.line(line(0 * mean), FAINT, 2)
        brush.line(line(mean - example["known"](pair)), (255, 246, 200), 3)

    def label(draw):
        for chart, pair, known, row, most in charts:
            left, top, right, _ = chart.box
            factor, sigma = row.mean(), row.std(ddof=1) / np.sqrt(len(row))
            title = f"error: {len(row)} points give {factor:.5f} ± {sigma:.5f}, the closed form is {known:.5f}"
            high = round(most * 0.8, 2)
            heights = {-high: f"-{high}", 0: "0", high: f"+{high}"}
            points = {np.log10(n): f"{n}" for n in (16, 64, 256, 1024, 4096, 16384)}
            chart.draw(draw, points, heights, title, "random points of the lower square")
            told = "dark and bright band: 3 sigma and 1 sigma, by the spread of the points"
            draw.text((right - 8, top + 8), told, amber, FONT, "ra")
            draw.text((40, top - 8), f"unit squares {pair}", "white", FONT, "ls")
        draw.text((40, 538), "yellow rays arrive, blue ones miss", PALE, FONT, "la")

    save("view_factors", np.asarray(fine) / 255, label)


def squares(brush, example, edges: np.ndarray, foot: tuple[int, int], unit: float) -> None:
    """Two squares, and rays from a point of the first one, by parallel lines of sight."""

    def at(*points):
        x, y, z = np.array(points, float).T
        across, along = foot[0] + unit * (x - 0.62 * y), foot[1] - unit * (0.18 * x + 0.32 * y + 0.92 * z)
        return [tuple(place) for place in np.stack([across, along], axis=-1) * FINE]

    corner, first, second = edges
    other = at(corner, corner + first, corner + first + second, corner + second)
    brush.polygon(at((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)), (79, 124, 196, 150))
    point, directions = np.array([0.45, 0.4, 0], np.float32), slabcast.tables.hemisphere(96, cosine=True)
    hits = example["square"](*edges).nearest(point, directions)
    is_hit = slabcast.is_hit(hits)
    ends = point + np.where(is_hit, hits["t"], 0.55)[:, None] * directions
    for end in ends[~is_hit]:
        brush.line(at(point, end), (96, 120, 170, 130), 2)
    for end in ends[is_hit]:
        brush.line(at(point, end), (255, 209, 102, 220), 2)
    brush.polygon(other, (240, 64, 106, 90))
    brush.line([*other, other[0]], (255, 140, 160, 255), 3)
    for x, y in at(*ends[is_hit]):
        brush.ellipse([x - 4, y - 4, x + 4, y + 4], (255, 246, 200, 255))


def sunlit_hours(work: Path) -> None:
    python("sunlit_hours", str(work / "hours.npy"), "--spacing", "0.5")
    rows, example = np.load(work / "hours.npy"), runpy.run_path(str(ROOT / "python/examples/sunlit_hours.py"))
    lower, upper = example["town"](6)
    scene = slabcast.Scene()
    scene.add_boxes(lower, upper)
    scene.add_planes([0, 0, 1], 0)
    # Of each side of a house a grid, whose cells the points of the picture look up.
    grids = {}
    begins = np.flatnonzero(np.diff(rows["house"] * 4 + rows["side"], prepend=-1))
    for part in np.split(rows, begins[1:]):
        rise = len(np.unique(part["z"]))
        grids[part["house"][0], part["side"][0]] = part["hours"].reshape(rise, -1)
    stops = (0x20123B, 0x4B2A86, 0xA1397F, 0xE8603C, 0xFDB32F, 0xFFF5B8)

    def is_side(hits):
        return (hits["geometry"] == 0) & (hits["normal"][:, 2] == 0)

    def shade(hits, points):
        colors = np.where((hits["geometry"] == 1)[:, None], color(0xA9B1BB), color(0xDDE0E4))
        house, normal = hits["primitive"], hits["normal"]
        side = np.where(normal[:, 0] != 0, normal[:, 0] > 0, 2 + (normal[:, 1] > 0)).astype(int)
        for key, grid in grids.items():
            own = np.flatnonzero(is_side(hits) & (house == key[0]) & (side == key[1]))
            across = 1 - key[1] // 2
            share = [(points[own, k] - lower[key[0], k]) / (upper - lower)[key[0], k] for k in (2, across)]
            up, along = (np.clip((s * n).astype(int), 0, n - 1) for s, n in zip(share, grid.shape))
            colors[own] = ramp(grid[up, along] / 12, *stops)
        return colors

    azimuth, altitude = example["sun_table"](80, 50, 5)

    def label(draw):
        ink = (20, 24, 32)
        draw.text((40, 22), "Sunlit hours of facades on 21 March, 50° north", ink, FONT)
        color_bar(draw, (40, 60, 58, 260), stops, {h / 12: f"{h} h" for h in (0, 3, 6, 9, 12)}, ink)
        # The way of the sun: the rim is the horizon, the middle is overhead.
        x, y, radius = 1160, 120, 76
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], (226, 234, 243), ink)
        for turn, name in ((0, "N"), (90, "E"), (180, "S"), (270, "W")):
            sine, cosine = np.sin(np.radians(turn)), np.cos(np.radians(turn))
            draw.text((x + (radius + 13) * sine, y - (radius + 13) * cosine), name, ink, FONT, "mm")
        for step, (turn, up) in enumerate(zip(np.radians(azimuth), altitude)):
            far, size = radius * (90 - up) / 90, 4 if step % 12 == 6 else 1
            px, py = x + far * np.sin(turn), y - far * np.cos(turn)
            draw.ellipse([px - size, py - size, px + size, py + size], (224, 120, 20))
        draw.text((x, y + radius + 36), "the sun's way, a dot an hour", ink, FONT, "ms")
        draw.text((40, 532), "from the south-west: left are the west sides, right the south sides", ink, FONT, "ls")

    camera = Camera((-92, -128, 116), (60, 58, -4), 27)
    picture = lit(scene, camera, shade, told=is_side)
    save("sunlit_hours", over(picture, color(0xAFC6DC)), label)


def inside(work: Path) -> None:
    python("inside", str(work / "cells.npy"), "--cells", "56")
    cells, example = np.load(work / "cells.npy"), runpy.run_path(str(ROOT / "python/examples/inside.py"))
    vertices, faces = example["knot"]()
    middles, size = example["centers"](vertices, 56)
    # Right of the middle the mesh, left of it its cells.
    scene = slabcast.Scene()
    middle = vertices[:, 0].mean()
    scene.add_mesh(vertices, faces[(vertices[faces, 0] > middle).all(axis=-1)])
    held = middles[cells & (middles[..., 0] < middle + size)]
    scene.add_boxes(held - np.float32(0.46 * size), held + np.float32(0.46 * size))
    scene.add_planes([0, 0, 1], float(vertices[:, 2].min()) - 0.05)

    def shade(hits, points):
        colors = np.where((hits["geometry"] == 2)[:, None], color(0xE9E6DF), color(0x2F8FA8))
        return np.where((hits["geometry"] == 1)[:, None], color(0xF0A04B), colors)

    picture = lit(scene, Camera((-2.2, -7.6, 5.6), (0.05, -0.2, -0.32), 35.5), shade)
    save("inside", over(picture, color(0xE9E6DF)))


def near(*arguments: str) -> None:
    run(str(BIN / "slabcast"), "near", *arguments)


def slice_of(work: Path, lower: list[float], upper: list[float], wide: int, flat: int) -> np.ndarray:
    """Colours of the distances in a slice across the axis `flat` of the knot: lines of equal distance, and the surface
    itself white."""
    sizes = [1 if axis == flat else size for axis, size in enumerate((wide, 2 * HEIGHT, 2 * HEIGHT))]
    place = [f"--{name}={','.join(map(str, end))}" for name, end in (("lower", lower), ("upper", upper))]
    path, axis = work / f"slice{flat}.npy", 1 if flat == 2 else 2
    near(
        "--builtin", "knot:200000", "--grid", "x".join(map(str, sizes)), *place, "--query", "distance", "-o", str(path)
    )
    field = np.load(path).reshape(2 * HEIGHT, wide)[::-1]  # x is fastest, and pixels begin at the top
    pixel = (upper[axis] - lower[axis]) / (2 * HEIGHT)
    colors = ramp(field / 0.6, *FIELD)
    band = np.abs((field / 0.05 + 0.5) % 1 - 0.5) * 0.05 / pixel
    colors *= (0.72 + 0.28 * np.clip(band, 0, 1))[..., None]
    return np.where((field < 1.5 * pixel)[..., None], 1, colors)


FIELD = (0xFFF3C9, 0xF5A65B, 0xC8455A, 0x6A2C70, 0x2B1B4B, 0x120C24)


def distance_field(work: Path) -> None:
    wide, half = (WIDTH - 120) * FINE // 2, 1.02 * (WIDTH - 120) / 2 / HEIGHT
    picture = np.tile(NIGHT, (HEIGHT * FINE, WIDTH * FINE, 1))
    put(picture, slice_of(work, [-half, -1.02, 0], [half, 1.02, 0], wide, 2), 0, 0)
    put(picture, slice_of(work, [-half, 0, -1.02], [half, 0, 1.02], wide, 1), wide + 8 * FINE, 0)

    def label(draw):
        color_bar(draw, (1192, 40, 1210, 500), FIELD, {at / 0.6: f"{at:.1f}" for at in (0, 0.2, 0.4, 0.6)})
        draw.text((12, HEIGHT - 12), "z = 0", "white", FONT, "ls")
        draw.text((wide // FINE + 20, HEIGHT - 12), "y = 0", "white", FONT, "ls")
        draw.text((1188, 526), "distance", PALE, FONT, "ls")

    save("distance_field", picture, label)


WORN = (0x2F5FB3, 0x35A7EA, 0x86ECE4, 0xFFE08A, 0xFF8A3C, 0xF0305A)


def scan_of_knot(work: Path) -> Path:
    """Points of a scanner on the knot, with noise of 0.003, and a worn place where the surface lies deeper."""
    rays, hits, points = work / "rays.npy", work / "hits.npy", work / "scan.npy"
    run(
        str(BIN / "slabcast"),
        "rays",
        "random",
        "--builtin",
        "knot:200000",
        "--count",
        "1500000",
        "--seed",
        "4",
        "-o",
        str(rays),
    )
    run(
        str(BIN / "slabcast"),
        "cast",
        "--builtin",
        "knot:200000",
        "--rays",
        str(rays),
        "--points",
        "--face-forward",
        "-o",
        str(hits),
    )
    found = np.load(hits)
    found = found[slabcast.is_hit(found)]
    places, rng = np.stack([found[axis] for axis in "xyz"], axis=-1), np.random.default_rng(6)
    worn = np.exp(-((np.linalg.norm(places - [0.55, -0.45, 0.25], axis=-1) / 0.22) ** 2))
    moved = rng.normal(0, 0.003, len(places)) - 0.03 * worn
    np.save(points, (places + moved[:, None] * found["normal"]).astype(np.float32))
    return points


def deviation(work: Path) -> None:
    scan, most = scan_of_knot(work), 0.03
    near("--builtin", "knot:200000", "--points", str(scan), "-o", str(work / "deviation.ply"))
    vertex = read_ply(work / "deviation.ply")["vertex"]
    points, distance = np.stack([vertex[axis] for axis in "xyz"], axis=-1), vertex["distance"]
    camera = Camera((1.1, -3.6, 2.6), (0.42, 0, -0.02), 23)
    depth = camera.project(points)[2]
    light = 1.05 - 0.5 * (depth - depth.min()) / np.ptp(depth)
    picture = cloud(points, ramp(distance / most, *WORN) * light[:, None], camera, ((5, np.inf),))
    counts, edges = np.histogram(distance, np.linspace(0, most, 61))
    chart = Axes((900, 60, 1240, 480), (0, most), (0, np.log10(2 * counts.max())))

    def label(draw):
        for count, low, high in zip(counts, edges, edges[1:]):
            (left, top), (right, bottom) = chart.at(low, np.log10(max(count, 1))), chart.at(high, 0)
            draw.rectangle([left, top, right - 1, bottom], tuple((ramp(low / most, *WORN) * 255 + 0.5).astype(int)))
        heights = {float(power): f"{10**power}" for power in range(int(np.log10(counts.max())) + 1)}
        title = f"{len(distance)} points by their distance from the mesh"
        chart.draw(draw, {at: f"{at:g}" for at in (0, 0.01, 0.02, 0.03)}, heights, title, "distance")

    save("deviation", picture, label)


def far_sight(work: Path) -> None:
    printed = python("far_sight", str(work / "sight.npz"))
    sight, example = np.load(work / "sight.npz"), runpy.run_path(str(ROOT / "python/examples/far_sight.py"))
    side, picture = int(sight["side"]), night()
    boxes, pixels = (
        {"map": (120, 52, 560, 492), "globe": (740, 52, 1180, 492)},
        np.linspace(0, side - 1, 440).astype(int),
    )
    stops = (0x23304D, 0x3D5C78), (0xC98B2B, 0xFFE9A8)
    for name, vertices in ("map", example["hills"](side)[0]), ("globe", example["sea"](side)[0]):
        flat = lambda values: values.reshape(side, side)[np.ix_(pixels, pixels)]  # noqa: E731
        height = flat(vertices[:, 2]) if name == "map" else np.zeros((440, 440))
        slope = np.gradient(height)[0] - np.gradient(height)[1]
        share = 0.5 + np.clip(slope / 30, -0.5, 0.5) if name == "map" else np.full(height.shape, 0.5)
        is_hidden, is_wrong = flat(sight[f"{name}_hidden"]), flat(sight[f"{name}_hidden"] != sight[f"{name}_rounded"])
        colors = np.where(is_hidden[..., None], ramp(share, *stops[0]), ramp(share, *stops[1]))
        colors[is_wrong] = color(0xE8305A)
        # x, or east, goes to the right, y, or north, upwards
        colors = colors.transpose(1, 0, 2)[::-1] if name == "map" else colors[::-1]
        put(picture, colors, *boxes[name][:2])

    def label(draw):
        across = example["STEP"] * (side - 1) / 1000, 2 * np.radians(example["ANGLE"]) * example["RADIUS"] / 1000
        titles = "Which places see a tower, on a map in UTM", "On the globe, beyond whose curve none does"
        for name, wide, title, line in zip(boxes, across, titles, printed.splitlines()):
            axes = Axes(boxes[name], (0, wide), (0, wide))
            ticks = {x: f"{x:g}" for x in range(0, int(wide) + 1, 2 if name == "map" else 20)}
            axes.draw(draw, ticks, ticks, title, "km")
            draw.ellipse([axes.box[0] + 216, axes.box[1] + 216, axes.box[0] + 224, axes.box[1] + 224], "white", "black")
            draw.text(
                (axes.box[0], 532), line.split("; ")[1].replace("wrong", "wrong in float32"), (232, 80, 110), FONT
            )

    save("far_sight", picture, label)


def legged_robots(work: Path) -> None:
    """All robots stand on the terrain; the view of one of them is drawn over it."""
    python("legged_robots", str(work / "scans.npz"))
    scans, example = np.load(work / "scans.npz"), runpy.run_path(str(ROOT / "python/examples/legged_robots.py"))
    at, yaw = scans["at"], scans["yaw"]
    apart = np.linalg.norm(at[:, None, :2] - at[None, :, :2], axis=-1) + 99 * np.eye(len(at))
    is_within = np.abs(at[:, :2] - example["SIZE"] / 2).max(axis=1) < example["SIZE"] / 4
    one = np.argmax(is_within * apart.min(axis=1))  # with space around it
    scene, box = slabcast.Scene(), slabcast.Scene()
    box.add_boxes([-0.5] * 3, [0.5] * 3)
    scene.add_mesh(*example["terrain"]())
    scene.add_instances(box, scans["crates"][one])
    bodies = scene.add_instances(box, example["bodies"](at, yaw, scans["phase"]).reshape(-1, 3, 4))
    first = bodies + 9 * one
    camera = Camera(at[one] + [-2.6, -3.4, 1.9], at[one] + [0.6, 0.9, -0.3], 38)

    def shade(hits, points):
        ground = ramp((points[:, 2] + 0.6) / 1.5, 0x55614A, 0x8A8C6C, 0xC6B793)
        colors = np.where((hits["geometry"] == 0)[:, None], ground, color(0x7C8DA8))
        colors[hits["geometry"] == 1] = color(0xA8703C)
        colors[(hits["geometry"] >= first) & (hits["geometry"] < first + 9)] = color(0xE8862E)
        return colors

    picture = over(lit(scene, camera, shade), color(0xC4D4E4))
    pose, beams = example["poses"](at, yaw, 0 * yaw)[one], example["BEAMS"]
    seen = np.concatenate([2 - scans["heights"][one], scans["ranges"][one]])
    is_far, seen = seen > 50, np.minimum(seen, 50)
    points = (beams[:, :3] + seen[:, None] * beams[:, 3:]) @ pose[:, :3].T + pose[:, 3]
    away = (points - camera.eye).astype(np.float32)
    shown = ~is_far & (scene.distance(camera.eye.astype(np.float32), away) > 0.995)
    column, row, _ = camera.project(points)
    for k in np.flatnonzero(shown):
        x, y, near = int(column[k]), int(row[k]), 7 if k < 187 else 4
        if near < x < WIDTH * FINE - near and near < y < HEIGHT * FINE - near:
            picture[y - near // 2 : y + near // 2 + 1, x - near // 2 : x + near // 2 + 1] = color(
                0x18D8B4 if k < 187 else 0xE02848
            )

    def label(draw):
        draw.rectangle([14, 502, 232, 548], (11, 15, 24))
        draw.text((22, 506), "a height scan, 17 x 11", (24, 216, 180), FONT)
        draw.text((22, 526), "a LiDAR, 15 x 90", (255, 90, 110), FONT)

    save("legged_robots", picture, label)


PICTURES = {
    "legged_robots": legged_robots,
    "far_sight": far_sight,
    "lidar": lidar,
    "sight_lines": sight_lines,
    "sky_exposure": sky_exposure,
    "inside": inside,
    "picking": picking,
    "culling": culling,
    "occlusion": occlusion,
    "walk": walk,
    "robot_cell": robot_cell,
    "sky_view": sky_view,
    "sunlit_hours": sunlit_hours,
    "view_factors": view_factors,
    "lidar_drive": lidar_drive,
    "distance_field": distance_field,
    "deviation": deviation,
}


def main() -> None:
    names = sys.argv[2:] or PICTURES
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            PICTURES[name](Path(work))


if __name__ == "__main__":
    main()
