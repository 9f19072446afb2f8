"""Kernels of the user's that trace rays on a card by CUDA: the bits of a cast. On stand-ins for NVIDIA's driver and its
compiler, which tests/python.sh puts in their place; no card is needed."""

import ctypes
import gc
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import cards
import shapes
import slabcast

cards.require_standin()
pytestmark = pytest.mark.usefixtures("landed")

SOURCE = """\
#include <slabcast_device.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void sky(SLAB_SCENE_PARAMETERS, const float4 *points, unsigned char *hidden) {
  SLAB_SCENE(scene);
  const float4 at = points[INDEX];
  const slab_ray up = slab_ray_of(make_float3(at.x, at.y, at.z), 0.0f, make_float3(0.0f, 0.0f, 1.0f), INFINITY);
  hidden[INDEX] = slab_trace_any(&scene, &up);
}
extern "C" __global__ void near(SLAB_SCENE_PARAMETERS, const slab_ray *rays, float most, unsigned char *is_near) {
  SLAB_SCENE(scene);
  slab_ray ray = rays[INDEX];
  ray.t_max = most;
  is_near[INDEX] = slab_trace_any(&scene, &ray);
}
extern "C" __global__ void seen(SLAB_SCENE_PARAMETERS, const slab_ray *rays, slab_trace_options options, bool plain,
                                unsigned char *hit) {
  SLAB_SCENE(scene);
  const slab_ray ray = rays[INDEX];
  hit[INDEX] = plain ? slab_trace_any(&scene, &ray) : slab_trace_any_with(&scene, &ray, &options);
}
extern "C" __global__ void doubled(SLAB_SCENE_PARAMETERS, const slab_hit *hits, float *t) {
  SLAB_SCENE(scene);
  (void)scene;
  t[INDEX] = 2.0f * hits[INDEX].t;
}
extern "C" __global__ void places(SLAB_SCENE_PARAMETERS, unsigned *at, const void *nothing) {
  SLAB_SCENE(scene);
  (void)scene;
  const unsigned x = INDEX, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;
  atomicAdd(&at[(z * ny + y) * nx + x], nothing == 0 ? 1 + x + 100 * y + 10000 * z : 0);
}
extern "C" __global__ void alone(float *out) { out[0] = 0.0f; }
extern "C" __global__ void numbers(float a, float b, float c, float d, float *out) { out[0] = a + b + c + d; }
__global__ void mangled(int) {}
"""
V, F = shapes.torus()
N = 600
RAYS = shapes.rays_around(V, N, 9)
OPTIONS = np.dtype(
    [("mask", "u4"), ("cull", "i4"), ("edges", "i4"), ("face_forward", "u4"), ("skip", "u4", 2), ("world", "u4")]
)
NONE = (slabcast.MISS, slabcast.MISS)
IS_LATE = os.environ.get("SLAB_CUDA_LATE", "0") != "0"


@pytest.fixture(scope="module")
def shared(driver):
    """A scene and its program, which no test changes."""
    scene = scene_of("cuda")
    yield scene, scene.program(SOURCE)
    slabcast._card._end()


@pytest.fixture(scope="module")
def host():
    return scene_of("cpu")


def scene_of(device, scale=1.0):
    made = slabcast.Scene(device)
    made.add_mesh(V * np.float32(scale), F)
    return made


def points_of(seed):
    points = np.zeros((N, 4), np.float32)
    points[:, :3] = np.random.default_rng(seed).uniform(V.min(axis=0), V.max(axis=0), (N, 3))
    return points


def hidden_by(scene, points):
    """The same by a cast."""
    rays = np.zeros((len(points), 8), np.float32)
    rays[:, :3], rays[:, 6:] = points[:, :3], (1, np.inf)
    hidden = scene.any(rays).view("u1")
    assert 0.1 < hidden.mean() < 0.9
    return hidden


def space(driver, n=N, dtype="u1", **named):
    return cards.ByInterface(driver, np.full(n, 7, dtype), **named)


