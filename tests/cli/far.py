"""A scene with rays and points near 0, and the same ones far from there, for far.sh, and whether answers are the same.

far.py make                       near_*.csv and far_*.csv, near.obj and far.obj, far_rays.npy and far_points.npy
far.py origin                     where the far ones are, as --origin takes it
far.py hits NEAR FAR [COLUMNS]    a csv of the far rays has the near one's answers; of COLUMNS those of places
far.py close NEAR FAR             the same but for rounding: other origins give other floats
far.py ply NEAR FAR PLACES        the same of points: their first PLACES properties are double there and moved
"""

import csv
import math
import random
import struct
import sys

# Floats are multiples of 2^-6 below 2^6 here, so that nothing is rounded: far ones in double, near ones in float.
ORIGIN = (4194304.25, -2097152.5, 65536.125)
STEP = 64
REALS = ("t", "enter", "leave")


def coordinate(pick, most):
    return pick.randint(-most * STEP, most * STEP) / STEP


def moved(place):
    return [x + by for x, by in zip(place, ORIGIN)]


def write(name, header, rows):
    with open(name, "w", encoding="ascii") as file:
        print(*header, sep=",", file=file)
        for row in rows:
            print(*(repr(x) for x in row), sep=",", file=file)


def write_npy(name, rows):
    shape = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = shape.ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{len(row)}d", *row))


def make_both(name, header, rows, move):
    write(f"near_{name}.csv", header, rows)
    write(f"far_{name}.csv", header, [move(row) for row in rows])


def move_plane(row):
    return [*row[:3], row[3] + sum(n * by for n, by in zip(row, ORIGIN))]


def move_mesh(pick):
    vertices = [[coordinate(pick, 20) for _ in range(3)] for _ in range(60)]
    for name, places in ("near.obj", vertices), ("far.obj", map(moved, vertices)):
        with open(name, "w", encoding="ascii") as file:
            for place in places:
                print("v", *(repr(x) for x in place), file=file)
            for i in range(1, 59):
                print("f", i, i + 1, i + 2, file=file)


