#!/usr/bin/env python3
"""Wheels of the Python package for every system, all made on this one by the clang and the linkers of ziglang.

wheels.py build FOLDER      makes them in FOLDER, and what that needs in FOLDER/work
wheels.py content WHEEL...  their names, tags, files and sizes, and the names in their libraries
wheels.py check FOLDER      that and more of those in FOLDER: pip installs two, which answer; C programs open the
                            libraries of three; a second build has the same bytes

python/README.md has what was run where.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 3_700_000
TOOLS = ("scikit-build-core==1.1.2", "build==1.6.1", "auditwheel==6.8.2", "delvewheel==1.13.2")
ZIG = re.search(r'^ZIG = "(.*)"$', (ROOT / "python/building.py").read_text(), re.M)[1]


class Target(NamedTuple):
    platform: str  # the last part of the wheel's name
    system: str  # as CMake calls it
    processor: str
    zig: str  # the target of the C compiler, with the oldest system
    clang: str  # and of the kernels' compiler
    library: str
    needs: frozenset[str]  # the libraries of the system that the libraries may need
    cuda: str = ""  # the library of kernels for NVIDIA's cards; "": the system has no driver of theirs


UCRT = "convert environment heap locale math private runtime stdio string utility"
GLIBC = "libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1"


VERSION = ".".join(re.findall(r"SLAB_VERSION_(?:MAJOR|MINOR) (\d+)", (ROOT / "host/include/slabcast.h").read_text()))


def linux(name: str, processor: str, zig: str, needs: str, cuda: str = "") -> Target:
    clang, known = re.sub(r"\.[\d.]+$", "", zig), frozenset(needs.split())
    return Target(f"{name}_{processor}", "Linux", processor, zig, clang, "libslabcast.so", known, cuda)


def mac(processor: str, zig: str) -> Target:
    clang, needs = f"{processor}-apple-macos11.0", frozenset(["/usr/lib/libSystem.B.dylib", "libslabcast.dylib"])
    return Target(f"macosx_11_0_{processor}", "Darwin", processor, zig, clang, "libslabcast.dylib", needs)


TARGETS = (
    linux("manylinux_2_17", "x86_64", "x86_64-linux-gnu.2.17", GLIBC, f"libslabcast-cuda.so.{VERSION}"),
    linux("manylinux_2_17", "aarch64", "aarch64-linux-gnu.2.17", GLIBC, f"libslabcast-cuda.so.{VERSION}"),
    linux("musllinux_1_2", "x86_64", "x86_64-linux-musl", "libc.so"),
    linux("musllinux_1_2", "aarch64", "aarch64-linux-musl", "libc.so"),
    Target(
        "win_amd64",
        "Windows",
        "AMD64",
        "x86_64-windows-gnu",
        "x86_64-w64-windows-gnu",
        "slabcast.dll",
        frozenset(["KERNEL32.dll", *(f"api-ms-win-crt-{part}-l1-1-0.dll" for part in UCRT.split())]),
        "slabcast-cuda.dll",
    ),
    mac("arm64", "aarch64-macos.11.0"),
    mac("x86_64", "x86_64-macos.11.0"),
)


def fail(text: str) -> None:
    sys.exit(f"wheels: {text}")


def run(*command: object, **options: object) -> str:
    """A command's output; where it fails, that ends this program."""
    options = {"stderr": subprocess.STDOUT, **options}
    told = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, **options)
    if told.returncode:
        fail(f"failed: {' '.join(str(word) for word in command)}\n{told.stdout}")
    return told.stdout


# ---- building ----


def environment(folder: Path) -> Path:
    """A virtual environment with the tools, made again where they have changed."""
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(folder / "cache")
    made, filled = folder / "tools", "\n".join([*TOOLS, ZIG])
    mark = made / "filled"
    if not mark.exists() or mark.read_text() != filled:
        shutil.rmtree(made, ignore_errors=True)
        run(sys.executable, "-m", "venv", made)
        run(made / "bin/pip", "install", "-q", *TOOLS, ZIG)
        mark.write_text(filled)
    return made / "bin"


def compiler(folder: Path, tools: Path, target: str) -> Path:
    """A C compiler for a target, which is one word for CMake. The first program that CMake compiles is not linked: for
    that zig would make the whole C library, which the library does not have in it."""
    zig = run(tools / "python", "-c", "import ziglang; print(ziglang.__path__[0])").strip() + "/zig"
    script = folder / f"{target}-cc"
    alone = 'case $* in *CMakeCCompilerId.c*) set -- "$@" -c ;; esac'
    script.write_text(f'#!/bin/sh\n{alone}\nexec {zig} cc -target {target} "$@"\n')
    script.chmod(0o755)
    return script


