"""Arrays on a card: their answers are the processor's, bit by bit, by every protocol and stream. Wrong arguments are
refused by name. On a stand-in for NVIDIA's driver, which tests/python.sh puts in its place; no card is needed.

With SLAB_CUDA_LATE the stand-in runs nothing before somebody waits for it, and streams in any order: an answer that is
right then was waited for.
"""

import ctypes
import gc
import importlib.util
import os
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import cards
import shapes
import slabcast
from slabcast import _dlpack

cards.require_standin()
pytestmark = pytest.mark.usefixtures("landed")

QUERIES = "closest", "nearest", "distance", "any", "count", "interval"
IS_LATE = os.environ.get("SLAB_CUDA_LATE", "0") != "0"
V, F = shapes.torus()
RAYS = shapes.rays_around(V, 400, 9)
RAYS[7, 4] = np.nan
GRID = RAYS.reshape(20, 20, 8)
PROTOCOLS = cards.ByDLPack, cards.ByOldDLPack, cards.Managed, cards.ByInterface, cards.ReadOnly


@pytest.fixture(scope="module")
def host():
    return scene_of("cpu")


@pytest.fixture
def scene(driver):
    return scene_of("cuda")


def scene_of(device, vertices=V):
    made = slabcast.Scene(device)
    made.add_mesh(vertices, F)
    return made


def same(results, expected):
    got = results.get() if hasattr(results, "get") else results
    return got.dtype == expected.dtype and got.shape == expected.shape and got.tobytes() == expected.tobytes()


def told(kind, array, **named):
    """An array that reports some attributes wrongly."""

    def make(driver):
        made = kind(driver, array)
        made.told = named
        return made

    return make


def freed(kind):
    """An array whose memory has gone."""

    def make(driver):
        made, gone = kind(driver, RAYS), cards.Memory(driver, RAYS)
        made.told = {"data": (gone.address, False)} if kind in PROTOCOLS[3:] else {"address": gone.address}
        return made

    return make


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
            skip = kind(driver, pairs.view(dtype), stream=other, late=True)
            assert same(made[0].closest(rays, skip=skip), want)
    driver.finish(other)
    driver.end_stream(other)


def layers(device):
    """Geometries of several masks, of which rays meet some behind each other."""
    made = slabcast.Scene(device)
    made.add_mesh(V, F)
    for k, mask in enumerate((2, 4, 7)):
        made.add_mesh(V * np.float32(0.5 + 0.3 * k), F, mask=mask)
    made.add_spheres([[0, 0, 0], [2, 0, 0]], [1.5, 0.5], mask=5)
    return made


MASKS = np.random.default_rng(4).integers(0, 8, (20, 20)).astype(np.uint32)
# A mask whose top bit is set is below 0 as int32.
MASKS[3, :5] = 0x80000001, 0x80000002, 0xFFFFFFFF, 0x80000000, 0


def answers(scene, query, rays, **named):
    """A query's answers, as arrays of the host."""
    results = getattr(scene, query)(rays, **named)
    parts = results if query == "all" else (results,)
    return [part.get() if hasattr(part, "get") else part for part in parts]


def equal(found, expected):
    """Whether all bits are equal, but for how wide the offsets of all() are."""
    return len(found) == len(expected) and all(
        (a == b).all() if len(found) == 2 and a is found[0] else same(a, b) for a, b in zip(found, expected)
    )


def listed(hits):
    """Hits as rows of three words."""
    short = np.zeros(hits.shape, slabcast.SHORT_HIT)
    for name in short.dtype.names:
        short[name] = hits[name]
    return short.view(np.float32).reshape(*hits.shape, 3)


def each_ray_has_its_own(driver, stream, make, query, name, values):
    """A number per ray, in memory of the card that another stream writes: the answers are the processor's."""
    scene, host = make("cuda"), make("cpu")
    expected = answers(host, query, GRID, **{name: values})
    assert not equal(expected, answers(host, query, GRID))
    other = driver.stream()
    for kind, dtype in ((cards.ByDLPack, "u4"), (cards.ByInterface, "i4"), (cards.Managed, "u4")):
        rays = cards.ByInterface(driver, GRID, stream=stream, late=True)
        own = kind(driver, values.view(dtype), stream=other, late=True)
        assert equal(answers(scene, query, rays, **{name: own}), expected)
    driver.finish(other)
    driver.end_stream(other)


@pytest.mark.parametrize("query", [*QUERIES, "all"])
def test_each_ray_has_a_mask(driver, stream, query):
    each_ray_has_its_own(driver, stream, layers, query, "mask", MASKS)


def in_worlds(device):
    """Layers, of which some belong to one of three worlds."""
    made = slabcast.Scene(device)
    made.set_worlds(3)
    made.add_mesh(V, F)
    for k in range(3):
        made.add_mesh(V * np.float32(0.5 + 0.3 * k), F, world=k + 1)
    made.add_spheres([[0, 0, 0], [2, 0, 0]], [1.5, 0.5], world=2)
    return made


WORLDS = np.random.default_rng(4).integers(0, 4, (20, 20)).astype(np.uint32)


@pytest.mark.parametrize("query", [*QUERIES, "all"])
def test_each_ray_has_a_world(driver, stream, query):
    each_ray_has_its_own(driver, stream, in_worlds, query, "world", WORLDS)
    scene, host = in_worlds("cuda"), in_worlds("cpu")
    for world in (0, 2):
        rays = cards.ByInterface(driver, GRID, stream=stream, late=True)
        assert equal(answers(scene, query, rays, world=world), answers(host, query, GRID, world=world))


def test_a_world_on_a_card_that_the_scene_has_not_makes_an_invalid_ray(driver):
    scene, worlds = in_worlds("cuda"), WORLDS.copy()
    worlds[2, 3] = 4
    hits = scene.closest(cards.ByDLPack(driver, GRID), world=cards.ByDLPack(driver, worlds)).get()
    expected = in_worlds("cpu").closest(GRID, world=WORLDS)
    wrong = hits["geometry"] != expected["geometry"]
    assert np.argwhere(wrong).tolist() == [[2, 3]] and hits["geometry"][2, 3] == slabcast.INVALID