def make():
    pick = random.Random(7)
    place = lambda most=20: [coordinate(pick, most) for _ in range(3)]
    size = lambda: pick.randint(1, 4 * STEP) / STEP
    axes = ["x", "y", "z"]
    spheres = [[*place(), size()] for _ in range(40)]
    # All rays begin within the bounds of these two: others would begin there, and t would be rounded otherwise.
    spheres += [[x, x, x, 0.25] for x in (-60.0, 60.0)]
    make_both("spheres", [*axes, "radius"], spheres, lambda r: [*moved(r[:3]), r[3]])
    corners = [place() for _ in range(40)]
    boxes = [[*low, *(x + size() for x in low)] for low in corners]
    make_both("boxes", [p + a for p in "lu" for a in axes], boxes, lambda r: moved(r[:3]) + moved(r[3:]))
    turned = [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    obbs = [[*place(), size(), size(), size(), *turned] for _ in range(20)]
    names = ["cx", "cy", "cz", "hx", "hy", "hz", *(p + a for p in "uvw" for a in axes)]
    make_both("obbs", names, obbs, lambda r: moved(r[:3]) + r[3:])
    make_both("planes", ["nx", "ny", "nz", "offset"], [[0.0, 0.0, 1.0, -24.0], [1.0, 0.5, 0.0, 30.0]], move_plane)
    move_mesh(pick)
    directions = [[pick.randint(-8, 8) / 4 for _ in range(2)] + [pick.choice([-2.0, -0.5, 1.0])] for _ in range(600)]
    rays = [[*place(30), *d] for d in directions]
    make_both("rays", [p + a for p in "od" for a in axes], rays, lambda r: moved(r[:3]) + r[3:])
    write_npy("far_rays.npy", [moved(r[:3]) + r[3:] for r in rays])
    ends = [[*place(30), *place(30)] for _ in range(300)]
    make_both("segments", [p + a for p in "ab" for a in axes], ends, lambda r: moved(r[:3]) + moved(r[3:]))
    points = [place(30) for _ in range(400)]
    make_both("points", axes, points, moved)
    write_npy("far_points.npy", [moved(p) for p in points])
    poses = [[1.0, 0.0, 0.0, p[0], 0.0, 0.0, -1.0, p[1], 0.0, 1.0, 0.0, p[2]] for p in (place(10) for _ in range(5))]
    names = [f"m{row}{column}" for row in range(3) for column in range(4)]
    make_both("poses", names, poses, lambda r: [x + (ORIGIN[i // 4] if i % 4 == 3 else 0) for i, x in enumerate(r)])


def as_float(text):
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


def is_close(near, far):
    """Whether places are one but for a float's rounding."""
    return abs(near - far) <= 2e-5 + 5e-7 * abs(near)


def rows_of(name):
    with open(name, encoding="ascii") as file:
        return list(csv.DictReader(file))


def check(holds, *what):
    if not holds:
        sys.exit("far.py: " + " ".join(map(str, what)))


def compare_hits(near_name, far_name, places):
    near, far = rows_of(near_name), rows_of(far_name)
    check(len(near) == len(far) > 0, len(near), "and", len(far), "rows")
    finite = 0
    for i, (a, b) in enumerate(zip(near, far)):
        for name in a:
            if name in places:
                by = ORIGIN["xyz".index(name[-1])]
                wanted, found = float(a[name]), float(b[name]) - by
                same = wanted == found or is_close(wanted, found)
            elif name in REALS:
                same = as_float(a[name]) == as_float(b[name])
                finite += abs(float(b[name])) < 1e30
                # Directions are scaled by a power of two, and so is the order.
                same = same and (
                    "order" not in b or math.frexp(as_float(b["order"]))[0] == math.frexp(as_float(a["t"]))[0]
                )
            else:
                same = a[name] == b[name]
            check(same, f"row {i}: {name} is {b[name]} far away, and {a[name]}")
    check(finite > len(near) / 8 or not set(REALS) & set(near[0]), "only", finite, "hits of", len(near))


def compare_close(near_name, far_name):
    near, far = rows_of(near_name), rows_of(far_name)
    check(len(near) == len(far) > 0, len(near), "and", len(far), "rows")
    same = [
        a["primitive"] == b["primitive"] and (a["t"] == b["t"] or abs(float(a["t"]) - float(b["t"])) <= 1e-4)
        for a, b in zip(near, far)
    ]
    check(sum(same) > 0.99 * len(near), "only", sum(same), "of", len(near), "rays have the same answer")


def read_ply(name):
    with open(name, "rb") as file:
        head, rest = file.read().split(b"end_header\n", 1)
    lines = [line.split() for line in head.decode().splitlines()]
    letters = {"float": "f", "double": "d", "uint": "I", "uchar": "B", "int": "i"}
    kinds = [letters[words[1]] for words in lines if words[0] == "property"]
    return kinds, list(struct.iter_unpack("<" + "".join(kinds), rest))


def compare_points(near_name, far_name, places):
    (near_kinds, near), (far_kinds, far) = read_ply(near_name), read_ply(far_name)
    check(near_kinds[:places] == ["f"] * places, near_name, "has", near_kinds)
    check(far_kinds[:places] == ["d"] * places, far_name, "has", far_kinds)
    check(len(near) == len(far) > 0, len(near), "and", len(far), "points")
    for i, (a, b) in enumerate(zip(near, far)):
        for k in range(places):
            check(is_close(a[k], b[k] - ORIGIN[k % 3]), f"point {i}: {b[k]} far away, and {a[k]}")
        check(a[-1] == b[-1], f"point {i}: of ray {b[-1]} far away, and {a[-1]}")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "make":
        make()
    elif command == "origin":
        print(*map(repr, ORIGIN), sep=",")
    elif command == "hits":
        compare_hits(rest[0], rest[1], rest[2:])
    elif command == "close":
        compare_close(*rest)
    else:
        compare_points(rest[0], rest[1], int(rest[2]))
