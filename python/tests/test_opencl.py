"""Arrays and queues of pyopencl, on whatever OpenCL device there is: the bits of the processor."""

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
        (lambda: host.closest(rays), "not an OpenCL device"),
    ):
        with pytest.raises(slabcast.Error, match=message):
            call()
