"""Structs of slabcast_types.h, slabcast.h, slabcast_cl.h and slabcast_cuda.h.

Written by tools/python_structs.py: change the headers, not this.
"""

from __future__ import annotations

import numpy as np

HIT = np.dtype([("t", "f4"), ("normal", "f4", (3,)), ("u", "f4"), ("v", "f4"), ("primitive", "u4"), ("geometry", "u4")])
SHORT_HIT = np.dtype([("t", "f4"), ("primitive", "u4"), ("geometry", "u4")])
INTERVAL = np.dtype([("enter", "f4"), ("leave", "f4"), ("primitive", "u4"), ("geometry", "u4")])
HIT64 = np.dtype(
    [
        ("t", "f8"),
        ("normal", "f4", (3,)),
        ("u", "f4"),
        ("v", "f4"),
        ("primitive", "u4"),
        ("geometry", "u4"),
        ("order", "f4"),
    ]
)
SHORT_HIT64 = np.dtype([("t", "f8"), ("primitive", "u4"), ("geometry", "u4"), ("order", "f4"), ("zero", "u4")])
INTERVAL64 = np.dtype([("enter", "f8"), ("leave", "f8"), ("primitive", "u4"), ("geometry", "u4")])
CLOSEST_POINT = np.dtype(
    [
        ("distance", "f4"),
        ("point", "f4", (3,)),
        ("u", "f4"),
        ("v", "f4"),
        ("feature", "u4"),
        ("primitive", "u4"),
        ("geometry", "u4"),
    ]
)
CLOSEST_POINT64 = np.dtype(
    [
        ("point", "f8", (3,)),
        ("distance", "f4"),
        ("u", "f4"),
        ("v", "f4"),
        ("feature", "u4"),
        ("primitive", "u4"),
        ("geometry", "u4"),
    ]
)
PATH = np.dtype([("geometry", "u4"), ("levels", "u4"), ("instances", "u4", (4,)), ("index", "u4", (4,))])
SUM = np.dtype([("open", "f8"), ("blocked", "f8"), ("rays", "u4"), ("hits", "u4"), ("least", "f4"), ("mean", "f4")])
