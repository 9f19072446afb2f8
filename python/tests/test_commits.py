"""Changes that wait for a commit: no cast, copy or model loses one, no thread sees half of one, and repr shows them."""

import copy
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import slabcast

DUPLICATES = {
    "pickle": lambda scene: pickle.loads(pickle.dumps(scene)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "in a list": lambda scene: copy.deepcopy([scene, {"same": scene}])[1]["same"],
}


def down(x=0.0, y=0.0):
    """A ray from z = 9 down the line (x, y)."""
    return np.array([x, y, 9, 0, 0, 0, -1, np.inf], np.float32)


GRID = np.stack([down(x, y) for x in range(12) for y in (0, 1)])


class Plain:
    """A scene of balls, boxes and grounds, also kept as numbers: its answers to GRID are computed from these."""

    def __init__(self, seed, **options):
        self.random = np.random.default_rng(seed)
        self.scene = slabcast.Scene("cpu", **options)
        self.tops = {}  # by id: the first and last x that it covers at y = 0 and 1, and its upper end
        self.hidden = set()

    def change(self):
        """One change of a kind that is drawn."""
        ids = list(self.tops)
        kinds = ["add", "update", "disable", "enable", "remove"] if ids else ["add"]
        kind, at = self.random.choice(kinds), int(self.random.choice(ids)) if ids else 0
        if kind in ("add", "update"):
            begin, high = int(self.random.integers(11)), float(self.random.integers(1, 8))
            corners = [begin - 0.25, -1, 0], [begin + 1.25, 2, high]
            if kind == "add":
                at = self.scene.add_boxes(*corners)
            else:
                self.scene.update_boxes(at, *corners)
            self.tops[at] = begin, high
        elif kind == "remove":
            self.scene.remove(at)
            del self.tops[at]
        else:
            getattr(self.scene, kind)(at)
            (self.hidden.add if kind == "disable" else self.hidden.discard)(at)

    def distances(self):
        high = np.full(len(GRID), -np.inf)
        for geometry, (begin, top) in self.tops.items():
            if geometry not in self.hidden:
                covered = (GRID[:, 0] >= begin) & (GRID[:, 0] <= begin + 1)
                high[covered] = np.maximum(high[covered], top)
        return 9 - high


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("build", ["default", "flat", "fast", "high"])
def test_each_cast_sees_every_change_so_far(seed, build):
    plain = Plain(seed, build=build)
    for _ in range(12):
        for _ in range(int(plain.random.integers(1, 4))):
            plain.change()
        if plain.random.random() < 0.3:
            plain.scene.commit(str(plain.random.choice(["auto", "refit", "rebuild"])))
        assert (plain.scene.distance(GRID) == plain.distances()).all()


@pytest.mark.parametrize("how", DUPLICATES)
@pytest.mark.parametrize("auto_commit", [True, False])
def test_no_duplicate_loses_what_waits(how, auto_commit):
    for seed in range(8):
        plain = Plain(seed, auto_commit=auto_commit)
        for before in range(2 * (seed % 3)):  # none before the first commit, or some
            plain.change()
            if before == 1:
                plain.scene.commit()
        for _ in range(seed % 4):
            plain.change()
        other = DUPLICATES[how](plain.scene)
        assert (other.distance(GRID) == plain.distances()).all()
        assert (plain.scene.distance(GRID) == plain.distances()).all()
        assert other.info.boxes == plain.scene.info.boxes == len(plain.tops)
        assert repr(other) == repr(plain.scene) and other.skipped == plain.scene.skipped
        added = other.add_spheres([99, 0, 0], 1)
        assert added == plain.scene.info.geometries and other.commit() is None and other.info.spheres == 1


def test_whatever_asks_sees_what_waits():
    """Each query, as the first call after a change."""
    scene = slabcast.Scene("cpu")
    scene.add_boxes([0, 0, 0], [1, 1, 1])
    at = np.array([0.5, 0.5, 9, 0, 0, 0, -1, np.inf], np.float32)
    questions = {
        "closest": lambda: scene.closest(at)["t"],
        "nearest": lambda: scene.nearest(at)["t"],
        "distance": lambda: scene.distance(at),
        "interval": lambda: scene.interval(at)["enter"],
        "all": lambda: scene.all(at).hits["t"][0],
        "info": lambda: 9 - scene.info.upper[2],
        "explain": lambda: scene.closest(scene.explain(at) and at)["t"],
        "check": lambda: 9 - high if scene.check("any", at, np.array(True)).mismatches == 0 else None,
        "contains": lambda: 9 - high if scene.contains([0.5, 0.5, high - 0.5]) else None,
        "any": lambda: 9 - high if scene.any([[0.5, 2, high - 0.25]], [0, -1, 0]) else None,
        "count": lambda: 9 - high if scene.count([[0.5, 2, high - 0.25]], [0, -1, 0]) else None,
    }
    assert scene.distance(at) == 8
    for high, (name, ask) in enumerate(questions.items(), 2):
        scene.update_boxes(0, [0, 0, 0], [1, 1, high])
        assert ask() == 9 - high, name
    first = scene.add_spheres([0, 0, 50], 1)
    assert scene.paths([first])["geometry"] == first


@pytest.mark.parametrize("auto_commit", [True, False])
def test_a_model_is_committed_as_it_is_placed(auto_commit):
    for changes in range(4):
        model, scene = slabcast.Scene("cpu", auto_commit=auto_commit), slabcast.Scene("cpu")
        model.add_boxes([-1, -1, -1], [1, 1, 1])
        if changes > 1:
            model.commit()
        for high in range(changes):
            model.add_boxes([-1, -1, -1], [1, 1, 2 + high])
        assert scene.add_instances(model, np.eye(4)) == 0
        assert scene.distance(down()) == 9 - (1 + changes)


def test_what_stands_on_a_changed_model_sees_the_change():
    scenes = [slabcast.Scene("cpu") for _ in range(4)]
    scenes[0].add_boxes([-1, -1, -1], [1, 1, 1])
    groups = [upper.add_instances(lower, np.eye(4)) for lower, upper in zip(scenes, scenes[1:])]
    lift = np.eye(4)
    for high in (2, 3, 4):
        scenes[0].update_boxes(0, [-1, -1, -1], [1, 1, high])
        assert "models changed since the commit" in repr(scenes[3]) or high == 2
        assert [scene.distance(down()) for scene in reversed(scenes)] == [9 - high] * 4
        assert "committed, on" in repr(scenes[3])
    for level, scene in enumerate(scenes[1:]):
        lift[2, 3] = 1
        scene.update_instances(groups[level], lift)
        assert scenes[3].distance(down()) == 9 - (4 + level + 1)
    scenes[1].remove(groups[0])
    assert scenes[3].distance(down()) == np.inf
    by_hand = slabcast.Scene("cpu", auto_commit=False)
    by_hand.add_instances(scenes[0], np.eye(4))
    assert by_hand.distance(down()) == 5
    scenes[0].update_boxes(0, [-1, -1, -1], [1, 1, 5])
    assert by_hand.distance(down()) == 5 and "for the next commit()" in repr(by_hand)
    by_hand.commit()
    assert by_hand.distance(down()) == 4


def test_a_cast_commits_as_the_last_commit_did(monkeypatch):
    told = []
    commit = slabcast._life.library.slab_scene_commit

    class Told:
        def __getattr__(self, name):
            return getattr(slabcast._library.library, name)

        @staticmethod
        def slab_scene_commit(scene, options):
            told.append((options._obj.tree, options._obj.update))
            return commit(scene, options)

    monkeypatch.setattr("slabcast._life.library", Told())
    scene = slabcast.Scene("cpu", build="fast")
    ball = scene.add_spheres([0, 0, 0], 1)
    scene.distance(down())
    for number, update in enumerate(("refit", "rebuild", "auto")):
        scene.commit(update)
        del told[:]
        scene.distance(down())
        assert told == []
        scene.update_spheres(ball, [0, 0, number], 1)
        assert scene.distance(down()) == 8 - number
        copy.copy(scene)
        assert told == [(2, slabcast._library.UPDATES.index(update))]


def test_repr_tells_what_waits():
    scene = slabcast.Scene("cpu")
    assert "0 geometries, not committed, on" in repr(scene)
    first = scene.add_spheres([0, 0, 0], 1)
    scene.add_spheres([0, 0, 5], 1)
    assert "2 geometries, not committed, on" in repr(scene)
    scene.commit()
    assert "2 geometries, committed, on" in repr(scene)
    scene.update_spheres(first, [0, 0, 1], 1)
    scene.update_spheres(first, [0, 0, 2], 1)
    scene.add_planes([0, 0, 1], -9)
    assert "3 geometries, 2 updated, 1 added since the commit, for the next cast, on" in repr(scene)
    with pytest.raises(slabcast.InvalidArgument):
        scene.remove(7)  # which changes nothing
    scene.disable(first)
    assert "2 updated, 1 added, 1 disabled since" in repr(scene)
    scene.distance(down())
    assert "3 geometries, committed, on" in repr(scene)
    by_hand = slabcast.Scene("cpu", auto_commit=False)
    by_hand.commit()
    by_hand.add_spheres([0, 0, 0], 1)
    assert by_hand.distance(down()) == np.inf and "1 added since the commit, for the next commit(), on" in repr(by_hand)


def test_a_refused_commit_keeps_what_waits(monkeypatch):
    scene = slabcast.Scene("cpu")
    scene.add_spheres([0, 0, 0], 1)
    assert scene.distance(down()) == 8
    scene.add_spheres([0, 0, 2], 1)
    with monkeypatch.context() as patch:
        patch.setattr("slabcast._life.must", lambda status: (_ for _ in ()).throw(slabcast.OutOfMemory("none")))
        for ask in (scene.commit, lambda: scene.distance(down()), lambda: copy.copy(scene)):
            with pytest.raises(slabcast.OutOfMemory):
                ask()
    assert "1 added since" in repr(scene) and scene.distance(down()) == 6


@pytest.mark.parametrize("auto_commit", [True, False])
def test_no_cast_sees_half_a_commit(auto_commit):
    """Casts of several threads see states that one thread makes, each whole, and never an older one after a newer."""
    scene = slabcast.Scene("cpu", auto_commit=auto_commit)
    balls = scene.add_spheres(np.arange(600).reshape(-1, 3) * [3, 0, 0], np.ones(200))
    at = np.stack([down(9 * i) for i in range(200)])
    centers = np.arange(600).reshape(-1, 3) * np.array([3, 0, 0])
    scene.commit()
    failed, done, casts = [], threading.Event(), []

    def cast():
        newest = 0.0
        while not done.is_set():
            seen = set(scene.distance(at).tolist())
            if len(seen) != 1 or 8 - min(seen) < newest:
                failed.append((seen, newest))
                return
            newest = 8 - min(seen)
            casts.append(newest)

    threads = [threading.Thread(target=cast) for _ in range(4)]
    for thread in threads:
        thread.start()
    for step in range(1, 200):
        scene.update_spheres(balls, centers + [0, 0, step / 64], np.ones(200))
        if step % 3 == 0 or not auto_commit:
            scene.commit("refit" if step % 2 else "rebuild")
        if step % 50 == 0:
            assert copy.copy(scene).distance(at[0]) == 8 - step / 64
    done.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not failed and len(set(casts)) > 1
    assert (scene.distance(at) == 8 - 199 / 64).all()


def test_threads_that_place_change_and_cast_wait_for_none_in_a_ring():
    """Models, holders and copies from all sides at once; a deadlock is seen by the clock."""
    scenes = [slabcast.Scene("cpu") for _ in range(3)]
    for scene in scenes:
        scene.add_spheres([0, 0, 0], 1)
    begin, lost, told = time.monotonic(), [], set()

    def work(own, other):
        random = np.random.default_rng(own)
        while time.monotonic() < begin + 1.5:
            try:
                holder = slabcast.Scene("cpu")
                holder.add_instances(scenes[own], np.eye(4))
                scenes[own].update_spheres(0, [0, 0, float(random.integers(3))], 1)
                copy.copy(holder)
                if holder.distance(down()) not in (6, 7, 8):
                    lost.append(own)
                scenes[other].add_instances(scenes[own], np.eye(4))
            except slabcast.Error as error:  # a model gets no more geometries, and holds no scene that it is in
                told.add(str(error)[-40:])

    threads = [threading.Thread(target=work, args=(i, j), daemon=True) for i in range(3) for j in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.1, begin + 30 - time.monotonic()))
        assert not thread.is_alive()
    known = "so it gets no more geometries", "contains it", "itself"
    assert not lost and all(any(part in text for part in known) for text in told), told


def test_a_handler_of_signals_may_change_and_cast():
    """It runs on the main thread, wherever that is: amid a commit, too."""
    scene, seen = slabcast.Scene("cpu"), []
    ball = scene.add_spheres([0, 0, 0], 1)

    def handler(number, frame):
        scene.update_spheres(ball, [0, 0, len(seen) % 5], 1)
        seen.append(float(scene.distance(down())))

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            scene.update_spheres(ball, [0, 0, 0], 1)
            scene.commit("rebuild")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) > 10 and set(seen) <= {8.0, 7.0, 6.0, 5.0, 4.0}
    scene.update_spheres(ball, [0, 0, 6], 1)
    assert scene.distance(down()) == 2


def test_a_cast_takes_no_lock_where_nothing_waits(scene, rays):
    expected = scene.closest(rays).tobytes()

    class Refused:
        def __enter__(self):
            raise AssertionError("a lock was taken")

    scene._lock = Refused()
    assert scene.closest(rays).tobytes() == expected and scene.contains(rays[:, :3]).any()
    assert scene.info.triangles
