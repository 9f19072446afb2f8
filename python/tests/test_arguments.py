"""Arrays of any type of numbers are taken, and values that cannot be are refused by name, index and value."""

import re
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import shapes
import slabcast

SCENE = slabcast.Scene("cpu")
SCENE.add_mesh(*shapes.torus())
RAYS = shapes.rays_around(shapes.torus()[0], 240, 5)
# float16 can hold them.
COARSE = RAYS.astype(np.float16).astype(np.float32)


@st.composite
def layouts(draw):
    """COARSE's rays as an array of some dtype, shape and strides, and the same as float32 in C order."""
    shape = draw(st.sampled_from([(240,), (24, 10), (2, 3, 40), (240, 1), (1, 240)]))
    dtype = draw(st.sampled_from(["f2", "f4", "f8", ">f4", ">f8", "f16"]))
    plain = COARSE.reshape(*shape, 8)
    array = plain.astype(dtype)
    how = draw(st.sampled_from(["plain", "fortran", "apart", "reversed", "transposed", "unaligned", "read only"]))
    if how == "fortran":
        array = np.asfortranarray(array)
    elif how == "apart":
        wide = np.zeros((*shape, 11), dtype)
        wide[..., 1:9] = array
        array = wide[..., 1:9]
    elif how == "reversed":
        array, plain = array[::-1], plain[::-1]
    elif how == "transposed":
        axes = (*reversed(range(len(shape))), len(shape))
        array, plain = array.transpose(axes), plain.transpose(axes)
    elif how == "unaligned":
        data = np.zeros(array.nbytes + 1, np.uint8)
        data[1:] = np.frombuffer(array.tobytes(), np.uint8)
        array = data[1:].view(dtype).reshape(array.shape)
    elif how == "read only":
        array.flags.writeable = False
    return array, np.ascontiguousarray(plain)


@given(layouts())
@settings(deadline=None, max_examples=150)
def test_any_layout_of_rays_is_read_as_it_says(layout):
    array, plain = layout
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost
        results = SCENE.closest(array)
    assert results.shape == plain.shape[:-1]
    assert results.tobytes() == SCENE.closest(plain).tobytes()


@given(
    hnp.mutually_broadcastable_shapes(num_shapes=4, max_dims=3, max_side=4),
    st.sampled_from(["f4", "f8"]),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=150)
def test_origins_and_directions_are_broadcast(shapes_of, dtype, seed):
    random = np.random.default_rng(seed)
    a, b, c, d = shapes_of.input_shapes
    origins = random.integers(-8, 8, (*a, 3)).astype(dtype) / 4
    directions = random.integers(-8, 8, (*b, 3)).astype(dtype)
    t_min, t_max = random.integers(0, 2, c).astype(dtype), random.integers(1, 9, d).astype(dtype)
    results = SCENE.closest(origins, directions, t_min, t_max)
    assert results.shape == shapes_of.result_shape
    rays = np.zeros((*shapes_of.result_shape, 8), np.float32)
    rays[..., :3], rays[..., 3], rays[..., 4:7], rays[..., 7] = origins, t_min, directions, t_max
    assert results.tobytes() == SCENE.closest(rays).tobytes()


@given(st.sampled_from(["i1", "u1", "i2", "i4", "u4", "i8", "u8", ">i4"]), st.booleans())
@settings(deadline=None)
def test_any_integers_are_indices(dtype, fortran):
    vertices, faces = shapes.box()
    scene = slabcast.Scene("cpu")
    scene.add_mesh(vertices, np.array(faces, dtype, order="F" if fortran else "C"))
    assert scene.count([0.4, 0.3, -1], [0, 0, 1]) == 2


def test_float32_in_c_order_is_not_copied():
    """The library reads the caller's memory: a read-only mapping, which it does not own, is cast all the same."""
    rays = np.frombuffer(RAYS.tobytes(), np.float32).reshape(-1, 8)
    from slabcast._rays import Rays

    assert Rays(rays, None, None, None, None).array() is rays


