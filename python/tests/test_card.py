"""Arrays on a card: their answers are the processor's, bit by bit, whichever protocol and stream, and what is wrong is
refused by name. On a stand-in for NVIDIA's driver, which tests/python.sh puts in its place; no card is needed.

With SLAB_CUDA_LATE the stand-in runs nothing before somebody waits for it, and streams in any order: an answer that is
right then was waited for.
"""

import ctypes
import gc
import os
import re
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import shapes
import slabcast
from slabcast import _dlpack

if not any(device.platform == "CUDA" and device.name == "no card" for device in slabcast.devices()):
    pytest.skip("no stand-in for NVIDIA's driver; tests/python.sh runs this with it", allow_module_level=True)

import cards

QUERIES = "closest", "nearest", "distance", "any", "count", "interval"
IS_LATE = os.environ.get("SLAB_CUDA_LATE", "0") != "0"
V, F = shapes.torus()
RAYS = shapes.rays_around(V, 400, 9)
RAYS[7, 4] = np.nan
GRID = RAYS.reshape(20, 20, 8)
PROTOCOLS = cards.ByDLPack, cards.ByOldDLPack, cards.Managed, cards.ByInterface, cards.ReadOnly


@pytest.fixture(scope="module")
def driver():
    made = cards.Driver(2)
    yield made
    gc.collect()
    made.end_events()
    made.close()


@pytest.fixture(scope="module")
def host():
    return scene_of("cpu")


@pytest.fixture
def scene(driver):
    return scene_of("cuda")


@pytest.fixture
def stream(driver):
    made = driver.stream()
    yield made
    driver.finish(made)
    driver.end_stream(made)


@pytest.fixture(autouse=True)
def landed(driver):
    """What a test leaves in flight ends with it."""
    yield
    slabcast._card._end()
    driver.end_events()


def scene_of(device, vertices=V):
    made = slabcast.Scene(device)
    made.add_mesh(vertices, F)
    return made


def same(results, expected):
    got = results.get() if hasattr(results, "get") else results
    return got.dtype == expected.dtype and got.shape == expected.shape and got.tobytes() == expected.tobytes()


# ---- answers ----


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("kind", PROTOCOLS)
def test_results_are_the_processors_bits(driver, host, scene, stream, kind, query):
    rays = kind(driver, GRID, stream=stream, late=True)
    results = getattr(scene, query)(rays)
    expected = getattr(host, query)(GRID)
    del rays
    assert results.shape == (20, 20) and same(results, expected)
    for name in expected.dtype.names or ():
        assert same(results[name], np.ascontiguousarray(expected[name]))
        assert same(getattr(results, name), np.ascontiguousarray(expected[name]))


@pytest.mark.parametrize("of", ["own", cards.LEGACY, cards.PER_THREAD, None])
@pytest.mark.parametrize("kind", PROTOCOLS)
def test_streams_that_arrays_are_written_on(driver, host, scene, stream, kind, of):
    if of is None and issubclass(kind, cards.ByDLPack):
        pytest.skip("DLPack asks the array")
    rays = kind(driver, RAYS, stream=stream if of == "own" else of or cards.LEGACY, late=of is not None)
    if of is None:
        rays.stream = None
    assert same(scene.closest(rays), host.closest(RAYS))


def test_an_older_interface_tells_no_stream(driver, host, scene):
    assert same(scene.count(cards.WithoutStream(driver, RAYS)), host.count(RAYS))


def test_a_cast_runs_on_the_stream_that_its_rays_tell(driver, host, scene, stream):
    for rays, expected in (
        (cards.ByInterface(driver, RAYS, stream=stream, late=True), stream),
        (cards.ByInterface(driver, RAYS, stream=cards.PER_THREAD), cards.PER_THREAD),
        (cards.ByDLPack(driver, RAYS, stream=stream, late=True), cards.LEGACY),
        (scene.closest(cards.ByInterface(driver, RAYS, stream=stream)).rows, stream),
    ):
        results = scene.distance(rays)
        assert results.__cuda_array_interface__["stream"] == expected


def test_options_apply(driver, host, scene, stream):
    rays = cards.ByInterface(driver, RAYS, stream=stream, late=True)
    for options in (
        {"cull": "back"},
        {"cull": "front", "face_forward": True},
        {"edges": "closed"},
        {"mask": 2},
        {"face_forward": True},
    ):
        assert same(scene.closest(rays, **options), host.closest(RAYS, **options))