def read(driver, array, done):
    """An array's content once the launch has ended."""
    done.wait()
    return array.memory.array.copy()


# ---- answers ----


@pytest.mark.parametrize("kind", [cards.ByDLPack, cards.ByOldDLPack, cards.Managed, cards.ByInterface])
def test_the_sky_is_that_of_a_cast(driver, host, shared, stream, kind):
    sky, points = shared[1].kernel("sky"), points_of(1)
    given = kind(driver, points, stream=stream, late=True)
    out = kind(driver, np.full(N, 7, "u1"), stream=stream)
    assert read(driver, out, sky(None, (N,), given, out)).tobytes() == hidden_by(host, points).tobytes()


def test_numbers_and_local_sizes(driver, host, shared, stream):
    near, rays = shared[1].kernel("near"), RAYS.copy()
    given = cards.ByInterface(driver, RAYS, stream=stream)
    for most, local in ((0.25, None), (1.0, (1,)), (1.5, (200,)), (np.inf, (600,))):
        out = space(driver, stream=stream)
        got = read(driver, out, near(None, (N,), given, np.float32(most), out, local_size=local))
        rays[:, 7] = most
        assert got.tobytes() == host.any(rays).view("u1").tobytes(), most
        for other in (ctypes.c_float(most), np.array(most, "f4")):
            out = space(driver, stream=stream)
            assert read(driver, out, near(None, (N,), given, other, out)).tobytes() == got.tobytes()


def test_structs(driver, host, shared, stream):
    rays = RAYS.copy()
    rays[:, 7] = 1.5  # from within, many leave by a back face alone
    first = host.closest(rays)
    skip = first[slabcast.is_hit(first)][0]
    seen, found = shared[1].kernel("seen"), set()
    given = cards.ByInterface(driver, rays, stream=stream)
    for options, named in (
        ((0, 0, 0, 0, NONE, 0), {}),
        ((0, 1, 0, 0, NONE, 0), {"cull": "back"}),
        ((0, 2, 0, 1, NONE, 0), {"cull": "front"}),
        ((0, 0, 1, 0, (skip.primitive, skip.geometry), 0), {"edges": "closed", "skip": skip}),
    ):
        out = space(driver, stream=stream)
        done = seen(None, (N,), given, np.array(options, OPTIONS), np.bool_(False), out)
        got = read(driver, out, done)
        assert got.tobytes() == host.any(rays, **named).tobytes(), named
        found.add(got.tobytes())
    assert len(found) == 4


def test_results_of_casts_are_arguments_and_outputs(driver, host, shared, stream):
    scene, program = shared
    rays = cards.ByInterface(driver, RAYS, stream=stream, late=True)
    hits, t = scene.closest(rays), scene.distance(rays)
    program.kernel("doubled")(None, (N,), hits, t)
    assert t.get().tobytes() == (2 * host.closest(RAYS).t).tobytes()
    hidden = scene.any(rays)
    program.kernel("near")(None, (N,), rays, np.float32(0.5), hidden)
    near = RAYS.copy()
    near[:, 7] = 0.5
    assert hidden.get().tobytes() == host.any(near).tobytes()


@pytest.mark.parametrize("whole", [(60,), (8, 5), (4, 3, 2), (0,), (4, 0), (7, 1, 3)])
@pytest.mark.parametrize("split", [False, True])
def test_each_work_item_runs_once(driver, shared, whole, split):
    local = tuple(2 if n % 2 == 0 and n else 1 for n in whole) if split else None
    out = space(driver, max(int(np.prod(whole)), 1), "u4")
    out.memory.array[:] = 0
    shared[1].kernel("places")(None, whole, out, None, local_size=local).wait()
    x, y, z = np.meshgrid(*(np.arange(n) for n in (*whole, 1, 1)[:3]), indexing="ij")
    expected = (1 + x + 100 * y + 10000 * z).transpose(2, 1, 0).ravel()
    assert (out.memory.array[: expected.size] == expected).all() and (expected.size or not out.memory.array.any())