def settings(target: Target, folder: Path, tools: Path, source: Path) -> dict[str, str]:
    """Of scikit-build-core, for one target."""
    defines = {
        "CMAKE_SYSTEM_NAME": target.system,
        "CMAKE_SYSTEM_PROCESSOR": target.processor,
        "CMAKE_C_COMPILER": compiler(folder, tools, target.zig),
        "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",  # likewise
        "CMAKE_C_FLAGS": f"-ffile-prefix-map={source}=.",
        "CMAKE_SHARED_LINKER_FLAGS": "-s",
        "SLABCAST_CUDA": "ON" if target.cuda else "OFF",
        "CMAKE_DISABLE_FIND_PACKAGE_OpenCL": "ON",  # the headers of this system
        "SLABCAST_KERNEL_COMPILER": f"{tools}/python;-m;ziglang;clang;--target={target.clang}",
    }
    tags = [f"py3-none-{target.platform}"]
    if target.platform.startswith("manylinux_2_17"):  # the name that pip before 20.3 has, as of Python 3.9.0
        tags.append(f"py3-none-manylinux2014_{target.processor}")
    if target.platform.startswith("musllinux"):  # kernels are the same for every C library; TARGETS has the other first
        defines["SLABCAST_NATIVE_OBJECTS"] = folder / f"manylinux_2_17_{target.processor}" / "native"
    if target.system == "Darwin":
        defines["SLABCAST_KERNEL_FLAGS"] = "-fno-stack-protector"  # which clang has on for macOS alone
        defines["CMAKE_INSTALL_NAME_TOOL"] = "/usr/lib/llvm-14/bin/llvm-install-name-tool"  # found, and not called
    given = {f"cmake.define.{name}": str(value) for name, value in defines.items()}
    return {**given, "build-dir": str(folder / target.platform), "install.strip": "false", "wheel.tags": ";".join(tags)}