def test_addresses_are_those_of_numpy():
    from slabcast._scene import _address

    rows = np.zeros((4, 8), np.float32)
    kinds = [
        rows,
        rows[:, 1:3],
        rows[::-1],
        rows.T,
        rows[2:],
        rows[:0],
        rows[0, 0, None],
        np.zeros(()),
        np.zeros(3, ">f8"),
    ]
    kinds += [np.frombuffer(b"abcdefgh", "f4"), np.broadcast_to(rows[0], (9, 8)), np.zeros(3, slabcast.HIT)]
    kinds += [np.zeros(3, slabcast.HIT)["t"], np.zeros(3, "?"), SCENE.closest(RAYS), SCENE.distance(RAYS[0])]
    for array in kinds:
        assert _address(array) == array.ctypes.data


def test_vertices_that_lie_apart_are_read_where_they_lie():
    vertices, faces = shapes.box()
    wide = np.full((8, 7), np.nan, np.float32)
    wide[:, 2:5] = vertices
    scene = slabcast.Scene("cpu")
    scene.add_mesh(wide[:, 2:5], faces)
    scene.add_mesh(vertices[::-1], 7 - faces)
    scene.add_mesh(vertices.astype("f8"), faces)
    assert scene.count([0.4, 0.3, -1], [0, 0, 1]) == 6


def test_vertices_that_overlap_are_copied():
    """Rows fewer than 12 bytes apart: the library knows no such strides."""
    line = np.array([0, 0, 0, 1, 0, 1], np.float32)
    overlapping = np.lib.stride_tricks.sliding_window_view(line, 3)
    assert overlapping.strides == (4, 4)
    scene = slabcast.Scene("cpu")
    scene.add_mesh(overlapping, [[0, 1, 3], [1, 2, 3]])
    scene.add_mesh(np.broadcast_to(np.zeros(3, np.float32), (3, 3)))
    whole = slabcast.Scene("cpu")
    whole.add_mesh(overlapping.copy(), [[0, 1, 3], [1, 2, 3]])
    whole.add_mesh(np.zeros((3, 3), np.float32))
    assert scene.info.upper == whole.info.upper == (1, 1, 1)
    assert scene.closest(RAYS).tobytes() == whole.closest(RAYS).tobytes()


def test_rays_that_are_not_aligned_are_copied():
    data = np.zeros(RAYS.nbytes + 1, np.uint8)
    data[1:] = np.frombuffer(RAYS.tobytes(), np.uint8)
    rays = data[1:].view(np.float32).reshape(RAYS.shape)
    from slabcast._rays import Rays

    assert not rays.flags.aligned and Rays(rays, None, None, None, None).array().flags.aligned


def far_casts(shift, form):
    """Calls with coordinates that are so far from the origin, as arrays or lists: a name, an index, and the call."""
    near = np.array([[0.1, 0.2, 0.3], [1.1, 0.2, 0.3], [0.7, 1.3, 0.4]]) + shift
    given = near if form == "array" else near.tolist()
    scene = slabcast.Scene("cpu")
    scene.add_boxes([shift] * 3, [shift + 1] * 3)
    yield "origins", lambda: scene.any(given, [0, 0, 1])
    yield "points", lambda: scene.contains(given)
    yield "rays", lambda: scene.any(np.concatenate([near, np.zeros((3, 1)), np.ones((3, 4))], axis=1))
    yield "vertices", lambda: scene.add_mesh(given)
    yield "lower", lambda: scene.add_boxes(given, (near + 1.7).astype("f4"))
    yield "centers", lambda: scene.add_spheres(given, [1, 1, 1])


