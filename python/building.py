"""The build backend of pyproject.toml: scikit-build-core, which gets a compiler for the vector kernels.

The compiler is this machine's clang. Where there is none, the build requires the wheel ziglang, which has one.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Any, Optional

from scikit_build_core import build as scikit
from scikit_build_core.build import (  # noqa: F401 # hooks as they are
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

Settings = Optional[dict[str, Any]]
ZIG = "ziglang==0.17.1"
OLDEST, NEWEST = 14, 22
PROCESSORS = ("x86_64", "amd64", "aarch64", "arm64")  # for which cmake/native.cmake has vector levels


def _clang() -> str | None:
    """The path of this machine's newest clang that is new enough."""
    for name in [*(f"clang-{version}" for version in range(NEWEST, OLDEST - 1, -1)), "clang"]:
        path = shutil.which(name)
        said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout if path else ""
        version = re.search(r"clang version (\d+)", said)
        if version and int(version[1]) >= OLDEST:
            return path
    return None


def _asked(settings: Settings, name: str) -> str | None:
    """The user's value of an option of CMake: by pip's -C cmake.define.NAME=, or in CMAKE_ARGS."""
    given = (settings or {}).get(f"cmake.define.{name}")
    found = re.search(rf"-D{name}(?::\w+)?=(\S*)", os.environ.get("CMAKE_ARGS", ""))
    return str(given) if given is not None else found[1] if found else None


def _lacks_compiler(settings: Settings) -> bool:
    scalar = _asked(settings, "SLABCAST_NATIVE") in ("c11", "OFF") or platform.machine().lower() not in PROCESSORS
    return not scalar and _asked(settings, "SLABCAST_KERNEL_COMPILER") is None and _clang() is None


def _with_compiler(settings: Settings) -> Settings:
    if _asked(settings, "SLABCAST_KERNEL_COMPILER") is not None:
        return settings
    zig = f"{sys.executable};-m;ziglang;clang" if find_spec("ziglang") else ""
    return {**(settings or {}), "cmake.define.SLABCAST_KERNEL_COMPILER": _clang() or zig}


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return scikit.get_requires_for_build_wheel(config_settings) + [ZIG] * _lacks_compiler(config_settings)


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return scikit.get_requires_for_build_editable(config_settings) + [ZIG] * _lacks_compiler(config_settings)


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    return scikit.build_wheel(wheel_directory, _with_compiler(config_settings), metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    return scikit.build_editable(wheel_directory, _with_compiler(config_settings), metadata_directory)
