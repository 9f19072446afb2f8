"""Files for points.sh, and comparisons: meshes with names at random, and results in PLY with the same results in csv.

points.py mesh SEED FILE          a glTF of one triangle per node, at x = 0, 1, ...; its names are any texts
points.py same PLY CSV JSON       the points are the hits of the csv, made with --points; names are those of the summary
points.py faces PLY FILE          the same points with faces, three points each
"""

import base64
import csv
import json
import math
import random
import struct
import sys

TYPES = {"float": "f", "double": "d", "uint": "I"}
MISS = (4294967294, 4294967295)


def make_name(pick):
    """A name of letters that formats, shells and headers may stumble over, up to beyond 255 bytes."""
    letters = pick.choice(["ab cZ_9", "\"\\'{}#,;:=", "äöüßéñ", "日本語한국", "😀🚗𝔘", 'a é日😀"\\ \t'])
    size = pick.choice([1, 2, 7, 30, 254, 255, 256, 400])
    return pick.choice(["", " ", "  "]) + "".join(pick.choices(letters, k=size)) + pick.choice(["", " "])


def make_mesh(seed, path):
    pick = random.Random(seed)
    names = [
        "wheel_left",
        "end_header",
        "element vertex 9",
        "line\nbreak\r\nelement face 1",
        "\\u0041",
        "tab\there",
        "\x7f\x85\u2028",
    ]
    names += [letter * 255 for letter in '"\\é日😀'] + [make_name(pick) for _ in range(40)]
    points = struct.pack("<9f", 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0)
    buffer = "data:application/octet-stream;base64," + base64.b64encode(points).decode()
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(names)))}],
        "nodes": [{"name": name, "mesh": 0, "translation": [i, 0, 0]} for i, name in enumerate(names)],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0.5, 0.5, 0]}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)}],
        "buffers": [{"byteLength": len(points), "uri": buffer}],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)


class Ply:
    """A header of ASCII lines of at most 1,023 bytes, as rply takes them, and rows."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        end = data.index(b"\nend_header\n") + 12
        self.header = data[:end]
        lines = self.header.decode("ascii").splitlines()
        assert lines[:2] == ["ply", "format binary_little_endian 1.0"] and max(map(len, lines)) < 1024
        assert all(32 <= byte < 127 or byte == 10 for byte in self.header)
        self.comments = [line.removeprefix("comment ") for line in lines if line.startswith("comment ")]
        elements = [line.split() for line in lines if line.startswith("element")]
        assert [e[:2] for e in elements] == [["element", "vertex"]]
        fields = [line.split()[1:] for line in lines if line.startswith("property")]
        self.names = [name for _, name in fields]
        row = struct.Struct("<" + "".join(TYPES[kind] for kind, _ in fields))
        self.body = data[end:]
        assert len(self.body) == int(elements[0][2]) * row.size, "the rows are not as many as the header says"
        self.rows = [dict(zip(self.names, values, strict=True)) for values in row.iter_unpack(self.body)]


def wanted_row(line, ray):
    """A line of csv as a row of PLY."""
    names = {"normal_x": "nx", "normal_y": "ny", "normal_z": "nz", "enter_x": "x", "enter_y": "y", "enter_z": "z"}
    row = {names.get(key, key): float(value) for key, value in line.items() if key != "name"}
    return {"ray": ray, **row}


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def compare(path, lines, names, first):
    ply = Ply(path)
    with open(lines, newline="", encoding="utf-8") as file:
        rows = [wanted_row(line, first + i) for i, line in enumerate(csv.DictReader(file))]
    wanted = [
        {k: as_float(v) if k not in ("ray", "primitive", "geometry") else v for k, v in row.items()}
        for row in rows
        if row.get("primitive") not in MISS and all(map(math.isfinite, (row["x"], row["y"], row["z"])))
    ]
    assert ply.rows == wanted, f"{path}: other points than in {lines}: {len(ply.rows)}, {len(wanted)}"
    assert ply.names[:3] == ["x", "y", "z"] and ply.names[-1] == "ray"
    with open(names, encoding="utf-8") as file:
        parts = json.load(file).get("names", []) if "geometry" in ply.names else []
    told = [comment.split(" ", 2)[1:] for comment in ply.comments if comment.startswith("geometry ")]
    assert [(int(g), json.loads(f'"{n}"')) for g, n in told] == [(p["geometry"], p["name"]) for p in parts], (
        f"{path}: other names"
    )
    assert all(n == n.strip() for _, n in told), "blanks at the end of a line are lost"
    print(len(ply.rows), len(told))


def add_faces(path, out):
    ply = Ply(path)
    count = len(ply.rows) // 3
    element = b"element face %d\nproperty list uchar uint vertex_indices\nend_header\n" % count
    faces = b"".join(struct.pack("<BIII", 3, 3 * i, 3 * i + 1, 3 * i + 2) for i in range(count))
    with open(out, "wb") as file:
        file.write(ply.header.removesuffix(b"end_header\n") + element + ply.body + faces)


task, *arguments = sys.argv[1:]
if task == "mesh":
    make_mesh(int(arguments[0]), arguments[1])
elif task == "same":
    compare(*arguments[:3], int(arguments[3]) if arguments[3:] else 0)
else:
    add_faces(*arguments)
