"""Memory for rays and results, and results in arrays that are there already."""

import gc
import os

import numpy as np
import pytest

import shapes
import slabcast

VERTICES, TRIANGLES = shapes.torus()
RAYS = shapes.rays_around(VERTICES, 500, 3)
DTYPES = {
    "closest": slabcast.HIT,
    "nearest": slabcast.SHORT_HIT,
    "distance": np.dtype(np.float32),
    "any": np.dtype(np.bool_),
    "count": np.dtype(np.uint32),
    "interval": slabcast.INTERVAL,
}


@pytest.fixture(scope="module")
def scene():
    made = slabcast.Scene("cpu")
    made.add_mesh(VERTICES, TRIANGLES)
    return made


@pytest.mark.parametrize("shape", [0, 1, 7, (), (3, 5), (4, 0, 2), np.int64(3), [2, 2]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, bool, "u1", slabcast.HIT, slabcast.SHORT_HIT])
def test_memory_has_the_shape_and_dtype_of_any_array(shape, dtype):
    array = slabcast.empty(shape, dtype, device="cpu")
    want = np.empty(shape, dtype)
    assert (array.shape, array.dtype, array.strides) == (want.shape, want.dtype, want.strides)
    assert array.flags.writeable and array.flags.aligned and array.flags.c_contiguous
    array[...] = np.zeros((), dtype)
    assert array.tobytes() == np.zeros(shape, dtype).tobytes()


def test_rays_have_eight_numbers():
    assert slabcast.empty_rays(10, device="cpu").shape == (10, 8)
    assert slabcast.empty_rays((2, 3), device="cpu").shape == (2, 3, 8)
    assert slabcast.empty_rays(0, device="cpu").dtype == np.float32


def test_memory_stays_as_long_as_an_array_of_it():
    part = slabcast.empty((1000, 1000), device="cpu")[10:20, ::3]
    part[...] = 7
    gc.collect()
    others = [slabcast.empty((1000, 1000), device="cpu") for _ in range(4)]
    for other in others:
        other[...] = 1
    assert (part == 7).all()


@pytest.mark.parametrize("query", DTYPES)
@pytest.mark.parametrize("shape", [(500,), (20, 25), (1, 500)])
def test_results_go_where_they_are_told_to(scene, query, shape):
    rays = RAYS.reshape(*shape, 8)
    want = getattr(scene, query)(rays)
    own = slabcast.empty_rays(shape, device="cpu")
    own[...] = rays
    for out in (slabcast.empty(shape, DTYPES[query], device="cpu"), np.empty(shape, DTYPES[query])):
        assert getattr(scene, query)(own, out=out) is out
        assert out.tobytes() == want.tobytes()
        assert getattr(scene, query)(rays[..., :3].astype(np.float64), rays[..., 4:7], out=out) is out


def test_one_ray_has_a_place_without_axes(scene):
    out = np.empty((), slabcast.HIT)
    assert scene.closest(RAYS[0], out=out) is out
    assert out.tobytes() == scene.closest(RAYS[0]).tobytes()


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (np.empty(499, slabcast.HIT), r"out is \(499,\)"),
        (np.empty((500, 1), slabcast.HIT), r"out is \(500, 1\)"),
        (np.empty(500, slabcast.SHORT_HIT), "out is"),
        (np.empty(500, np.float32), "of float32; what is taken is"),
        (np.empty(1000, slabcast.HIT)[::2], "strides"),
        (np.frombuffer(bytes(500 * 32), slabcast.HIT), "read-only"),
        ([0.0] * 500, "out is list"),
        ("out", "out is str"),
    ],
)
def test_a_place_that_does_not_fit_is_named(scene, out, says):
    with pytest.raises(slabcast.InvalidArgument, match=says):
        scene.closest(RAYS, out=out)


def test_results_do_not_go_over_the_rays(scene):
    memory = np.zeros(500 * 32, np.uint8)
    rays = memory.view(np.float32).reshape(500, 8)
    rays[...] = RAYS
    with pytest.raises(slabcast.InvalidArgument, match="share memory"):
        scene.closest(rays, out=memory.view(slabcast.HIT))
    with pytest.raises(slabcast.InvalidArgument, match="share memory"):
        scene.distance(rays[:, :3], rays[:, 4:7], out=rays.reshape(-1)[:500])
    assert rays.tobytes() == RAYS.tobytes()


def test_what_has_no_one_result_a_ray_takes_no_place(scene):
    out = np.empty(500, slabcast.HIT)
    hits = scene.closest(RAYS)
    for call in (lambda: scene.all(RAYS, out=out), lambda: scene.check("closest", RAYS, hits, out=out)):
        with pytest.raises(slabcast.InvalidArgument, match="out is taken by"):
            call()


@pytest.mark.parametrize("shape", [-1, (2, -3), "many", 1.5, None, (2, 2.5)])
def test_a_wrong_shape_is_named(shape):
    with pytest.raises(slabcast.InvalidArgument, match="shape is"):
        slabcast.empty(shape, device="cpu")


def test_objects_are_refused():
    with pytest.raises(slabcast.InvalidArgument, match="objects"):
        slabcast.empty(3, object, device="cpu")


def test_too_much_memory_is_told():
    with pytest.raises(slabcast.OutOfMemory):
        slabcast.empty(1 << 58, np.uint8, device="cpu")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_child_gives_back_its_own():
    array = slabcast.empty(100000, device="cpu")
    array[...] = 5
    child = os.fork()
    if child == 0:
        kept = bool((array == 5).all())
        del array
        gc.collect()
        mine = slabcast.empty(10, device="cpu")
        mine[...] = 1
        os._exit(0 if kept else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (array == 5).all()
