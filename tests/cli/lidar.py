"""Files for lidar.sh, and comparisons: tables of a sensor, its rays by the contract's formula, and points with ids.

lidar.py tables SEED BEAMS POSES SPIN FOLDER   beams.csv, poses.txt and rays.txt, of SPIN firings at each pose (0: one),
                                               six.txt, beams of six numbers, and six_rays.txt
lidar.py same PLY CSV BEAMS [FIRST]            the points are the hits of the csv, which `cast --points` made of the
                                               rays from FIRST on, with the ids of a sensor of BEAMS beams
"""

import csv
import math
import random
import struct
import sys
from fractions import Fraction


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def nearest(exact):
    """The float that is nearest to a fraction, ties to even."""
    if exact < 0:
        return -nearest(-exact)
    bits = struct.unpack("<I", struct.pack("<f", float(exact)))[0]
    around = [(b, struct.unpack("<f", struct.pack("<I", b))[0]) for b in range(max(bits, 1) - 1, bits + 2)]
    return min(around, key=lambda b: (abs(Fraction(b[1]) - exact), b[0] & 1))[1]


def fma(a, b, c):
    return nearest(Fraction(a) * Fraction(b) + Fraction(c))


def turned(pose, degrees):
    angle = math.radians(degrees)
    cosine, sine = (round(f(angle)) if degrees % 90 == 0 else f(angle) for f in (math.cos, math.sin))
    rows = [pose[k : k + 4] for k in (0, 4, 8)]
    return [n for x, y, z, t in rows for n in (f32(cosine * x + sine * y), f32(cosine * y - sine * x), z, t)]


def ray(pose, beam):
    """o and d of a beam from a pose, in the contract's order of operations."""
    o, d = beam[:3], beam[3:]
    rows = [pose[k : k + 4] for k in (0, 4, 8)]
    origin = [fma(m[2], o[2], fma(m[1], o[1], fma(m[0], o[0], m[3]))) for m in rows]
    return origin + [fma(m[2], d[2], fma(m[1], d[1], nearest(Fraction(m[0]) * Fraction(d[0])))) for m in rows]


def beam_of(elevation, azimuth):
    e, a = math.radians(elevation), math.radians(azimuth)
    return [0.0] * 3 + [f32(math.cos(e) * math.cos(a)), f32(math.cos(e) * math.sin(a)), f32(math.sin(e))]


def write(path, rows, names=None):
    with open(path, "w", encoding="ascii") as file:
        if names:
            print(names, file=file)
        for row in rows:
            print(*(f"{value:.9g}" for value in row), sep="," if names else " ", file=file)


def make_tables(seed, beams, poses, spin, folder):
    pick = random.Random(seed)
    angles = [(f32(pick.uniform(-25, 15)), f32(pick.uniform(-2, 2))) for _ in range(beams)]
    six = [[f32(pick.uniform(-0.1, 0.1)) for _ in range(3)] + [f32(pick.gauss(0, 1)) for _ in range(3)] for _ in angles]
    where = [[f32(pick.gauss(0, 1) if k % 4 < 3 else pick.uniform(-0.7, 0.7)) for k in range(12)] for _ in range(poses)]
    firings = [turned(p, f32(360 * i / spin)) for p in where for i in range(spin)] if spin else where
    write(f"{folder}/beams.csv", [(a, e) for e, a in angles], "azimuth,elevation")
    write(f"{folder}/six.txt", six)
    write(f"{folder}/poses.txt", where)
    write(f"{folder}/rays.txt", [ray(pose, beam_of(*a)) for pose in firings for a in angles])
    write(f"{folder}/six_rays.txt", [ray(pose, beam) for pose in firings for beam in six])


def read_ply(path):
    with open(path, "rb") as file:
        data = file.read()
    end = data.index(b"\nend_header\n") + 12
    lines = data[:end].decode("ascii").splitlines()
    fields = [line.split()[1:] for line in lines if line.startswith("property")]
    row = struct.Struct("<" + "".join({"float": "f", "uint": "I", "double": "d"}[kind] for kind, _ in fields))
    count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))
    assert len(data) - end == count * row.size, "the rows are not as many as the header says"
    return [dict(zip([name for _, name in fields], r, strict=True)) for r in row.iter_unpack(data[end:])]


def compare(path, lines, beams, first):
    """Prints how many points there are, and the largest number of one among its ray's."""
    wanted, before, nth = [], None, 0
    with open(lines, newline="", encoding="ascii") as file:
        for i, line in enumerate(csv.DictReader(file)):
            number = int(line.pop("ray", first + i))
            nth = nth + 1 if number == before else 1
            before = number
            if int(line["primitive"]) >= 0xFFFFFFFE:
                continue
            row = {key.replace("normal_", "n"): f32(float(value)) for key, value in line.items()}
            row["primitive"], row["geometry"] = int(line["primitive"]), int(line["geometry"])
            ids = {"firing": number // beams, "beam": number % beams, "return": nth, "ray": float(number)}
            wanted.append(row | ids)
    points = read_ply(path)
    assert points == wanted, f"{path}: other points than in {lines}: {len(points)}, {len(wanted)}"
    assert list(points[0]) == "x y z t nx ny nz u v primitive geometry firing beam return ray".split()
    print(len(points), max(p["return"] for p in points))


task, *arguments = sys.argv[1:]
if task == "tables":
    make_tables(*map(int, arguments[:4]), arguments[4])
else:
    compare(*arguments[:2], int(arguments[2]), int(arguments[3]) if arguments[3:] else 0)
