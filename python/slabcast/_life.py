"""Life of a scene: changes that wait for a commit, locks of builders, forks, pickles, the end.

Casts take no lock where nothing waits. A change puts a new stamp on its scene, and a commit remembers the stamp that it
has seen: the two differ while something waits. Stamps never repeat, so that no thread can take back another's.

Locks: a scene's own guards what builds it. A thread that holds one waits for no other. add_instances alone needs two,
and forks need all: these take turns by placing.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from ctypes import byref, c_size_t, c_void_p
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

import numpy as np

from . import _library, _options, _structs
from ._arrays import Space
from ._device import open_context
from ._library import Handle, InvalidState, index_of, library, must

_Self = TypeVar("_Self", bound="Life")

_stamps = itertools.count()
placing = threading.RLock()
# Every scene, for forks.
_scenes: weakref.WeakSet[Life] = weakref.WeakSet()
_scenes_lock = threading.RLock()


class Life:
    """A scene of the library that commits waiting changes before each query. Scene documents its calls."""

    _scene: Optional[Handle] = None  # also once it is closed
    _await_casts: Optional[Callable[[Handle], None]] = None  # that are in flight on a card, before a commit

    def __init__(self, options: dict[str, Any]) -> None:
        self._setup(options)
        scene = c_void_p()
        must(library.slab_scene_create(self._context.pointer, byref(scene)))
        self._scene = Handle(scene, library.slab_scene_destroy)

    def _setup(self, options: dict[str, Any]) -> None:
        self._options = options
        self._build = index_of("build", options["build"], _library.BUILDS)
        self._commits_itself = bool(options.get("auto_commit", True))
        self._context = self._open_context()
        self._lock = threading.RLock()  # of those who build; a handler of signals may build as well
        self._stamp, self._seen = next(_stamps), -1  # of the last change; of the last that a commit has seen
        self._update = 0  # how the last commit treated the BVH
        self._waiting: dict[str, int] = {}  # kinds of changes since the last commit, and how many
        self._is_committed = False
        self._turns = 0  # of commits: odd while one runs
        self._is_parents = False  # a forked process has not opened it anew yet
        self._skipped: list[int] = []
        self._counts: dict[int, int] = {}  # primitives of each geometry, by id
        self._instances: dict[int, int] = {}  # of each add_instances, by the id that it returned
        self._worlds, self._worlds_seen = 0, 0  # how many there are; of the last commit
        self._space = Space(None, None)
        self._models: dict[int, Life] = {}  # the same way; a pickled scene's models are its own, and not here
        self._models_stamp = -1  # the last that a change of a model has put here
        self._holders: tuple[weakref.ref[Life], ...] = ()  # scenes that have this as a model
        with _scenes_lock:
            _scenes.add(self)

    def _open_context(self) -> Handle:
        return open_context(*(self._options[name] for name in ("device", "threads", "traversal", "layout")))

    # ---- changes ----

    def _change(self, call: Callable[[int], int], kind: str) -> None:
        """Changes the scene of the library."""
        with self._lock:
            must(call(self._open().pointer))
            self._changed(kind)

    def _changed(self, kind: str) -> None:
        self._waiting[kind] = self._waiting.get(kind, 0) + 1
        self._stamp = next(_stamps)
        if self._commits_itself:
            self._tell_holders()

    def _tell_holders(self) -> None:
        """Scenes that have this one as a model have to commit as well."""
        for reference in self._holders:
            holder = reference()
            if holder is not None:
                holder._stamp = holder._models_stamp = next(_stamps)
                holder._tell_holders()

    def _hold(self, first: int, model: Life) -> None:
        self._models[first] = model
        known = tuple(reference for reference in model._holders if reference() not in (None, self))
        model._holders = (*known, weakref.ref(self))

    # ---- commits ----

    def commit(self, update: _options.Update = "auto") -> None:
        """Lays the scene out on its device, as the first cast does, or lets casts see what has changed since.

        Args:
            update: how the BVH of the last commit changes. "refit" gives its nodes new bounds, in a fraction of the
                time of a build; rays take longer the more the scene has changed in shape. "rebuild" builds it anew.
                "auto" refits until rays would take a third longer. It changes no answer. From now on casts that commit
                waiting changes do it the same way.
        """
        self._commit(index_of("update", update, _library.UPDATES))

    def _commit(self, update: Optional[int] = None) -> Handle:
        """Commits what waits; None: as the last time, unless another thread has done it meanwhile."""
        return self._commit_own(self._commit_models(), update)

    def _commit_models(self) -> int:
        """Commits those that commit themselves. Returns the stamp that the scene had before."""
        self._open()
        stamp = self._stamp
        for model in set(self._models.values()):
            if model._commits_itself and model._scene is not None:
                model._committed()
        return stamp

    def _commit_own(self, stamp: int, update: Optional[int] = None) -> Handle:
        with self._lock:
            scene = self._open()
            if update is None and self._seen == self._stamp:
                return scene
            options = _structs.BuildOptions(self._build, self._update if update is None else update)
            if self._await_casts is not None:
                self._await_casts(scene)
            self._turns += 1
            try:
                must(library.slab_scene_commit(scene.pointer, byref(options)))
            finally:
                self._turns += 1
            self._seen, self._update, self._is_committed = stamp, options.update, True
            self._worlds_seen = self._worlds
            if self._space.origin is None:
                self._learn_origin(scene)
            self._waiting.clear()
            if not self._commits_itself:
                self._tell_holders()
            return scene

    def _learn_origin(self, scene: Handle) -> None:
        """From a first commit on it stays."""
        stats = _structs.SceneStats()
        must(library.slab_scene_info(scene.pointer, byref(stats)))
        self._space = Space(any(stats.origin), tuple(stats.origin))

    def _committed(self) -> Handle:
        """The scene, as casts see it."""
        scene = self._scene
        if self._seen == self._stamp and scene is not None:
            return scene
        if self._is_committed and not self._commits_itself and not self._is_parents:
            return self._open()
        return self._commit()

    def _what_waits(self) -> str:
        """In words."""
        if not self._is_committed:
            return "not committed"
        if self._seen == self._stamp:
            return "committed"
        told = [f"{n} {kind}" for kind, n in tuple(self._waiting.items())]
        if self._models_stamp > self._seen:
            told.append("models changed")
        return f"{', '.join(told) or 'nothing'} since the commit, for the next {self._commits_by()}"

    def _commits_by(self) -> str:
        return "cast" if self._commits_itself else "commit()"

    # ---- the end ----

    def close(self) -> None:
        """Frees the scene, as soon as no cast runs on it. Calls after that raise InvalidState."""
        self._scene = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _open(self) -> Handle:
        scene = self._scene
        if scene is None:
            raise InvalidState("the scene is closed")
        return self._open_anew(scene) if self._is_parents else scene

    # ---- pickle and copy ----

    def __getstate__(self) -> dict[str, Any]:
        stamp = self._commit_models()
        with self._lock:
            packed = _packed(self._commit_own(stamp))
            kept = {"skipped": list(self._skipped), "counts": dict(self._counts), "instances": dict(self._instances)}
            worlds = self._worlds
        return {"options": self._options, "packed": packed, "update": self._update, "worlds": worlds, **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._setup(state["options"])
        self._skipped, self._counts = list(state["skipped"]), dict(state["counts"])
        self._instances, self._update = dict(state["instances"]), state.get("update", 0)
        self._worlds = state.get("worlds", 0)
        self._unpack(state["packed"])

    def _unpack(self, packed: Any) -> None:
        """Takes packed bytes as the scene, which is committed."""
        scene = c_void_p()
        if packed.ctypes.data % 8:
            packed = packed.copy()
        must(library.slab_scene_unpack(self._context.pointer, packed.ctypes.data, packed.size, byref(scene)))
        self._scene = Handle(scene, library.slab_scene_destroy)
        self._is_committed, self._seen, self._worlds_seen = True, self._stamp, self._worlds
        self._learn_origin(self._scene)
        self._waiting.clear()

    # ---- forks ----

    def _open_anew(self, parents: Handle) -> Handle:
        """Opens a parent's scene in its forked child, where the parent's context is of no use."""
        with self._lock:
            if self._is_parents:
                if self._models_stamp > self._seen:
                    raise InvalidState("a model of the scene had changed before the process forked: commit() the scene")
                self._context, packed = self._open_context(), _packed(parents)
                self._models, self._holders = {}, ()  # the library packs models with the scene: they are its own here
                self._unpack(packed)
                self._is_parents = False
            assert self._scene is not None
            return self._scene


def _packed(scene: Handle) -> Any:
    """A scene as bytes."""
    size = c_size_t()
    must(library.slab_scene_pack(scene.pointer, None, 0, byref(size)))
    packed = np.empty(size.value, np.uint8)
    must(library.slab_scene_pack(scene.pointer, packed.ctypes.data, size, byref(size)))
    return packed


_held: list[Life] = []  # scenes whose locks a fork holds, so that no other thread is amid a change


def _before_fork() -> None:
    placing.acquire()
    _scenes_lock.acquire()
    _held[:] = _scenes
    for scene in _held:
        scene._lock.acquire()


def _after_fork() -> None:
    for scene in _held:
        scene._lock.release()
    _held.clear()
    _scenes_lock.release()
    placing.release()


def _begin_child() -> None:
    for scene in _held:
        scene._is_parents, scene._stamp = True, next(_stamps)
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_begin_child)
