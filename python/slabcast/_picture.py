"""A scene's picture: daylight with shadows, cast by the library, as a PNG file's bytes."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._results import is_hit
from ._values import FLOAT
from .rays import overview

Colours = NDArray[np.float32]

_WIDTH, _HEIGHT = 480, 360
_SAMPLES = 2  # per side of a pixel
_SKY_RAYS = 4  # of each sample
_UP = np.array([0, 0, 1], FLOAT)
_SUN = np.array([0.62, -0.35, 0.7], FLOAT) / FLOAT.type(np.sqrt(0.62**2 + 0.35**2 + 0.7**2))
_SUNLIGHT = np.array([1.0, 0.93, 0.82], FLOAT)
_SKYLIGHT = np.array([0.56, 0.63, 0.75], FLOAT)
_ABOVE, _BELOW = np.array([0.80, 0.86, 0.93], FLOAT), np.array([0.97, 0.97, 0.96], FLOAT)  # of the background
# Of the geometries, in turn.
_PALETTE = np.array(
    [
        [0.80, 0.78, 0.74],
        [0.36, 0.55, 0.75],
        [0.86, 0.56, 0.34],
        [0.48, 0.66, 0.45],
        [0.76, 0.42, 0.42],
        [0.60, 0.52, 0.73],
        [0.84, 0.74, 0.42],
        [0.42, 0.66, 0.68],
    ],
    FLOAT,
)


def picture_of(scene: Any) -> bytes:
    """It casts 4 rays per pixel, and 5 from each hit."""
    rays = overview(scene, _UP, size=(_SAMPLES * _WIDTH, _SAMPLES * _HEIGHT))
    hits = scene.closest(rays, face_forward=True)
    colours = np.empty((*hits.shape, 3), FLOAT)
    height = np.linspace(0, 1, len(hits), dtype=FLOAT)[:, None, None]
    colours[...] = _ABOVE + height * (_BELOW - _ABOVE)
    struck = is_hit(hits)
    if struck.any():
        turns = np.arange(_SAMPLES * _HEIGHT)[:, None] % _SAMPLES * _SAMPLES + np.arange(_SAMPLES * _WIDTH) % _SAMPLES
        colours[struck] = _lit(scene, rays[struck], hits[struck], turns[struck])
    return _png(_averaged(colours))


def _lit(scene: Any, rays: NDArray[np.float32], hits: NDArray[np.void], turns: NDArray[Any]) -> Colours:
    """Colours of hits, by the sun and by the sky that is in sight. turns: each sample's number within its pixel."""
    normals = np.ascontiguousarray(hits["normal"])
    # The other side's surface is not hit again, in spite of rounding.
    off = 1e-4 * hits["t"][:, None] * np.linalg.norm(rays[:, 4:7], axis=1)[:, None]
    places = rays[:, :3] + hits["t"][:, None] * rays[:, 4:7] + off.astype(FLOAT) * normals
    sun = np.maximum(normals @ _SUN, 0)
    sun[sun > 0] *= ~scene.any(places[sun > 0], _SUN)
    sky = 1 - scene.any(places[:, None], _around(normals, turns)).mean(axis=-1, dtype=FLOAT)
    sky *= 0.7 + 0.3 * normals[:, 2]  # less of it from below
    light = 0.85 * sun[:, None] * _SUNLIGHT + sky[:, None] * _SKYLIGHT + FLOAT.type(0.06)
    return _PALETTE[hits["geometry"] % len(_PALETTE)] * light  # type: ignore[no-any-return]


def _around(normals: NDArray[np.float32], turns: NDArray[Any]) -> NDArray[np.float32]:
    """Directions over each place, their density as the cosine: one in each sector of a ring of the unit disc, projected
    up. A pixel's samples share out the rings, so that little of the chance is seen."""
    chance = np.random.default_rng(0).random((2, len(normals), _SKY_RAYS), FLOAT)
    angles = (np.arange(_SKY_RAYS, dtype=FLOAT) + chance[0]) * FLOAT.type(2 * np.pi / _SKY_RAYS)
    squares = ((turns[:, None] + chance[1]) / (_SAMPLES * _SAMPLES)).astype(FLOAT)
    radii = np.sqrt(squares)
    other = np.where(np.abs(normals[:, :1]) < 0.7, np.eye(3, dtype=FLOAT)[0], np.eye(3, dtype=FLOAT)[1])
    side = np.cross(normals, other)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    x, y, z = radii * np.cos(angles), radii * np.sin(angles), np.sqrt(1 - squares)
    axes = side, np.cross(normals, side), normals
    ways: NDArray[np.float32] = sum(part[..., None] * axis[:, None] for part, axis in zip((x, y, z), axes))
    return ways


def _averaged(colours: Colours) -> NDArray[np.uint8]:
    """Pixels of the samples' means, as screens encode light."""
    pixels = colours.reshape(_HEIGHT, _SAMPLES, _WIDTH, _SAMPLES, 3).mean(axis=(1, 3))
    shown: NDArray[np.uint8] = (255 * np.minimum(pixels, 1) ** (1 / 1.4) + 0.5).astype(np.uint8)
    return shown


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file: each row after the number of its filter, none."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
