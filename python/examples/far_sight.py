"""The view from a tower, on a map in metres and on the globe, in coordinates as surveys and satellites have them:

    python far_sight.py sight.npz [PLACES]

On the map (UTM: half a million metres east, five million north) hills hide places. On the globe, whose coordinates
count from the middle of the Earth, the curve of the sea does: a tower of 100 m is seen from 40 km at most. The example
casts the same rays with coordinates rounded to float32, half a metre apart there: "wrong" counts the places whose
answer then differs. PLACES: the number along a side of either grid."""

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import slabcast

Floats = NDArray[np.float64]
RADIUS, TOWER, EYE = 6371000.8, 100.0, 1.6  # of the Earth; heights of the tower, and of eyes at the places
CORNER, STEP = np.array([500000.3, 5400000.7, 212.4]), 19.7  # of the map: its south-west corner, and metres a place
MIDDLE, ANGLE = np.radians([54.18, 7.89]), 0.45  # of the sea: latitude, longitude; degrees to each border


def grid(side: int) -> NDArray[np.int64]:
    """Triangles between side x side vertices in rows."""
    at = np.arange(side * side).reshape(side, side)
    corners = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, :-1], at[1:, 1:], at[:-1, 1:]
    return np.stack(corners, -1).reshape(-1, 3)


def hills(side: int) -> tuple[Floats, Floats]:
    """Vertices of a map, and what is up at each."""
    x, y = np.meshgrid(STEP * np.arange(side), STEP * np.arange(side), indexing="ij")
    z = 90 * np.sin(x / 700) * np.cos(y / 900) + 40 * np.sin((x + 2 * y) / 310) + 6 * np.cos(x / 60) * np.sin(y / 80)
    up = np.broadcast_to([0.0, 0.0, 1.0], (side * side, 3))
    return np.stack([x, y, z], -1).reshape(-1, 3) + CORNER, up


def sea(side: int) -> tuple[Floats, Floats]:
    """The same of a part of the globe."""
    angles = np.radians(np.linspace(-ANGLE, ANGLE, side))
    north, east = np.meshgrid(MIDDLE[0] + angles, MIDDLE[1] + angles / np.cos(MIDDLE[0]), indexing="ij")
    up = np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], -1).reshape(-1, 3)
    return RADIUS * up, up


def hidden(vertices: Floats, up: Floats, side: int, exact: bool) -> NDArray[np.bool_]:
    """Which places do not see the tower in the middle."""
    scene = slabcast.Scene(origin=None if exact else (0, 0, 0))  # (0, 0, 0): all is rounded to float32, and warned of
    scene.add_mesh(vertices, grid(side))
    middle = side * side // 2
    places, top = vertices + EYE * up, vertices[middle] + TOWER * up[middle]
    return scene.any(places, top - places, t_max=1.0)


def main(path: str, side: int = 601) -> None:
    results: dict[str, Any] = {"side": side}
    for name, (vertices, up) in ("map", hills(side)), ("globe", sea(side)):
        exact = hidden(vertices, up, side, True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", slabcast.PrecisionWarning)
            rounded = hidden(vertices, up, side, False)
        away = np.linalg.norm(vertices - vertices[side * side // 2], axis=1)[~exact].max() / 1000
        seen, wrong = np.count_nonzero(~exact), np.count_nonzero(exact != rounded)
        print(f"{name}: {exact.size} places, {seen} see the tower, {away:.1f} km at most; {wrong} wrong")
        results.update({f"{name}_hidden": exact, f"{name}_rounded": rounded})
    np.savez(path, **results)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
