"""Arrays and queues of pyopencl, on the OpenCL device that is there: the bits of the processor."""

import numpy as np
import pytest

import shapes
import slabcast

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")


@pytest.fixture(scope="module")
def queue():
    try:
        device = cl.get_platforms()[0].get_devices()[0]
    except (cl.Error, IndexError):
        pytest.skip("no OpenCL device")
    return cl.CommandQueue(cl.Context([device]))


@pytest.fixture(scope="module")
def scenes(queue):
    made = slabcast.Scene(queue), slabcast.Scene("cpu")
    for scene in made:
        scene.add_mesh(*shapes.torus())
    return made


RAYS = shapes.rays_around(shapes.torus()[0], 600, 9)


@pytest.mark.parametrize("query", ["closest", "any"])
def test_results_lie_where_the_rays_do_and_are_the_same_bits(queue, scenes, query):
    device, host = scenes
    rays = cl_array.to_device(queue, RAYS.reshape(20, 30, 8))
    results = getattr(device, query)(rays)
    assert isinstance(results, cl_array.Array) and results.shape == (20, 30)
    assert results.get().tobytes() == getattr(host, query)(RAYS).tobytes()
    assert getattr(device, query)(RAYS).tobytes() == getattr(host, query)(RAYS).tobytes()


def test_sets_have_the_bits_of_the_processor(queue, scenes):
    device, host = scenes
    points = RAYS[:, :3].copy().reshape(20, 30, 3)
    sets = [
        slabcast.RaySet.directions(table, slabcast.tables.hemisphere(9))
        for table in (points, cl_array.to_device(queue, points))
    ]
    sets.append(slabcast.RaySet.fisheye((3, 2, 1), (0, 0, 0), size=(40, 30)))
    for rays in sets:
        assert rays.array(device).tobytes() == rays.array().tobytes()
        hits = device.any(rays)
        assert isinstance(hits, np.ndarray) and hits.tobytes() == host.any(rays).tobytes()
        for ours, theirs in zip(device.sums(rays, query="any"), host.sums(rays, query="any")):
            assert ours.tobytes() == theirs.tobytes()
        assert (device.sees(rays) == host.sees(rays)).all()
    assert sets[0].array().tobytes() == sets[1].array().tobytes()
    with pytest.raises(slabcast.InvalidArgument, match=r"sums takes rays of the host: rays.get\(\) copies them"):
        device.sums(cl_array.to_device(queue, RAYS))


def test_all_hits_on_the_device(queue, scenes):
    device, host = scenes
    offsets, hits = device.all(cl_array.to_device(queue, RAYS))
    expected = host.all(RAYS)
    assert (offsets.get() == expected.offsets).all() and hits.get().tobytes() == expected.hits.tobytes()
    offsets, hits = device.all(cl_array.to_device(queue, RAYS), max_hits=1)
    first = host.all(RAYS, max_hits=1)
    assert 0 < len(first.hits) < len(expected.hits)
    assert (offsets.get() == first.offsets).all() and hits.get().tobytes() == first.hits.tobytes()


def test_options_apply(queue, scenes):
    device, host = scenes
    rays = cl_array.to_device(queue, RAYS)
    first = host.closest(RAYS)
    skip = np.stack([first["primitive"], first["geometry"]], axis=-1)
    expected = host.closest(RAYS, cull="back", skip=skip)
    assert device.closest(rays, cull="back", skip=cl_array.to_device(queue, skip)).get().tobytes() == expected.tobytes()


def rows_of(results):
    """As arrays of the host, of which offsets are as wide as a device's."""
    parts = results if isinstance(results, tuple) else (results,)
    arrays = [part.get() if isinstance(part, cl_array.Array) else part for part in parts]
    return [array.astype("u4") if array.dtype == np.uint64 else array for array in arrays]


