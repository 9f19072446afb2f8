"""The examples, run small: what they write, against brute force in float64, winding numbers and a known view factor."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shapes
import slabcast

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    """What an example defines."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def run(name, *arguments):
    """What an example prints."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def box_file(tmp_path):
    """A mesh file: the box from 0 to 1."""
    vertices, faces = shapes.box()
    lines = ["v {} {} {}".format(*corner) for corner in vertices]
    lines += ["f {} {} {}".format(*corners) for corners in faces + 1]
    path = tmp_path / "box.obj"
    path.write_text("\n".join(lines) + "\n")
    return path


def read_ply(path):
    header, data = path.read_bytes().split(b"end_header\n", 1)
    rows = np.frombuffer(data, [("xyz", "<f4", 3), ("label", "u1")])
    assert f"element vertex {len(rows)}\n".encode() in header
    return rows


class Plain:
    """Takes what a scene takes and finds the first hits by brute force in float64."""

    def __init__(self):
        self.tests = []

    def add_planes(self, normal, offset):
        self.tests.append(lambda o, d: (offset - o @ normal) / (d @ normal))

    def add_mesh(self, vertices):
        faces = np.arange(len(vertices)).reshape(-1, 3)
        rays = lambda o, d: np.concatenate([o, 0 * o[:, :1], d, 0 * o[:, :1] + np.inf], axis=1)
        self.tests.append(lambda o, d: shapes.hit_distances(vertices, faces, rays(o, d))[0].min(axis=1))

    def add_boxes(self, lower, upper):
        lower, upper = lower.reshape(-1, 3).astype(float), upper.reshape(-1, 3).astype(float)

        def first(o, d):
            t = np.stack([lower - o[:, None], upper - o[:, None]]) / d[:, None]
            enter, leave = t.min(axis=0).max(axis=-1), t.max(axis=0).min(axis=-1)
            return np.where((enter <= leave) & (enter >= 0), enter, np.inf).min(axis=1)

        self.tests.append(first)

    def add_spheres(self, centers, radii):
        centers, radii = centers.reshape(-1, 3).astype(float), radii.reshape(-1).astype(float)

        def first(o, d):
            away = o[:, None] - centers
            b, c = np.einsum("rsi,ri->rs", away, d), (away**2).sum(axis=-1) - radii**2
            a = (d**2).sum(axis=-1)[:, None]
            with np.errstate(invalid="ignore"):
                t = (-b - np.sqrt(b * b - a * c)) / a
            return np.where(t >= 0, t, np.inf).min(axis=1)

        self.tests.append(first)

    def nearest(self, origins, directions):
        """t and the geometry."""
        with np.errstate(divide="ignore"):  # of level beams
            t = np.stack([test(origins.astype(float), directions.astype(float)) for test in self.tests])
        t[~(t >= 0)] = np.inf
        return t.min(axis=0), t.argmin(axis=0)


def test_each_has_a_picture_on_the_page():
    docs = EXAMPLES.parents[1] / "docs"
    page = (docs / "examples.md").read_text()
    programs = [*EXAMPLES.glob("*.py"), *(EXAMPLES.parents[1] / "examples").glob("*.c")]
    names = {path.stem for path in programs} - {"closest", "enqueue", "helpers"}
    assert {path.stem for path in (docs / "examples").glob("*.png")} == names and len(names) == 9
    for name in names:
        assert f"](examples/{name}.png)" in page and f"/{name}." in page
        assert (docs / "examples" / f"{name}.png").stat().st_size <= 200_000


def test_lidar_sees_what_brute_force_hits(tmp_path):
    lidar, street = example("lidar"), Plain()
    lidar["add_street"](street)
    assert len(street.tests) == len(lidar["LABELS"])
    run("lidar", tmp_path / "sweep.ply", "--beams", 9, "--steps", 101, "--stops", 3, "--noise", 0)
    rows = read_ply(tmp_path / "sweep.ply")

    beams = lidar["beams"](9, 101).reshape(-1, 3)
    stops = np.repeat(np.array([[0, 0, 1.9], [80, 0, 1.9], [160, 0, 1.9]], np.float32), len(beams), axis=0)
    beams = np.tile(beams, (3, 1))
    t, geometry = street.nearest(stops, beams)
    is_near = t <= 100
    assert len(rows) == np.count_nonzero(is_near) > 1000
    assert (rows["label"] == geometry[is_near]).all()
    assert len(np.unique(rows["label"])) == 5
    assert np.abs(rows["xyz"] - stops[is_near] - t[is_near, None] * beams[is_near]).max() < 1e-3


def test_lidar_noise_lies_along_the_beam(tmp_path):
    lidar, street = example("lidar"), slabcast.Scene("cpu")
    street.add_planes([0, 0, 1], 0)
    stop, down = np.array([[0, 0, 2]], np.float32), np.tile(np.array([0, 0, -1], np.float32), (1, 5000, 1))
    rows = lidar["sweep"](street, stop, down, 100, 0.05)
    assert (rows["x"] == 0).all() and (rows["y"] == 0).all()
    assert abs(rows["z"].std() - 0.05) < 0.003 and abs(rows["z"].mean()) < 0.003


def test_lidar_of_a_mesh_lies_on_it(tmp_path, box_file):
    run("lidar", tmp_path / "sweep.ply", "--mesh", box_file, "--beams", 32, "--steps", 256, "--noise", 0)
    rows = read_ply(tmp_path / "sweep.ply")
    # A box of this size is about 40 of 360 degrees wide where a stop is, and fills the height; but from within.
    assert 0.05 < len(rows) / (4 * 32 * 256) < 0.25
    away = np.abs(rows["xyz"] - 0.5)
    assert np.abs(away.max(axis=1) - 0.5).max() < 1e-5
    # All four stops count: each side but top and bottom is met.
    sides = {(int(axis), bool(xyz[axis] > 0.5)) for axis, xyz in zip(away.argmax(axis=1), rows["xyz"])}
    assert sides >= {(0, False), (0, True), (1, False), (1, True)}


def winding(vertices, faces, point):
    """How often a mesh encloses a point: the solid angles of its triangles over 4 pi."""
    a, b, c = (vertices[faces[:, k]].astype(float) - point for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("ti,ti->t", a, np.cross(b, c))
    rest = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
    return np.arctan2(volume, rest).sum() / (2 * np.pi)


def test_inside_is_where_the_winding_number_is_one(tmp_path):
    inside = example("inside")
    printed = run("inside", tmp_path / "cells.npy", "--cells", 14)
    cells = np.load(tmp_path / "cells.npy")
    vertices, faces = inside["knot"]()
    points, size = inside["centers"](vertices, 14)
    assert points.shape == (*cells.shape, 3) and max(cells.shape) == 14
    longest = np.argmax(cells.shape)
    assert points[..., longest].min() == pytest.approx(vertices[:, longest].min() + size / 2, abs=1e-5)
    assert points[..., longest].max() == pytest.approx(vertices[:, longest].max() - size / 2, abs=1e-5)
    some = np.arange(0, cells.size, 5)
    around = np.array([winding(vertices, faces, point) for point in points.reshape(-1, 3)[some]])
    assert np.abs(around - np.round(around)).max() < 1e-6
    assert (cells.reshape(-1)[some] == (np.round(around) == 1)).all()
    assert 100 < np.count_nonzero(cells) < cells.size / 4
    assert f"{np.count_nonzero(cells)} inside" in printed


def test_inside_of_a_file_is_its_volume(tmp_path, box_file):
    printed = run("inside", tmp_path / "cells.npy", "--mesh", box_file, "--cells", 8)
    assert np.load(tmp_path / "cells.npy").all()
    assert printed.splitlines()[-1] == "volume by cells 1.0000, by triangles 1.0000"


def test_sky_beside_a_wall_is_the_known_view_factor():
    sky, scene = example("sky_exposure"), slabcast.Scene("cpu")
    half_width, height, apart = 3.0, 4.0, 1.5
    corners = np.array([[-half_width, apart, 0], [half_width, apart, 0]], np.float32)
    corners = np.concatenate([corners, corners + np.array([0, 0, height], np.float32)])
    scene.add_mesh(corners, [[0, 1, 3], [0, 3, 2]])
    scene.add_planes([0, 0, 1], 0)
    place = np.zeros((20, 3), np.float32)
    hits = np.zeros(20, slabcast.HIT)
    hits["normal"], hits["geometry"] = [0, 0, 1], 1
    shares = sky["exposure"](scene, place, hits, 1024)
    # A level place in front of the middle of the wall's foot, twice that of a corner.
    far = np.hypot(height, apart)
    wall = (np.arctan(half_width / apart) - apart / far * np.arctan(half_width / far)) / np.pi
    assert np.abs(shares - (1 - wall)).max() < 0.01
    assert abs(shares.mean() - (1 - wall)) < 0.002


def test_sky_over_a_tilted_roof_in_the_open_is_half_of_one_and_its_cosine():
    sky, scene = example("sky_exposure"), slabcast.Scene("cpu")
    scene.add_mesh(np.array([[0, 0, 0], [9, 0, 9], [0, 9, 0]], np.float32))  # 45 degrees steep
    places, hits = sky["roofs"](scene, 1.0, 0.5)
    assert len(places) > 20 and np.abs(places[:, 2] - places[:, 0]).max() < 1e-5
    shares = sky["exposure"](scene, places, hits, 1024)
    assert np.abs(shares - (1 + np.sqrt(0.5)) / 2).max() < 0.01


def test_sky_exposure_is_told_for_what_lies_above_each_place(tmp_path):
    printed = run("sky_exposure", tmp_path / "roofs.npy", "--blocks", 1, "--spacing", 2.5, "--rays", 64)
    rows, sky = np.load(tmp_path / "roofs.npy"), example("sky_exposure")
    buildings = sky["town"](1)
    vertices = buildings.reshape(-1, 3)
    faces = np.concatenate([np.array(sky["WALLS"] + sky["ROOF"]) + 10 * k for k in range(len(buildings))])
    rays = np.zeros((len(rows), 8), np.float32)
    rays[:, 0], rays[:, 1], rays[:, 2], rays[:, 6], rays[:, 7] = rows["x"], rows["y"], 500, -1, np.inf
    t, _ = shapes.hit_distances(vertices, faces, rays)
    assert len(rows) > 200 and np.abs(rows["z"] - (500 - t.min(axis=1))).max() < 1e-3
    assert (rows["building"] == t.argmin(axis=1) // (len(faces) // len(buildings))).all()
    # Each building is a closed mesh that faces outward.
    for corners in buildings:
        assert winding(corners, np.array(sky["WALLS"] + sky["ROOF"]), corners.mean(axis=0)) == pytest.approx(1)
    # A flat roof above all others sees the whole sky, and no place sees more.
    highest = rows["building"] == rows["building"][rows["z"].argmax()]
    assert np.ptp(rows["z"][highest]) < 1e-4 and (rows["exposure"][highest] == 1).all()
    assert rows["exposure"].min() < 0.9 and rows["exposure"].max() == 1
    assert f"{len(rows)} places on roofs" in printed


def test_sky_exposure_of_a_file(tmp_path, box_file):
    run("sky_exposure", tmp_path / "roofs.npy", "--mesh", box_file, "--spacing", 0.1, "--rays", 16, "--lowest", 0.5)
    rows = np.load(tmp_path / "roofs.npy")
    assert len(rows) == 100 and (rows["z"] == 1).all() and (rows["exposure"] == 1).all()
