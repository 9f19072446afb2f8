"""Sunlit hours: for how long does the sun reach each place of the facades of a town, on one day?

    python sunlit_hours.py hours.npy                            21 March at 50 degrees north
    python sunlit_hours.py hours.npy --day 172 --latitude 40
    python sunlit_hours.py hours.npy --table suns.csv           azimuths and altitudes of yours, a line each

A table has the sun's positions, one for every five minutes of solar time. From each place a ray goes to each of them:
where it meets no house, the place has five minutes more. Sizes: 36 houses, 18384 places a metre and a half apart, 144
positions: 2.6 million rays, of which none is stored.

Reference: a house in the open. Its sides have sun whenever the sun is before them, which follows from the table
without rays. The program exits with 0 only where all places of its four sides have exactly these hours.

hours.npy has a row for each place: house, side (0 west, 1 east, 2 south, 3 north), x, y, z, hours.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

import slabcast
from slabcast import RaySet, tables

Floats = NDArray[np.float32]
PLACE = np.dtype([("house", "u4"), ("side", "u1"), ("x", "f4"), ("y", "f4"), ("z", "f4"), ("hours", "f4")])
NORMALS = np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]])  # of the sides; x is east and y is north


def sun_table(day: int, latitude: float, minutes: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Azimuths from north towards east and altitudes in degrees, at the middle of each step in which the sun is up.

    After Duffie and Beckman, Solar Engineering of Thermal Processes: the declination is Cooper's (1969), equation
    1.6.1a, and the altitude's sine is the cosine of 1.6.5. The azimuth comes of the sun's parts to east and north."""
    hours = np.arange(minutes / 2, 24 * 60, minutes) / 60
    turn, place = np.radians(15 * (hours - 12)), np.radians(latitude)
    tilt = np.radians(23.45 * np.sin(np.radians(360 * (284 + day) / 365)))
    east = -np.cos(tilt) * np.sin(turn)
    north = np.cos(place) * np.sin(tilt) - np.sin(place) * np.cos(tilt) * np.cos(turn)
    up = np.sin(place) * np.sin(tilt) + np.cos(place) * np.cos(tilt) * np.cos(turn)
    is_up = up > 0
    return np.degrees(np.arctan2(east, north))[is_up] % 360, np.degrees(np.arcsin(up))[is_up]


def town(blocks: int) -> tuple[Floats, Floats]:
    """Lower and upper corners (n, 3) of houses in rows, some of them towers."""
    rng = np.random.default_rng(11)
    x, y = (24.0 * k.reshape(-1) for k in np.meshgrid(np.arange(blocks), np.arange(blocks)))
    size = rng.integers(4, 7, (len(x), 2)) * 3.0
    height = 3.0 * np.where(rng.random(len(x)) < 0.2, rng.integers(9, 14, len(x)), rng.integers(2, 6, len(x)))
    lower = np.stack([x - size[:, 0] / 2, y - size[:, 1] / 2, 0 * x], axis=-1)
    upper = np.stack([x + size[:, 0] / 2, y + size[:, 1] / 2, height], axis=-1)
    return lower.astype(np.float32), upper.astype(np.float32)


def places_on(lower: Floats, upper: Floats, spacing: float) -> NDArray[np.void]:
    """The middles of cells, about so far apart, on the four sides of each house: rows of PLACE without hours."""
    made = []
    for house, (low, high) in enumerate(zip(lower, upper)):
        for side, normal in enumerate(NORMALS):
            across = 1 - side // 2  # the axis along the facade, whose other axis the normal has
            count = np.maximum(1, np.rint((high - low) / spacing)).astype(int)
            along, rise = (low[k] + (np.arange(count[k]) + 0.5) * (high - low)[k] / count[k] for k in (across, 2))
            rows = np.zeros((len(rise), len(along)), PLACE)
            rows["house"], rows["side"], rows["z"] = house, side, rise[:, None]
            rows["xy"[across]] = along
            rows["xy"[1 - across]] = (high if normal.sum() > 0 else low)[1 - across]
            made.append(rows.reshape(-1))
    return np.concatenate(made)


def sunlit(lower: Floats, upper: Floats, places: NDArray[np.void], suns: Floats, minutes: float) -> None:
    """Sets the hours of the places. A ray to a sun behind the wall passes through the house, and so is in shadow; where
    the sun is before it, the house is behind the ray's begin."""
    scene = slabcast.Scene()
    scene.add_boxes(lower, upper)
    points = np.stack([places[axis] for axis in "xyz"], axis=-1)
    rays = RaySet.directions(points, suns).with_range(t_min=1e-3)
    places["hours"] = scene.sums(rays, query="any").open * (minutes / 60)


def in_the_open(suns: Floats, minutes: float) -> bool:
    """Whether the sides of a house with nothing around have the hours that the table says."""
    lower, upper = np.array([[-5, -5, 0]], np.float32), np.array([[5, 5, 9]], np.float32)
    places = places_on(lower, upper, 3)
    sunlit(lower, upper, places, suns, minutes)
    all_right = True
    for side, name in enumerate(("west", "east", "south", "north")):
        hours = places["hours"][places["side"] == side]
        known = np.float32(np.count_nonzero(suns @ NORMALS[side] > 0) * (minutes / 60))
        print(f"in the open, {name}: {hours.min():.3f} to {hours.max():.3f} h, by the table {known:.3f} h")
        all_right &= bool((hours == known).all())
    return all_right


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("npy", help="the file to write")
    parser.add_argument("--day", type=int, default=80, help="of the year")
    parser.add_argument("--latitude", type=float, default=50.0, help="in degrees, north of the equator")
    parser.add_argument("--minutes", type=float, default=5.0, help="from a position to the next")
    parser.add_argument("--table", help="a file of azimuth, altitude in degrees, so many minutes apart")
    parser.add_argument("--blocks", type=int, default=6, help="of the town, along each side")
    parser.add_argument("--spacing", type=float, default=1.5, help="of places, in metres")
    args = parser.parse_args()

    if args.table:
        azimuth, altitude = np.loadtxt(args.table, delimiter=",", ndmin=2).T
        azimuth, altitude = azimuth[altitude > 0], altitude[altitude > 0]
    else:
        azimuth, altitude = sun_table(args.day, args.latitude, args.minutes)
    suns = tables.sun_directions(azimuth, altitude)
    lower, upper = town(args.blocks)
    places = places_on(lower, upper, args.spacing)
    sunlit(lower, upper, places, suns, args.minutes)
    np.save(args.npy, places)
    print(f"{len(lower)} houses, {len(places)} places, {len(suns)} positions of the sun")
    for side, name in enumerate(("west", "east", "south", "north")):
        print(f"in the town, {name}: {places['hours'][places['side'] == side].mean():.3f} h on average")
    sys.exit(0 if in_the_open(suns, args.minutes) else "a house in the open has other hours than the table says")


if __name__ == "__main__":
    main()