@pytest.mark.parametrize("query", ["closest", "nearest", "distance", "any", "count", "interval", "all"])
def test_masks_and_hits_to_begin_after_apply(queue, query):
    made = slabcast.Scene(queue), slabcast.Scene("cpu")
    for scene in made:
        for k in range(3):
            scene.add_mesh(shapes.torus()[0] * np.float32(1 - 0.2 * k), shapes.torus()[1], mask=1 << k)
        scene.add_spheres([[0, 0, 0], [2, 0, 0]], [1.5, 0.5], mask=5)
    masks = np.random.default_rng(2).integers(0, 8, len(RAYS)).astype(np.uint32)
    rays, given = cl_array.to_device(queue, RAYS), {"mask": cl_array.to_device(queue, masks)}
    named = {"mask": masks}
    if query != "interval":
        named["after"], given["after"] = made[1].nearest(RAYS), made[0].nearest(rays)
    expected = rows_of(getattr(made[1], query)(RAYS, **named))
    for name in named:
        less = {other: value for other, value in named.items() if other != name}
        others = rows_of(getattr(made[1], query)(RAYS, **less))
        assert any(a.tobytes() != b.tobytes() for a, b in zip(others, expected)), name
    found = rows_of(getattr(made[0], query)(rays, **given))
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


@pytest.mark.parametrize("query", ["closest", "nearest", "distance", "any", "count", "interval", "all"])
def test_worlds_apply(queue, query):
    made = slabcast.Scene(queue), slabcast.Scene("cpu")
    for scene in made:
        scene.set_worlds(2)
        for k in range(3):
            scene.add_mesh(shapes.torus()[0] * np.float32(1 - 0.2 * k), shapes.torus()[1], world=k)
        scene.add_spheres([[0, 0, 0], [2, 0, 0]], [1.5, 0.5], world=1)
    worlds = np.random.default_rng(2).integers(0, 3, len(RAYS)).astype(np.uint32)
    rays = cl_array.to_device(queue, RAYS)
    for given, named in ((cl_array.to_device(queue, worlds), worlds), (1, 1), (0, 0)):
        expected = rows_of(getattr(made[1], query)(RAYS, world=named))
        found = rows_of(getattr(made[0], query)(rays, world=given))
        assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]
    with pytest.raises(slabcast.InvalidArgument, match="world is 3, and the scene has worlds 1 to 2"):
        getattr(made[0], query)(rays, world=3)


def test_a_part_of_an_array_and_none_of_it(queue, scenes):
    device, host = scenes
    rays = cl_array.to_device(queue, RAYS)
    assert device.closest(rays[100:300]).get().tobytes() == host.closest(RAYS[100:300]).tobytes()
    assert device.closest(cl_array.empty(queue, (0, 8), np.float32)).shape == (0,)


def test_scenes_of_one_queue_are_models_of_each_other(queue, scenes):
    model, host = scenes
    placed = slabcast.Scene(queue)
    placed.add_instances(model, np.eye(4)[None])
    assert placed.closest(RAYS).tobytes() == host.closest(RAYS).tobytes()
    for options in ({"threads": 1}, {"traversal": "single"}, {"layout": "wide"}):
        with pytest.raises(slabcast.InvalidArgument, match="another context"):
            slabcast.Scene(queue, **options).add_instances(model, np.eye(4)[None])
    with pytest.raises(slabcast.InvalidArgument, match="another context"):
        slabcast.Scene(cl.CommandQueue(queue.context)).add_instances(model, np.eye(4)[None])


def test_what_a_device_cannot_read_is_refused(queue, scenes):
    device, host = scenes
    rays = cl_array.to_device(queue, RAYS)
    for call, message in (
        (lambda: device.closest(cl_array.to_device(queue, RAYS.astype("f8"))), "float64"),
        (lambda: device.closest(rays, t_max=3.0), "there are no directions"),
        (lambda: device.closest(rays, skip=np.zeros((600, 2), "u4")), "skip is a ndarray"),
        (lambda: device.closest(rays, mask=np.zeros(600, "u4")), "mask is a ndarray"),
        (lambda: device.closest(rays, mask=cl_array.zeros(queue, 9, "u4")), r"mask has shape \(9,\); rays have"),
        (lambda: device.closest(rays, mask=cl_array.zeros(queue, 600, "i4")), "mask is an array of int32"),
        (lambda: device.closest(rays, world=np.zeros(600, "u4")), "world is a ndarray"),
        (lambda: device.closest(rays, world=1), "world is 1, and the scene has no worlds"),
        (lambda: device.closest(rays, after=device.closest(rays)), "after is an array of .*it must be of .*'t'"),
        (lambda: device.interval(rays, after=device.nearest(rays)), "after"),
        (lambda: host.closest(rays), "not an OpenCL device"),
    ):
        with pytest.raises(slabcast.Error, match=message):
            call()
