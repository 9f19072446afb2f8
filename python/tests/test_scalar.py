"""A processor without vector kernels causes a warning, once and by its device; one that has them does not."""

import subprocess
import sys
from pathlib import Path

import pytest

import slabcast
from slabcast import _device

VECTORS = "import warnings; warnings.simplefilter('error'); import slabcast"


def processor(**other):
    (made,) = [device for device in slabcast.devices() if device.platform == "Slabcast processor"][:1]
    return made._replace(**other)


@pytest.mark.parametrize("lanes", [1, 8, 16, 4])
def test_a_processor_of_one_lane_warns_and_says_so(monkeypatch, lanes):
    device = processor(lane_width=lanes)
    assert ("8 to 38 times" in repr(device)) == device.is_scalar == (lanes == 1)
    assert repr(device).startswith(f"Device(name={device.name!r}, ") and f"lane_width={lanes}" in repr(device)
    told = []
    monkeypatch.setattr(_device, "device_of", lambda info: device)
    monkeypatch.setattr(_device, "warn", lambda kind, name, text: told.append((kind, text)))
    _device.warn_where_scalar()
    assert [kind for kind, _ in told] == [slabcast.ScalarWarning] * (lanes == 1)


def test_a_gpu_of_one_lane_is_not_scalar():
    for platform in ("NVIDIA CUDA", "AMD Accelerated Parallel Processing", "Portable Computing Language"):
        assert not processor(lane_width=1, platform=platform).is_scalar


def test_the_import_warns_where_kernels_are_scalar():
    run = subprocess.run(
        [sys.executable, "-c", VECTORS], capture_output=True, text=True, cwd=Path(slabcast.__file__).parents[1]
    )
    assert ("ScalarWarning" in run.stderr) == processor().is_scalar and (run.returncode != 0) == processor().is_scalar