@pytest.mark.parametrize("first", ["closest", "nearest"])
@pytest.mark.parametrize("query", [query for query in (*QUERIES, "all") if query != "interval"])
def test_each_ray_is_given_what_follows_a_hit(driver, stream, query, first):
    scene, host = layers("cuda"), layers("cpu")
    rays = cards.ByInterface(driver, GRID, stream=stream, late=True)
    hits, before = getattr(scene, first)(rays), getattr(host, first)(GRID)
    expected = answers(host, query, GRID, after=before, mask=MASKS)
    masks = cards.ByDLPack(driver, MASKS, stream=stream, late=True)
    assert not equal(expected, answers(host, query, GRID, mask=MASKS))
    assert equal(answers(scene, query, rays, after=hits, mask=masks), expected)
    for kind, dtype in ((cards.ByDLPack, "f4"), (cards.ByInterface, "u4"), (cards.ByDLPack, "i4")):
        given = kind(driver, listed(before).view(dtype), stream=stream, late=True)
        assert equal(answers(scene, query, rays, after=given, mask=masks), expected)


def test_a_walk_from_hit_to_hit_is_what_all_lists(driver, stream):
    scene, offsets = layers("cuda"), layers("cpu").all(RAYS).offsets.astype("i8")
    expected, counts = layers("cpu").all(RAYS).hits, np.diff(offsets)
    rays = cards.ByInterface(driver, RAYS, stream=stream, late=True)
    hits = None
    for step in range(counts.max() + 1):
        hits = (scene.closest if step % 2 else scene.nearest)(rays, after=hits)
        found = hits.get()[["t", "primitive", "geometry"]]
        assert (found[counts > step] == expected[offsets[:-1][counts > step] + step][list(found.dtype.names)]).all()
        assert (found["geometry"][counts <= step] >= slabcast.INVALID).all()
    assert step > 8


# ---- results as others take them ----


def taken(driver, results, stream):
    """Results as a reader gets them who waits as the protocol says, and for nothing else: a copy, on that stream."""
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
    results = scene.distance(cards.ByInterface(driver, RAYS, stream=cards.PER_THREAD))
    results.__dlpack__(stream=cards.PER_THREAD)  # of another thread, perhaps
    assert waits == [*expected, 2]


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
    for query in ("distance", "closest"):
        with pytest.raises(TypeError):
            len(getattr(scene, query)(cards.ByDLPack(driver, RAYS[0])))
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


def test_c_order_is_as_numpy_has_it():
    random, kinds = np.random.default_rng(11), set()
    for _ in range(300):
        shape = tuple(random.integers(0, 4, random.integers(0, 4)))
        array = np.zeros(shape, "f4")
        strides = [s // 4 * random.choice([1, 1, 1, 2]) for s in array.strides]
        array = np.lib.stride_tricks.as_strided(array, shape, [4 * s for s in strides])
        told = _dlpack.Place(0, shape, tuple(strides), "float32", 0, None).is_c_contiguous
        assert told == array.flags.c_contiguous
        kinds.add((told, 0 in shape, 1 in shape))
    assert len(kinds) > 5


@pytest.mark.parametrize("kind", [cards.ByDLPack, cards.ByInterface])
def test_arrays_of_several_streams(driver, host, scene, stream, kind):
    """The stream of the rays waits for work on another stream."""
    first = host.closest(RAYS)
    pairs = np.stack([first["primitive"], first["geometry"]], axis=-1)
    expected = host.closest(RAYS, skip=pairs)
    for _ in range(8):
        results = None  # freeing a cast's arrays makes the stand-in run all that is on streams
        slabcast._card._end()
        other = driver.stream()
        results = scene.closest(
            cards.ByInterface(driver, RAYS, stream=stream, late=True), skip=kind(driver, pairs, stream=other, late=True)
        )
        assert same(results, expected)
        driver.finish(other)
        driver.end_stream(other)


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
    slabcast._card.land()
    assert [sys.getrefcount(memory) for memory in memories] == [count - 1 for count in alive]


def test_at_the_end_of_a_process_nothing_is_in_flight(driver, scene, stream):
    results = [scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)) for _ in range(3)]
    assert len(slabcast._card._flights) == 3 or not IS_LATE
    slabcast._card._end()
    assert results and not slabcast._card._flights


def test_a_scene_that_goes_with_casts_in_flight(driver, host, stream, monkeypatch):
    gone, library = [], slabcast._life.library
    destroy = library.slab_scene_destroy
    monkeypatch.setattr(library, "slab_scene_destroy", lambda scene: gone.append(scene) or destroy(scene))
    scene = scene_of("cuda")
    monkeypatch.undo()
    results = [scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)) for _ in range(3)]
    scene.close()
    del scene
    assert gone == [] or not IS_LATE
    for result in results:
        assert same(result, host.closest(RAYS))
    slabcast._card.land()
    assert len(gone) == 1


def test_a_commit_waits_for_casts_in_flight(driver, stream, monkeypatch):
    scene, host, library = scene_of("cuda"), scene_of("cpu"), slabcast._life.library
    commit, flights = library.slab_scene_commit, []

    def spied(handle, options):
        flights.extend(each.end.is_over() for each in slabcast._card._flights if each.of.pointer == handle)
        return commit(handle, options)

    monkeypatch.setattr(library, "slab_scene_commit", spied)
    for step, update in enumerate(["auto", "refit", "rebuild"] * 2):
        before = scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)), host.closest(RAYS)
        for each in (scene, host):
            each.update_mesh(0, V * np.float32(1 + step / 8))
            each.commit(update)
        assert same(*before)
        assert same(scene.closest(cards.ByInterface(driver, RAYS, stream=stream, late=True)), host.closest(RAYS))
        slabcast._card._end()
    assert not flights  # those that are over are let go of


