#!/usr/bin/env python3
"""mesh_files.py PROGRAM REASONS FOLDER...: reads every mesh file below the folders by the program and by trimesh, and
compares their triangles and bounds. Prints a row for the proof; a difference that is not in REASONS goes to stderr, and
makes it fail.

A line of REASONS is a pattern of a path's end, and why the two differ or why the file is refused.
"""

import fnmatch
import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import trimesh

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

# Formats that both read. trimesh reads no others, and DXF as drawings.
ENDINGS = {"obj", "ply", "stl", "off", "gltf", "glb", "dae", "3mf"}
# Bounds are equal within this share of the largest coordinate: trimesh multiplies nodes in another order.
SHARE = 1e-5
# Files whose results differ: for a reason in REASONS, and for none.
KNOWN, UNKNOWN = "differ for a known reason", "for none"


def by_program(program: str, path: Path):
    """(triangles, bounds), or why the file is refused."""
    ended = subprocess.run([program, "info", "--mesh", str(path), "--one-geometry", "--json"], capture_output=True)
    if ended.returncode != 0:
        return ended.stderr.decode(errors="replace").strip().rpartition("rejected: ")[2]
    told = json.loads(ended.stdout)
    return told["triangles"], np.array([told["lower"], told["upper"]], float)


def by_trimesh(path: Path):
    """(triangles, bounds), or why there are none."""
    try:
        scene = trimesh.load(path, process=False)
        mesh = scene.to_mesh() if hasattr(scene, "to_mesh") else scene
        if not len(getattr(mesh, "faces", ())):
            return "no faces"
        corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)].reshape(-1, 3)
        return len(mesh.faces), np.array([corners.min(0), corners.max(0)], float)
    except Exception as error:  # any exception of a reader of files
        return f"{type(error).__name__}: {error}"


def difference(ours, theirs) -> str:
    """Empty where both read the same, or neither reads anything."""
    if isinstance(ours, str):
        return "" if isinstance(theirs, str) else f"refused ({ours}); trimesh has {theirs[0]} triangles"
    if isinstance(theirs, str):
        return ""
    if ours[0] != theirs[0]:
        return f"{ours[0]} triangles, trimesh has {theirs[0]}"
    apart = np.abs(ours[1] - theirs[1]).max()
    if apart <= SHARE * max(1e-30, np.abs(theirs[1]).max()):
        return ""
    return f"bounds {ours[1].tolist()}, trimesh has {theirs[1].tolist()}"


def main() -> int:
    program, reasons = sys.argv[1], Path(sys.argv[2])
    lines = [line.split(maxsplit=1) for line in reasons.read_text().splitlines() if line and line[0] != "#"]
    counts = dict.fromkeys(("equal", "read by neither", "by the program alone", KNOWN, UNKNOWN), 0)
    for folder in sys.argv[3:]:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix.lower()[1:] not in ENDINGS or not path.is_file():
                continue
            ours, theirs = by_program(program, path), by_trimesh(path)
            told = difference(ours, theirs)
            why = next((why for pattern, why in lines if fnmatch.fnmatch(str(path), "*/" + pattern)), None)
            if told and why is None:
                counts[UNKNOWN] += 1
                print(f"{path}: {told}", file=sys.stderr)
            elif told:
                counts[KNOWN] += 1
            elif isinstance(theirs, str):
                counts["read by neither" if isinstance(ours, str) else "by the program alone"] += 1
            else:
                counts["equal"] += 1
    total = sum(counts.values())
    print(
        f"third-party mesh files: triangles and bounds as trimesh {trimesh.__version__} reads them | "
        f"none unexplained | {total} files: " + ", ".join(f"{count} {name}" for name, count in counts.items())
    )
    return 1 if counts[UNKNOWN] or total == 0 else 0


sys.exit(main())
