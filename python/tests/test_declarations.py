"""Declarations for ctypes equal the headers': sizes, offsets and values, by a program that the C compiler makes."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import slabcast
from slabcast import _kernels_cuda, _library, _records, _sets, _structs, _sums

HEADERS = Path(__file__).parents[2] / "host" / "include"
STRUCTS = {
    "slab_device_info": _structs.DeviceInfo,
    "slab_context_options": _structs.ContextOptions,
    "slab_mesh": _structs.Mesh,
    "slab_geometry_options": _structs.GeometryOptions,
    "slab_build_options": _structs.BuildOptions,
    "slab_scene_stats": _structs.SceneStats,
    "slab_cast_options": _structs.CastOptions,
    "slab_check_report": _structs.CheckReport,
    "slab_primitive_id": _structs.PrimitiveId,
    "slab_step": _structs.Step,
    "slab_camera": _structs.Camera,
    "slab_rays": _structs.Rays,
    "slab_source": _structs.Source,
    "slab_results": _structs.Results,
    "slab_double_hits": _structs.DoubleHits,
    "slab_explanation": _structs.Explanation,
    "slab_span": _structs.Span,
    "slab_batch": _structs.Batch,
    "slab_cuda_batch": _structs.CudaBatch,
}
RESULTS = {
    "slab_hit": slabcast.HIT,
    "slab_short_hit": slabcast.SHORT_HIT,
    "slab_interval": slabcast.INTERVAL,
    "slab_hit64": slabcast.HIT64,
    "slab_short_hit64": slabcast.SHORT_HIT64,
    "slab_interval64": slabcast.INTERVAL64,
    "slab_sum": _records.SUM,
}
ENUMS = {
    "": _library.QUERIES,
    "CULL_": _library.CULLS,
    "EDGES_": _library.EDGES,
    "TREE_": _library.BUILDS,
    "UPDATE_": _library.UPDATES,
    "LAYOUT_": _library.LAYOUTS,
    "TRAVERSAL_": _library.TRAVERSALS,
    "DEVICE_": _library.DEVICE_TYPES,
    "RAYS_": _sets.KINDS,
    "RESULT_": _sums.RESULTS,
}
STATUSES = (
    "OK",
    "INVALID_ARGUMENT",
    "INVALID_STATE",
    "CAPACITY",
    "OUT_OF_MEMORY",
    "NO_DEVICE",
    "UNSUPPORTED",
    "BUILD_FAILED",
    "DEVICE_FAILED",
    "CANCELLED",
)


def members():
    """Each struct with the names, offsets and sizes that Python has."""
    for name, struct in STRUCTS.items():
        fields = [(field[0], getattr(struct, field[0])) for field in struct._fields_]
        yield name, ctypes.sizeof(struct), [(field, member.offset, member.size) for field, member in fields]
    for name, dtype in RESULTS.items():
        fields = dtype.fields
        yield name, dtype.itemsize, [(field, fields[field][1], fields[field][0].itemsize) for field in dtype.names]


def values():
    """Each constant with the value that Python has."""
    for prefix, names in ENUMS.items():
        for value, name in enumerate(names):
            yield f"SLAB_{prefix}{name.upper()}", value
    for value, name in enumerate(_library.SHAPES):
        yield f"SLAB_{name.upper()}", value
    for value, name in enumerate(STATUSES):
        yield f"SLAB_{name}", value
    yield from (
        ("SLAB_MISS", slabcast.MISS),
        ("SLAB_INVALID", slabcast.INVALID),
        ("SLAB_QUERY_COUNT", len(_library.QUERIES)),
        ("SLAB_SCENE_PARAMETERS_MOST", _kernels_cuda.SCENE_PARAMETERS_MOST),
        ("SLAB_SHAPE_COUNT", len(_library.SHAPES)),
    )


def test_structs_and_values_are_those_of_the_headers(tmp_path):
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler")
    lines, expected = [], []
    for name, size, fields in members():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {size}")
        for field, offset, width in fields:
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            )
            expected.append(f"{name}.{field} {offset} {width}")
    for name, value in values():
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
        expected.append(f"{name} {value}")
    source, program = tmp_path / "declarations.c", tmp_path / "declarations"
    source.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "slabcast_cl.h"\n#include "slabcast_cuda.h"\n'
        + "int main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    declarations = HEADERS.parent / "opencl" / "declarations"  # of OpenCL, for machines without its headers
    subprocess.run([compiler, f"-I{HEADERS}", f"-I{declarations}", str(source), "-o", str(program)], check=True)
    assert (
        subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split("\n")[:-1] == expected
    )


def test_each_status_has_its_exception():
    for status, name in enumerate(STATUSES[1:], 1):
        assert _library._EXCEPTIONS[status].__name__ == "".join(word.capitalize() for word in name.split("_"))
    _library.library.slab_status_text.restype = ctypes.c_char_p
    assert _library.library.slab_status_text(len(STATUSES)) == b"unknown status"


# Lines that a type checker takes, and lines that it has to refuse.
TAKEN = [
    'scene = slabcast.Scene("cpu", "high", traversal="single", layout="wide", auto_commit=False)',
    "scene.add_mesh(np.zeros((3, 3)), [[0, 1, 2]])",
    "scene.add_mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]])",
    'scene.commit("refit")',
    "hits = scene.closest(np.zeros((2, 8), np.float32), cull='back', edges='closed')",
    'scene.check("closest", np.zeros((2, 8), np.float32), hits)',
    'scene.program("", ["any", "closest"]).kernel("sky").bind(scene)',
    'scene.program("").kernel("sky", scene)(None, (4, 4), np.float32(1), None, local_size=(2, 2)).wait()',
    "scene.any(np.zeros((2, 8)), mask=np.ones(2, np.uint32), after=scene.nearest(np.zeros((2, 8))))",
    "scene.set_worlds(2)",
    "scene.origin = [5.4e6, 0, 0]",
    "print(slabcast.Scene(origin=np.zeros(3)).origin, scene.distance(np.zeros((2, 8)), double=True).dtype)",
    "scene.add_instances(scene, np.zeros((scene.worlds, 3, 4)), world=[1, 2])",
    "scene.any(np.zeros((2, 8)), world=np.ones(2, np.uint32))",
    "print(hits.t, slabcast.is_hit(hits))",
    "rays = slabcast.RaySet.directions(np.zeros((2, 3)), slabcast.tables.sky_patches(2)[0], normals=[[0, 0, 1]])",
    "print(scene.distance(rays.with_range(0, 1)[1:], mask=3).mean(), rays.array(scene), np.asarray(rays), len(rays))",
    "print(scene.sums(rays, query='any', weights=np.ones(577)).open, scene.sees(rays, packed=True))",
    "print(scene.histogram(np.zeros((2, 8)), bins=3, range=(0, 1), mask=1).sum())",
    "slabcast.RaySet.beams(slabcast.tables.spun_poses(np.eye(4), np.arange(360)), slabcast.tables.beams([1.0], 0))",
]
REFUSED = [
    'slabcast.Scene(build="quality")',
    'slabcast.Scene(traversal="fast")',
    'slabcast.Scene(layout="narrow")',
    'scene.add_mesh("x", 3)',
    "scene.add_mesh(7)",
    "scene.add_mesh(np.zeros((3, 3)), 3)",
    'scene.commit("often")',
    "scene.worlds = 2",
    "scene.any(np.zeros(8), double='no')",
    "scene.add_planes([0, 0, 1], 1, world=[1, 2])",
    'scene.check("first", np.zeros(8), hits)',
    'scene.any(np.zeros(8), cull="all")',
    'scene.program("", "first")',
    'scene.program("").kernel("sky")(None, 16)',
    'scene.any(np.zeros(8), edges="round")',
    "slabcast.RaySet(np.zeros((2, 8)))",
    "scene.sums(np.zeros((2, 8)), query='count')",
    "scene.histogram(np.zeros((2, 8)), bins=3)",
    "scene.sums(np.zeros((2, 8))).first",
    "slabcast.RaySet.pairs(np.zeros(3), np.zeros(3)).with_range(np.zeros(3))",
    "slabcast.RaySet.pairs(np.zeros((2, 3)), np.zeros(3))[0]",
    "slabcast.RaySet.pairs(np.zeros(3), np.zeros(3)).t_max = 3",
]


def test_a_type_checker_refuses_what_the_package_refuses(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    lines = ["import numpy as np", "import slabcast", *TAKEN, *REFUSED]
    program.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    wrong = {int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line}
    assert wrong == set(range(len(lines) - len(REFUSED) + 1, len(lines) + 1)), told