@pytest.mark.parametrize("shape", [(0, 8), (3, 0, 8), (8,), (1, 8), (2, 1, 3, 8)])
def test_shapes(driver, host, scene, shape):
    rays = np.ascontiguousarray(np.broadcast_to(RAYS[5], shape))
    for query in QUERIES:
        assert same(getattr(scene, query)(cards.ByDLPack(driver, rays)), getattr(host, query)(rays))
    found, expected = scene.all(cards.ByDLPack(driver, rays)), host.all(rays)
    assert (found.offsets.get() == expected.offsets).all() and same(found.hits, expected.hits)


@pytest.mark.parametrize("max_hits", [0, 1, 2, 5])
def test_all_hits(driver, host, scene, stream, max_hits):
    found = scene.all(cards.ByInterface(driver, GRID, stream=stream, late=True), max_hits=max_hits)
    expected = host.all(GRID, max_hits=max_hits)
    assert len(expected.hits) > 100
    assert (found.offsets.get() == expected.offsets).all() and same(found.hits, expected.hits)


@pytest.mark.parametrize("query", ["closest", "nearest", "interval"])
def test_hits_of_a_former_cast_are_skipped_and_stay_on_the_card(driver, host, stream, query):
    made = []
    for device in ("cuda", "cpu"):
        made.append(slabcast.Scene(device))
        made[-1].add_mesh(V, F)
        if query == "interval":
            made[-1].add_spheres([[0, 0, 0], [2, 0, 0]], [1.5, 0.5])
    rays = cards.ByInterface(driver, RAYS, stream=stream, late=True)
    first, expected = (getattr(scene, query)(given) for scene, given in zip(made, (rays, RAYS)))
    want = made[1].closest(RAYS, skip=expected)
    assert same(made[0].closest(rays, skip=first), want)
    assert same(made[0].all(rays, skip=first).hits, made[1].all(RAYS, skip=expected).hits)
    pairs = np.stack([expected["primitive"], expected["geometry"]], axis=-1)
    other = driver.stream()
    for kind in (cards.ByDLPack, cards.ByInterface):
        for dtype in ("u4", "i4"):
            skip = kind(driver, pairs.view(dtype), stream=other)
            assert same(made[0].closest(rays, skip=skip), want)
    driver.finish(other)
    driver.end_stream(other)


# ---- results as others take them ----


def taken(driver, results, stream):
    """What somebody reads who waits as the protocol says, and for nothing else: their copy, on their stream."""
    place = _dlpack.read(results.__dlpack__(stream=stream, max_version=(1, 0)))
    assert place.card == 0 and place.is_c_contiguous
    out = np.zeros(place.shape, place.dtype)
    copied = cards.Memory(driver, out)
    driver.copy(copied.address, place.address, out.nbytes, stream or cards.LEGACY)
    driver.finish(stream or cards.LEGACY)
    return copied.array.copy()


@pytest.mark.parametrize("to", [None, cards.LEGACY, cards.PER_THREAD, "theirs", "ours"])
def test_who_takes_results_waits_for_the_cast(driver, host, scene, stream, to):
    theirs = driver.stream()
    results = scene.distance(cards.ByInterface(driver, RAYS, stream=stream, late=True))
    got = taken(driver, results, {"theirs": theirs, "ours": stream}.get(to, to))
    assert got.tobytes() == host.distance(RAYS).tobytes()
    driver.end_stream(theirs)


def test_nobody_waits_who_asks_for_that(driver, scene, stream, monkeypatch):
    waits = []
    monkeypatch.setattr(slabcast._cuda.Event, "before", lambda event, to: waits.append(to))
    results = scene.distance(cards.ByInterface(driver, RAYS, stream=stream))
    for to, expected in ((-1, []), (stream, []), (1, [1]), (2, [1, 2]), (None, [1, 2, 1])):
        results.__dlpack__(stream=to)
        assert waits == expected


def test_nothing_waits_in_a_cast(driver, scene, stream, monkeypatch):
    scene.commit()
    for name in ("cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2"):
        monkeypatch.setattr(slabcast._cuda._driver, name, None)
    for query in QUERIES:
        getattr(scene, query)(cards.ByDLPack(driver, RAYS, stream=stream))
        getattr(scene, query)(cards.ByInterface(driver, RAYS, stream=stream))
    monkeypatch.undo()