def test_no_cast_begins_within_a_commit(driver, host, scene):
    rays, answers = cards.ByDLPack(driver, RAYS), []
    scene.commit()
    other = threading.Thread(target=lambda: answers.append(scene.closest(rays)))
    with scene._lock:
        other.start()
        other.join(0.05)
        assert not answers
    other.join()
    assert same(answers[0], host.closest(RAYS))


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
            slabcast._card.land()
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
            slabcast._card.land()
            owned = results.rows._block.memory, results.rows._block.ready
            for each in owned:
                each._release = lambda handle: os._exit(2)
            held = slabcast._card._flights
            del results, owned, each
            status = 3 if held else 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert same(results, host.closest(RAYS))


# ---- geometry that moves on the card ----


@pytest.fixture
def moves(monkeypatch):
    """The names of the library's functions that moved geometry from the card."""
    called, library = [], slabcast._card.library
    names = "update_mesh", "update_instances", "update_some_instances", "move_instances"
    for name in (f"slab_scene_{name}_cuda" for name in names):
        function = getattr(library, name)
        spy = lambda *given, name=name, function=function: called.append(name) or function(*given)
        monkeypatch.setattr(library, name, spy)
    return called


MOVED = V * np.float32(1.25)
APART = np.ascontiguousarray(np.concatenate([MOVED, MOVED], axis=1))


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_meshes_move_by_vertices_on_the_card(driver, host, stream, kind, moves):
    scene, want = scene_of("cuda"), scene_of("cpu")
    for vertices, indices in ((MOVED, None), (V, F), (MOVED, F[::-1].astype("i4"))):
        scene.commit()
        slabcast._card._end()
        given = (None if a is None else kind(driver, a, stream=stream, late=True) for a in (vertices, indices))
        scene.update_mesh(0, *given)
        want.update_mesh(0, vertices, indices)
        assert same(scene.closest(kind(driver, RAYS, stream=stream)), want.closest(RAYS))
    columns = scene.closest(kind(driver, RAYS[: len(V)], stream=stream)).normal
    scene.update_mesh(0, columns)
    want.update_mesh(0, columns.get())
    assert same(scene.closest(kind(driver, RAYS, stream=stream)), want.closest(RAYS))
    assert moves == ["slab_scene_update_mesh_cuda"] * 4


def test_vertices_whose_rows_lie_apart(driver, host, moves):
    scene, want = scene_of("cuda"), scene_of("cpu")
    want.update_mesh(0, MOVED)
    for vertices in (
        told(cards.ByDLPack, APART, shape=V.shape, strides=(6, 1))(driver),
        told(cards.ByInterface, APART, shape=V.shape, strides=(24, 4))(driver),
    ):
        scene.update_mesh(0, V)
        scene.update_mesh(0, vertices)
        assert same(scene.closest(cards.ByDLPack(driver, RAYS)), want.closest(RAYS))
    assert len(moves) == 2


class WithHost(cards.ByDLPack):
    """An array with a copy to the host of its own, as torch's cpu()."""

    def cpu(self):
        return self.memory.array.copy()


def test_other_arrays_come_by_the_host(driver, host, moves):
    want = scene_of("cpu")
    want.update_mesh(0, MOVED)
    for device, vertices, indices in (
        ("cuda:1", WithHost(driver, MOVED), None),
        ("cuda", WithHost(driver, MOVED.astype("f8")), None),
        ("cuda", told(WithHost, MOVED, strides=(2, 1))(driver), None),
        ("cuda", told(WithHost, MOVED, strides=(3, 2))(driver), None),
        ("cuda", WithHost(driver, MOVED), F),
        ("cuda", WithHost(driver, MOVED), WithHost(driver, F.astype("i8"))),
        ("cpu", WithHost(driver, MOVED), WithHost(driver, F)),
    ):
        scene = scene_of(device)
        scene.update_mesh(0, vertices, indices)
        assert same(scene.closest(RAYS), want.closest(RAYS))
    assert not moves


def test_sets_of_tables_on_the_card_are_cast_there(driver, host):
    points, directions = V[:40].reshape(5, 8, 3), slabcast.tables.hemisphere(30)
    expected = slabcast.RaySet.directions(points, directions).with_range(1e-3)
    for number in (0, 1):
        scene = scene_of(f"cuda:{number}")
        rays = slabcast.RaySet.directions(WithHost(driver, points), WithHost(driver, directions)).with_range(1e-3)
        assert rays.array(scene).tobytes() == expected.array().tobytes()
        for query in QUERIES:
            results = getattr(scene, query)(rays)
            assert isinstance(results, np.ndarray) and same(results, getattr(host, query)(expected)), query
        assert same(scene.all(rays).hits, host.all(expected).hits)
        assert all(map(same, scene.sums(rays, weights=np.arange(30)), host.sums(expected, weights=np.arange(30))))
        named = {"bins": 9, "range": (0, 3)}
        assert same(scene.histogram(rays, **named), host.histogram(expected, **named))
        assert same(scene.sees(rays), host.sees(expected))


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_sums_take_rays_of_the_host(driver, scene, kind):
    rays = kind(driver, GRID)
    for call in (scene.sums, scene.sees, lambda rays: scene.histogram(rays, bins=2, range=(0, 1))):
        with pytest.raises(slabcast.InvalidArgument, match="takes rays of the host, or a RaySet: .*rays"):
            call(rays)


