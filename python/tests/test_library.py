"""Where the package looks for the library, on each system."""

import ctypes
import importlib.metadata
import os
import sys

import pytest

from slabcast import _library

FILES = {
    "linux": ("libslabcast.so", "libslabcast.so.3.7"),
    "darwin": ("libslabcast.dylib", "libslabcast.3.7.dylib"),
    "win32": ("slabcast.dll", "slabcast.dll"),
}


@pytest.fixture(params=FILES)
def files(request, monkeypatch):
    """The files of a system, whose loader finds none of them."""

    def refused(name):
        raise OSError(f"{name} refused")

    monkeypatch.setattr(sys, "platform", request.param)
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "3.7.9")
    monkeypatch.setattr(ctypes, "CDLL", refused)
    return FILES[request.param]


def test_the_library_beside_the_modules_comes_first(files, monkeypatch):
    monkeypatch.setattr(os.path, "exists", lambda path: os.path.basename(path) == files[0])
    monkeypatch.setattr(ctypes, "CDLL", lambda name: name)
    assert _library._open() == os.path.join(os.path.dirname(_library.__file__), files[0])


def test_the_library_of_the_system_is_of_this_version(files, monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: name)
    assert _library._open() == files[1]


def test_without_a_library_both_names_are_told(files):
    with pytest.raises(ImportError) as told:
        _library._open()
    for name in (os.path.join(os.path.dirname(_library.__file__), files[0]), f"no {files[1]}: {files[1]} refused"):
        assert name in str(told.value)


def test_without_library_and_metadata_the_package_is_not_installed(files, monkeypatch):
    def unknown(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", unknown)
    with pytest.raises(ImportError, match="slabcast is not installed"):
        _library._open()
