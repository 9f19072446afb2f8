"""The examples, run small: their files, against brute force in float64, winding numbers and known view factors."""

import re
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
    """An example's definitions."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def run(name, *arguments):
    """An example's output."""
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
    drawn_from_files = {"deviation", "distance_field"}  # by docs/examples.py, with `slabcast near`
    assert {path.stem for path in (docs / "examples").glob("*.png")} == names | drawn_from_files and len(names) == 15
    for name in drawn_from_files:
        assert f"](examples/{name}.png)" in page
    for name in names:
        assert f"](examples/{name}.png)" in page and f"/{name}." in page
        assert (docs / "examples" / f"{name}.png").stat().st_size <= 200_000


def test_legged_robots_see_the_terrain_and_their_crate_alone(tmp_path):
    robots, box = example("legged_robots"), slabcast.Scene("cpu")
    printed = run("legged_robots", tmp_path / "scans.npz", 60, 3)
    assert printed.startswith("60 robots, 92220 rays a frame")
    scans = np.load(tmp_path / "scans.npz")
    at, yaw = scans["at"], scans["yaw"]
    box.add_boxes([-0.5] * 3, [0.5] * 3)
    seen = np.concatenate([2 - scans["heights"], scans["ranges"]], axis=1)
    bodies = robots["bodies"](at, yaw, scans["phase"])
    of_crate = of_body = 0
    for one in range(0, 60, 5):
        rays = slabcast.RaySet.beams(robots["poses"](at, yaw, 0 * yaw)[one], robots["BEAMS"])
        scene = slabcast.Scene("cpu")
        scene.add_mesh(*robots["terrain"]())
        ground = scene.distance(rays)
        scene.add_instances(box, scans["crates"][one])
        expected = scene.distance(rays).reshape(-1)
        assert (expected[187:] == seen[one, 187:]).all()
        assert np.abs(expected[:187] - seen[one, :187]).max() < 1e-6  # a height is a rounded difference
        of_crate += np.count_nonzero(expected != ground.reshape(-1))
        scene.add_instances(box, bodies[one])
        of_body += np.count_nonzero(scene.distance(rays).reshape(-1) < expected)
    assert of_crate > 100 and of_body > 1000  # which masks hide
    assert (np.abs(scans["heights"] + 0.45) < 1).all()


