"""Values as other packages have them: tensors of Open3D and torch, columns of pandas, fields. Stand-ins speak the same
protocols; the packages themselves are used where they are installed."""

import enum
import types

import numpy as np
import pytest

import shapes
import slabcast

SCENE = slabcast.Scene("cpu")
SCENE.add_mesh(*shapes.torus())
# Of few digits, which sixteen bits hold, and eight.
RAYS = np.array([[x, y, 4, 0, 0, 0, -1, 8] for x in (-2, 0.5, 2) for y in (-1, 0, 2)], np.float32)
SHAPES = [(9, 8), (3, 3, 8), (1, 9, 8)]


class Tensor:
    """Of DLPack alone, as Open3D's: its devices are an enum's, and NumPy makes objects of it otherwise."""

    kinds = enum.Enum("DLDeviceType", {"CPU": 1, "CUDA": 2, "Vulkan": 7})

    def __init__(self, array, device="CPU"):
        self.array, self.device = array, device

    def __dlpack__(self, **named):
        if self.device != "CPU":
            raise BufferError("not on this device")
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.kinds[self.device], 0


class OnCuda(Tensor):
    def cpu(self):
        return type(self)(self.array)


class Torch(OnCuda):
    """As torch's: names of numbers that NumPy has not, and errors of its own."""

    def __init__(self, array, device="CPU", short=False, graded=False):
        super().__init__(array, device)
        self.short, self.graded, self.dtype = short, graded, types.SimpleNamespace(is_floating_point=True)

    def __dlpack__(self, **named):
        if self.graded:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.short:
            raise RuntimeError("Unsupported dtype in DLTensor.")
        return super().__dlpack__(**named)

    def __array__(self, *given, **named):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def float(self):
        return Torch(self.array.astype("f4"), self.device, graded=self.graded)

    def cpu(self):
        return Torch(self.array, "CPU", self.short, self.graded)