@pytest.mark.parametrize(
    "named, error, message",
    [
        ({"stream": 0}, BufferError, "stream is 0: 1 is CUDA's default stream"),
        ({"stream": -2}, BufferError, "stream is -2"),
        ({"stream": True}, TypeError, "stream is True"),
        ({"stream": "1"}, TypeError, "stream is '1'"),
        ({"stream": 1.0}, TypeError, "stream is 1.0"),
        ({"dl_device": (1, 0)}, BufferError, "lies on cuda:0: get"),
        ({"dl_device": (2, 1)}, BufferError, "lies on cuda:0: get"),
        ({"copy": True}, BufferError, "not copied"),
    ],
)
def test_what_results_refuse_to_those_who_take_them(driver, scene, named, error, message):
    results = scene.distance(cards.ByDLPack(driver, RAYS))
    with pytest.raises(error, match=re.escape(message)):
        results.__dlpack__(**named)
    results.__dlpack__(dl_device=(2, 0), copy=False)


def test_results_by_the_interface(driver, host, scene, stream):
    hits = scene.closest(cards.ByInterface(driver, GRID, stream=stream))
    told = hits.normal.__cuda_array_interface__
    assert told["shape"] == (20, 20, 3) and told["strides"] == (640, 32, 4) and told["typestr"] == "<f4"
    assert told["stream"] == stream and told["version"] == 3 and told["data"][1] is False
    assert hits.geometry.__cuda_array_interface__["typestr"] == "<u4"
    assert hits.rows.__cuda_array_interface__["strides"] is None
    driver.finish(stream)
    seen = np.ndarray((20, 20, 3), "f4", ctypes.string_at(told["data"][0], 640 * 20 - 32 + 12), 0, told["strides"])
    assert np.array_equal(seen, host.closest(GRID)["normal"], equal_nan=True)


def test_what_results_say_of_themselves(driver, scene):
    rays = cards.ByDLPack(driver, GRID)
    hits, distance = scene.closest(rays), scene.distance(rays)
    assert repr(distance) == "<slabcast.CardArray, float32, (20, 20), on cuda:0>"
    assert "t, normal, u, v, primitive, geometry, (20, 20)" in repr(hits)
    assert (distance.ndim, distance.size, len(distance), len(hits)) == (2, 400, 20, 20)
    with pytest.raises(TypeError):
        len(scene.distance(cards.ByDLPack(driver, RAYS[0])))
    for wrong in ("x", 3, slice(2)):
        with pytest.raises(KeyError, match="none of t, normal"):
            hits[wrong]
    with pytest.raises(AttributeError, match="no 'tt'"):
        hits.tt  # noqa: B018
    with pytest.raises(TypeError, match="get"):
        list(hits)


def test_which_rays_hit(driver, host, scene):
    rays = cards.ByDLPack(driver, RAYS)
    for query in QUERIES:
        expected = slabcast.is_hit(getattr(host, query)(RAYS))
        assert (slabcast.is_hit(getattr(scene, query)(rays)) == expected).all()
    assert (slabcast.is_hit(scene.all(rays)) == slabcast.is_hit(host.all(RAYS))).all()


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", ["f4", "u4", "?"])
def test_capsules_are_well_formed(dtype, version):
    """NumPy, which has its own declarations, reads what is given, and what it gives is read."""
    array = (np.random.default_rng(3).normal(size=(4, 5, 6)) * 100).astype(dtype)
    strides = tuple(s // array.itemsize for s in array.strides)
    place = _dlpack.Place(array.ctypes.data, array.shape, strides, array.dtype.name, 0, array)

    class Given:
        def __dlpack__(self, **named):
            return _dlpack.give(place, 1, version is not None and version[0] >= 1)

        def __dlpack_device__(self):
            return (1, 0)

    assert np.from_dlpack(Given()).tobytes() == array.tobytes()
    Given().__dlpack__()  # nobody takes it
    gc.collect()
    assert not _dlpack._given
    for part in (array, array[1:, ::2, 1:3], array.transpose(2, 0, 1), array[:0]):
        if "max_version" in (np.ndarray.__dlpack__.__doc__ or "") or np.__version__ >= "2.1":
            told = _dlpack.read(part.__dlpack__(max_version=version))
        else:
            told = _dlpack.read(part.__dlpack__())
        assert told.address == part.ctypes.data and told.shape == part.shape and told.dtype == part.dtype.name
        assert not part.size or told.strides == tuple(s // part.itemsize for s in part.strides)
        assert told.is_c_contiguous == part.flags.c_contiguous


# ---- what is kept, and until when ----


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_rays_are_kept_until_the_cast_has_ended(driver, host, scene, stream, kind):
    """Their memory is written over when it goes."""
    rays = kind(driver, RAYS, stream=stream, late=True)
    skip = kind(driver, np.zeros((400, 2), np.uint32), stream=stream)
    memories = rays.memory, skip.memory
    alive = [sys.getrefcount(memory) for memory in memories]
    results = scene.closest(rays, skip=skip)
    del rays, skip
    assert same(results, host.closest(RAYS, skip=np.zeros((400, 2), np.uint32)))
    slabcast._card._land()
    assert [sys.getrefcount(memory) for memory in memories] == [count - 1 for count in alive]


def test_a_scene_that_goes_with_casts_in_flight(driver, host, stream):
    scene = scene_of("cuda")
    results = [scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)) for _ in range(3)]
    scene.close()
    del scene
    for result in results:
        assert same(result, host.closest(RAYS))