@pytest.mark.parametrize("form", ["array", "list"])
@pytest.mark.parametrize("shift", [16384, -500000, 4649776])
def test_loss_far_from_the_origin_is_told_with_index_value_and_a_way_out(shift, form):
    for name, call in far_casts(shift, form):
        with pytest.warns(slabcast.PrecisionWarning, match=rf"^{name}: rounding .* {name}\[\d, \d\] is -?\d") as told:
            call()
        assert "subtract one point" in str(told[0].message) and told[0].filename == __file__


@pytest.mark.parametrize("form", ["array", "list"])
@pytest.mark.parametrize("shift", [0, 1, -3])
def test_loss_that_nothing_shows_is_not_told(shift, form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _, call in far_casts(shift, form):
            call()
        SCENE.closest([0.1, 0.2, 0.3], [0.3, 0.2, 0.1])


def test_a_warning_is_shown_once_each_line():
    calls = [call for _, call in far_casts(1 << 20, "array")]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(4):
            for call in (calls[0], calls[1], calls[2]):
                call()
    assert len(told) <= 3 and len({str(t.message)[:6] for t in told}) == len(told)


def masked(seed):
    """Rays of float64 with a few masked numbers, and which rays have none."""
    random = np.random.default_rng(seed)
    rows = np.tile([0.0, 0, 9, 0, 0, 0, -1, 99], (20, 1))
    mask = random.random((20, 8)) < 0.05
    return np.ma.masked_array(rows, mask), ~mask.any(axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_masked_rays_are_invalid_and_masked_geometry_is_refused(seed):
    scene = slabcast.Scene("cpu")
    scene.add_spheres([0, 0, 0], 1)
    rays, whole = masked(seed)
    assert (slabcast.is_hit(scene.closest(rays)) == whole).all() and not whole.all()
    parts = rays[:, :3], rays[:, 4:7], rays[:, 3], rays[:, 7]
    hits = scene.closest(*parts)
    assert (slabcast.is_hit(hits) == whole).all() and (hits.geometry[~whole] == slabcast.INVALID).all()
    assert (scene.any(*(np.ma.masked_array(p.astype("f4"), p.mask) for p in parts)) == whole).all()
    assert (scene.contains(np.ma.masked_array(np.zeros((20, 3)), rays.mask[:, :3])) == ~rays.mask[:, :3].any(1)).all()
    at = tuple(np.argwhere(rays.mask)[0])
    for name, call in (
        ("centers", lambda: scene.add_spheres(np.ma.masked_array(np.ones((20, 3)), rays.mask[:, :3] | True), 1)),
        ("vertices", lambda: scene.add_mesh(np.ma.masked_array(np.ones((3, 3)), np.eye(3)))),
        ("indices", lambda: scene.add_mesh(np.eye(3), np.ma.masked_array([[0, 1, 2]], [[1, 0, 0]]))),
        ("transforms", lambda: slabcast.Scene("cpu").add_instances(scene, np.ma.masked_array(np.eye(4), np.eye(4)))),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=rf"{name}\[0, 0\] is masked"):
            call()
    assert len(at) == 2


BROADCASTS = [
    ((40, 1), (50,)),
    ((7, 1, 1), (1, 30, 10)),
    ((2000,), ()),
    ((), (2000,)),
    ((1, 2000), (1, 1)),
    ((3, 1), (900,)),
]


@pytest.mark.parametrize("shapes_of", BROADCASTS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_blocks_answer_as_one_call(monkeypatch, shapes_of, dtype):
    monkeypatch.setattr("slabcast._rays.BLOCK", 256)
    random = np.random.default_rng(len(shapes_of[0]))
    origins = random.integers(-30, 30, (*shapes_of[0], 3)).astype(dtype) / 8
    directions = random.integers(-8, 8, (*shapes_of[1], 3)).astype(dtype)
    shape = np.broadcast_shapes(*shapes_of)
    rays = np.zeros((*shape, 8), np.float32)
    rays[..., :3], rays[..., 4:7], rays[..., 7] = origins, directions, 9
    skip = np.full((*shape, 2), slabcast.MISS, np.uint32)
    skip[..., 0], skip[..., 1] = random.integers(0, 40, shape), 0
    for query in ("closest", "nearest", "distance", "any", "count", "interval"):
        told = []
        cast = getattr(SCENE, query)
        got = cast(origins, directions, t_max=9, skip=skip, progress=lambda *done, told=told: told.append(done))
        assert got.tobytes() == cast(rays, skip=skip).tobytes() and got.shape == shape
        assert told == sorted(told) and told[-1] == (rays.size // 8,) * 2
        with pytest.raises(slabcast.Cancelled):
            cast(origins, directions, progress=lambda done, total: done > 300)


def test_blocks_between_which_another_commits_are_cast_again(monkeypatch):
    monkeypatch.setattr("slabcast._rays.BLOCK", 256)
    for amid in (256, 700, 1500):
        scene = slabcast.Scene("cpu")
        ball = scene.add_spheres([0, 0, 0], 1)
        changed = []

        def change(done, total, scene=scene, ball=ball, changed=changed, amid=amid):
            if done >= amid and not changed:
                changed.append(done)
                scene.update_spheres(ball, [0, 0, 2], 1)
                scene.commit()

        t = scene.distance(np.tile(np.array([0, 0, 9], np.float32), (2000, 1)), [0, 0, -1], progress=change)
        assert changed and len(set(t.tolist())) == 1


def test_float64_is_cast_in_memory_of_its_results(monkeypatch):
    """By NumPy's allocations: 40 bytes per ray at most, of which the results have one here."""
    monkeypatch.setattr("slabcast._rays.BLOCK", 1 << 14)
    origins, directions = np.zeros((400, 1, 3)) + 0.1, np.random.default_rng(3).normal(size=(500, 3))
    for made in ((origins, directions), (origins.astype("f4"), directions), (origins, directions.astype("f4"))):
        SCENE.any(*made)
        tracemalloc.start()
        SCENE.any(*made)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 40 * 200_000 and most < 200_000 + 40 * slabcast._rays.BLOCK


def wholes(count):
    """Rays of float64 in every form that takes no broadcasting, and the same in float32."""
    random = np.random.default_rng(count)
    rays = np.zeros((count, 8))
    rays[:, :3], rays[:, 4:7], rays[:, 7] = random.uniform(-4, 4, (count, 3)), random.normal(size=(count, 3)), np.inf
    plain = rays.astype("f4")
    yield from (((array,), plain) for array in (rays, np.asfortranarray(rays), rays[::-1][::-1], rays.astype(">f8")))
    yield (rays[:, :3], rays[:, 4:7]), plain
    yield (rays[:, :3].copy(), rays[:, 4:7].copy(), rays[:, 3].copy(), rays[:, 7]), plain
    yield (rays[:, :3].copy(), plain[:, 4:7], 0.0), plain
    yield (rays[:, :3].astype("g"), rays[:, 4:7].astype("g")), plain


@pytest.mark.parametrize("count", [1, 250, 700])
@pytest.mark.parametrize("query", ["any", "closest", "nearest", "all"])
def test_whole_float64_answers_as_float32(monkeypatch, count, query):
    monkeypatch.setattr("slabcast._rays.BLOCK", 256)
    for made, plain in wholes(count):
        got, want = (getattr(SCENE, query)(*given) for given in (made, (plain,)))
        for one, other in zip(got, want) if query == "all" else [(got, want)]:
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("query", ["any", "nearest", "closest"])
def test_whole_float64_takes_40_bytes_a_ray_at_most(monkeypatch, query):
    monkeypatch.setattr("slabcast._rays.BLOCK", 1 << 16)
    for made, plain in list(wholes(140_000))[:6]:
        tracemalloc.start()
        out = getattr(SCENE, query)(*made)
        most = tracemalloc.get_traced_memory()[1] - out.nbytes
        tracemalloc.stop()
        assert most < 64 * slabcast._rays.BLOCK < 40 * len(plain)


@pytest.mark.parametrize("index", [0, 300, 699])
def test_numbers_of_blocks_are_named_by_their_index(monkeypatch, index):
    monkeypatch.setattr("slabcast._rays.BLOCK", 256)
    (rays,), _ = next(wholes(700))
    rays[index, 5] = -1e39
    told = rf"\[{index}, 5\] is -1e\+39, which is beyond"
    for array in (rays, np.asfortranarray(rays)):
        with pytest.raises(slabcast.InvalidArgument, match="rays" + told):
            SCENE.any(array)
    with pytest.raises(slabcast.InvalidArgument, match="directions" + told.replace("5", "1")):
        SCENE.any(rays[:, :3], rays[:, 4:7])
    rays[index, 5], rays[:, :3] = 1, 1e6
    rays[index, 1] += 0.013
    far = slabcast.Scene("cpu")
    far.add_spheres([1e6, 1e6, 1e6], 4)
    for name, made in (("rays", (rays,)), ("origins", (rays[:, :3], rays[:, 4:7]))):
        with pytest.warns(slabcast.PrecisionWarning, match=rf"{name}\[{index}, 1\] is 1000000\.013"):
            far.any(*made)


def test_rays_beyond_all_memory_are_refused_by_number():
    far = np.broadcast_to(np.zeros(3, np.float32), (1 << 24, 1, 3))
    for query in ("closest", "nearest", "distance", "interval"):
        with pytest.raises(slabcast.OutOfMemory, match=r"281,474,976,710,656 rays: cast some"):
            getattr(SCENE, query)(far, np.broadcast_to(np.ones(3, np.float32), (1 << 24, 3)))


def test_a_large_copy_is_told(monkeypatch):
    monkeypatch.setattr("slabcast._arrays.LARGE_COPY", 1000)
    with pytest.warns(slabcast.CopyWarning, match=r"rays: 7,680 bytes are copied, since it is not float32 in C order"):
        SCENE.closest(np.asfortranarray(RAYS))
    with pytest.warns(slabcast.CopyWarning, match="origins and directions: 7,680 bytes"):
        SCENE.closest(RAYS[:, :3], RAYS[:, 4:7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SCENE.closest(RAYS)


class Foreign:
    """An array of another package's, by the one protocol that it has."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **named):
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self):
        return (self.device, 0)


class OnCuda(Foreign):
    def __init__(self, array):
        super().__init__(array, device=2)

    def __dlpack__(self, **named):
        raise BufferError("not on this device")

    def get(self):
        return self.array


class ByArray:
    def __array__(self, dtype=None, copy=None):
        return RAYS


def test_arrays_of_other_packages_are_taken():
    expected = SCENE.closest(RAYS).tobytes()
    for rays in (Foreign(RAYS.copy()), ByArray(), RAYS.tolist(), memoryview(RAYS)):
        assert SCENE.closest(rays).tobytes() == expected
    with pytest.raises(slabcast.InvalidArgument, match="rays lies on device 8"):
        SCENE.closest(Foreign(RAYS, device=8))


def test_on_a_card_geometry_is_copied_and_rays_are_refused():
    """A geometry comes once, and the library reads it on the host. Rays are what is massive."""
    scene, (vertices, faces) = slabcast.Scene("cpu"), shapes.torus()
    scene.add_mesh(OnCuda(vertices), OnCuda(faces))
    scene.update_mesh(0, OnCuda(vertices))
    assert scene.closest(RAYS).tobytes() == SCENE.closest(RAYS).tobytes()
    assert (scene.contains(OnCuda(vertices / 2)) == SCENE.contains(vertices / 2)).all()
    for call in (
        lambda: SCENE.closest(OnCuda(RAYS)),
        lambda: SCENE.all(OnCuda(RAYS)),
        lambda: SCENE.any(OnCuda(RAYS[:, :3]), RAYS[:, 4:7]),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=r'lies on a card.*Scene\("cuda:0"\) casts it there'):
            call()


def ragged():
    return [[0, 0, 0], [1, 1]]


REFUSED = [
    (lambda s: s.closest(RAYS[:, :7]), r"rays has shape \(240, 7\); what is taken is \(\.\.\., 8\)"),
    (lambda s: s.closest(np.float32(1)), r"rays has shape \(\)"),
    (lambda s: s.closest(RAYS.astype(object)), "rays has dtype object"),
    (lambda s: s.closest(RAYS.astype(complex)), "rays has dtype complex128"),
    (lambda s: s.closest("rays"), "rays has dtype <U4"),
    (lambda s: s.closest(None), "rays is None; what is taken are real numbers"),
    (lambda s: s.closest(np.array(["2020-01-01"] * 8, "M8[D]")), "rays has dtype datetime64"),
    (lambda s: s.closest(ragged(), [0, 0, 1]), "origins"),
    (lambda s: s.closest(RAYS[:, :2], RAYS[:, 4:7]), r"origins has shape \(240, 2\); what is taken is \(\.\.\., 3\)"),
    (lambda s: s.closest(RAYS[:5, :3], RAYS[:4, 4:7]), r"do not fit each other: origins \(5, 3\).*directions \(4, 3\)"),
    (lambda s: s.closest(RAYS, t_max=3.0), "t_min and t_max go with origins"),
    (lambda s: s.closest(np.full((2, 3), 1e39), [0, 0, 1]), r"origins\[0, 0\] is 1e\+39, which is beyond float32"),
    (lambda s: s.closest([0, 0, 0], [0, 0, 1], t_max=1e39), "t_max is 1e.39, which is beyond float32"),
    (lambda s: s.closest([0, 0, 1e39], [0, 0, 1]), r"origins\[2\] is 1e\+39, which is beyond float32"),
    (lambda s: s.closest(RAYS, mask=-1), "mask is -1"),
    (lambda s: s.closest(RAYS, mask=1 << 32), "mask is 4294967296"),
    (lambda s: s.closest(RAYS, cull="sideways"), "cull is 'sideways', which is none of: none, back, front"),
    (lambda s: s.closest(RAYS, edges="round"), "edges is 'round'"),
    (lambda s: s.closest(RAYS, skip=[0, 0, 0]), r"skip has shape \(3,\); what is taken for these rays is \(240, 2\)"),
    (lambda s: s.all(RAYS, max_hits=-1), "max_hits is -1"),
    (lambda s: s.contains(RAYS), r"points has shape \(240, 8\)"),
    (lambda s: s.check("closest", RAYS, np.zeros(240)), "results is not the result of that cast"),
    (lambda s: s.check("closest", RAYS, s.closest(RAYS[:9])), r"an array in C order of \(240,\)"),
    (
        lambda s: s.check("all", RAYS[:1], (np.array([5, 0], np.uint64), np.empty(0, slabcast.HIT))),
        "offsets do not grow",
    ),
    (lambda s: s.check("first", RAYS, s.closest(RAYS)), "query is 'first'"),
    (lambda s: slabcast.Scene(build="nice"), "build is 'nice'"),
    (lambda s: slabcast.Scene(traversal="nice"), "traversal is 'nice'"),
    (lambda s: slabcast.Scene(threads=-1), "threads is -1"),
    (lambda s: slabcast.Scene(device=3.5), "device is 3.5"),
]


V, F = shapes.box()
WRONG = ([1, 2], "one", 1.5, None)
COLUMNS = np.zeros(4, [(name, "f4") for name in "xyz"])
# The name that each message must have, for values of its kind.
NAMED = [
    *(
        (f"mask is {value!r}; what is taken is one whole", lambda s, v=value: s.any(RAYS, mask=v))
        for value in WRONG
        if value != [1, 2]
    ),
    *((f"max_hits is {value!r}; what", lambda s, v=value: s.all(RAYS, max_hits=v)) for value in WRONG),
    *((f"threads is {value!r}; what", lambda s, v=value: slabcast.Scene(threads=v)) for value in WRONG),
    *((f"geometry is {value!r}; what", lambda s, v=value: s.remove(v)) for value in WRONG),
    *((f"face_forward is {v!r}; what is", lambda s, v=v: s.any(RAYS, face_forward=v)) for v in ("no", None, [], 0.5)),
    *((f"skip_invalid is {v!r}", lambda s, v=v: s.add_mesh(V, F, skip_invalid=v)) for v in ("no", None, [], 0.5)),
    *(
        (f"{shape}: origins take directions", lambda s, v=shape: s.any(np.ones(v)))
        for shape in ((3,), (5, 3), (2, 2, 3))
    ),
    *((f"geometry {k} is none of the scene's: it has [0]", lambda s, v=k: s.update_mesh(v, V)) for k in (1, 9, 77)),
    ('origins has fields: np.stack([origins["x"], origins["y"]', lambda s: s.any(COLUMNS, [0, 0, 1])),
    ('vertices has fields: np.stack([vertices["x"]', lambda s: s.add_mesh(COLUMNS[:3])),
    ('points has fields: np.stack([points["x"]', lambda s: s.contains(COLUMNS)),
    ("rays has dtype object, since rays[0, 0] is None; what is taken", lambda s: s.any(np.full((2, 8), None))),
]


@pytest.mark.parametrize("message, call", NAMED)
def test_messages_name_the_argument_and_the_way_out(message, call):
    with pytest.raises(slabcast.InvalidArgument) as told:
        call(SCENE)
    assert message in str(told.value)


@pytest.mark.parametrize("name", ["cuda", "tpu", "gpu7", "no such thing"])
def test_a_device_that_is_not_there_is_answered_by_those_that_are(name):
    with pytest.raises(slabcast.NoDevice, match=r"The devices are 0: ") as told:
        slabcast.Scene(name)
    assert all(device.name in str(told.value) for device in slabcast.devices())


def test_numbers_of_sixteen_bits_of_others_are_taken():
    types = pytest.importorskip("ml_dtypes")
    for rays in (COARSE, COARSE[:7], COARSE.reshape(24, 10, 8)):
        short = rays.astype(types.bfloat16)
        assert SCENE.closest(short).tobytes() == SCENE.closest(short.astype("f4")).tobytes()


@pytest.mark.parametrize("call, message", REFUSED)
def test_casts_refuse(call, message):
    with pytest.raises(slabcast.InvalidArgument, match=message):
        call(SCENE)


def test_an_unknown_option_is_a_type_error():
    with pytest.raises(TypeError, match="takes no 'maks'"):
        SCENE.closest(RAYS, maks=1)


def with_nan():
    vertices = V.copy()
    vertices[3, 1] = np.nan
    return vertices


REFUSED_GEOMETRY = [
    (lambda s: s.add_mesh(with_nan(), F), "nan"),
    (lambda s: s.add_mesh(V * np.float32(1e30), F), "e\\+30"),
    (lambda s: s.add_mesh(V, F + 1), "8"),
    (lambda s: s.add_mesh(V, F.astype("i8") - 1), r"indices\[0, 0\] is -1, which is not within 0 to 2\^32 - 1"),
    (lambda s: s.add_mesh(V, np.full((1, 3), 1 << 40)), r"indices\[0, 0\] is 1099511627776"),
    (lambda s: s.add_mesh(V, F.astype("f4")), "indices has dtype float32; what is taken are whole numbers"),
    (lambda s: s.add_mesh(V, F[:, :2]), r"indices has shape \(12, 2\)"),
    (lambda s: s.add_mesh(V[:, :2], F), r"vertices has shape \(8, 2\)"),
    (lambda s: s.add_mesh(V), "vertices has 8 rows, which make no whole triangles"),
    (lambda s: s.add_mesh(V.astype(object), F), "vertices has dtype object"),
    (lambda s: s.add_mesh(V, F, mask=-5), "mask is -5"),
    (lambda s: s.add_spheres([[0, 0, 0], [1, 1, 1]], [1, -1]), "1.*-1"),
    (lambda s: s.add_spheres([[0, 0, 0]], [1, 2, 3, np.nan]), "nan"),
    (lambda s: s.add_planes([0, 0, 0], 1), "normal"),
    (lambda s: s.add_obbs([0, 0, 0], [1, 1, 1], np.ones((3, 3))), "axes"),
    (lambda s: s.add_obbs([0, 0, 0], [1, 1, 1], np.eye(2)), r"axes has shape \(2, 2\)"),
    (lambda s: s.add_boxes([[0, 0, 0]] * 2, [[1, 1, 1]] * 3), r"lower \(2, 3\), upper \(3, 3\)"),
]


@pytest.mark.parametrize("call, message", REFUSED_GEOMETRY)
def test_geometry_is_refused_and_nothing_is_added(call, message):
    scene = slabcast.Scene("cpu")
    with pytest.raises(slabcast.InvalidArgument, match=message):
        call(scene)
    assert scene.skipped == () and scene.info.geometries == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e30])
@pytest.mark.parametrize("place", [(0, 0), (5, 2), (7, 1)])
def test_a_vertex_that_is_none_is_named(place, value):
    vertices, told = V.copy(), re.escape(f": vertices[{place[0]}, {place[1]}] is {np.float32(value)}")
    vertices[place] = value
    scene = slabcast.Scene("cpu")
    mesh = scene.add_mesh(V, F)
    for call in (lambda: scene.add_mesh(vertices, F), lambda: scene.update_mesh(mesh, vertices)):
        with pytest.raises(slabcast.InvalidArgument, match=rf"triangle \d+.*{told}"):
            call()
    assert scene.skipped == (0,)


def test_empty_geometry_is_taken():
    scene = slabcast.Scene("cpu")
    scene.add_mesh(np.empty((0, 3), "f4"), np.empty((0, 3), "u4"))
    scene.add_mesh(np.empty((0, 3), "f4"))
    scene.add_mesh(V, [])
    scene.add_spheres(np.empty((0, 3)), [])
    assert scene.info.geometries == 4 and not scene.any(RAYS).any()


def test_every_exception_is_an_error_of_the_package():
    for kind in (
        slabcast.InvalidArgument,
        slabcast.InvalidState,
        slabcast.Capacity,
        slabcast.OutOfMemory,
        slabcast.NoDevice,
        slabcast.Unsupported,
        slabcast.BuildFailed,
        slabcast.DeviceFailed,
        slabcast.Cancelled,
    ):
        assert issubclass(kind, slabcast.Error) and kind.__doc__
    assert issubclass(slabcast.InvalidArgument, ValueError) and issubclass(slabcast.OutOfMemory, MemoryError)
    with pytest.raises(slabcast.NoDevice, match="no such thing"):
        slabcast.Scene("no such thing")


@pytest.mark.parametrize("count", [0, 1, 300, 5000])
@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize("wrong", [None, np.nan, np.inf, -np.inf])
def test_ranges_are_those_of_finite_coordinates(count, width, wrong):
    from slabcast._arrays import range_of

    rows = np.random.default_rng(count).normal(size=(count, width))
    for at in (0, count // 2, count - 1):
        if count and wrong is not None:
            rows[at, at % 3] = wrong
    places = rows[:, :3]
    known = np.isfinite(places)
    lower = np.min(places, 0, initial=np.inf, where=known)
    upper = np.max(places, 0, initial=-np.inf, where=known)
    assert (range_of(rows) == [lower, upper]).all() and (range_of(places) == [lower, upper]).all()
