#!/usr/bin/env bash
# pages.sh WHAT ...: follows README and the pages to the letter.
#
#   shell BUILD PAGE...          installs BUILD, and follows the pages with nothing of this checkout at hand
#   shell-at PREFIX PAGE...      the same with the installation in PREFIX, where compilers and the loader look
#   python INTERPRETER PAGE...   their Python, by an interpreter that has the package
#   links                        every file that a document of this checkout links to is there; not
#                                to folders, of which the site has no page
#
# Of a page's blocks of code `sh` is run, by one shell after the other in a folder that begins empty. `c` is a program,
# saved under the name that the text before it gives; `sh` then compiles it. Without a name it is there to be read.
# `python` is run, all of a page as one session. `text` after one of these is its output. Other blocks, such as
# `console`, are there to be read.
set -euo pipefail

# shellcheck source=tests/script.sh
source "$(dirname "${BASH_SOURCE[0]}")/script.sh"

# blocks PAGE FOLDER: each block of code there as NUMBER.LANGUAGE, a program in C as NUMBER.c=NAME.
blocks() {
  awk -v to="$2" '
    /^```/ && inside { inside = 0; close(file); next }
    inside { print >file; next }
    /^```/ {
      inside = 1
      language = substr($0, 4)
      file = sprintf("%s/%03d.%s", to, ++number, language)
      if (language == "c" && name) file = file "=" name
      name = ""
      printf "" >file
      next
    }
    match($0, /`[a-z_]+\.c`/) { name = substr($0, RSTART + 1, RLENGTH - 2) }
  ' "$1"
}

# same PROMISED PRINTED: a block's output is the one in the page.
same() { diff -u "$1" "$2" >&2 || fail "$page: a block prints something else than the page says"; }

# follow PREFIX PAGE: as someone does who has installed it; with `told`, the variables for an installation in a place of
# one's own.
follow() {
  local prefix=$1 block last='' ran=0
  mkdir -p "$work/home"
  for block in "$work/blocks"/*; do
    case $block in
      *.c=*)
        cp "$block" "$work/home/${block#*=}"
        # One that is an example too is that to the letter.
        [[ ${block#*=} != closest.c ]] || same examples/closest.c "$block"
        ;;
      *.sh)
        last=$work/printed
        ran=$((ran + 1))
        (cd "$work/home" && env -i HOME="$work/home" PATH="$prefix/bin:/usr/bin:/bin" "${told[@]}" \
          SLABCAST_BACKENDS="${SLABCAST_BACKENDS-}" sh -eu "$block") >"$last" 2>&1 ||
          fail "$page: its shell says $(<"$last")"
        continue
        ;;
      *.text) [[ ! $last ]] || same "$block" "$last" ;;
    esac
    last=''
  done
  ((ran)) || fail "$page: no shell to follow"
}

# session PAGE: a line of ---- between what its blocks print.
session() {
  local block last=''
  : >"$work/session.py"
  : >"$work/promised"
  for block in "$work/blocks"/*; do
    case $block in
      *.python) cat "$block" >>"$work/session.py" && echo 'print("----")' >>"$work/session.py" ;;
      *.text) [[ $last != *.python ]] || cat "$block" >>"$work/promised" ;;
    esac
    # A block without a text after it prints nothing.
    if [[ $last == *.python ]]; then echo ---- >>"$work/promised"; fi
    last=$block
  done
  if [[ $last == *.python ]]; then echo ---- >>"$work/promised"; fi
  [[ -s $work/session.py ]] || fail "$page: no Python"
  (cd "$work" && env -i SLABCAST_BACKENDS="${SLABCAST_BACKENDS-}" "$interpreter" -I session.py) >"$work/printed" ||
    fail "$page: its Python fails"
  same "$work/promised" "$work/printed"
}

# each FUNCTION ARGUMENT PAGE...
each() {
  for page in "${@:3}"; do
    rm -rf "${work:?}"/{blocks,home}
    mkdir "$work/blocks"
    blocks "$page" "$work/blocks"
    "$1" "$2"
    echo "$page: done as it tells"
  done
}

# links: but for what `./dev docs` draws.
links() {
  local page link broken=0
  while read -r page; do
    while read -r link; do
      [[ -f ${page%/*}/${link%%#*} || $link == drawings/* ]] || { echo "$page links to $link, which is no file" >&2 && broken=1; }
    done < <(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//; /^https*:/d; /^#/d')
  done < <(find ./*.md docs packaging python tests -name '*.md')
  ((!broken)) || fail "links lead nowhere"
}

cd "$root"
told=()
case ${1-} in
  shell)
    quietly cmake --install "$2" --prefix "$work/prefix"
    libraries=$(dirname "$(find "$work/prefix" -name slabcast.pc)")
    told=(PKG_CONFIG_PATH="$libraries" LD_LIBRARY_PATH="${libraries%/pkgconfig}")
    each follow "$work/prefix" "${@:3}"
    ;;
  shell-at) each follow "$2" "${@:3}" ;;
  python)
    interpreter=$(realpath -s "$2")
    [[ -x $interpreter ]] || { echo "pages: python_package made no $interpreter" >&2 && exit 77; }
    each session '' "${@:3}"
    ;;
  links) links ;;
  *) fail "usage: pages.sh shell BUILD PAGE... | shell-at PREFIX PAGE... | python INTERPRETER PAGE... | links" ;;
esac