def test_a_commit_waits_for_casts_in_flight(driver, stream):
    scene, host = scene_of("cuda"), scene_of("cpu")
    for step, update in enumerate(["auto", "refit", "rebuild"] * 2):
        before = scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)), host.closest(RAYS)
        for each in (scene, host):
            each.update_mesh(0, V * np.float32(1 + step / 8))
            each.commit(update)
        assert same(*before)
        assert same(scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)), host.closest(RAYS))


def test_models_that_change_with_casts_in_flight(driver, stream):
    scenes = []
    for device in ("cuda", "cpu"):
        model, scene = scene_of(device), slabcast.Scene(device)
        scene.add_instances(model, np.eye(4)[None, :3] * np.ones((3, 1, 1)))
        scenes.append((scene, model))
    for step in range(4):
        before = scenes[0][0].closest(cards.ByInterface(driver, RAYS, stream=stream, late=True))
        expected = scenes[1][0].closest(RAYS)
        for scene, model in scenes:
            model.update_mesh(0, V * np.float32(1 + step / 8))
            scene.commit()
        assert same(before, expected)


def test_threads(driver, host):
    scene, failed = scene_of("cuda"), []

    def ask(number):
        stream = driver.stream()
        try:
            for query in QUERIES * 3:
                rays = RAYS[number * 50 : number * 50 + 100]
                if not same(
                    getattr(scene, query)(cards.ByInterface(driver, rays, stream=stream, late=True)),
                    getattr(host, query)(rays),
                ):
                    failed.append((number, query))
        finally:
            driver.finish(stream)
            slabcast._card._land()
            driver.end_stream(stream)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        scene.update_mesh(0, V)
        scene.commit()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_forked_process_leaves_the_parents_casts_alone(driver, host, scene, stream):
    results = scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            slabcast._card._land()
            held = slabcast._card._flights
            del results
            status = 0 if not held else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert same(results, host.closest(RAYS))


# ---- several cards ----


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_each_card_casts_its_own_arrays(driver, host, kind):
    scenes = [scene_of(f"cuda:{card}") for card in (0, 1)]
    for card, scene in enumerate(scenes):
        stream = driver.stream(card)
        results = scene.closest(kind(driver, RAYS, card, stream, late=True))
        assert results.t.__dlpack_device__() == (2, card)
        assert same(results, host.closest(RAYS))
        found = scene.all(kind(driver, RAYS, card, stream))
        assert same(found.hits, host.all(RAYS).hits)
        with pytest.raises(slabcast.InvalidArgument, match=rf"rays lies on cuda:{1 - card}, and the scene on cuda:{card}"):
            scene.closest(kind(driver, RAYS, 1 - card))
        with pytest.raises(slabcast.InvalidArgument, match=rf"skip lies on cuda:{1 - card}"):
            rays = kind(driver, RAYS, card, stream)
            scene.closest(rays, skip=kind(driver, np.zeros((400, 2), np.uint32), 1 - card))
        driver.finish(stream, card)
        slabcast._card._end()
        driver.end_events()
        driver.end_stream(stream, card)


def test_names_of_cards(driver):
    with pytest.raises(slabcast.NoDevice, match='no device matches "cuda:2"'):
        slabcast.Scene("cuda:2")
    for name, card in (("cuda", 0), ("cuda:0", 0), ("gpu", 0), ("cuda:1", 1), (2, 1)):
        assert scene_of(name).distance(cards.ByDLPack(driver, RAYS[:3], card)).__dlpack_device__() == (2, card)