def build(folder: Path, targets: tuple[Target, ...] = TARGETS) -> None:
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    tools = environment(work)
    for old in [work / "sdist", work / "source", *(work / target.platform for target in targets)]:
        shutil.rmtree(old, ignore_errors=True)
    os.umask(0o022)
    os.environ["SOURCE_DATE_EPOCH"] = run("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
    run(tools / "python", "-m", "build", "--no-isolation", "--sdist", "--outdir", work / "sdist", ROOT)
    shutil.unpack_archive(next((work / "sdist").glob("*.tar.gz")), work / "source")
    (source,) = (work / "source").iterdir()
    for target in targets:
        begun = time.monotonic()
        for old in folder.glob(f"*{target.platform}.whl"):
            old.unlink()
        options = [f"-C{name}={value}" for name, value in settings(target, work, tools, source).items()]
        run(tools / "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, *options, source)
        print(f"{wheel_for(folder, target).name}: {time.monotonic() - begun:.0f} s", flush=True)


def wheel_for(folder: Path, target: Target) -> Path:
    (wheel,) = folder.glob(f"*{target.platform}.whl")
    return wheel


# ---- what is in them ----


def names(target: Target, library: Path) -> tuple[set[str], set[str]]:
    """The functions that a library gives, and the libraries that it needs."""
    if target.system == "Windows":
        told = run("llvm-readobj", "--coff-exports", library)
        given = re.findall(r"^  Name: (\S+)$", told, re.M)
    else:
        told = run("llvm-nm", "-g" if target.system == "Darwin" else "-D", "--defined-only", library)
        given = [line.split()[-1] for line in told.splitlines()]
        if target.system == "Darwin":
            own = ("__dso_handle", "_mh_dylib_header")  # the linker's
            given = [name for name in (name.removeprefix("_") for name in given) if name not in own]
    told = run("llvm-readobj", "--needed-libs", library)
    needed = re.search(r"NeededLibraries \[\n(.*?)\]", told, re.S)[1].split()
    return set(given), set(needed)


def check_names(target: Target, library: Path) -> None:
    declared = "".join(path.read_text() for path in (ROOT / "host/include").glob("*.h"))
    known = set(re.findall(r"^SLAB_API.*?\b(\w+)\(", declared, re.M))
    if library.name == target.cuda:
        known = {"slabcast_ptx"}
    given, _ = names(target, library)
    if given - known or not given & {"slab_closest", "slabcast_ptx"}:
        fail(f"{target.platform}: {library.name} gives {', '.join(sorted(given - known)) or 'no slab_closest'}")


def check_library(target: Target, library: Path) -> None:
    check_names(target, library)
    _, needed = names(target, library)
    if not needed <= target.needs:
        fail(f"{target.platform}: the library needs {', '.join(sorted(needed - target.needs))}")
    for told in (str(ROOT).encode(), str(Path.home()).encode() + b"/"):
        if told in library.read_bytes():
            fail(f"{target.platform}: the library tells {told.decode()}, a path of this machine")
    if target.system == "Darwin":
        told = run("llvm-readobj", "--macho-version-min", library)
        if not re.search(r"^  Version: 11\.0$", told, re.M):
            fail(f"{target.platform}: the library is for another macOS than 11.0: {told}")
        told = run("llvm-objdump", "--macho", "--dylib-id", library).split()
        if told[-1].removeprefix("@rpath/") != library.name:
            fail(f"{target.platform}: the library is called {told[-1]}")


def files(archive: zipfile.ZipFile) -> list[str]:
    """Without the folders, which auditwheel puts there too."""
    return [name for name in archive.namelist() if not name.endswith("/")]


def recorded(archive: zipfile.ZipFile) -> bool:
    """Whether RECORD has each other file, and its hash."""
    info = [name for name in files(archive) if name.endswith(".dist-info/RECORD")]
    rows = {row[0]: row[1] for row in csv.reader(archive.read(info[0]).decode().splitlines())}
    digest = lambda name: base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
    return rows == {name: "" if name == info[0] else f"sha256={digest(name)}" for name in files(archive)}


def content(wheel: Path) -> None:
    """A wheel's name, tags and files, its size, and its library."""
    parts = re.fullmatch(r"slabcast-([\d.]+)-py3-none-(.+)\.whl", wheel.name) or fail(f"a wheel is called {wheel.name}")
    version, platforms = parts[1], parts[2].split(".")
    of = {plain(target.platform): target for target in TARGETS}
    target = of.get(plain(platforms[-1])) or fail(f"{wheel.name}: there is no such platform")
    modules = {f"slabcast/{path.name}" for path in (ROOT / "python/slabcast").glob("*.py")} | {"slabcast/py.typed"}
    about = {f"slabcast-{version}.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}
    with zipfile.ZipFile(wheel) as archive:
        held = files(archive)
        libraries = {f"slabcast/{name}" for name in (target.library, target.cuda) if name}
        if wrong := set(held) ^ (modules | about | libraries):
            fail(f"{wheel.name}: has, or lacks: {', '.join(sorted(wrong))}")
        tags = re.findall(r"^Tag: (.*)$", archive.read(f"slabcast-{version}.dist-info/WHEEL").decode(), re.M)
        if sorted(tags) != sorted(f"py3-none-{platform}" for platform in platforms):
            fail(f"{wheel.name}: its tags are {', '.join(tags)}")
        if not recorded(archive):
            fail(f"{wheel.name}: RECORD is of other files")
        folder = wheel.parent / "work" / "content" / wheel.stem
        for library in libraries:
            check_library(target, Path(archive.extract(library, folder)))
    if wheel.stat().st_size > MOST_BYTES:
        fail(f"{wheel.name}: {wheel.stat().st_size} bytes are more than {MOST_BYTES}")
    print(f"{wheel.name}: {wheel.stat().st_size} bytes, {len(held)} files, names and tags as they should be")


def plain(platform: str) -> str:
    """A platform without the version of the oldest C library that it has: auditwheel names the one that it found."""
    return re.sub(r"linux_\d+_\d+", "linux", platform)


# ---- whether they work ----

LANES = 'import slabcast; device = slabcast.Scene("cpu").device; print(device.version, device.lane_width, "lanes")'


def same_bytes(folder: Path) -> None:
    """Whether a second build, with nothing of the first one's, makes the same files. In the same folder: for macOS zig
    leaves room in a library's head by the length of that name."""
    first = {target: wheel_for(folder, target).read_bytes() for target in TARGETS}
    shutil.rmtree(folder / "work" / "cache", ignore_errors=True)
    build(folder)
    for target in TARGETS:
        if wheel_for(folder, target).read_bytes() != first[target]:
            fail(f"{target.platform}: a second build has other bytes")
    print(f"a second build of {len(TARGETS)}: the same bytes")


def audited(folder: Path, tools: Path) -> None:
    """Runs auditwheel and delvewheel. auditwheel knows musl by the names of Alpine's compilers alone, and delocate
    runs where Apple's otool is."""
    for target in TARGETS:
        wheel = wheel_for(folder, target)
        if target.platform.startswith("manylinux"):
            told = run(tools / "auditwheel", "show", wheel)
            if f'"{target.platform}"' not in told:
                fail(f"{wheel.name}: auditwheel says {told}")
        elif target.system == "Windows":
            told = run(tools / "delvewheel", "show", wheel)
            if len(re.findall(r"^    None$", told, re.M)) != 2:
                fail(f"{wheel.name}: delvewheel says {told}")
    print("auditwheel, delvewheel: nothing to mend")


def answers(python: list[object], **options: object) -> str:
    """Runs Python's example by a Python that has the package; returns the target of the package's library."""
    folder = ROOT / "python/examples"
    if run(*python, folder / "closest.py", **options) != (folder / "closest.txt").read_text():
        fail(f"{python[0]}: the example says something else")
    told = run(*python, "-c", LANES, **options).strip()
    if "c11" in told:
        fail(f"{python[0]}: the package has no vector kernels: {told}")
    return told


def bare(folder: Path, wheel: Path, **options: object) -> str:
    """A wheel in an environment that has nothing else: its output, and the time from pip's start on."""
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "venv", folder)
    begun = time.monotonic()
    run(folder / "bin/pip", "install", "--disable-pip-version-check", wheel)
    run(folder / "bin/python", "-I", ROOT / "python/examples/closest.py")
    seconds = time.monotonic() - begun
    return f"{answers([folder / 'bin/python', '-I'])}; pip install to the first answer: {seconds:.1f} s"


def on_arm(folder: Path, wheel: Path, root: Path) -> str:
    """The same under QEMU, by the Python and the pip of another Debian."""
    python = ["qemu-aarch64", "-L", root, root / "usr/bin/python3"]
    shutil.rmtree(folder, ignore_errors=True)
    run(*python, "-m", "pip", "install", "--disable-pip-version-check", "--target", folder, wheel)
    return answers(python, env={**os.environ, "PYTHONPATH": str(folder)})


def opened(folder: Path, target: Target, compile: list[object], under: list[object]) -> str:
    """The output of the C program that opens a wheel's library."""
    program = folder / f"{target.platform}.exe"
    run(*compile, "-std=c11", "-O2", "-s", "-I", ROOT / "host/include", ROOT / "tests/wheels/opened.c", "-o", program)
    wheel = wheel_for(folder.parent, target)
    library = folder / "content" / wheel.stem / "slabcast" / target.library
    told = run(*under, program, os.path.relpath(library, folder), cwd=folder).strip()
    if not re.search(r"^compiled for (x86-64-v[34]|armv8-a), t = 6$", told, re.M):
        fail(f"{target.platform}: the program that opens the library says {told}")
    return told.splitlines()[-1]


def without_clang(folder: Path, sdist: Path) -> str:
    """An sdist's wheel by pip as it is, where PATH has no clang: it has vector kernels all the same."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for path in sorted(Path(place).glob("*")):
            if not path.name.startswith("clang") and not (folder / "bin" / path.name).exists():
                (folder / "bin" / path.name).symlink_to(path)
    path = {**os.environ, "PATH": str(folder / "bin")}
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, sdist, env=path)
    (wheel,) = folder.glob("*.whl")
    return bare(folder / "bare", wheel)


def check(folder: Path) -> None:
    work = folder / "work"
    tools = environment(work)
    of = {target.platform: target for target in TARGETS}
    for target in TARGETS:
        content(wheel_for(folder, target))
    audited(folder, tools)
    x86, arm = of["manylinux_2_17_x86_64"], of["manylinux_2_17_aarch64"]
    print(f"{x86.platform}: {bare(work / 'bare', wheel_for(folder, x86))}")
    root = Path(run(ROOT / "tools/roots.sh", "get", "arm64", stderr=None).split()[-1])
    print(f"{arm.platform}, under QEMU: {on_arm(work / 'arm', wheel_for(folder, arm), root)}")
    under = {
        "musllinux_1_2_x86_64": (["musl-gcc"], []),
        "musllinux_1_2_aarch64": (
            [compiler(work, tools, "aarch64-linux-musl"), "-dynamic"],
            ["qemu-aarch64", "-L", root],
        ),
        "win_amd64": ([compiler(work, tools, "x86_64-windows-gnu")], ["/usr/lib/wine/wine64"]),
    }
    os.environ.update(WINEPREFIX=str(work / "wine"), WINEDEBUG="-all", SLABCAST_BACKENDS="native")
    for platform, (compile, runs) in under.items():
        print(f"{' '.join([platform, *map(str, runs[:1])])}, a C program: {opened(work, of[platform], compile, runs)}")
    print(f"sdist, no clang in PATH: {without_clang(work / 'noclang', next((work / 'sdist').glob('*.tar.gz')))}")
    same_bytes(folder)
    print("not run here: the wheels for macOS")


def main(step: str, *arguments: str) -> None:
    if step == "build":
        build(Path(arguments[0]).resolve())
    elif step == "content":
        for wheel in arguments:
            content(Path(wheel).resolve())
    elif step == "check":
        check(Path(arguments[0]).resolve())
    else:
        fail(f"there is no step {step}")


main(*sys.argv[1:])
