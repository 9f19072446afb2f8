"""Masks for each ray, and hits to begin after."""

from typing import Any

import numpy as np
import pytest

import slabcast


def stacked(count: int) -> slabcast.Scene:
    """Spheres along z, each a geometry of its own bit."""
    scene = slabcast.Scene()
    for i in range(count):
        scene.add_spheres([[0, 0, 3 * i]], [1], mask=1 << i)
        scene.add_spheres([[0, 0, 3 * i]], [1], mask=1 << i)
    scene.commit()
    return scene


def bundle(n: int) -> Any:
    random = np.random.default_rng(7)
    rays = np.zeros((n, 8), np.float32)
    rays[:, :2] = random.uniform(-1.2, 1.2, (n, 2))
    rays[:, 2] = -5
    rays[:, 6] = 1
    rays[:, 7] = np.inf
    return rays


@pytest.mark.parametrize("n", [1, 40, 3000])
def test_masks_of_rays_equal_a_cast_of_each(n: int) -> None:
    scene, rays = stacked(5), bundle(n)
    masks = np.random.default_rng(n).integers(1, 32, n)
    hits = scene.closest(rays, mask=masks)
    for mask in np.unique(masks):
        own = masks == mask
        assert np.array_equal(hits[own], scene.closest(rays[own], mask=int(mask)))
    assert not scene.any(rays, mask=np.zeros(n, np.uint32)).any()


@pytest.mark.parametrize("n", [1, 40, 3000])
def test_a_walk_is_what_all_lists(n: int) -> None:
    scene, rays = stacked(4), bundle(n)
    listed = scene.all(rays)
    counts = np.diff(listed.offsets.astype(np.int64))
    after = np.zeros(n, slabcast.SHORT_HIT)
    after["t"], after["primitive"], after["geometry"] = -np.inf, slabcast.MISS, slabcast.MISS
    for step in range(int(counts.max()) + 1):
        assert np.array_equal(scene.count(rays, after=after), np.maximum(counts - step, 0))
        hits = scene.closest(rays, after=after)
        more = counts > step
        assert np.array_equal(hits[more], listed.hits[listed.offsets[:-1][more].astype(np.int64) + step])
        assert (hits["geometry"][~more] == slabcast.MISS).all()
        after = hits if step % 2 else scene.nearest(rays, after=after)


@pytest.mark.parametrize("shape", [(2,), (7, 2), (3, 1)])
def test_shapes_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    scene, rays = stacked(2), bundle(7)
    with pytest.raises(slabcast.InvalidArgument, match="mask has shape"):
        scene.any(rays, mask=np.ones(shape, np.uint32))
    with pytest.raises(slabcast.InvalidArgument, match="after has shape"):
        scene.any(rays, after=np.zeros(shape, slabcast.SHORT_HIT))


def test_what_is_no_hit_is_refused() -> None:
    scene, rays = stacked(2), bundle(7)
    with pytest.raises(slabcast.InvalidArgument, match="after has no t"):
        scene.any(rays, after=np.zeros(7))
    nothing = np.zeros(7, slabcast.SHORT_HIT)
    nothing["t"][3] = np.nan
    with pytest.raises(slabcast.InvalidArgument, match=r"after\[3\]"):
        scene.any(rays, after=nothing)
    with pytest.raises(slabcast.InvalidArgument, match="slab_interval_of"):
        scene.interval(rays, after=np.zeros(7, slabcast.SHORT_HIT))
