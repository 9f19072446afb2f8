#!/usr/bin/env bash
# Every kind of primitive and every query on PoCL of Debian unstable, in a folder of its own.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

on_runtime pocl7 "PoCL of Debian unstable"