def test_vertices_on_the_card_that_are_refused(driver, scene, moves):
    wrong = MOVED.copy()
    wrong[5, 1] = np.nan
    for vertices, message in (
        (cards.ByDLPack(driver, wrong), "vertex is"),
        (cards.ByDLPack(driver, MOVED[:-1].copy()), "vert"),
        (told(cards.ByInterface, MOVED, stream=0)(driver), "vertices tells stream 0"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=message):
            scene.update_mesh(0, vertices)
    with pytest.raises(slabcast.InvalidArgument, match="geometry 3 is none of the scene's"):
        scene.update_mesh(3, cards.ByDLPack(driver, MOVED))
    assert len(moves) == 2


PLACES = np.tile(np.eye(4, dtype="f4")[:3], (3, 1, 1))


class Pair:
    """The same instances by two calls, on a card and on the processor, whose answers are to be the same."""

    def __init__(self, driver, stream, kind):
        self.driver, self.stream, self.kind, self.models = driver, stream, kind, []
        self.there, self.here = (slabcast.Scene(device) for device in ("cuda", "cpu"))
        for scene in (self.there, self.here):
            self.models.append(scene_of(scene._options["device"]))
            self.ids = [scene.add_instances(self.models[-1], PLACES) for _ in range(2)]

    def on_card(self, array):
        return self.kind(self.driver, array, stream=self.stream, late=True)

    def is_same(self):
        return same(self.there.closest(self.kind(self.driver, RAYS, stream=self.stream)), self.here.closest(RAYS))


def drawn_places(random, count):
    places = np.tile(PLACES[0], (count, 1, 1))
    places[:, :, 3] = random.uniform(-2, 2, (count, 3))
    return places


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_instances_move_by_transforms_on_the_card(driver, stream, kind, moves):
    pair, random = Pair(driver, stream, kind), np.random.default_rng(9)
    first = pair.ids[0]
    for _ in range(3):
        transforms = drawn_places(random, 3)
        pair.there.update_instances(first, pair.on_card(transforms))
        pair.here.update_instances(first, transforms)
        assert pair.is_same()
    assert moves == ["slab_scene_update_instances_cuda"] * 3
    whole = np.concatenate([transforms, np.tile(np.float32([[[0, 0, 0, 1]]]), (3, 1, 1))], axis=1)
    pair.there.update_instances(first, WithHost(driver, whole))
    assert pair.is_same() and len(moves) == 3
    with pytest.raises(slabcast.InvalidArgument, match="2 transforms for geometry 0, which has 3 instances"):
        pair.there.update_instances(first, kind(driver, transforms[:2].copy(), stream=stream))
    assert pair.is_same()


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_some_instances_move_by_indices_on_the_card(driver, stream, kind, moves):
    pair, random = Pair(driver, stream, kind), np.random.default_rng(9)
    last = pair.ids[1]
    for indices in (np.uint32([2, 0]), np.int32([1, 1, 0]), np.uint32([1]), np.uint32([])):
        transforms = drawn_places(random, indices.size)
        pair.there.update_instances(last, pair.on_card(transforms), pair.on_card(indices))
        pair.here.update_instances(last, transforms, indices)
        assert pair.is_same()
    assert moves == ["slab_scene_update_some_instances_cuda"] * 4
    transforms = drawn_places(random, 2)
    pair.here.update_instances(last, transforms, [2, 1])
    for given in (WithHost(driver, np.int64([2, 1])), [2, 1]):  # by the host
        pair.there.update_instances(last, WithHost(driver, transforms), given)
        assert pair.is_same() and len(moves) == 4
    pair.there.update_instances(last, transforms, WithHost(driver, np.int32([2, 1])))
    assert pair.is_same() and len(moves) == 4
    for given, message in (
        (np.uint32([0, 3]), r"indices\[1\] is 3, and there are 3 instances"),
        (np.uint32([0, 1, 2]), "2 transforms for 3 indices"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=message):
            pair.there.update_instances(last, pair.on_card(transforms), pair.on_card(given))
    with pytest.raises(slabcast.InvalidArgument, match="geometry is"):
        pair.there.update_instances(pair.ids, pair.on_card(transforms), pair.on_card(np.uint32([0, 1])))
    assert pair.is_same()


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_instances_of_many_ids_move_by_transforms_on_the_card(driver, stream, kind, moves):
    pair, random = Pair(driver, stream, kind), np.random.default_rng(9)
    for ids in (pair.ids, pair.ids[::-1], pair.ids[1:]):
        transforms = drawn_places(random, 3 * len(ids))
        pair.there.update_instances(ids, pair.on_card(transforms))
        pair.here.update_instances(ids, transforms)
        assert pair.is_same()
    assert moves == ["slab_scene_move_instances_cuda"] * 3
    singular = drawn_places(random, 6)
    singular[4] = 0
    for ids, given, message in (
        (pair.ids, singular, r"geometries\[1\]: transform 1 is singular"),
        (pair.ids, singular[:3], "3 transforms for 2 geometries, which have 6 instances"),
        ([0, 0], PLACES.repeat(2, axis=0), r"geometries\[1\]: geometry 0 is one of them already"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=message):
            pair.there.update_instances(ids, pair.on_card(given.copy()))
        assert pair.is_same()


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
        with pytest.raises(
            slabcast.InvalidArgument, match=rf"rays lies on cuda:{1 - card}, and the scene on cuda:{card}"
        ):
            scene.closest(kind(driver, RAYS, 1 - card))
        with pytest.raises(slabcast.InvalidArgument, match=rf"skip lies on cuda:{1 - card}"):
            rays = kind(driver, RAYS, card, stream)
            scene.closest(rays, skip=kind(driver, np.zeros((400, 2), np.uint32), 1 - card))
        driver.finish(stream, card)
        slabcast._card._end()
        driver.end_events()
        driver.end_stream(stream, card)


def test_names_of_cards(driver, host):
    with pytest.raises(slabcast.NoDevice, match='no device matches "cuda:2"'):
        slabcast.Scene("cuda:2")

    class Device:  # as torch.device: str() gives its name
        __module__ = "torch"

        def __str__(self):
            return "cuda:1"

    names = ("cuda", 0), ("cuda:0", 0), ("gpu", 0), ("cuda:1", 1), (2, 1), (Device(), 1), ("cuda:1,cuda:0", 1)
    for name, card in names:
        results = scene_of(name).distance(cards.ByDLPack(driver, RAYS[:3], card))
        assert results.__dlpack_device__() == (2, card) and same(results, host.distance(RAYS[:3]))


# ---- what is refused ----


WIDE = np.ascontiguousarray(np.concatenate([RAYS, RAYS], axis=1))
REFUSED = [
    *(
        (
            told(cards.ByDLPack, RAYS, dtype=dtype),
            f'rays has dtype {dtype}, and on a card nothing is converted: rays.astype("float32")',
        )
        for dtype in ("float64", "float16", "bfloat16", "complex64", "int32", "uint32", "bool")
    ),
    *(
        (told(cards.ByInterface, RAYS, typestr=typestr), f"rays has dtype {dtype}")
        for typestr, dtype in (
            ("<f8", "float64"),
            ("<f2", "float16"),
            (">f4", ">f4"),
            ("<u4", "uint32"),
            ("|V4", "void"),
        )
    ),
    *(
        (told(kind, RAYS, strides=strides), "rays has strides")
        for kind, strides in (
            (cards.ByDLPack, (16, 1)),
            (cards.ByDLPack, (1, 400)),
            (cards.ByDLPack, (0, 1)),
            (cards.ByDLPack, (-8, 1)),
            (cards.ByInterface, (64, 4)),
            (cards.ByInterface, (4, 1600)),
            (cards.ByInterface, (33, 4)),
        )
    ),
    *(
        (told(kind, RAYS, shape=shape), f"rays has shape {shape}; what is taken is (..., 8){hint}")
        for kind in (cards.ByDLPack, cards.ByInterface)
        for shape, hint in (
            ((400, 7), ""),
            ((), ""),
            ((8, 400), ""),
            ((400, 3), ": origins take directions beside them"),
        )
    ),
    (told(cards.ByInterface, RAYS, stream=0), "rays tells stream 0 by __cuda_array_interface__: 1 is CUDA's default"),
    (told(cards.ByInterface, RAYS, stream=-1), "rays tells stream -1"),
    (told(cards.ByInterface, RAYS, stream="1"), "rays tells stream '1'"),
    (told(cards.ByInterface, RAYS, mask=1), "rays is masked"),
    (told(cards.ByInterface, RAYS, data=(RAYS.ctypes.data, False)), "is not memory of a card; it may have been freed"),
    (told(cards.ByInterface, RAYS, data=(None, False)), "rays: 0x0 is not memory of a card"),
    (told(cards.ByDLPack, RAYS, address=RAYS.ctypes.data), "is not memory of a card; it may have been freed"),
    (told(cards.ByDLPack, RAYS, address=0), "rays: 0x0 is not memory of a card"),
    *((freed(kind), "is not memory of a card; it may have been freed") for kind in PROTOCOLS),
    (lambda driver: cards.Taken(driver, RAYS), "rays gave a capsule of DLPack that somebody has taken"),
    (lambda driver: cards.ByDLPack(driver, RAYS).__dlpack__(stream=1), "rays is a capsule of DLPack; give the array"),
]


@pytest.mark.parametrize("make, message", REFUSED)
def test_rays_that_are_refused(driver, host, scene, make, message):
    scene.commit()  # which takes memory, perhaps what was freed
    rays = make(driver)
    for query in ("closest", "any", "all"):
        with pytest.raises(slabcast.InvalidArgument) as refused:
            getattr(scene, query)(rays)
        assert message in str(refused.value)
    assert same(scene.closest(cards.ByDLPack(driver, RAYS)), host.closest(RAYS))


class Failing(cards.ByDLPack):
    def __dlpack__(self, **named):
        raise self.error


@pytest.mark.parametrize("error", [BufferError, RuntimeError, ValueError, TypeError, AssertionError])
def test_what_a_package_says_is_told_of_its_array(driver, scene, error):
    rays = Failing(driver, RAYS)
    rays.error = error("Array has been deleted.")
    with pytest.raises(slabcast.InvalidArgument, match="^rays: Array has been deleted"):
        scene.closest(rays)


def with_version(capsule, major):
    """A capsule of a version that nobody knows yet."""
    _dlpack._Versioned.from_address(_dlpack._pointer(id(capsule), b"dltensor_versioned")).major = major
    return capsule


def test_a_capsule_of_another_version_is_not_read(driver, scene):
    class Newer(cards.ByDLPack):
        def __dlpack__(self, **named):
            return with_version(super().__dlpack__(**named), 2)

    with pytest.raises(slabcast.InvalidArgument, match="rays gave a capsule"):
        scene.closest(Newer(driver, RAYS))


PAIRS = np.zeros((400, 2), np.uint32)
BESIDE = [
    ({"skip": lambda driver: PAIRS}, "skip is a ndarray on the host, beside others on cuda:0"),
    ({"skip": lambda driver: [0, 0]}, "skip is a list on the host"),
    (
        {"skip": lambda driver: cards.ByDLPack(driver, PAIRS[:9])},
        "skip has shape (9, 2); what is taken for these rays is (400, 2)",
    ),
    (
        {"skip": lambda driver: cards.ByDLPack(driver, PAIRS[:, 0].copy())},
        "skip has shape (400,); what is taken is (..., 2)",
    ),
    (
        {"skip": lambda driver: cards.ByDLPack(driver, PAIRS.astype("u8"))},
        "skip has dtype uint64, and on a card nothing is converted: give uint32 or int32",
    ),
    ({"skip": lambda driver: cards.ByInterface(driver, PAIRS.astype("f4"))}, "skip has dtype float32"),
    ({"t_max": lambda driver: 1.0}, "t_min and t_max go with origins"),
    ({"t_min": lambda driver: 0.0}, "t_min and t_max go with origins"),
    ({"progress": lambda driver: print}, "progress is not told"),
    ({"directions": lambda driver: cards.ByDLPack(driver, RAYS)}, "origins has shape (400, 8)"),
    ({"mask": lambda driver: -1}, "mask is -1"),
    ({"mask": lambda driver: PAIRS[:, 0]}, "mask is a ndarray on the host, beside others on cuda:0"),
    ({"mask": lambda driver: [1] * 400}, "mask is a list on the host"),
    (
        {"mask": lambda driver: cards.ByDLPack(driver, PAIRS)},
        "mask has shape (400, 2); what is taken for these rays is (400,)",
    ),
    ({"mask": lambda driver: cards.ByInterface(driver, PAIRS[:, 0].astype("f4"))}, "mask has dtype float32"),
    ({"mask": lambda driver: told(cards.ByDLPack, PAIRS, shape=(400,), strides=(2,))(driver)}, "mask has strides (2,)"),
    ({"world": lambda driver: 4}, "world is 4, and the scene has no worlds"),
    ({"world": lambda driver: -1}, "world is -1"),
    ({"world": lambda driver: PAIRS[:, 0]}, "world is a ndarray on the host, beside others on cuda:0"),
    ({"world": lambda driver: cards.ByDLPack(driver, PAIRS)}, "world has shape (400, 2); what is taken for these rays"),
    ({"world": lambda driver: cards.ByInterface(driver, PAIRS[:, 0].astype("f4"))}, "world has dtype float32"),
    ({"after": lambda driver: np.zeros(400, slabcast.SHORT_HIT)}, "after is a ndarray on the host, beside others"),
    ({"after": lambda driver: cards.ByDLPack(driver, RAYS)}, "after has shape (400, 8); what is taken is (..., 3)"),
    (
        {"after": lambda driver: cards.ByDLPack(driver, RAYS[:9, :3].copy())},
        "after has shape (9, 3); what is taken for these rays is (400, 3)",
    ),
    ({"after": lambda driver: cards.ByDLPack(driver, RAYS[:, :3].astype("f8"))}, "after has dtype float64"),
    ({"cull": lambda driver: "both"}, "cull is 'both'"),
]


@pytest.mark.parametrize("named, message", BESIDE)
def test_what_is_refused_beside_rays(driver, scene, named, message):
    rays = cards.ByDLPack(driver, RAYS)
    for query in ("closest", "count", "all"):
        with pytest.raises(slabcast.InvalidArgument) as refused:
            getattr(scene, query)(rays, **{name: make(driver) for name, make in named.items()})
        assert message in str(refused.value)


def test_other_refusals(driver, host, scene):
    rays = cards.ByDLPack(driver, RAYS)
    with pytest.raises(TypeError, match="takes no 'maks'"):
        scene.closest(rays, maks=1)
    with pytest.raises(slabcast.InvalidArgument, match="max_hits is -1"):
        scene.all(rays, max_hits=-1)
    hits = scene.closest(cards.ByDLPack(driver, RAYS[:9]))
    with pytest.raises(
        slabcast.InvalidArgument, match=re.escape("skip has shape (9,); what is taken for these rays is (400,)")
    ):
        scene.closest(rays, skip=hits)
    for short in (hits, scene.nearest(cards.ByDLPack(driver, RAYS[:9]))):
        with pytest.raises(slabcast.InvalidArgument, match=r"after has shape \(9.*these rays is \(400"):
            scene.closest(rays, after=short)
    with pytest.raises(slabcast.InvalidArgument, match="after has no t, primitive and geometry"):
        scene.closest(rays, after=scene.interval(rays))
    with pytest.raises(slabcast.InvalidArgument, match="after.*interval|interval.*after"):
        scene.interval(rays, after=scene.nearest(rays))
    parts = cards.ByDLPack(driver, RAYS[:, :3].copy()), cards.ByDLPack(driver, RAYS[:, 4:7].copy())
    with pytest.raises(slabcast.InvalidArgument, match="are not joined on a card: give rays of"):
        scene.closest(*parts)
    with pytest.raises(slabcast.InvalidArgument, match="directions is a ndarray on the host, beside others"):
        scene.closest(parts[0], RAYS[:, 4:7])
    with pytest.raises(slabcast.InvalidArgument, match="origins is a ndarray on the host, beside others"):
        scene.closest(RAYS[:, :3], parts[1])
    with pytest.raises(slabcast.InvalidState, match="closed"):
        scene.close()
        scene.closest(rays)


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_a_scene_on_the_processor_refuses_and_says_the_ways_out(driver, host, kind):
    number = "" if issubclass(kind, cards.ByInterface) else ":0"
    for query in ("closest", "all"):
        with pytest.raises(slabcast.InvalidArgument) as refused:
            getattr(host, query)(kind(driver, RAYS))
        assert re.fullmatch(
            rf'rays lies on a card, and the scene on ".+": a Scene\("cuda{number}"\) casts it there, and '
            r"numpy.asarray\(rays\) copies it",
            str(refused.value),
        )


def test_a_cast_whose_end_cannot_be_told_has_ended(driver, scene, stream, monkeypatch):
    scene.commit()
    rays = cards.ByInterface(driver, RAYS, stream=stream, late=True)
    monkeypatch.setattr(slabcast._cuda._driver, "cuEventRecord", lambda event, stream: 719)
    with pytest.raises(slabcast.DeviceFailed, match="cuEventRecord failed with CUDA_ERROR_OF_THE_STAND_IN") as failed:
        scene.closest(rays)
    with driver.current(0):
        driver.call("cuStreamQuery", ctypes.c_void_p(stream))
    assert "(719)" in str(failed.value)  # which has the results until here, whose memory waits as it goes


@pytest.mark.parametrize("counts", [[2**31 - 1, 1], [2**32 - 1], [2**30] * 2, [2**32 - 1] * 9])
def test_more_hits_than_offsets_hold_are_refused(counts):
    with pytest.raises(slabcast.InvalidArgument, match=f"{sum(counts):,} hits together"):
        slabcast._card._sums(np.array(counts, np.uint32), 0)
    fewer = slabcast._card._sums(np.array(counts, np.uint32), 2**31 // len(counts) - 1)
    assert fewer.dtype == np.uint32 and fewer[0] == 0 and (np.diff(fewer.astype("i8")) > 0).all()


def test_each_call_of_the_driver_that_fails_is_told(driver, host):
    """Nothing is left behind: the stand-in checks at the end."""
    fail = driver.cuda.standin_fail
    fail.argtypes = ctypes.c_ulong, ctypes.c_int
    failed = 0
    for query in ("closest", "all"):
        scene = scene_of("cuda")
        scene.commit()
        getattr(scene, query)(cards.ByDLPack(driver, RAYS))
        for later in range(1, 200):
            rays = cards.ByDLPack(driver, RAYS)
            rays.stream = cards.LEGACY
            fail(later, 2 if later % 2 else 719)
            try:
                results = getattr(scene, query)(rays)
                results = results.hits.get() if query == "all" else results.get()
            except (slabcast.OutOfMemory, slabcast.DeviceFailed, slabcast.InvalidArgument) as error:
                assert str(error)
                failed += 1
                results = None
            reached = fail(0, 0)
            if results is not None:
                expected = getattr(host, query)(RAYS)
                assert results.tobytes() == (expected.hits if query == "all" else expected).tobytes()
            if not reached:
                break
        assert later > 5 and results is not None
    assert failed > 15


# ---- packages that make arrays of their own ----


def seen(tensor):
    """A copy of a tensor, once the stream of its package is through."""
    tensor.package.driver.finish(tensor.package.now(tensor.card), tensor.card)
    return tensor.array.copy()


def bits(tensor):
    array = seen(tensor)
    return np.ascontiguousarray(array).view("?" if array.dtype == bool else "u4")


def bits_of(array):
    return np.ascontiguousarray(array).view("?" if array.dtype == bool else "u4")


@pytest.mark.parametrize("card", [0, 1])
def test_results_are_of_the_package(driver, host, package, card):
    scene, stream = scene_of(f"cuda:{card}"), driver.stream(card)
    if package.__name__ == "jax" and card == 1:
        package.own, stream = stream, package.own
    with package.on_stream(stream, card):
        scene.commit()
        for query in QUERIES:
            results = field = hit = None  # freeing them makes the stand-in run all that is on streams
            slabcast._card._end()
            rays = package.tensor(GRID, card, late=True)
            results, expected = getattr(scene, query)(rays), getattr(host, query)(GRID)
            del rays
            for name in expected.dtype.names or [None]:
                field = results if name is None else results[name]
                assert type(field) is package.kind and field.card == card
                want = expected if name is None else expected[name]
                assert np.array_equal(bits(field), bits_of(want))
                if package.__name__ == "torch" and want.dtype == np.uint32:
                    assert field.array.dtype == np.int32 and (name != "geometry" or field.array.min() == -2)
            if expected.dtype.names:
                assert same(results, expected)
            hit = seen(slabcast.is_hit(results))
            assert (hit == slabcast.is_hit(expected)).all()
        found, want = scene.all(package.tensor(RAYS, card), max_hits=2), host.all(RAYS, max_hits=2)
        assert (seen(found.offsets) == want.offsets).all() and same(found.hits, want.hits)
        assert (seen(slabcast.is_hit(found)) == slabcast.is_hit(want)).all()
        assert set(package.made) == {card}
    slabcast._card._end()
    driver.end_events()
    if package.__name__ == "jax" and card == 1:
        package.own, stream = stream, package.own
    driver.finish(stream, card)
    driver.end_stream(stream, card)


def test_origins_and_directions_are_joined_on_the_card(driver, host, package, stream):
    scene, random = scene_of("cuda"), np.random.default_rng(5)
    with package.on_stream(stream):
        for shapes_of in (((400, 3), (400, 3)), ((3,), (400, 3)), ((20, 1, 3), (1, 20, 3)), ((5, 1, 3), (3,))):
            origins, directions = (random.normal(size=shape).astype("f4") * 2 for shape in shapes_of)
            shape = np.broadcast_shapes(*(s[:-1] for s in shapes_of))
            far = random.uniform(0.5, 9, shape).astype("f4")
            for named, of in (
                ({}, {}),
                ({"t_min": 0.25, "t_max": 3}, {"t_min": 0.25, "t_max": 3}),
                ({"t_max": far}, {"t_max": package.tensor(far)}),
                ({"t_min": np.float32(1)}, {"t_min": np.float32(1)}),
            ):
                results = scene.closest(package.tensor(origins), package.tensor(directions), **of)
                assert same(results, host.closest(origins, directions, **named))
        mine = package.tensor(RAYS[:, :3].copy())
        for named, message in (
            ({"directions": package.tensor(RAYS[:7, :3].copy())}, "do not fit each other: origins (400, 3)"),
            ({"directions": package.tensor(RAYS)}, "directions has shape (400, 8); what is taken is (..., 3)"),
            ({"directions": package.tensor(RAYS[:, :3].astype("f8"))}, "directions has dtype float64"),
            ({"directions": cards.ByDLPack(driver, RAYS[:, :3].copy())}, "directions is a cards array, beside others"),
            ({"directions": mine, "t_max": RAYS[:, 0]}, "t_max is a ndarray on the host"),
            ({"directions": mine, "t_max": 1e39}, "t_max is 1e+39, which is beyond float32"),
            ({"directions": mine, "t_min": "no"}, "t_min has dtype <U2"),
        ):
            with pytest.raises(slabcast.InvalidArgument, match=re.escape(message)):
                scene.closest(mine, **named)


def test_the_packages_stream_is_the_casts(driver, package, stream, monkeypatch):
    scene, library, asked = scene_of("cuda"), slabcast._card.library, []
    enqueue = library.slab_enqueue_cuda
    monkeypatch.setattr(library, "slab_enqueue_cuda", lambda *given: asked.append(given[2]) or enqueue(*given))
    scene.closest(package.tensor(RAYS))
    with package.on_stream(stream):
        scene.all(package.tensor(RAYS))
        scene.closest(package.tensor(RAYS[:, :3].copy()), package.tensor(RAYS[:, 4:7].copy()))
    assert asked == ([1] * 4 if package.__name__ == "jax" else [1, stream, stream, stream])


@pytest.mark.parametrize("query", ["closest", "nearest"])
def test_hits_of_a_package_are_skipped(driver, host, package, stream, query):
    scene = scene_of("cuda")
    with package.on_stream(stream):
        rays = package.tensor(RAYS)
        results = scene.closest(rays, skip=getattr(scene, query)(rays))
        assert same(results, host.closest(RAYS, skip=getattr(host, query)(RAYS)))


@pytest.mark.parametrize("query", [*QUERIES, "all"])
def test_masks_and_hits_of_a_package(driver, package, stream, query):
    scene, host = layers("cuda"), layers("cpu")
    masks = MASKS.view("i4") if package.__name__ == "torch" else MASKS
    with package.on_stream(stream):
        rays = package.tensor(GRID, late=True)
        given, named = {"mask": package.tensor(masks, late=True)}, {"mask": MASKS}
        if query != "interval":
            given["after"], named["after"] = scene.closest(rays), host.closest(GRID)
        found, expected = getattr(scene, query)(rays, **given), getattr(host, query)(GRID, **named)
        if query == "all":
            assert (seen(found.offsets) == expected.offsets).all() and same(found.hits, expected.hits)
        elif expected.dtype.names:
            assert same(found, expected)
        else:
            assert np.array_equal(bits(found), bits_of(expected))


@pytest.mark.parametrize("query", [*QUERIES, "all"])
def test_worlds_of_a_package(driver, package, stream, query):
    scene, host = in_worlds("cuda"), in_worlds("cpu")
    worlds = WORLDS.view("i4") if package.__name__ == "torch" else WORLDS
    with package.on_stream(stream):
        rays = package.tensor(GRID, late=True)
        for given, named in ((package.tensor(worlds, late=True), WORLDS), (3, 3)):
            found, expected = getattr(scene, query)(rays, world=given), getattr(host, query)(GRID, world=named)
            if query == "all":
                assert (seen(found.offsets) == expected.offsets).all() and same(found.hits, expected.hits)
            elif expected.dtype.names:
                assert same(found, expected)
            else:
                assert np.array_equal(bits(found), bits_of(expected))


def test_ways_out_are_the_packages_own(driver, host, package):
    ways = {
        "torch": ("rays.float()", "rays.contiguous()", "rays.cpu()"),
        "cupy": ('rays.astype("float32")', "cupy.ascontiguousarray(rays)", "rays.get()"),
        "jax": ('rays.astype("float32")', "a copy of rays in C order", "numpy.asarray(rays)"),
    }[package.__name__]
    scene = scene_of("cuda")
    for call, way in zip(
        (
            lambda: scene.closest(package.tensor(RAYS.astype("f8"))),
            lambda: scene.closest(package.tensor(WIDE)[:, :8]),
            lambda: host.closest(package.tensor(RAYS)),
        ),
        ways,
    ):
        with pytest.raises(slabcast.InvalidArgument, match=re.escape(way)):
            call()


@pytest.mark.skipif(IS_LATE, reason="once is enough")
def test_the_script_for_a_first_day_on_a_card(package, driver, monkeypatch, capsys):
    """bench/card_arrays.py, whose packages are these."""
    path = Path(__file__).parents[2] / "bench" / "card_arrays.py"
    spec = importlib.util.spec_from_file_location("card_arrays", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(sys, "argv", ["card_arrays.py", "--dry"])
    monkeypatch.setattr(script, "PACKAGES", {package.__name__: script.PACKAGES[package.__name__]})
    for wrong in (False, True):
        if wrong:
            monkeypatch.setattr(slabcast._card.CardRecords, "get", lambda results: np.zeros(3))
        assert script.main() == wrong
        told = capsys.readouterr().out
        assert f"{package.__name__}: {15 if package.__name__ == 'jax' else 32} casts" in told
        assert told.count("M rays/s on the card") == len(QUERIES) and ("wrong: closest, stream 0" in told) == wrong
    monkeypatch.setattr(script, "PACKAGES", {"no such package": script.Torch})
    assert script.main() == 77
    slabcast._card._end()
    package.close()


def test_torch_is_told_of_the_stream_and_keeps_the_rays_itself(driver, host, monkeypatch, stream):
    torch = cards.TorchLike(driver)
    monkeypatch.setitem(sys.modules, "torch", torch)
    scene = scene_of("cuda")
    with torch.on_stream(stream):
        rays, skip = torch.tensor(RAYS), torch.tensor(PAIRS.view("i4"))
        scene.closest(rays, skip=skip)
        assert torch.recorded == [(rays, stream), (skip, stream)]
        assert slabcast._card._flights[-1].keep == ()
    rays.requires_grad = True
    with pytest.raises(slabcast.InvalidArgument, match=r"rays: Can't export .* use tensor.detach\(\)"):
        scene.closest(rays)


def test_arrays_of_two_packages(driver, host, monkeypatch, stream):
    """The stream of the rays waits for the stream of the others."""
    torch, cupy = cards.TorchLike(driver), cards.CuPyLike(driver)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    scene, other = scene_of("cuda"), driver.stream()
    first = host.closest(RAYS)
    pairs = np.stack([first["primitive"], first["geometry"]], axis=-1)
    with torch.on_stream(stream), cupy.on_stream(other):
        for number in range(8):
            results = None
            slabcast._card._end()
            own, others = (torch, cupy) if number % 2 else (cupy, torch)
            results = scene.closest(own.tensor(RAYS, late=True), skip=others.tensor(pairs, late=True))
            assert len(slabcast._card._flights[-1].keep) == 2 - number % 2  # torch keeps what its own stream reads
            assert type(results.t) is own.kind and same(results, host.closest(RAYS, skip=pairs))
    driver.finish(other)
    slabcast._card._end()
    driver.end_events()
    driver.end_stream(other)


def test_tensors_of_the_host_are_taken_as_ever(host):
    torch = pytest.importorskip("torch")
    scene = scene_of("cuda")
    for tensor in (torch.from_numpy(RAYS), torch.from_numpy(RAYS.astype("f8")), torch.from_numpy(WIDE)[:, :8]):
        for each in (host, scene):
            got = each.closest(tensor)
            assert isinstance(got, np.recarray) and got.tobytes() == host.closest(RAYS).tobytes()


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("dtype", ["f4", "u4", "i4", "?"])
def test_torch_reads_what_is_given(dtype, version):
    torch = pytest.importorskip("torch")
    array = (np.random.default_rng(4).normal(size=(4, 5, 6)) * 100).astype(dtype)[:, 1:, ::2]
    strides = tuple(s // array.itemsize for s in array.strides)
    place = _dlpack.Place(array.ctypes.data, array.shape, strides, array.dtype.name, 0, array)
    tensor = torch.from_dlpack(_dlpack.give(place, 1, version is not None))
    assert tensor.numpy().tobytes() == array.tobytes() and tensor.data_ptr() == array.ctypes.data
    told = _dlpack.read(tensor.__dlpack__(max_version=version))
    assert told[:4] == place[:4]
    del tensor, told
    assert not _dlpack._given