@pytest.mark.parametrize("n, group", [(600, 120), (4096, 128), (96, 96), (1, 1), (131, 1), (262, 2), (10**6, 64)])
def test_groups_divide_and_fill_warps(n, group):
    assert slabcast._kernels_cuda._group_of((n, 3)) == (group, 1)


# ---- order ----


def launched_on(monkeypatch):
    streams, launch = [], slabcast._cuda.launch
    monkeypatch.setattr(slabcast._cuda, "launch", lambda *given: streams.append(given[3]) or launch(*given))
    return streams


class _Stream:
    def __init__(self, **named):
        self.__dict__.update(named)


class _CudaStream:
    """Of the protocol of CUDA's own packages."""

    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


def test_streams_that_are_asked_for(driver, host, shared, stream, monkeypatch):
    sky, points = shared[1].kernel("sky"), points_of(2)
    streams, other = launched_on(monkeypatch), driver.stream()
    for queue, expected in (
        (None, stream),
        (other, other),
        (0, 1),
        (1, 1),
        (2, 2),
        (_Stream(cuda_stream=other), other),
        (_Stream(ptr=other, device=0), other),
        (_Stream(cuda_stream=0), 1),
        (_CudaStream(other), other),
    ):
        given = cards.ByInterface(driver, points, stream=stream, late=True)
        out = space(driver, stream=stream)
        sky(queue, (N,), given, out)
        del given
        assert streams.pop() == expected
        driver.finish(stream)  # what comes there comes after the launch, wherever that is
        assert out.memory.array.tobytes() == hidden_by(host, points).tobytes()
    shared[1].kernel("places")(None, (0,), None, None)
    driver.finish(other)
    driver.end_stream(other)


def test_arrays_of_several_streams(driver, host, shared):
    sky, points = shared[1].kernel("sky"), points_of(3)
    streams = [driver.stream() for _ in range(2)]
    for kind in (cards.ByDLPack, cards.ByInterface):
        given = kind(driver, points, stream=streams[0], late=True)
        out = space(driver, stream=streams[1], late=True)
        sky(None, (N,), given, out)
        driver.finish(streams[1])
        assert out.memory.array.tobytes() == hidden_by(host, points).tobytes()
    for stream in streams:
        driver.finish(stream)
        driver.end_stream(stream)


def test_events_come_first(driver, host, shared, stream):
    near, sky, points = shared[1].kernel("near"), shared[1].kernel("sky"), points_of(4)
    other = driver.stream()
    arrays = cards.ByInterface(driver, points, stream=stream, late=True), cards.ByInterface(driver, RAYS), space(driver)
    given, rays, out = (np.uint64(array.address) for array in arrays)  # with no known stream
    for first, then, expected in (
        ((near, rays, np.float32(0.5)), (sky, given), hidden_by(host, points)),
        ((sky, given), (near, rays, np.float32(np.inf)), host.any(RAYS).view("u1")),
    ) * 4:
        done = first[0](stream, (N,), *first[1:], out)
        later = then[0](other, (N,), *then[1:], out, wait_for=[done])
        assert not (IS_LATE and later.is_over())
        assert read(driver, arrays[2], later).tobytes() == expected.tobytes() and done.is_over()
    driver.finish(other)
    driver.end_stream(other)


def test_arguments_are_kept_until_the_launch_has_ended(driver, host, shared, stream):
    sky, points = shared[1].kernel("sky"), points_of(5)
    out = space(driver, stream=stream)
    for kind in (cards.ByDLPack, cards.ByInterface):
        out.memory.array[:] = 7
        done = sky(None, (N,), kind(driver, points, stream=stream, late=True), out)
        gc.collect()
        assert read(driver, out, done).tobytes() == hidden_by(host, points).tobytes()


def test_nothing_waits_in_a_launch(driver, shared, stream, monkeypatch):
    sky, given = shared[1].kernel("sky"), cards.ByInterface(driver, points_of(6), stream=stream)
    for name in ("cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2"):
        monkeypatch.setattr(slabcast._cuda._driver, name, None)
    sky(None, (N,), given, space(driver, stream=stream))
    monkeypatch.undo()


