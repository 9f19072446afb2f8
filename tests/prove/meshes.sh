#!/usr/bin/env bash
# Mesh files that nobody here wrote, read by the program and by trimesh: those of the import library's own tests, of
# trimesh's sources and of PyBullet's data. Needs Debian's archive and PyPI.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

{
  (cd "$PROVE_WORK" && apt-get download assimp-testmodels && dpkg -x assimp-testmodels*.deb assimp)
  python3 -m venv "$PROVE_WORK/venv"
  pip=$PROVE_WORK/venv/bin/pip
  "$pip" install -q 'trimesh[easy]'
  "$pip" download -q --no-deps --no-binary :all: -d "$PROVE_WORK" trimesh
  "$pip" download -q --no-deps -d "$PROVE_WORK" pybullet
  mkdir "$PROVE_WORK"/{trimesh,pybullet}
  tar -xf "$PROVE_WORK"/trimesh-*.tar.gz -C "$PROVE_WORK/trimesh"
  python3 -m zipfile -e "$PROVE_WORK"/pybullet-*.whl "$PROVE_WORK/pybullet"
} >&2
SLABCAST_BACKENDS=native "$PROVE_WORK/venv/bin/python" tests/prove/mesh_files.py "$SLABCAST" tests/prove/mesh_files.txt \
  "$PROVE_WORK"/{assimp,trimesh,pybullet}
