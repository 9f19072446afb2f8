#!/usr/bin/env python3
"""Writes the public headers' structs for Python, _structs.py for ctypes and _records.py for NumPy: python_structs.py

With --check it writes nothing, and fails where a file is not what it would write.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = "slabcast_types.h", "slabcast.h", "slabcast_cl.h", "slabcast_cuda.h"
HEADERS = [ROOT / "host/include" / name for name in NAMES]
FOLDER = ROOT / "python/slabcast"
# The structs that the package passes to the library, and the records that it gives to its users as arrays.
STRUCTS = (
    "device_info context_options mesh geometry_options build_options scene_stats primitive_id cast_options check_report"
    " step explanation explanation64 camera rays source results double_hits span batch cuda_batch point_options"
).split()
RECORDS = "hit short_hit interval hit64 short_hit64 interval64 closest_point closest_point64 path sum".split()
TYPES = {
    "char": "c_char",
    "double": "c_double",
    "float": "c_float",
    "int": "c_int",
    "size_t": "c_size_t",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "cl_mem": "c_void_p",
}
NUMPY = {"double": "f8", "float": "f4", "uint32_t": "u4"}
MEMBER = re.compile(r"(const )?(\w+) (\*?)(\w+)((?:\[\w+\])*);")

text = re.sub(r"/\*.*?\*/", " ", "".join(path.read_text() for path in HEADERS), flags=re.S)
text = re.sub(r"\s+", " ", text)
enums = set(re.findall(r"typedef enum (slab_\w+)", text))
constants = dict(re.findall(r"#define (\w+) (\d+)u?\b", "\n".join(path.read_text() for path in HEADERS)))


def members(name: str) -> list[tuple[bool, str, bool, str, list[int]]]:
    """Of each member: whether it is const, its type, whether it is a pointer, its name, and its counts."""
    body = re.search(rf"typedef struct slab_{name} \{{(.*?)\}} slab_{name};", text)
    if body is None:
        sys.exit(f"python_structs: no struct slab_{name}")
    found = MEMBER.findall(body[1])
    if MEMBER.sub("", body[1]).strip():
        sys.exit(f"python_structs: slab_{name} has a member that is not understood: {MEMBER.sub('', body[1]).strip()}")
    return [
        (bool(const), kind, bool(star), member, [int(constants.get(n, n)) for n in re.findall(r"\[(\w+)\]", counts)])
        for const, kind, star, member, counts in found
    ]


def class_of(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def type_of(const: bool, kind: str, pointer: bool) -> str:
    name = kind[len("slab_") :]
    if pointer and kind == "slab_progress":
        return "Progress"
    if pointer and kind == "char":
        return "c_char_p"
    if pointer:
        return f"POINTER({TYPES[kind]})" if kind in TYPES and not const else "c_void_p"
    if kind in enums:
        return "c_int"
    if name in RECORDS:
        words = sum(count_of(counts) * (2 if kind == "double" else 1) for _, kind, *_, counts in members(name))
        doubles = any(kind == "double" for _, kind, *_ in members(name))  # they are aligned so
        return f"c_uint64 * {words // 2}" if doubles else f"c_uint32 * {words}"
    return TYPES.get(kind) or class_of(name)


def count_of(counts: list[int]) -> int:
    total = 1
    for count in counts:
        total *= count
    return total


def listed(before: str, items: list[str], after: str) -> str:
    """As the formatter has it: in one line where it is short enough."""
    line = f"{before}[{', '.join(items)}]{after}"
    if len(line) <= 120:
        return line
    blank = " " * (len(before) - len(before.lstrip()))
    return "\n".join([f"{before}[", *(f"{blank}    {item}," for item in items), f"{blank}]{after}"])


def struct(name: str) -> str:
    items = []
    for const, kind, pointer, member, counts in members(name):
        many = f" * {count_of(counts)}" if counts else ""
        items.append(f'("{member}", {type_of(const, kind, pointer)}{many})')
    return f"class {class_of(name)}(ctypes.Structure):\n{listed('    _fields_ = ', items, '')}"


def record(name: str) -> str:
    items = []
    for _, kind, _, member, counts in members(name):
        shape = f", ({', '.join(map(str, counts))},)" if counts else ""
        items.append(f'("{member}", "{NUMPY[kind]}"{shape})')
    line = listed(f"{name.upper()} = np.dtype(", items, ")")
    if "\n" not in line:
        return line
    return "\n".join([f"{name.upper()} = np.dtype(", "    [", *(f"        {item}," for item in items), "    ]", ")"])


def progress() -> str:
    found = re.search(r"typedef (\w+) slab_progress\((.*?)\);", text)
    if found is None:
        sys.exit("python_structs: no slab_progress")
    arguments = ["c_void_p" if "*" in each else TYPES[each.split()[0]] for each in found[2].split(", ")]
    return f"Progress = ctypes.CFUNCTYPE({', '.join([TYPES[found[1]], *arguments])})"


def module(imports: str, body: str) -> str:
    return (
        '"""Structs of slabcast_types.h, slabcast.h, slabcast_cl.h and slabcast_cuda.h.\n\n'
        'Written by tools/python_structs.py: change the headers, not this.\n"""\n\n'
        f"from __future__ import annotations\n\n{imports}\n\n{body}\n"
    )


def structs() -> str:
    body = "\n\n\n".join([progress(), *map(struct, STRUCTS)])
    used = [name for name in ("POINTER", *sorted({*TYPES.values(), "c_char_p"})) if re.search(rf"\b{name}\b", body)]
    return module(f"import ctypes\nfrom ctypes import {', '.join(used)}", body)


made = {"_structs.py": structs(), "_records.py": module("import numpy as np", "\n".join(map(record, RECORDS)))}
for name, now in made.items():
    file = FOLDER / name
    if sys.argv[1:] != ["--check"]:
        file.write_text(now)
    elif not file.is_file() or file.read_text() != now:
        sys.exit(f"python_structs: {file} is not what the headers say: run tools/python_structs.py")
