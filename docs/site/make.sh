#!/usr/bin/env bash
# make.sh WHAT: the site of these documents.
#
#   headers FOLDER       the public headers as XML in FOLDER; fails where a comment is missing or not understood
#   site BUILD FOLDER    the whole site in FOLDER/html, by the program, the library and the drawings' data of BUILD
#
# Any warning is an error. Its tools come from PyPI into FOLDER/tools; exit code 77, a test skipped, where they do not.
# It is made of FOLDER/source, a copy of the repository with the drawings.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

headers() {
  rm -rf "$1"
  mkdir -p "$1"
  doxygen - < <(cat "$root/docs/site/Doxyfile" && echo "INPUT = \"$root/host/include\"" && echo "OUTPUT_DIRECTORY = \"$1\"")
}

# tools FOLDER: made anew where the requirements have changed.
tools() {
  cmp -s "$root/docs/site/requirements.txt" "$1/filled" && return
  rm -rf "$1"
  # Little of it is run, so it is not compiled: that halves the time.
  { python3 -m venv "$1" && "$1/bin/pip" install --disable-pip-version-check -q --no-compile \
    -r "$root/docs/site/requirements.txt"; } || {
    echo "make: not made, since its tools could not be fetched" >&2
    exit 77
  }
  cp "$root/docs/site/requirements.txt" "$1/filled"
}

# copy FOLDER: the pages' sources, and the files that they link to.
copy() {
  rm -rf "$1"
  mkdir -p "$1"
  cp -r "$root"/{bench,cmake,docs,examples,host,kernels,python,tests,tools} "$root"/*.md "$root"/LICENSE "$1"
  mkdir -p "$1/docs/drawings"
}

# package BUILD FOLDER: the Python package, not installed, with the library of BUILD.
package() {
  mkdir -p "$2/slabcast"
  ln -sf "$root"/python/slabcast/*.py "$2/slabcast"
  ln -sf "$(realpath "$1"/lib*/libslabcast.so "$1"/libslabcast.so 2>/dev/null | head -n 1)" "$2/slabcast/libslabcast.so"
}

site() {
  local build to
  build=$(realpath "$1") to=$(realpath -m "$2")
  tools "$to/tools"
  copy "$to/source"
  headers "$to/headers"
  package "$build" "$to/python"
  export SLABCAST_DOCS_SOURCE=$to/source SLABCAST_DOCS_XML=$to/headers/xml PYTHONPATH=$to/python PYTHONDONTWRITEBYTECODE=1
  "$build/bin/slab_drawings" >"$to/drawings.txt"
  "$to/tools/bin/python" -W error "$root/docs/site/drawings.py" "$to/drawings.txt" "$to/source/docs/drawings"
  "$root/docs/drawings.sh" "$build/bin/slabcast" "$to/source/docs/drawings"
  "$to/tools/bin/python" -m sphinx -q -W --keep-going -d "$to/doctrees" -c "$root/docs/site" "$to/source" "$to/html"
  echo '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">Slabcast</a>' \
    >"$to/html/index.html"
  echo "$to/html/index.html"
}

case ${1-} in
  headers | site) "$1" "${@:2}" ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
esac
