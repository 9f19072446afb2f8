#!/usr/bin/env python3
"""Arrows between rooms run one way: arrows.py [BUILD]

The table of docs/architecture.md says what each room may include. Every #include of a file names its room, but for the
public headers and tables (.def), and is one that the table allows. Headers of the system are for os/ alone, in the
program for program/os/. With BUILD, a folder of CMake's, no two objects of the library need each other, by their
symbols: there is no circle. No file of host/ outside opencl/ and interop/ names a type of OpenCL.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = {".c", ".h", ".cl", ".inc", ".def"}
# Of C11, of the compilers, and of OpenCL.
ANYWHERE = re.compile(
    r"(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|stdalign|stdarg|stdatomic|stdbool"
    r"|stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|wchar|wctype|[a-z]*mmintrin|cpuid|arm_neon|arm_acle)\.h|CL/.*"
)
# Types of OpenCL, which the driver and the calls on the caller's objects alone name.
OF_OPENCL = re.compile(r"\bcl_(mem|event|kernel|program|context|command_queue|device_id|platform_id|u?int)\b|<CL/")
# Of the program's libraries, and of C11 what the library does without.
OF_PROGRAM = re.compile(r"(jansson|png|zlib|cairo[-a-z]*|mpi|signal|time)\.h|assimp/.*")


def table():
    """The rooms that each room may include: those of its row, theirs, and so on."""
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)/?` \|([^|]*)\|", text.split("<!-- arrows -->")[1], re.M)
    direct = {room: set(re.findall(r"\w+", allowed)) for room, allowed in rows}
    unknown = set.union(*direct.values()) - set(direct)
    if unknown:
        sys.exit(f"arrows: the table has no row of {', '.join(sorted(unknown))}")

    def reach(room, seen):
        for other in direct[room] - seen:
            seen |= {other}
            seen = reach(other, seen)
        return seen

    return {room: reach(room, set()) for room in direct}


def room_of(path):
    """The room of a file; None: public headers, and tables that all may read."""
    parts = path.relative_to(ROOT).parts
    if path.suffix == ".def" or parts[:2] == ("host", "include"):
        return None
    return parts[1] if parts[0] in ("host", "kernels") and len(parts) > 2 else parts[0]


def target_of(path, name):
    """The room of an included file; None where everybody may include it. False: no file of this tree by that name."""
    for folder in (path.parent, ROOT / "host", ROOT / "host/include", ROOT / "kernels", ROOT):
        if (folder / name).is_file():
            return room_of((folder / name).resolve())
    return False


def wrong_includes(allowed):
    wrong = []
    for top in ("host", "kernels", "program", "sets"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in CODE or "declarations" in path.parts:
                continue
            room, text = room_of(path), path.read_text()
            if room is not None and room not in allowed:
                wrong.append(f"{path.relative_to(ROOT)}: the table has no row of {room}")
                continue
            for name in re.findall(r"^\s*#\s*include <([^>]+)>", text, re.M):
                if path.parent.name == "os" or ANYWHERE.fullmatch(name):
                    continue
                if top not in ("program", "sets") or not OF_PROGRAM.fullmatch(name):
                    wrong.append(f"{path.relative_to(ROOT)} includes <{name}>, which is for os/")
            for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
                target, where = target_of(path, name), f"{path.relative_to(ROOT)} includes {name}"
                if target is False and "/" not in name and room in (None, "kernels"):
                    continue  # made by the build
                if target is False:
                    wrong.append(f"{where}, which is nowhere")
                elif target not in (None, room) and target not in allowed.get(room, set()):
                    wrong.append(f"{where}: {room} may not include {target}")
                elif target is not None and not name.startswith(f"{target}/"):
                    wrong.append(f"{where}, which does not name its room")
    return wrong


def wrong_types():
    """Lines of the library that name a type of OpenCL outside its rooms."""
    wrong = []
    for path in sorted((ROOT / "host").rglob("*.[ch]")):
        if room_of(path) in ("opencl", "interop") or path.name == "slabcast_cl.h":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if OF_OPENCL.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number} names a type of OpenCL")
    return wrong


def symbols(build):
    """Of each object of the library: the objects that it calls."""
    defined, used = {}, {}
    folder = build / "CMakeFiles/slab_objects.dir/host"
    for path in sorted(folder.rglob("*.o")):
        name = str(path.relative_to(folder))[: -len(".c.o")]
        if not (ROOT / "host" / f"{name}.c").is_file():
            continue  # of a source that is gone
        used[name] = set()
        for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "TDBRCVW":
                defined[words[2]] = name
            elif len(words) == 2 and words[0] == "U":
                used[name].add(words[1])
    if len(used) < 50:
        sys.exit(f"arrows: {folder} has {len(used)} objects of the library")
    return {name: {defined[s] for s in needs if s in defined} - {name} for name, needs in used.items()}


def circles(calls):
    """Objects that need each other. One that no other left object calls, or that calls none, is in no circle."""
    left = set(calls)
    while True:
        called = set().union(*(calls[name] & left for name in left)) if left else set()
        inner = {name for name in left if calls[name] & left} & called
        if inner == left:
            return left
        left = inner


def main():
    wrong = wrong_includes(table()) + wrong_types()
    if len(sys.argv) > 1:
        found = circles(symbols(Path(sys.argv[1])))
        if found:
            wrong.append(f"objects that need each other: {', '.join(sorted(found))}")
    for line in wrong:
        print(f"arrows: {line}", file=sys.stderr)
    sys.exit(bool(wrong))


main()
