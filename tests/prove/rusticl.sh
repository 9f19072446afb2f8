#!/usr/bin/env bash
# Every kind of primitive and every query on Mesa rusticl on llvmpipe, one lane wide as GPUs run them.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

on_runtime rusticl25 "Mesa rusticl on llvmpipe"
