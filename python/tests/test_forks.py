"""Scenes in other processes: forked, spawned, and as other packages fork. A stand-in takes the place of torch's
DataLoader: its workers are forked with the data set in their memory, and answer by a queue."""

import multiprocessing
import os
import pickle

import numpy as np
import pytest

import slabcast

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
RAYS = np.zeros((40, 8), np.float32)
RAYS[:, 0], RAYS[:, 2], RAYS[:, 6], RAYS[:, 7] = np.arange(40), 9, -1, np.inf


def made(state):
    """A scene that is new, committed, or has changes of some kind that wait."""
    scene = slabcast.Scene("cpu", build=("default", "flat", "fast", "high")[state % 4], auto_commit=state % 3 != 2)
    balls = scene.add_spheres([[4 * i, 0, 0] for i in range(300)], np.ones(300))
    if state > 0:
        scene.commit()
    if state in (2, 5):
        scene.add_boxes([0, 0, 0], [1, 1, 5])
    if state in (3, 5):
        scene.update_spheres(balls, [[4 * i, 0, 1] for i in range(300)], np.ones(300))
    if state == 4:
        scene.remove(balls)
    return scene


def answer(scene):
    return scene.closest(RAYS).tobytes()


def told(scene, found):
    copied = pickle.loads(pickle.dumps(scene))
    first, copied = answer(scene), answer(copied)
    added = scene.add_boxes([-1, -1, 0], [50, 1, 7])
    scene.commit()
    found.put((first, copied, (scene.distance(RAYS) == 2).all() and added == scene.info.geometries - 1))


def ask(method, scene):
    context = multiprocessing.get_context(method)
    found = context.Queue()
    child = context.Process(target=told, args=(scene, found))
    child.start()
    got = found.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    return got


@pytest.mark.parametrize("state", range(6))
def test_a_forked_child_opens_its_parents_scene_with_all_changes(state):
    scene = made(state)
    first, copied, grows = ask("fork", scene)
    assert first == copied == answer(pickle.loads(pickle.dumps(scene))) and grows
    assert ask("fork", scene)[0] == first  # another child, after a commit


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_children_get_pickles(method):
    scene = made(3)
    assert ask(method, scene)[:2] == (answer(scene),) * 2


def test_a_child_of_a_child_and_scenes_with_models():
    model, scene = made(1), slabcast.Scene("cpu")
    scene.add_instances(model, np.eye(4))
    expected = answer(scene)
    for changed in (False, True):
        if changed:
            model.update_spheres(0, [[4 * i, 0, 1] for i in range(300)], np.ones(300))
        child = os.fork()
        if child == 0:
            try:
                if not changed:
                    grandchild = os.fork()
                    same = answer(scene) == expected and answer(model) == answer(made(1))
                    if grandchild == 0:
                        os._exit(not same)
                    same = same and os.waitpid(grandchild, 0)[1] == 0
                else:
                    with pytest.raises(slabcast.InvalidState, match="model of the scene had changed before"):
                        scene.closest(RAYS)
                    same = True
                os._exit(not same)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0


class Loader:
    """As torch.utils.data.DataLoader forks: workers that have the data set, and index queues."""

    def __init__(self, data, workers):
        context = multiprocessing.get_context("fork")
        self.done, self.todo = context.Queue(), [context.Queue() for _ in range(workers)]
        self.workers = [context.Process(target=self.work, args=(data, todo, self.done)) for todo in self.todo]
        for worker in self.workers:
            worker.start()

    @staticmethod
    def work(data, todo, done):
        for index in iter(todo.get, None):
            done.put((index, data[index]))

    def all(self, count):
        for index in range(count):
            self.todo[index % len(self.todo)].put(index)
        found = dict(self.done.get(timeout=60) for _ in range(count))
        for todo, worker in zip(self.todo, self.workers):
            todo.put(None)
            worker.join(60)
        return [found[index] for index in range(count)]


class Data:
    def __init__(self, state=5):
        self.scene = made(state)

    def __getitem__(self, index):
        return float(self.scene.distance(RAYS[index]))


@pytest.mark.parametrize("state", [1, 3, 5])
def test_loaders_that_fork_read_their_parents_scene(state):
    """Also after the parent has cast, by which the pool's threads run, and after it has changed the scene."""
    data = Data(state)
    for epoch in range(3):
        got = Loader(data, 3).all(40)
        data.scene.commit()
        assert got == data.scene.distance(RAYS).tolist()
        data.scene.distance(np.tile(RAYS, (3000, 1)))
        data.scene.add_boxes([epoch, -1, 0], [epoch + 7, 1, 6 + epoch])


@pytest.mark.parametrize("kind", [slabcast.InvalidArgument, slabcast.InvalidState, slabcast.OutOfMemory])
def test_what_a_worker_raises_reaches_its_parent(kind):
    """Loaders pickle it, and make it anew from a text."""
    raised = pickle.loads(pickle.dumps(kind("rays[3] is nan")))
    assert type(raised) is kind and str(raised) == str(kind(str(raised))) == "rays[3] is nan"


def test_joblib_and_dask_take_scenes():
    joblib = pytest.importorskip("joblib")
    scene = made(3)
    got = joblib.Parallel(n_jobs=2)(joblib.delayed(answer)(scene) for _ in range(4))
    assert set(got) == {answer(scene)}
    dask = pytest.importorskip("dask")
    assert set(dask.compute(*[dask.delayed(answer)(scene) for _ in range(4)], scheduler="processes")) == {answer(scene)}
