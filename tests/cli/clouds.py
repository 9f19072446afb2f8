"""clouds.py PLY POINTS VALUES SUMMARY: the PLY that `slabcast view` wrote has the points of the csv POINTS.

Each has its normal, its value of the csv VALUES and its index; those without a value are left out. Colours rise with
the values, and the summary has their mean, least and most.
"""

import csv
import json
import math
import struct
import sys

FORMS = {"float": "f", "double": "d", "uchar": "B", "uint": "I"}


def read_ply(path):
    with open(path, "rb") as file:
        names, form, count = [], "<", 0
        while (line := file.readline().split()) != [b"end_header"]:
            if line[0] == b"element":
                count = int(line[2])
            if line[0] == b"property":
                names.append(line[2].decode())
                form += FORMS[line[1].decode()]
        data = file.read()
    rows = [dict(zip(names, row)) for row in struct.iter_unpack(form, data)]
    assert len(rows) == count, f"{len(rows)} rows, {count} are told"
    return rows


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)


def main():
    cloud, points = read_ply(sys.argv[1]), list(csv.DictReader(open(sys.argv[2])))
    values = [float(row["sky"]) for row in csv.DictReader(open(sys.argv[3]))]
    summary = json.load(open(sys.argv[4]))
    left = [i for i, value in enumerate(values) if not math.isnan(value)]
    assert [int(row["point"]) for row in cloud] == left, "other points are left out"
    for row in cloud:
        given = {name: float(points[int(row["point"])][name]) for name in ("x", "y", "z", "nx", "ny", "nz")}
        length = math.hypot(given["nx"], given["ny"], given["nz"])
        for name, number in given.items():
            assert near(row[name], number / length if name[0] == "n" else number), (row, given)
        assert near(row["sky"], values[int(row["point"])]), row
    by_value = sorted(cloud, key=lambda row: row["sky"])
    assert all(a["green"] <= b["green"] for a, b in zip(by_value, by_value[1:])), "colours do not rise"
    shown = [values[i] for i in left]
    told = [summary["mean"], summary["least"], summary["most"]]
    assert all(near(*pair) for pair in zip(told, [sum(shown) / len(shown), min(shown), max(shown)])), told
    assert summary["points"] == len(values) and summary["invalid"] == len(values) - len(left), summary


main()