def tensors(array):
    """The same numbers by every protocol."""
    yield Tensor(array)
    yield OnCuda(array, "CUDA")
    yield Torch(array)
    if array.dtype.kind == "f":
        yield Torch(array, short=True)
        yield Torch(array, "CUDA", short=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_tensors_of_rays_are_taken(shape, dtype):
    plain = RAYS.reshape(shape)
    expected, inside = SCENE.closest(plain).tobytes(), SCENE.contains(plain[..., :3]).tobytes()
    first = SCENE.nearest(plain)
    skip = np.stack([first["primitive"], first["geometry"]], axis=-1)
    for rays in tensors(plain.astype(dtype)):
        if rays.device == "CUDA":
            with pytest.raises(
                slabcast.InvalidArgument, match=r'rays lies on a card.*Scene\("cuda:0"\) casts it there'
            ):
                SCENE.closest(rays)
            assert SCENE.contains(type(rays)(rays.array[..., :3], "CUDA")).tobytes() == inside
            continue
        assert SCENE.closest(rays).tobytes() == expected
        origins, directions, t_max = (type(rays)(rays.array[..., part].copy()) for part in (slice(3), slice(4, 7), 7))
        assert SCENE.closest(origins, directions, t_max=t_max).tobytes() == expected
        assert SCENE.contains(origins).tobytes() == inside
        if not isinstance(rays, Torch):
            skipped = SCENE.nearest(rays, skip=type(rays)(skip.astype("i8")))
            assert skipped.tobytes() == SCENE.nearest(plain, skip=skip).tobytes()


@pytest.mark.parametrize("mesh", [shapes.box(), shapes.torus(), shapes.torus(5, 3)])
def test_tensors_of_geometry_are_taken(mesh):
    vertices, faces = mesh
    coarse = vertices.astype("f2").astype("f4")
    plain = slabcast.Scene("cpu")
    plain.add_mesh(coarse, faces)
    rays = shapes.rays_around(coarse, 50, 3)
    for points in tensors(coarse):
        for corners in tensors(faces.astype("i8")):
            scene = slabcast.Scene("cpu")
            scene.add_mesh(points, corners)
            assert scene.closest(rays).tobytes() == plain.closest(rays).tobytes()
    for eye in tensors(np.eye(4)):
        holder = slabcast.Scene("cpu")
        holder.add_instances(plain, eye)
        assert (holder.distance(rays) == plain.distance(rays)).all()


REFUSED_TENSORS = [
    (Tensor(RAYS > 0), "rays has dtype bool"),
    (Tensor(RAYS, "Vulkan"), "rays lies on device 7 of DLPack, which the host cannot read"),
    (Torch(RAYS, graded=True), r"rays: Can't export .* use tensor\.detach\(\); what is taken is one dense array"),
    (Torch(RAYS, short=True, graded=True), r"rays: Can't export .* use tensor\.detach\(\)"),
    (Torch(RAYS.astype("i4"), short=True), "rays: Unsupported dtype in DLTensor.; what is taken is one dense array"),
    ([Torch(row) for row in RAYS], "rays: Got unsupported ScalarType BFloat16; what is taken is one dense array"),
    (types.SimpleNamespace(points=1), "rays is a SimpleNamespace; what is taken are real numbers"),
    (np.array(RAYS, object), r'rays has dtype object; its numbers are taken as rays\.astype\("f8"\)'),
]


@pytest.mark.parametrize("value, message", REFUSED_TENSORS)
def test_tensors_that_hold_no_numbers_are_refused(value, message):
    with pytest.raises(slabcast.InvalidArgument, match=message):
        SCENE.closest(value)


def test_an_empty_mesh_of_tensors_is_taken():
    for mesh in (
        types.SimpleNamespace(vertex={}, triangle={}),
        types.SimpleNamespace(vertex={"positions": Tensor(np.empty((0, 3), "f4"))}, triangle={}),
        types.SimpleNamespace(vertex={"positions": Tensor(shapes.box()[0])}, triangle={}),
    ):
        scene = slabcast.Scene("cpu")
        scene.add_mesh(mesh)
        assert scene.info.triangles == 0 and not scene.any(RAYS).any()


# ---- columns ----


class Column:
    """Of pandas: a type of its own by its kind, and numbers that can lack."""

    def __init__(self, array, gaps, kind):
        self.array, self.gaps, self.ndim = array, gaps, array.ndim
        self.dtype = types.SimpleNamespace(kind=kind)

    @property
    def dtypes(self):
        return [self.dtype] * self.array.shape[-1]

    def isna(self):
        return self.gaps

    def to_numpy(self, dtype, na_value=None):
        if na_value is None:
            assert not self.gaps.any()
            return self.array.astype(dtype)
        return np.where(self.gaps, na_value, self.array.astype(dtype))

    def __array__(self, *given, **named):
        raise AssertionError("objects")


def in_pandas(array, gaps, kind):
    pandas = pytest.importorskip("pandas")
    values = np.where(gaps, None, array.astype({"f": "f8", "i": "i8", "u": "i8"}[kind]))
    name = {"f": "Float64", "i": "Int64", "u": "UInt32"}[kind]
    return pandas.DataFrame(values).astype(name) if array.ndim == 2 else pandas.array(values.tolist(), name)


@pytest.mark.parametrize("made", [Column, in_pandas])
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_lack_numbers_make_invalid_rays(made, seed):
    random = np.random.default_rng(seed)
    rays, none = np.tile(RAYS, (3, 1)), np.zeros((27, 8), bool)
    assert SCENE.closest(made(rays, none, "f")).tobytes() == SCENE.closest(rays).tobytes()
    gaps = random.random((27, 8)) < 0.06
    lacking = np.where(gaps, np.nan, rays).astype("f4")
    assert gaps.any() and SCENE.closest(made(rays, gaps, "f")).tobytes() == SCENE.closest(lacking).tobytes()
    parts = (made(lacking[:, part], gaps[:, part], "f") for part in (slice(3), slice(4, 7), 3, 7))
    assert SCENE.closest(*parts).tobytes() == SCENE.closest(lacking).tobytes()
    whole = made(rays[:, :3].astype("i8"), gaps[:, :3], "i")
    assert SCENE.contains(whole).tobytes() == SCENE.contains(np.where(gaps[:, :3], np.nan, rays[:, :3] // 1)).tobytes()


@pytest.mark.parametrize("made", [Column, in_pandas])
@pytest.mark.parametrize("kind", ["i", "u"])
@pytest.mark.parametrize("place", [(0, 0), (5, 2), (11, 1)])
def test_columns_of_geometry_are_taken_where_they_lack_nothing(made, kind, place):
    vertices, faces = shapes.box()
    scene, none = slabcast.Scene("cpu"), np.zeros((12, 3), bool)
    scene.add_mesh(made(vertices, none[:8], "f"), made(faces, none, kind))
    assert scene.count([0.4, 0.3, -1], [0, 0, 1]) == 2
    gaps = none.copy()
    gaps[place] = True
    for name, call in (
        ("indices", lambda: scene.add_mesh(vertices, made(faces, gaps, kind))),
        ("centers", lambda: scene.add_spheres(made(np.ones((12, 3)), gaps, "f"), 1)),
        ("lower", lambda: scene.add_boxes(made(np.ones((12, 3)), gaps, "f"), np.full((12, 3), 2.0))),
    ):
        told = rf"{name}\[{place[0]}, {place[1]}\] is <NA>: leave its row out, or fill it, as {name}\.fillna\(0\) does"
        with pytest.raises(slabcast.InvalidArgument, match=told):
            call()
    assert scene.skipped == (0,)


@pytest.mark.parametrize("wrong", [None, "1.5", 2j, "nan"])
@pytest.mark.parametrize("place", [(0, 0), (1, 2), (3, 1)])
def test_an_object_that_is_no_number_is_named_by_its_index(wrong, place):
    objects = np.ones((4, 3)).astype(object)
    objects[place] = wrong
    with pytest.raises(slabcast.InvalidArgument) as told:
        SCENE.any(objects, [0, 0, 1])
    assert f"origins[{place[0]}, {place[1]}] is {wrong!r}; what is taken are real numbers" in str(told.value)


# ---- fields ----

XYZ = [(name, "f4") for name in "xyz"]
FIELDS = [
    ("origins", XYZ),
    ("origins", [("x", "f8"), ("y", "i4"), ("z", "f2")]),
    ("origins", [("index", "i8"), *XYZ, ("intensity", "u1"), ("normal", "f4", (3,))]),
    ("origins", [("place", "f4", (3,))]),
    ("origins", [("flat", "f4", (2,)), ("height", "f8")]),
    ("rays", [("o", "f4", (3,)), ("from", "f4"), ("d", "f4", (3,)), ("to", "f4")]),
    ("rays", [(f"f{k}", "f4") for k in range(8)]),
    ("t_max", [("t", "f4")]),
    ("indices", [("a", "u4"), ("b", "u4"), ("c", "u4")]),
]


@pytest.mark.parametrize("name, fields", FIELDS)
@pytest.mark.parametrize("n", [1, 4, 30])
def test_what_is_told_of_fields_makes_columns_of_them(name, fields, n):
    """The conversion in the message is run to the letter."""
    import numpy.lib.recfunctions

    array = np.zeros(n, fields)
    down = np.array([0, 0, -1], "f4")
    calls = {
        "origins": lambda value: SCENE.any(value, down),
        "rays": lambda value: SCENE.any(value),
        "t_max": lambda value: SCENE.any(np.zeros((n, 3)), down, t_max=value),
        "indices": lambda value: slabcast.Scene("cpu").add_mesh(np.eye(3), value),
    }
    with pytest.raises(slabcast.InvalidArgument, match=f"^{name} has fields: ") as told:
        calls[name](array)
    way = str(told.value).split("fields: ")[1].split(" makes columns")[0]
    made = eval(way, {"np": np, "numpy": numpy, name: array})
    assert np.shape(calls[name](made)) == (() if name == "indices" else (n,))
