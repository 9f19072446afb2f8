#!/usr/bin/env bash
# Rays through edges and vertices of closed meshes with integer vertices: unions of cubes, an octahedron; here and far
# from the origin; flat and as trees.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify edges "$(scaled 1000000000)"
row "rays aimed at shared edges and vertices of closed meshes: rays, leaks" ">= 1e9, 0; >= 30 % of the rays with an exactly zero edge function" \
  "$(sum_of rays) rays, $(share_of "exactly zero edge functions") with an exactly zero edge function: $(sum_of leaks) leaks"
row "the same rays, wrong crossing counts" 0 "$(sum_of "wrong counts")"
finish
