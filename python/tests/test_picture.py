"""Pictures of scenes in notebooks."""

import struct
import zlib

import numpy as np
import pytest

import shapes
import slabcast


def pixels(png):
    """Of a PNG file, every chunk's sum checked."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + body),)
        parts[kind], at = body, at + 12 + size
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *form = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert form == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(height, width, 3)


def shown(fill):
    scene = slabcast.Scene("cpu")
    fill(scene)
    return scene, pixels(scene._repr_png_())


FILLED = {
    "mesh": lambda scene: scene.add_mesh(*shapes.torus()),
    "far": lambda scene: scene.add_spheres([[1e4, -1e4, 1e4]], [3]),
    "small": lambda scene: scene.add_boxes([1e-3, 0, 0], [2e-3, 1e-3, 1e-3]),
    "flat": lambda scene: scene.add_mesh(np.float32([[0, 0, 0], [4, 0, 0], [0, 4, 0]])),
}


@pytest.mark.parametrize("name", FILLED)
def test_a_scene_is_shown_where_its_rays_hit(name):
    scene, image = shown(FILLED[name])
    assert image.shape == (360, 480, 3)
    _, empty = shown(lambda scene: scene.add_spheres([[0, 0, 0]], [0]))  # the background alone
    rays = slabcast.rays.overview(scene, (0, 0, 1), size=(960, 720))
    struck = scene.any(rays).reshape(360, 2, 480, 2).sum(axis=(1, 3))
    assert (struck == 4).mean() > 0.1
    assert (image[struck == 0] == empty[struck == 0]).all()
    assert (np.abs(image.astype(int) - empty).sum(axis=-1)[struck == 4] > 10).mean() > 0.95
    assert scene._repr_png_() == scene._repr_png_()


@pytest.mark.parametrize(("place", "radius"), [((2.5, -1.4, 3), 1.5), ((0, 0, 2), 2), ((-4, 5, 4), 1)])
def test_what_stands_in_the_way_of_the_sun_is_darker(place, radius):
    def shaded(scene):
        floor = np.float32([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]])
        scene.add_mesh(floor, [[0, 1, 2], [0, 2, 3]])
        scene.add_spheres([place], [radius])

    scene, image = shown(shaded)
    rays = slabcast.rays.overview(scene, (0, 0, 1), size=(480, 360))
    hits = scene.closest(rays)
    ground = hits["geometry"] == 0
    at = rays[ground, :3] + hits["t"][ground, None] * rays[ground, 4:7] + np.float32([0, 0, 1e-3])
    sun = np.float32([0.62, -0.35, 0.7])  # from the right, the front and above
    in_shadow = scene.any(at, sun)
    assert in_shadow.sum() > 100 and image[ground][in_shadow].mean() < 0.75 * image[ground][~in_shadow].mean()


def test_geometries_have_colours_of_their_own():
    def balls(scene):
        for k in range(4):
            scene.add_spheres([[3 * k, 0, 0]], [1])

    scene, image = shown(balls)
    hits = scene.nearest(slabcast.rays.overview(scene, (0, 0, 1), size=(480, 360)))
    means = np.array([image[hits["geometry"] == k].mean(axis=0) for k in range(4)])
    hues = means / means.sum(axis=1, keepdims=True)
    assert all(np.abs(hues[a] - hues[b]).max() > 0.02 for a in range(4) for b in range(a))


def test_nothing_is_shown_of_nothing():
    scene = slabcast.Scene("cpu")
    assert scene._repr_png_() is None
    scene.add_spheres([0, 0, 0], 1)
    scene.close()
    assert scene._repr_png_() is None
