#!/usr/bin/env bash
# Every kind of primitive and every query on Oclgrind, one lane wide as GPUs run them, with its checks of the API, races and
# uninitialised values.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

on_runtime oclgrind Oclgrind
