"""Structs of slabcast_types.h, slabcast.h, slabcast_cl.h and slabcast_cuda.h.

Written by tools/python_structs.py: change the headers, not this.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p

Progress = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class DeviceInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char * 128),
        ("vendor", c_char * 128),
        ("driver", c_char * 64),
        ("version", c_char * 128),
        ("platform", c_char * 128),
        ("type", c_int),
        ("compute_units", c_uint32),
        ("clock_mhz", c_uint32),
        ("memory_bytes", c_uint64),
        ("allocation_bytes", c_uint64),
        ("lane_width", c_uint32),
        ("denormals", c_int),
        ("rounds_to_nearest", c_int),
        ("exact_divide", c_int),
    ]


class ContextOptions(ctypes.Structure):
    _fields_ = [
        ("device", c_char_p),
        ("lane_width", c_uint32),
        ("launch_rays", c_uint32),
        ("copy", c_int),
        ("traversal", c_int),
        ("layout", c_int),
        ("threads", c_uint32),
    ]


class Mesh(ctypes.Structure):
    _fields_ = [
        ("vertices", c_void_p),
        ("vertex_stride", c_size_t),
        ("vertex_count", c_uint32),
        ("indices", c_void_p),
        ("triangle_count", c_uint32),
        ("vertices64", c_void_p),
    ]


class GeometryOptions(ctypes.Structure):
    _fields_ = [
        ("mask", c_uint32),
        ("skip_invalid", c_int),
        ("skipped", POINTER(c_uint32)),
        ("world", c_uint32),
        ("worlds", c_void_p),
    ]


class BuildOptions(ctypes.Structure):
    _fields_ = [("tree", c_int), ("update", c_int)]


class SceneStats(ctypes.Structure):
    _fields_ = [
        ("geometries", c_uint32),
        ("planes", c_uint64),
        ("spheres", c_uint64),
        ("boxes", c_uint64),
        ("obbs", c_uint64),
        ("triangles", c_uint64),
        ("lower", c_float * 3),
        ("upper", c_float * 3),
        ("host_bytes", c_uint64),
        ("device_bytes", c_uint64),
        ("tree_depth", c_uint32),
        ("sah_cost", c_double),
        ("node_occupancy", c_double),
        ("block_occupancy", c_double),
        ("build_seconds", c_double),
        ("origin", c_double * 3),
    ]


class PrimitiveId(ctypes.Structure):
    _fields_ = [("primitive", c_uint32), ("geometry", c_uint32)]


class CastOptions(ctypes.Structure):
    _fields_ = [
        ("mask", c_uint32),
        ("skip", c_void_p),
        ("cull", c_int),
        ("face_forward", c_int),
        ("progress", Progress),
        ("user", c_void_p),
        ("invalid", POINTER(c_uint64)),
        ("edges", c_int),
        ("max_hits", c_uint32),
        ("masks", c_void_p),
        ("after", c_void_p),
        ("worlds", c_void_p),
    ]


class CheckReport(ctypes.Structure):
    _fields_ = [
        ("rays", c_uint64),
        ("mismatches", c_uint64),
        ("oracle_rays", c_uint64),
        ("oracle_wrong", c_uint64),
        ("oracle_undecided", c_uint64),
        ("first", c_uint64),
        ("text", c_char * 512),
    ]


class Step(ctypes.Structure):
    _fields_ = [
        ("part", c_char_p),
        ("name", c_char_p),
        ("formula", c_char_p),
        ("note", c_char_p),
        ("value", c_float),
        ("is_question", c_int),
    ]


class Explanation(ctypes.Structure):
    _fields_ = [("kind", c_int), ("hit", c_uint32 * 8), ("interval", c_uint32 * 4)]


class Explanation64(ctypes.Structure):
    _fields_ = [("kind", c_int), ("hit", c_uint64 * 5), ("interval", c_uint64 * 3)]


class Camera(ctypes.Structure):
    _fields_ = [("origin", c_float * 3), ("forward", c_float * 3), ("right", c_float * 3), ("up", c_float * 3)]


class Rays(ctypes.Structure):
    _fields_ = [
        ("kind", c_int),
        ("rows", c_uint32),
        ("columns", c_uint32),
        ("t_min", c_float),
        ("t_max", c_float),
        ("camera", Camera),
        ("across", c_float),
        ("along", c_float),
        ("limit", c_float),
        ("sine", c_float * 8),
        ("cosine", c_float * 8),
        ("of_rows", c_void_p),
        ("normals", c_void_p),
        ("of_columns", c_void_p),
        ("offset", c_double * 3),
    ]


class Source(ctypes.Structure):
    _fields_ = [
        ("rays", c_void_p),
        ("set", c_void_p),
        ("first", c_uint64),
        ("n", c_size_t),
        ("rays64", c_void_p),
        ("reserved", c_void_p),
    ]


class Results(ctypes.Structure):
    _fields_ = [
        ("memory", c_void_p),
        ("stride", c_size_t),
        ("offsets", POINTER(c_uint64)),
        ("capacity", c_uint64),
        ("required", c_uint64),
        ("type", c_int),
        ("columns", c_uint32),
        ("weights", c_void_p),
        ("bins", c_uint32),
        ("t_from", c_float),
        ("t_to", c_float),
    ]


class DoubleHits(ctypes.Structure):
    _fields_ = [
        ("origins", c_void_p),
        ("directions", c_void_p),
        ("scale", c_double),
        ("vertices", c_void_p),
        ("indices", c_void_p),
        ("rays", c_void_p),
        ("triangles", c_void_p),
        ("t", c_void_p),
        ("t_stride", c_size_t),
        ("t64", c_void_p),
    ]


class Span(ctypes.Structure):
    _fields_ = [("buffer", c_void_p), ("offset", c_size_t)]


class Batch(ctypes.Structure):
    _fields_ = [
        ("query", c_int),
        ("count", c_size_t),
        ("rays", Span),
        ("results", Span),
        ("offsets", Span),
        ("skip", Span),
        ("invalid", Span),
        ("mask", c_uint32),
        ("cull", c_int),
        ("face_forward", c_int),
        ("edges", c_int),
        ("max_hits", c_uint32),
        ("counted", Span),
        ("masks", Span),
        ("after", Span),
        ("worlds", Span),
    ]


class CudaBatch(ctypes.Structure):
    _fields_ = [
        ("query", c_int),
        ("count", c_size_t),
        ("rays", c_void_p),
        ("results", c_void_p),
        ("offsets", c_void_p),
        ("skip", c_void_p),
        ("invalid", POINTER(c_uint32)),
        ("mask", c_uint32),
        ("cull", c_int),
        ("face_forward", c_int),
        ("edges", c_int),
        ("max_hits", c_uint32),
        ("counted", c_void_p),
        ("masks", c_void_p),
        ("after", c_void_p),
        ("worlds", c_void_p),
    ]


class PointOptions(ctypes.Structure):
    _fields_ = [
        ("mask", c_uint32),
        ("masks", c_void_p),
        ("radius", c_float),
        ("radii", c_void_p),
        ("progress", Progress),
        ("user", c_void_p),
        ("invalid", POINTER(c_uint64)),
        ("worlds", c_void_p),
    ]