def test_far_sight_ends_at_the_horizon(tmp_path):
    sight = example("far_sight")
    printed = run("far_sight", tmp_path / "sight.npz", 201)
    assert re.search(r"^map: 40401 places, \d+ see the tower, .* km at most; \d+ wrong$", printed, re.M)
    results = np.load(tmp_path / "sight.npz")
    vertices, up = sight["sea"](201)
    arc = sight["RADIUS"] * np.arccos(np.clip(up @ up[len(up) // 2], -1, 1))
    horizon = sum(sight["RADIUS"] * np.arccos(1 / (1 + h / sight["RADIUS"])) for h in (sight["TOWER"], sight["EYE"]))
    hidden = results["globe_hidden"]
    assert not hidden[arc < horizon - 600].any() and hidden[arc > horizon + 600].all()  # a place is 500 m from the next
    # on the map, by heights along each line
    vertices, _ = sight["hills"](201)
    heights, middle = vertices[:, 2].reshape(201, 201), 100
    top = heights[middle, middle] + sight["TOWER"]
    for i, j in ((0, 0), (30, 170), (100, 20), (180, 90), (60, 110)):
        eye, along = heights[i, j] + sight["EYE"], np.linspace(0.02, 0.98, 400)
        x, y = i + (middle - i) * along, j + (middle - j) * along
        a, b = x.astype(int), y.astype(int)
        u, v = x - a, y - b
        corner = lambda da, db: heights[a + da, b + db]  # noqa: B023, E731
        ground = np.where(
            u >= v,
            corner(0, 0) + u * (corner(1, 0) - corner(0, 0)) + v * (corner(1, 1) - corner(1, 0)),
            corner(0, 0) + v * (corner(0, 1) - corner(0, 0)) + u * (corner(1, 1) - corner(0, 1)),
        )
        space = (eye + (top - eye) * along - ground).min()
        if abs(space) > 0.5:
            assert results["map_hidden"][i * 201 + j] == (space < 0)


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


def test_view_factors_are_within_three_sigma_of_the_closed_form(tmp_path):
    printed = run("view_factors", tmp_path / "shares.npy", "--points", 2048, "--rays", 256, "--seed", 5)
    rows, lines = np.load(tmp_path / "shares.npy"), printed.splitlines()
    assert rows.shape == (2, 2048) and len(lines) == 2
    # The catalog's values of unit squares, of which the program has formulas.
    for row, line, known in zip(rows, lines, (0.199825, 0.200044)):
        factor, sigma = row.mean(), row.std(ddof=1) / np.sqrt(len(row))
        assert abs(factor - known) < 3 * sigma and 1e-4 < sigma < 4e-3
        assert f": {factor:.5f} +- {sigma:.5f}, closed form {known:.6f}: " in line


def sigmas_away(pair, turned):
    """By how many sigma the factors of 60 seeds are off."""
    factors = example("view_factors")
    scene = factors["square"](*np.array(factors["PAIRS"][pair], np.float32))
    rows = [factors["shares"](scene, factors["frames"](1024, seed, turned), 64) for seed in range(60)]
    return np.array([(row.mean() - factors["known"](pair)) / (row.std(ddof=1) / 32) for row in rows])


@pytest.mark.parametrize("pair", ["face to face", "at right angles"])
def test_sigma_tells_how_far_view_factors_are_off(pair):
    away = sigmas_away(pair, turned=True)
    assert abs(away.mean()) < 0.7 and 0.7 < away.std() < 1.3 and np.abs(away).max() < 4


def test_sigma_does_not_tell_the_error_that_all_points_share_without_turns():
    assert abs(sigmas_away("at right angles", turned=False).mean()) > 1


def ends(name, monkeypatch, path, **others):
    """An example's exit status where some of its functions are replaced."""
    main = example(name)["main"]
    main.__globals__.update(others)
    monkeypatch.setattr(sys, "argv", [name, str(path)])
    with pytest.raises(SystemExit) as told:
        main()
    return told.value.code


def test_examples_end_with_an_error_where_their_reference_is_not_met(tmp_path, monkeypatch):
    assert ends("view_factors", monkeypatch, tmp_path / "shares.npy") == 0
    known = lambda pair: 0.2025  # 1.4 sigma away at right angles, 7 face to face
    assert "within 3 sigma" in ends("view_factors", monkeypatch, tmp_path / "shares.npy", known=known)

    exact = example("sunlit_hours")["sunlit"]

    def one_is_off(lower, upper, places, suns, minutes):
        exact(lower, upper, places, suns, minutes)
        places["hours"][-1] = np.float32(minutes / 60)

    assert ends("sunlit_hours", monkeypatch, tmp_path / "hours.npy") == 0
    assert "other hours" in ends("sunlit_hours", monkeypatch, tmp_path / "hours.npy", sunlit=one_is_off)


def test_points_of_view_factors_have_frames_that_are_turned_about_their_normal():
    poses = example("view_factors")["frames"](500, 3)
    assert poses.shape == (500, 3, 4) and np.abs(poses[:, :, 2] - [0, 0, 1]).max() == 0
    assert np.abs(poses[:, :, :3] @ poses[:, :, :3].transpose(0, 2, 1) - np.eye(3)).max() < 1e-6
    assert poses[:, :2, 3].min() >= 0 and poses[:, :2, 3].max() < 1 and (poses[:, 2, 3] == 0).all()
    turns = np.arctan2(poses[:, 1, 0], poses[:, 0, 0])
    assert np.abs(np.histogram(turns, 5, (-np.pi, np.pi))[0] - 100).max() < 40


def test_the_sun_is_where_the_day_and_the_latitude_say():
    table = example("sunlit_hours")["sun_table"]
    for day, latitude in ((80, 50), (172, 40), (355, -30)):
        azimuth, altitude = table(day, latitude, 1)
        tilt = 23.45 * np.sin(2 * np.pi * (284 + day) / 365)
        # At noon it is 90 - |latitude - declination| high, and it rises where cos(azimuth) = sin(tilt) / cos(latitude).
        assert altitude.max() == pytest.approx(90 - abs(latitude - tilt), abs=1e-2)
        rise = np.degrees(np.arccos(np.sin(np.radians(tilt)) / np.cos(np.radians(latitude))))
        assert azimuth[0] == pytest.approx(rise, abs=0.3) and azimuth[-1] == pytest.approx(360 - rise, abs=0.3)
        assert np.abs(altitude - altitude[::-1]).max() < 1e-9
        hours = 2 / 15 * np.degrees(np.arccos(-np.tan(np.radians(tilt)) * np.tan(np.radians(latitude))))
        assert len(altitude) / 60 == pytest.approx(hours, abs=0.03)


def test_a_facade_in_the_open_has_the_hours_that_the_table_says(tmp_path):
    printed = run("sunlit_hours", tmp_path / "hours.npy", "--blocks", 1, "--minutes", 10, "--day", 120)
    azimuth, altitude = example("sunlit_hours")["sun_table"](120, 50, 10)
    rows = np.load(tmp_path / "hours.npy")
    # The west has the sun while its azimuth is over 180 degrees, the north while it is within 90 of 0, and so on.
    for side, middle in enumerate((270, 90, 180, 0)):
        before = np.abs((azimuth - middle + 180) % 360 - 180) < 90
        known = np.float32(np.count_nonzero(before) * (10 / 60))
        hours = rows["hours"][rows["side"] == side]
        assert len(hours) > 20 and (hours == known).all()
    assert f"{len(rows)} places, {len(azimuth)} positions" in printed and "in the open, south: " in printed


def test_a_wall_takes_the_hours_while_the_sun_is_below_its_top():
    sun = example("sunlit_hours")
    azimuth, altitude = sun["sun_table"](355, 50, 2)
    suns = slabcast.tables.sun_directions(azimuth, altitude)
    # A wall without ends, 6 m high and 7 m south of the facade.
    lower = np.array([[-9, 0, 0], [-np.inf, -8, 0]], np.float32)
    upper = np.array([[9, 9, 12], [np.inf, -7, 6]], np.float32)
    places = sun["places_on"](lower[:1], upper[:1], 1.5)
    sun["sunlit"](lower, upper, places, suns, 2)
    south = places[places["side"] == 2]
    assert (south["y"] == 0).all() and len(np.unique(south["z"])) == 8
    x, y, z = suns.T.astype(float)
    for height in np.unique(south["z"]).astype(float):
        above = z * 7 - (6 - height) * -y  # over the top, in lengths that do not vanish where it is near
        assert np.abs(above).min() > 1e-5
        known = np.float32(np.count_nonzero((y < 0) & (above > 0)) * (2 / 60))
        assert (south["hours"][south["z"] == np.float32(height)] == known).all()
    assert south["hours"].min() == 0 < south["hours"].max() == np.float32(np.count_nonzero(y < 0) * (2 / 60))


def test_the_hours_of_a_town_are_those_of_boxes_in_float64(tmp_path):
    sun = example("sunlit_hours")
    azimuth, altitude = sun["sun_table"](100, 45, 20)
    np.savetxt(tmp_path / "suns.csv", np.stack([azimuth, altitude], axis=-1), delimiter=",", fmt="%.17g")
    below = "10,-5\n"
    (tmp_path / "suns.csv").write_text(below + (tmp_path / "suns.csv").read_text())
    named = "--blocks", 3, "--spacing", 2, "--minutes", 20
    run("sunlit_hours", tmp_path / "table.npy", *named, "--table", tmp_path / "suns.csv")
    run("sunlit_hours", tmp_path / "hours.npy", *named, "--day", 100, "--latitude", 45)
    rows = np.load(tmp_path / "hours.npy")
    assert (np.load(tmp_path / "table.npy") == rows).all()

    lower, upper = (bound.astype(float) for bound in sun["town"](3))
    suns = slabcast.tables.sun_directions(azimuth, altitude).astype(float)
    points = np.stack([rows["x"], rows["y"], rows["z"]], axis=-1).astype(float)
    lit, is_sure = np.zeros(len(rows)), np.ones(len(rows), bool)
    for direction in suns:
        t = np.stack([lower - points[:, None], upper - points[:, None]]) / direction
        through = t.max(axis=0).min(axis=-1) - np.maximum(t.min(axis=0).max(axis=-1), 1e-3)
        is_sure &= np.abs(through).min(axis=1) > 1e-4
        lit += (through < 0).all(axis=1)
    assert np.count_nonzero(is_sure) > 0.95 * len(rows) > 1000
    assert (rows["hours"] == np.float32(lit * (20 / 60)))[is_sure].all()
    assert len(np.unique(rows["hours"])) > 15 and (rows["hours"][rows["side"] == 3] < 4).all()
