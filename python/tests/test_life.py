"""Life of a scene: order of calls, close, pickle and copies, threads, signals."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import shapes
import slabcast


def down(x=0.0):
    """A ray from z = 9 down the line (x, 0)."""
    return np.array([x, 0, 9, 0, 0, 0, -1, np.inf], np.float32)


def test_casts_see_a_change_after_the_next_commit(rays):
    scene = slabcast.Scene("cpu", auto_commit=False)
    scene.add_mesh(*shapes.torus())
    before = scene.closest(rays).tobytes()
    ball = scene.add_spheres([0, 0, 30], 1)
    assert scene.closest(rays).tobytes() == before
    scene.commit()
    up = np.array([0, 0, 90, 0, 0, 0, -1, np.inf], np.float32)
    assert scene.distance(up) == 59
    scene.update_spheres(ball, [0, 0, 40], 1)
    assert scene.distance(up) == 59
    scene.commit("refit")
    assert scene.distance(up) == 49
    scene.disable(ball)
    scene.commit()
    assert scene.closest(rays).tobytes() == before
    scene.enable(ball)
    scene.commit("rebuild")
    assert scene.nearest(up)["geometry"] == ball
    scene.remove(ball)
    scene.commit()
    scene.commit()  # once more is nothing
    assert scene.closest(rays).tobytes() == before
    for call in (
        lambda: scene.enable(ball),
        lambda: scene.remove(ball),
        lambda: scene.update_spheres(ball, [0, 0, 0], 1),
    ):
        with pytest.raises(slabcast.InvalidArgument, match="removed"):
            call()
    with pytest.raises(slabcast.InvalidArgument, match="update is 'often'"):
        scene.commit("often")


def test_every_kind_can_be_updated():
    scene, eye = slabcast.Scene("cpu", build="fast"), np.eye(3)
    vertices, indices = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32), [[0, 1, 2], [0, 2, 3]]
    mesh = scene.add_mesh(vertices, indices)
    soup = scene.add_mesh(vertices[[0, 1, 2]] + [10, 0, 0])
    boxes = scene.add_boxes([19, -1, -1], [21, 1, 0])
    balls = scene.add_spheres([30, 0, -1], 1)
    obbs = scene.add_obbs([40, 0, -1], [1, 1, 1], eye)
    planes = scene.add_planes([1, 0, 1], 50)
    at = np.stack([down(x) for x in (0.25, 10.25, 20, 30, 40)])
    assert (scene.distance(at) == 9).all()
    lift = np.array([0, 0, 2], np.float32)
    scene.update_mesh(mesh, vertices + lift)
    scene.update_mesh(soup, vertices[[0, 1, 2]] + [10, 0, 0] + lift)
    scene.update_boxes(boxes, [19, -1, 1], [21, 1, 2])
    scene.update_spheres(balls, [30, 0, 1], 1)
    scene.update_obbs(obbs, [40, 0, 1], [1, 1, 1], eye)
    scene.update_planes(planes, [0, 0, 1], 1)
    scene.commit()
    assert (scene.distance(at) == 7).all() and scene.distance(down(99)) == 8
    scene.update_mesh(mesh, vertices[::-1] + 2 * lift, [[3, 2, 1], [3, 1, 0]])
    scene.commit()
    assert scene.distance(at)[0] == 5 and scene.check("closest", at, scene.closest(at)).mismatches == 0
    other = pickle.loads(pickle.dumps(scene))
    other.update_mesh(mesh, vertices[::-1] + lift)
    other.commit()
    assert other.distance(at)[0] == 7 and scene.distance(at)[0] == 5


def test_a_model_stands_where_its_transforms_put_it():
    model, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    model.add_boxes([-1, -1, -1], [1, 1, 0])
    model.add_spheres([0, 3, 0], 1)
    moved = np.tile(np.eye(4, dtype=np.float32), (2, 3, 1, 1))
    moved[..., 0, 3] = [[0, 10, 20], [30, 40, 50]]
    first = scene.add_instances(model, moved)
    last = scene.add_spheres([99, 0, 0], 1)
    assert (first, last) == (0, 12)
    at = np.stack([down(x) for x in (0, 10, 20, 30, 40, 50, 99)])
    hits = scene.closest(at)
    assert (hits["geometry"] == [0, 2, 4, 6, 8, 10, 12]).all() and (hits["t"][:6] == 9).all()
    assert scene.check("closest", at, hits).mismatches == 0
    paths = scene.paths(hits)
    assert (paths["levels"] == [1] * 6 + [0]).all() and (paths["index"][:, 0] == [0, 1, 2, 3, 4, 5, 0]).all()
    assert (paths["geometry"] == [0] * 6 + [12]).all() and (paths["instances"] == first).all()
    lifted = moved.astype(np.float64)
    lifted[..., 2, 3] = 2
    scene.update_instances(first, lifted)
    scene.commit()
    assert (scene.distance(at)[:6] == 7).all()
    model.update_boxes(0, [-1, -1, -1], [1, 1, 1])
    model.commit()
    scene.commit()
    assert (scene.distance(at)[:6] == 6).all()
    outer = slabcast.Scene("cpu")
    outer.add_boxes([-1, -1, -9], [-1, -1, -9])
    outer.add_instances(scene, np.diag([1, 1, 2, 1])[:3])
    hits = outer.closest(np.stack([at, at + 0]))
    assert (hits["t"][:, :6] == 9 - 6).all()
    paths = outer.paths(hits)
    assert paths.shape == (2, 7) and (paths["instances"][..., :2] == [1, first]).all()
    assert (paths["index"][1, :6, :2] == [[0, i] for i in range(6)]).all() and (paths["levels"][:, 6] == 1).all()
    assert (outer.path_ids(paths) == hits["geometry"]).all() and (outer.path_ids(paths[:, ::2]).shape == (2, 4))
    missed = outer.closest(down(-50))
    assert outer.paths(missed)["geometry"] == slabcast.MISS == outer.path_ids(outer.paths(missed))
    assert outer.paths([13])["index"][0].tolist() == [0, 0, 0, 0] and outer.paths(13)["geometry"] == 12
    with pytest.raises(slabcast.InvalidArgument, match="entry 1 is geometry 14: the scene has 14"):
        outer.paths([13, 14])
    with pytest.raises(slabcast.InvalidArgument, match="paths is list, not an array of PATH"):
        outer.path_ids([13])


def test_a_model_by_identity_keeps_its_bits(scene, rays):
    placed = slabcast.Scene()
    assert placed.add_instances(scene, np.eye(4)) == 0
    for query in ("closest", "nearest", "distance", "any", "count", "interval"):
        assert getattr(placed, query)(rays).tobytes() == getattr(scene, query)(rays).tobytes()
    assert [part.tobytes() for part in placed.all(rays)] == [part.tobytes() for part in scene.all(rays)]
    assert "0 geometries, 1 instances, committed" in repr(placed)
    placed.add_spheres([0, 0, 0], 1)
    placed.add_instances(scene, np.tile(np.eye(4), (3, 2, 1, 1)))
    assert "1 geometries, 7 instances" in repr(placed) and "instance" not in repr(scene)


def test_one_device_by_several_names_is_one():
    first = slabcast.Scene("cpu")
    first.add_spheres([0, 0, 0], 1)
    for device in (0, "0", slabcast.devices()[0].name, slabcast.devices()[0].platform):
        other = slabcast.Scene(device)
        other.add_instances(first, np.eye(4))
        assert other.distance([0, 0, 9], [0, 0, -1]) == 8
    if slabcast.Scene().device == first.device:
        slabcast.Scene().add_instances(first, np.eye(4))
    for options in ({"threads": 1}, {"traversal": "single"}, {"layout": "compressed"}):
        with pytest.raises(slabcast.InvalidArgument, match="another context"):
            slabcast.Scene("cpu", **options).add_instances(first, np.eye(4))


def test_devices_that_nothing_tells_apart_are_not_taken_for_one(monkeypatch):
    first = slabcast.Scene("cpu", threads=3)  # which no other test has: the names of its context are not known yet
    twins = slabcast.devices() * 2
    monkeypatch.setattr("slabcast._device.devices", lambda: twins)
    with pytest.raises(slabcast.InvalidArgument, match="another context"):
        slabcast.Scene(0, threads=3).add_instances(first, np.eye(4))


def test_casts_see_instances_before_or_after_a_move():
    model, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    model.add_mesh(*shapes.torus())
    places = np.tile(np.eye(4, dtype=np.float32), (2, 60, 1, 1))
    places[..., 0, 3] = np.arange(60) * 3
    places[1, :, 2, 3] = 1
    group = scene.add_instances(model, places[0])
    at = np.stack([down(3 * i + 0.5 + 0.01 * k) for i in range(60) for k in range(50)])
    states = []
    for place in places:
        scene.update_instances(group, place)
        scene.commit()
        states.append(scene.closest(at).tobytes())
    seen, done = set(), threading.Event()

    def cast():
        while not done.is_set():
            seen.add(scene.closest(at).tobytes())

    casting = [threading.Thread(target=cast) for _ in range(3)]
    for thread in casting:
        thread.start()
    for i in range(40):
        scene.update_instances(group, places[i % 2])
        scene.commit()
    done.set()
    for thread in casting:
        thread.join()
    assert states[0] != states[1] and seen and seen <= set(states)


def test_copies_of_scenes_with_instances_have_models_of_their_own():
    model, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    model.add_spheres([0, 0, 0], 1)
    eye = np.eye(4)
    first = scene.add_instances(model, eye)
    for other in (pickle.loads(pickle.dumps(scene)), copy.deepcopy(scene)):
        assert other.closest(down(0)).tobytes() == scene.closest(down(0)).tobytes()
        eye[2, 3] = 4
        other.update_instances(first, eye)
        other.commit()
        before = scene.distance(down(0))
        assert other.distance(down(0)) == before - 4
        model.update_spheres(0, [0, 0, 0], 2)
        model.commit()
        other.commit()
        assert other.distance(down(0)) == before - 4 and scene.distance(down(0)) == before - 1
        assert other.contains([[0, 0, 4], [0, 0, 0]]).tolist() == [True, False]
        scene.commit()
        model.update_spheres(0, [0, 0, 0], 1)
        model.commit()
        scene.commit()


def test_bad_instances_are_refused(scene, rays):
    eye = np.eye(4)
    model = slabcast.Scene()
    model.add_spheres([0, 0, 0], 1)
    bent, flat = np.stack([eye, eye]), np.stack([eye, np.diag([1, 1, 0, 1])])
    bent[1, 3, 0] = 1
    other = slabcast.Scene(threads=1)
    for call, match in (
        (lambda: other.add_instances(model, eye), "another context"),
        (lambda: other.add_instances(other, eye), "itself"),
        (lambda: other.add_instances(None, eye), "model is None"),
        (lambda: slabcast.Scene().add_instances(model, bent), "last row of transform 1"),
        (lambda: slabcast.Scene().add_instances(model, flat), "transform 1 is singular"),
        (lambda: slabcast.Scene().add_instances(model, np.eye(3)), r"shape \(3, 3\)"),
        (lambda: slabcast.Scene().update_instances(0, eye), "geometry 0"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=match):
            call()
    holder = slabcast.Scene()
    holder.add_instances(model, eye)
    with pytest.raises(slabcast.InvalidState, match="is a model"):
        model.add_spheres([0, 0, 0], 1)


def test_updates_that_do_not_fit_are_refused(scene, rays):
    before = scene.closest(rays).tobytes()
    for call, match in (
        (lambda: scene.update_mesh(0, np.zeros((3, 3))), "vertices for the indices"),
        (lambda: scene.update_mesh(0, np.zeros((3, 3)), [[0, 1, 2]]), "1 primitives for geometry 0"),
        (lambda: scene.update_mesh(7, np.zeros((3, 3))), "geometry 7"),
        (lambda: scene.update_boxes(0, [0, 0, 0], [1, 1, 1]), "triangle, not box"),
        (lambda: scene.disable(-1), "geometry is -1"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=match):
            call()
    scene.commit("rebuild")
    assert scene.closest(rays).tobytes() == before


def test_calls_after_close_are_refused(scene, rays):
    scene.closest(rays)
    scene.close()
    scene.close()
    for call in (
        lambda: scene.closest(rays),
        lambda: scene.add_boxes([0, 0, 0], [1, 1, 1]),
        scene.commit,
        lambda: scene.all(rays),
        lambda: scene.contains([0, 0, 0]),
        lambda: scene.info,
        lambda: pickle.dumps(scene),
        lambda: scene.check("any", rays, np.zeros(500, bool)),
    ):
        with pytest.raises(slabcast.InvalidState, match="closed"):
            call()
    assert "closed" in repr(scene)


def test_a_scene_closes_at_the_end_of_with(rays):
    with slabcast.Scene("cpu") as scene:
        scene.add_mesh(*shapes.box())
        assert scene.count(rays).any()
    with pytest.raises(slabcast.InvalidState):
        scene.count(rays)


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda s: pickle.loads(pickle.dumps(s)),
        copy.copy,
        copy.deepcopy,
        lambda s: pickle.loads(pickle.dumps(s, protocol=2)),
    ],
)
def test_copies_give_the_same_bits(scene, rays, duplicate):
    expected = scene.closest(rays).tobytes()
    other = duplicate(scene)
    scene.close()
    assert other.closest(rays).tobytes() == expected
    assert other.skipped == (0,) and other.info.triangles == len(shapes.torus()[1])


def test_a_broken_pickle_is_refused(scene):
    state = scene.__getstate__()
    state["packed"][len(state["packed"]) // 2] ^= 1
    with pytest.raises(slabcast.InvalidArgument):
        slabcast.Scene.__new__(slabcast.Scene).__setstate__(state)


def long_cast():
    """A cast of about a second: every ray meets every box."""
    scene = slabcast.Scene("cpu", build="flat")
    random = np.random.default_rng(7)
    lower = random.random((20000, 3)).astype(np.float32)
    scene.add_boxes(lower, lower + np.float32(0.01))
    scene.commit()
    rays = np.zeros((400000, 8), np.float32)
    rays[:, :3], rays[:, 4:7], rays[:, 7] = random.random((len(rays), 3)), random.normal(size=(len(rays), 3)), np.inf
    return scene, rays


def test_other_threads_run_while_rays_are_cast():
    scene, rays = long_cast()
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticking = threading.Thread(target=tick)
    ticking.start()
    begin = time.monotonic()
    scene.count(rays[:100000])
    end = time.monotonic()
    done.set()
    ticking.join()
    during = [t for t in ticks if begin < t < end]
    assert len(during) >= 3 or end - begin < 0.1


def test_several_threads_cast_at_once_and_the_first_commits(rays):
    scene = slabcast.Scene("cpu")
    scene.add_mesh(*shapes.torus())
    results = [None] * 8
    gate = threading.Barrier(len(results))

    def work(i):
        gate.wait()
        for _ in range(20):
            results[i] = scene.closest(rays).tobytes()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results) == {scene.closest(rays).tobytes()}


def test_close_waits_for_no_cast_and_breaks_none():
    scene, rays = long_cast()
    expected = scene.count(rays[:50000])
    results = []
    casting = threading.Thread(target=lambda: results.append(scene.count(rays[:50000])))
    casting.start()
    time.sleep(0.02)
    scene.close()
    casting.join()
    assert (results[0] == expected).all()


def test_errors_of_threads_are_their_own(scene):
    messages = {}

    def work(name):
        for _ in range(50):
            try:
                slabcast.Scene(name)
            except slabcast.NoDevice as error:
                messages.setdefault(name, set()).add(str(error))

    threads = [threading.Thread(target=work, args=(f"absent {i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(messages) == 4 and all(name in text for name, texts in messages.items() for text in texts)


def test_progress_is_told_and_can_cancel(scene, rays):
    told = []
    scene.closest(rays, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(rays), len(rays)) and told == sorted(told)
    with pytest.raises(slabcast.Cancelled, match="500 rays"):
        scene.closest(rays, progress=lambda done, total: True)

    def broken(done, total):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        scene.all(rays, progress=broken)


def interrupt_soon():
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


@pytest.mark.parametrize("query", ["closest", "any", "all"])
def test_ctrl_c_ends_a_cast(query):
    scene, rays = long_cast()
    many = np.tile(rays, (10, 1))
    interrupt_soon()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        getattr(scene, query)(many)
    assert time.monotonic() - begin < 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert scene.any(rays[:10]).shape == (10,)


def test_a_check_is_told_of_and_ended_as_a_cast_is():
    scene, rays = long_cast()
    results, told = np.zeros(len(rays), np.bool_), []
    assert scene.check("any", rays[:50], results[:50], progress=lambda *done: told.append(done)).rays == 50
    assert told[-1] == (50, 50) and told == sorted(told)
    with pytest.raises(slabcast.Cancelled, match="slab_check_cast: cancelled after"):
        scene.check("any", rays, results, progress=lambda done, total: True)
    for few in (rays, rays[:3000]):  # which takes seconds too
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            scene.check("any", few, results[: len(few)])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_raises_nothing_ends_no_cast():
    scene, rays = long_cast()
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        interrupt_soon()
        counts = scene.count(rays[:50000])
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] and (counts == scene.count(rays[:50000])).all()


def test_scenes_leave_no_memory_behind():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    vertices, faces = shapes.torus(200, 100)

    def once():
        scene = slabcast.Scene("cpu")
        scene.add_mesh(vertices, faces)
        scene.all(shapes.rays_around(vertices, 100, 1))

    for _ in range(5):
        once()
    before = resident()
    for _ in range(40):
        once()
    assert resident() - before < 20e6  # one scene takes about 5 MB


def test_import_takes_no_package_but_numpy():
    program = "import sys, slabcast; print([m for m in ('trimesh', 'open3d', 'pyopencl', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
