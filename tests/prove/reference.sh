#!/usr/bin/env bash
# Wild scenes and rays, every query, kind and option: the device's bits are the CPU reference's.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify closest,distance,any,count,all,interval,planes,spheres,boxes,obbs,triangles,mask,masks,skip,cull,segments,\
ranges "$(scaled 100000000)"
row "rays bit-equal between device and CPU reference" "1e8, 0 differ" \
  "$(sum_of cases) rays: $(sum_of failures) differ or are proved wrong ($(sum_of judged) of them judged by the oracle)"

verify after "$(scaled 10000000)"
row "rays that go from hit to hit by after, against what all lists" "1e7, 0 differ" \
  "$(sum_of rays) rays, $(sum_of 'hits walked') hits: $(sum_of failures) differ or are proved wrong"
finish