def test_arrays_of_packages(driver, host, shared, package, stream, monkeypatch):
    sky, points, streams = shared[1].kernel("sky"), points_of(7), launched_on(monkeypatch)
    with package.on_stream(stream):
        given = package.tensor(points, late=True)
        out = package.tensor(np.full(N, 7, "u1"))
        sky(None, (N,), given, out)
        assert streams == [1 if package.__name__ == "jax" else stream]
        driver.finish(streams[0])
        assert out.get().tobytes() == hidden_by(host, points).tobytes()
        way = {"torch": "it.contiguous()", "cupy": "cupy.ascontiguousarray(it)", "jax": "a copy of it in C order"}
        with pytest.raises(slabcast.InvalidArgument, match=re.escape(way[package.__name__])):
            sky(None, (N,), package.tensor(np.zeros((N, 8), "f4"))[:, :4], out)


def test_threads_launch_kernels_of_one_program(driver, host, shared):
    points, wrong = [points_of(seed) for seed in range(4)], []
    expected = [hidden_by(host, some).tobytes() for some in points]

    def launch(k):
        sky = shared[1].kernel("sky") if k % 2 else kernels[0]
        given = cards.ByInterface(driver, points[k], stream=cards.LEGACY)
        for _ in range(20):
            out = space(driver, stream=cards.LEGACY)
            try:
                if read(driver, out, sky(None, (N,), given, out)).tobytes() != expected[k]:
                    wrong.append(k)
            except slabcast.InvalidState:  # another thread has bound the name since
                sky.bind()

    kernels = [shared[1].kernel("sky")]
    threads = [threading.Thread(target=launch, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_reference_does_what_it_tells(driver, monkeypatch):
    cupy = cards.CuPyLike(driver)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text()
    code = next(part for part in page.split("```python\n")[1:] if "__global__" in part).split("```")[0]
    told = {}
    exec(code, told)
    assert told["hidden"].get().tobytes() == hidden_by(told["scene"], told["points"].get()).tobytes()
    slabcast._card._end()


# ---- scenes ----


def test_a_kernel_keeps_to_its_commit_until_it_is_bound_again(driver, stream):
    scene, points = slabcast.Scene("cuda"), points_of(8)
    geometry = scene.add_mesh(V, F)
    sky = scene.program(SOURCE).kernel("sky")
    given, before = cards.ByInterface(driver, points, stream=stream), hidden_by(scene, points)

    def hidden():
        out = space(driver, stream=stream)
        return read(driver, out, sky(None, (N,), given, out)).tobytes()

    for shift in (0.5, 1.0):
        scene.update_mesh(geometry, V + np.float32([shift, 0, 0]))
        scene.commit()
        after = hidden_by(scene, points)
        assert (after != before).any() and hidden() == before.tobytes()
        scene.update_mesh(geometry, V + np.float32([shift, 0.25, 0]))  # what waits is bound
        sky.bind()
        before = hidden_by(scene, points)
        assert hidden() == before.tobytes() != after.tobytes()
    scene.close()
    del scene
    assert hidden() == before.tobytes()


def test_a_program_serves_other_scenes_that_are_like_its_own(driver, shared, stream):
    other, points = scene_of("cuda", 0.6), points_of(9)
    given, out = cards.ByInterface(driver, points, stream=stream), space(driver, stream=stream)
    first, second = shared[1].kernel("sky"), shared[1].kernel("sky", other)
    assert read(driver, out, second(None, (N,), given, out)).tobytes() == hidden_by(other, points).tobytes()
    with pytest.raises(slabcast.InvalidState, match=r"another kernel sky .* bound since.*after bind\(\)"):
        first(None, (N,), given, out)
    first.bind()
    assert read(driver, out, first(None, (N,), given, out)).tobytes() == hidden_by(shared[0], points).tobytes()
    unlike = slabcast.Scene("cuda")
    unlike.add_spheres([[0, 0, 0]], [1])
    with pytest.raises(slabcast.InvalidArgument, match="unlike that which the kernel's program was built for"):
        shared[1].kernel("sky", unlike)


def test_launches_have_ended_before_what_they_are_bound_to_goes(driver, stream):
    scene, points = scene_of("cuda"), points_of(2)
    given, out = cards.ByInterface(driver, points, stream=stream, late=True), space(driver, stream=stream)
    expected = hidden_by(scene, points).tobytes()
    program = scene.program(SOURCE)
    sky = program.kernel("sky")
    for end in (sky.bind, program.close):
        done = sky(None, (N,), given, out)
        assert not (IS_LATE and done.is_over())
        end()
        assert done.is_over() and out.memory.array.tobytes() == expected
        out.memory.array[:] = 7
    for call in (lambda: sky(None, (N,), given, out), sky.bind, lambda: program.kernel("sky")):
        with pytest.raises(slabcast.InvalidState, match="the program is closed"):
            call()


def test_a_program_that_goes_with_a_launch_in_flight(driver, stream, monkeypatch):
    scene, points, gone = scene_of("cuda"), points_of(3), []
    destroy = slabcast._program.library.slab_program_destroy
    monkeypatch.setattr(
        slabcast._program.library, "slab_program_destroy", lambda program: gone.append(destroy(program))
    )
    expected, out = hidden_by(scene, points).tobytes(), space(driver, stream=stream)
    done = scene.program(SOURCE).kernel("sky")(
        None, (N,), cards.ByInterface(driver, points, stream=stream, late=True), out
    )
    del scene
    gc.collect()
    assert gone == [] or not IS_LATE
    assert read(driver, out, done).tobytes() == expected
    slabcast._card.land()
    assert len(gone) == 1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_child_is_refused(driver, shared):
    sky = shared[1].kernel("sky")
    child = os.fork()
    if child == 0:
        try:
            sky(None, (N,), None, None)
        except slabcast.InvalidState as error:
            os._exit(0 if "forked" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_each_card_has_its_own(driver, host, shared):
    scene, points, stream = scene_of("cuda:1"), points_of(4), driver.stream(1)
    program = scene.program(SOURCE)
    assert program.context == driver.contexts[1].value != shared[1].context == driver.contexts[0].value
    sky, out = program.kernel("sky"), space(driver, card=1, stream=stream)
    given = cards.ByInterface(driver, points, card=1, stream=stream, late=True)
    done = sky(None, (N,), given, out)
    assert read(driver, out, done).tobytes() == hidden_by(host, points).tobytes()
    with pytest.raises(slabcast.InvalidArgument, match="argument 1 of sky lies on cuda:0, and the scene on cuda:1"):
        sky(None, (N,), given, space(driver))
    with pytest.raises(slabcast.InvalidArgument, match="argument 0 of sky lies on cuda:0, and the scene on cuda:1"):
        sky(None, (N,), cards.ByDLPack(driver, points), out)
    with pytest.raises(slabcast.InvalidArgument, match="queue, or .* is of another card or context"):
        shared[1].kernel("sky")(stream, (N,), None, None)
    one_thread = slabcast.Scene("cuda:1", threads=1)
    one_thread.add_mesh(V, F)
    for stranger in (shared[0], one_thread, host):
        with pytest.raises(slabcast.InvalidArgument, match="scene is of another context than the program's"):
            sky.bind(stranger)
    driver.finish(stream, 1)
    driver.end_stream(stream, 1)


# ---- what is refused ----


@pytest.mark.parametrize("ahead", range(2))
def test_a_build_error_names_its_line(shared, ahead):
    lines = "#include <slabcast_device.h>\n" + "// a comment\n" * ahead
    with pytest.raises(slabcast.BuildFailed, match=rf"kernels\.cu\({ahead + 2}\)(?s:.)*nothing"):
        shared[0].program(lines + 'extern "C" __global__ void k(int) { nothing(); }\n')


def test_what_cannot_be_built_is_refused(shared):
    scene, program = shared
    for call, message in (
        (lambda: scene.program(SOURCE, ["any", "first"]), "queries is 'first'"),
        (lambda: scene.program(SOURCE, []), "queries is 0"),
        (lambda: scene.program(SOURCE, options="--use_fast_math"), "changes the arithmetic"),
        (lambda: scene.program(SOURCE.encode()), "source is a bytes"),
        (lambda: program.kernel("moon"), 'no kernel "moon"; extern "C" keeps a name'),
        (lambda: program.kernel("alone"), "the first parameters of alone are not SLAB_SCENE_PARAMETERS"),
        (lambda: program.kernel("numbers"), "the first parameters of numbers are not SLAB_SCENE_PARAMETERS"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=re.escape(message)):
            call()


class _Strange:
    def __repr__(self):
        return "strange"


def test_arguments_that_a_kernel_cannot_take_are_refused(driver, shared):
    near = shared[1].kernel("near")
    rays, out, one = cards.ByDLPack(driver, RAYS), space(driver), np.float32(1)
    apart = cards.of(cards.ByDLPack(driver, RAYS), shape=(N, 4), strides=(8, 1))
    gone = cards.Memory(driver, RAYS)
    freed = cards.of(cards.ByInterface(driver, RAYS), data=(gone.address, False))
    del gone
    for arguments, message in (
        ((rays, one), "near takes 3 arguments after the scene's; 2 are given"),
        ((rays, one, out, out), "near takes 3 arguments after the scene's; 4 are given"),
        ((rays, 1.0, out), "argument 1 of near is 1.0, of no width: such as np.float32(1.0) has"),
        ((rays, True, out), "argument 1 of near is True, of no width"),
        ((rays, np.float64(1), out), "which is not taken: it has 8 bytes, and the parameter 4"),
        ((rays, out, out), "it has 8 bytes, and the parameter 4"),
        ((one, one, out), "it has 4 bytes, and the parameter 8"),
        ((rays, one, np.empty(N, "u1")), "argument 2 of near lies on the host: cupy.asarray(it)"),
        ((rays, one, [1, 2]), "argument 2 of near is [1, 2], which is not taken"),
        ((rays, one, _Strange()), "argument 2 of near is strange, which is not taken"),
        ((rays, np.array(1, ">f4"), out), "argument 1 of near is array(1., dtype='>f4'), which is not taken"),
        ((rays, np.array(None), out), "argument 1 of near is array(None, dtype=object), which is not taken"),
        ((apart, one, out), "argument 0 of near has strides (8, 1), and a kernel sees none: give a copy of it"),
        ((freed, one, out), "argument 0 of near: 0x"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=re.escape(message)):
            near(None, (N,), *arguments)


def test_sizes_and_queues_that_are_refused(driver, shared):
    places, out = shared[1].kernel("places"), space(driver, 4, "u4")
    for queue, sizes, named, message in (
        (None, 600, {}, "global_size is 600; what is taken are 1 to 3 whole numbers from 0 on"),
        (None, (), {}, "global_size is ()"),
        (None, (1, 1, 1, 1), {}, "global_size is (1, 1, 1, 1)"),
        (None, (2.5,), {}, "global_size is (2.5,)"),
        (None, (-1,), {}, "global_size is (-1,)"),
        (None, (4,), {"local_size": (0,)}, "local_size is (0,); what is taken are 1 to 3 whole numbers from 1 on"),
        (None, (4,), {"local_size": (2, 1)}, "local_size is (2, 1); for (4,) it has 1 numbers"),
        (None, (4096,), {"local_size": (2048,)}, "local_size is (2048,); for (4096,) it has 1 numbers, of a product"),
        (
            None,
            (1000,),
            {"local_size": (128,)},
            "global_size is (1000,), no multiple of local_size (128,): give (1024,)",
        ),
        (None, (1, 70000), {}, "global_size is (1, 70000): by (1, 1) a group that is more than a card takes"),
        (None, (2**40,), {}, "that is more than a card takes"),
        ("main", (4,), {}, "queue is 'main'; by CUDA what is taken is a stream"),
        (-1, (4,), {}, "queue is -1"),
        (True, (4,), {}, "queue is True"),
        (None, (4,), {"wait_for": [out]}, "wait_for[0] is a ByInterface; by CUDA what is taken are events of launches"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=re.escape(message)):
            places(queue, sizes, out, None, **named)


def test_a_driver_that_tells_no_sizes_reads_zeros_beyond_what_is_given(driver, host, shared, stream, monkeypatch):
    monkeypatch.setattr(slabcast._cuda, "parameter_sizes", lambda card, function: None)
    near, given = shared[1].kernel("near"), cards.ByInterface(driver, RAYS, stream=stream)
    out, rays = space(driver, stream=stream), RAYS.copy()
    assert read(driver, out, near(None, (N,), given, np.float32(0.5), out)).any()
    rays[:, 7] = 0.5
    assert out.memory.array.tobytes() == host.any(rays).view("u1").tobytes()
    hits = space(driver, 8, "u4")
    hits.memory.array[:] = 0
    shared[1].kernel("places")(None, (8,), hits).wait()
    assert (hits.memory.array == 1 + np.arange(8)).all()


def test_each_call_of_the_driver_that_fails_is_told(driver, host, shared):
    fail, points, failed = driver.cuda.standin_fail, points_of(1), 0
    fail.argtypes = ctypes.c_ulong, ctypes.c_int
    expected = hidden_by(host, points).tobytes()
    for later in range(1, 200):
        given, out, got = cards.ByDLPack(driver, points), space(driver), None
        given.stream = cards.LEGACY
        fail(later, 2 if later % 2 else 719)
        try:
            done = shared[1].kernel("sky")(None, (N,), given, out)
            done.wait()
            got = out.memory.array.tobytes()
        except (slabcast.OutOfMemory, slabcast.DeviceFailed, slabcast.InvalidArgument) as error:
            assert str(error)
            failed += 1
        reached = fail(0, 0)
        assert got in (None, expected)
        if not reached:
            break
    assert failed > 10 and got == expected


# ---- the compiler ----


PROGRAM = """
import slabcast
scene = slabcast.Scene("cuda")
scene.add_spheres([[0, 0, 0]], [1])
try:
    print(scene.program('extern "C" __global__ void k(int) {}').kernel("j"))
except slabcast.Error as error:
    print(type(error).__name__, error)
"""


def without_compiler(place):
    """Output of a process whose loader finds no NVRTC, also where the system has one. place: on its path of modules."""
    hidden = place / "loader"
    hidden.mkdir()
    for name in slabcast._nvrtc._NAMES:
        (hidden / name).touch()
    folders = f"{hidden}:{os.environ['LD_LIBRARY_PATH']}"
    environment = {**os.environ, "LD_LIBRARY_PATH": folders, "PYTHONPATH": str(place)}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def test_without_a_compiler_it_says_how_to_get_one(tmp_path):
    told = without_compiler(tmp_path)
    assert told.startswith("Unsupported") and "pip install nvidia-cuda-nvrtc" in told and "NVRTC" in told


@pytest.mark.parametrize("place", ["cuda_nvrtc/lib", "cu12/lib"])
def test_the_compiler_of_a_wheel_is_found(tmp_path, place):
    folder = tmp_path / "nvidia" / place
    folder.mkdir(parents=True)
    folders = os.environ["LD_LIBRARY_PATH"].split(":")
    file = next(Path(one) / "libnvrtc.so.12" for one in folders if (Path(one) / "libnvrtc.so.12").exists())
    (folder / "libnvrtc.so.12").symlink_to(file)
    assert 'no kernel "j"' in without_compiler(tmp_path)


def test_a_wheels_compiler_that_is_none_is_passed_over(tmp_path):
    folder = tmp_path / "nvidia" / "cuda_nvrtc" / "lib"
    folder.mkdir(parents=True)
    (folder / "libnvrtc.so.12").write_text("no library")
    assert without_compiler(tmp_path).startswith("Unsupported")
