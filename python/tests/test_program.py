"""Kernels of the user's that trace rays, launched by pyopencl: the bits of a cast."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import shapes
import slabcast

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")

SOURCE = """\
#include <slabcast_device.h>
kernel void sky(SLAB_SCENE_PARAMETERS, const global float4 *points, global uchar *hidden) {
  SLAB_SCENE(scene);
  const slab_ray up = slab_ray_of(points[get_global_id(0)].xyz, 0.0f, (float3)(0.0f, 0.0f, 1.0f), INFINITY);
  hidden[get_global_id(0)] = slab_trace_any(&scene, &up);
}
kernel void near(SLAB_SCENE_PARAMETERS, const global slab_ray *rays, float most, global uchar *is_near) {
  SLAB_SCENE(scene);
  slab_ray ray = rays[get_global_id(0)];
  ray.t_max = most;
  is_near[get_global_id(0)] = slab_trace_any(&scene, &ray);
}
kernel void seen(SLAB_SCENE_PARAMETERS, const global slab_ray *rays, slab_trace_options options, local uchar *scratch,
                 global uchar *hit) {
  SLAB_SCENE(scene);
  const slab_ray ray = rays[get_global_id(0)];
  scratch[get_local_id(0)] = slab_trace_any_with(&scene, &ray, &options);
  hit[get_global_id(0)] = scratch[get_local_id(0)];
}
kernel void alone(global float *out) { out[0] = 0.0f; }
"""
N = 600
OPTIONS = np.dtype(
    [("mask", "u4"), ("cull", "i4"), ("edges", "i4"), ("face_forward", "u4"), ("skip", "u4", 2), ("world", "u4")]
)
NONE = (slabcast.MISS, slabcast.MISS)


def some_queue():
    try:
        device = cl.get_platforms()[0].get_devices()[0]
    except (cl.Error, IndexError):
        pytest.skip("no OpenCL device")
    return cl.CommandQueue(cl.Context([device]))


@pytest.fixture(scope="module")
def queue():
    return some_queue()


@pytest.fixture(scope="module")
def shared(queue):
    """A scene and its program, which no test changes."""
    scene = slabcast.Scene(queue)
    scene.add_mesh(*shapes.torus())
    return scene, scene.program(SOURCE)


def points_of(seed):
    lower, upper = shapes.torus()[0].min(axis=0), shapes.torus()[0].max(axis=0)
    points = np.zeros((N, 4), np.float32)
    points[:, :3] = np.random.default_rng(seed).uniform(lower, upper, (N, 3))
    return points


def hidden_by(scene, points):
    """The answers of casts on the host."""
    return scene.any(points[:, :3], [0, 0, 1]).view("u1")


def hidden_to(kernel, queue, points):
    out = cl_array.empty(queue, N, np.uint8)
    kernel(queue, (N,), cl_array.to_device(queue, points), out)
    return out.get()


def is_mixed(answers):
    return 0 < answers.sum() < len(answers)


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_any_bit_by_bit(queue, shared, seed):
    scene, program = shared
    points = points_of(seed)
    assert is_mixed(hidden_by(scene, points))
    assert hidden_to(program.kernel("sky"), queue, points).tobytes() == hidden_by(scene, points).tobytes()


def test_buffers_numbers_local_sizes_and_events(queue, shared):
    scene, program = shared
    rays = shapes.rays_around(shapes.torus()[0], N, 9)
    given = cl.Buffer(program.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=rays)
    near = program.kernel("near")
    for most in (0.25, 1.0, 1.5, np.inf):
        out = np.full(N, 7, np.uint8)
        place = cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
        gate = cl.UserEvent(queue.context)
        done = near(queue, (20, 30), given, np.float32(most), place, local_size=(1, 1), wait_for=[gate])
        assert done.command_execution_status != cl.command_execution_status.COMPLETE
        gate.set_status(cl.command_execution_status.COMPLETE)
        done.wait()
        near(queue, (N,), given, np.float32(most), place)
        cl.enqueue_copy(queue, out, place)
        rays[:, 7] = most
        assert out.tobytes() == scene.any(rays).view("u1").tobytes(), most


def test_structs_and_local_memory(queue, shared):
    scene, program = shared
    rays = shapes.rays_around(shapes.torus()[0], N, 10)
    rays[:, 7] = 1.5  # from within, many leave by a back face alone
    first = scene.closest(rays)
    skip = first[slabcast.is_hit(first)][0]
    given, out = cl_array.to_device(queue, rays), cl_array.empty(queue, N, np.uint8)
    seen, found = program.kernel("seen"), set()
    for options, named in (
        ((0, 0, 0, 0, NONE, 0), {}),
        ((0, 1, 0, 0, NONE, 0), {"cull": "back"}),
        ((0, 2, 0, 1, NONE, 0), {"cull": "front"}),
        ((0, 0, 1, 0, (skip.primitive, skip.geometry), 0), {"edges": "closed", "skip": skip}),
    ):
        seen(queue, (N,), given, np.array(options, OPTIONS), cl.LocalMemory(8), out, local_size=(8,))
        assert out.get().tobytes() == scene.any(rays, **named).tobytes(), named
        found.add(out.get().tobytes())
    assert len(found) == 4


def test_a_kernel_keeps_to_its_commit_until_it_is_bound_again(queue):
    scene, points = slabcast.Scene(queue), points_of(5)
    vertices, triangles = shapes.torus()
    geometry = scene.add_mesh(vertices, triangles)
    sky = scene.program(SOURCE, "any").kernel("sky")
    before = hidden_by(scene, points)
    for shift in (0.5, 1.0, 1.5, 99.0):
        scene.update_mesh(geometry, vertices + np.float32([shift, 0, 0]))
        scene.commit()
        after = hidden_by(scene, points)
        assert (after != before).any()
        assert hidden_to(sky, queue, points).tobytes() == before.tobytes()
        sky.bind()
        assert hidden_to(sky, queue, points).tobytes() == after.tobytes()
        before = after


def test_what_waits_for_a_commit_is_bound(queue):
    scene, points = slabcast.Scene(queue), points_of(6)
    vertices, triangles = shapes.torus()
    geometry = scene.add_mesh(vertices, triangles)
    program = scene.program(SOURCE)
    scene.update_mesh(geometry, vertices + np.float32([0.7, 0, 0]))
    answers = hidden_to(program.kernel("sky"), queue, points)
    assert answers.tobytes() == hidden_by(scene, points).tobytes() and is_mixed(answers)


def test_a_program_serves_other_scenes_that_are_like_its_own(queue, shared):
    _, program = shared
    other, points = slabcast.Scene(queue), points_of(7)
    other.add_mesh(shapes.torus()[0] * np.float32(0.6), shapes.torus()[1])
    assert hidden_to(program.kernel("sky", other), queue, points).tobytes() == hidden_by(other, points).tobytes()
    unlike = slabcast.Scene(queue)
    unlike.add_spheres([[0, 0, 0]], [1])
    with pytest.raises(slabcast.InvalidArgument, match="unlike that which the kernel's program was built for"):
        program.kernel("sky", unlike)


@pytest.mark.parametrize("ahead", range(4))
def test_a_build_error_names_its_line(shared, ahead):
    source = "#include <slabcast_device.h>\n" + "// a comment\n" * ahead + "kernel void k(int i) { return nothing; }\n"
    with pytest.raises(slabcast.BuildFailed, match=rf"{ahead + 2}:\d+.*nothing"):
        shared[0].program(source)


def test_what_cannot_be_built_is_refused(shared):
    scene, program = shared
    for call, message in (
        (lambda: scene.program(SOURCE, ["any", "first"]), "queries is 'first'"),
        (lambda: scene.program(SOURCE, []), "queries is 0"),
        (lambda: scene.program(SOURCE, options="-cl-fast-relaxed-math"), "changes the arithmetic"),
        (lambda: scene.program(SOURCE.encode()), "source is a bytes"),
        (lambda: program.kernel("moon"), 'no kernel "moon"'),
        (lambda: program.kernel("alone"), "SLAB_SCENE_PARAMETERS"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=message):
            call()


def test_arguments_that_a_kernel_cannot_take_are_refused(queue, shared):
    near = shared[1].kernel("near")
    rays, out = cl_array.empty(queue, (N, 8), np.float32), cl_array.empty(queue, N, np.uint8)
    one = np.float32(1)
    for arguments, message in (
        ((rays, one), "near takes 3 arguments after the scene's; 2 are given"),
        ((rays, 1.0, out), r"argument 1 of near is 1.0, of no width: such as np.float32\(1.0\) has"),
        ((rays, np.float64(1), out), "argument 1 of near is .*1.0.*, which is not taken"),
        ((rays, one, np.empty(N, "u1")), "argument 2 of near lies on the host"),
        ((rays, one, [1, 2]), r"argument 2 of near is \[1, 2\], which is not taken"),
        ((rays, one, out[3:]), "argument 2 of near is a part of an array"),
        ((rays[:, ::2], one, out), "argument 0 of near is a part of an array"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=message):
            near(queue, (N,), *arguments)


def test_another_context_is_refused(queue, shared):
    sky, elsewhere = shared[1].kernel("sky"), some_queue()
    points, out = cl_array.to_device(queue, points_of(1)), cl_array.empty(queue, N, np.uint8)
    with pytest.raises(slabcast.InvalidArgument, match="queue is a NoneType; what is taken is a pyopencl.CommandQueue"):
        sky(None, (N,), points, out)
    with pytest.raises(slabcast.InvalidArgument, match="queue is of another context"):
        sky(elsewhere, (N,), points, out)
    with pytest.raises(slabcast.InvalidArgument, match="argument 1 of sky is of another context"):
        sky(queue, (N,), points, cl_array.empty(elsewhere, N, np.uint8))
    stranger = slabcast.Scene(elsewhere)
    stranger.add_mesh(*shapes.torus())
    with pytest.raises(slabcast.InvalidArgument, match="another context than the scene"):
        sky.bind(stranger)


def in_flight(queue, seconds):
    """An event that happens later."""
    gate = cl.UserEvent(queue.context)
    threading.Timer(seconds, gate.set_status, [cl.command_execution_status.COMPLETE]).start()
    return gate


def have_ended(launched):
    return all(one.command_execution_status == cl.command_execution_status.COMPLETE for one in launched)


def test_launches_have_ended_before_what_they_are_bound_to_goes(queue):
    points = points_of(2)
    scene = slabcast.Scene(queue)
    scene.add_mesh(*shapes.torus())
    expected = hidden_by(scene, points)
    given = cl_array.to_device(queue, points)
    disordered = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    out_of_order = cl.CommandQueue(queue.context, properties=disordered)
    program = scene.program(SOURCE)
    sky = program.kernel("sky")
    for on, seconds in ((queue, (0.2, 0)), (out_of_order, (0.2, 0)), (out_of_order, (0, 0.2))):
        outs = [cl_array.empty(queue, N, np.uint8) for _ in seconds]
        launched = [sky(on, (N,), given, out, wait_for=[in_flight(on, s)]) for s, out in zip(seconds, outs)]
        assert not have_ended(launched)
        sky.bind()
        assert have_ended(launched)
        assert all(out.get().tobytes() == expected.tobytes() for out in outs)
    launched = [sky(queue, (N,), given, outs[0], wait_for=[in_flight(queue, 0.2)])]
    program.close()
    assert have_ended(launched)


def test_a_closed_program_is_refused(queue, shared):
    with shared[0].program(SOURCE) as program:
        sky = program.kernel("sky")
    given, out = cl_array.empty(queue, (N, 4), np.float32), cl_array.empty(queue, N, np.uint8)
    for call in (lambda: sky(queue, (N,), given, out), sky.bind, lambda: program.kernel("sky")):
        with pytest.raises(slabcast.InvalidState, match="the program is closed"):
            call()


def test_no_points_are_no_error(queue, shared):
    sky = shared[1].kernel("sky")
    sky(queue, (0,), cl_array.empty(queue, (1, 4), np.float32), cl_array.empty(queue, 1, np.uint8)).wait()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_child_is_refused(shared):
    child = os.fork()
    if child == 0:
        try:
            shared[1].kernel("sky")
        except slabcast.InvalidState as error:
            os._exit(0 if "forked" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_kernel_keeps_its_program_and_the_context(queue):
    points, scene = points_of(3), slabcast.Scene(queue)
    scene.add_mesh(*shapes.torus())
    expected = hidden_by(scene, points)
    sky = scene.program(SOURCE).kernel("sky")
    scene.close()
    del scene
    assert hidden_to(sky, queue, points).tobytes() == expected.tobytes()


def test_a_scene_by_name_has_a_context_for_queues(shared):
    scene, points = slabcast.Scene(shared[0].device.name), points_of(4)
    if scene.device.platform == "Slabcast processor":
        pytest.skip("the device's name is the processor's too")
    scene.add_mesh(*shapes.torus())
    program = scene.program(SOURCE)
    answers = hidden_to(program.kernel("sky"), cl.CommandQueue(program.context), points)
    assert answers.tobytes() == hidden_by(scene, points).tobytes()


@pytest.mark.parametrize("n", [4096, 8191, 100_000])
def test_many_work_items_do_not_overflow_a_stack(queue, shared, n):
    scene, program = shared
    points = np.resize(points_of(n), (n, 4))
    out = cl_array.empty(queue, n, np.uint8)
    program.kernel("sky")(queue, (n,), cl_array.to_device(queue, points), out)
    assert out.get().tobytes() == hidden_by(scene, points).tobytes()


def test_the_reference_does_what_it_tells(queue):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text()
    code = next(part for part in page.split("```python\n")[1:] if "scene.program" in part).split("```")[0]
    told = {}
    exec(code, told)
    hidden = told["hidden"].get()
    assert is_mixed(hidden) and hidden.tobytes() == hidden_by(told["scene"], told["points"]).tobytes()


def test_the_processor_is_refused_with_the_way_out(scene):
    with pytest.raises(slabcast.Unsupported, match=r"neither an OpenCL device nor a card.*Scene\(queue\).*pyopencl"):
        scene.program(SOURCE)


def test_without_pyopencl_it_says_how_to_get_it():
    program = (
        "import sys; sys.modules['pyopencl'] = None; import slabcast\n"
        "try: slabcast.Scene('cpu').program('')\n"
        "except ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "pip install slabcast[opencl]" in told
