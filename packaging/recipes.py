#!/usr/bin/env python3
"""Keeps the recipes of this folder to one source, that of source.txt:

    recipes.py --write           puts version, addresses and checksum into every recipe
    recipes.py --check           fails where a recipe has others, or its own tool, where that is here, refuses it
    recipes.py --release TAG     packs the tag's sources into build/, puts their checksums into source.txt, and writes
    recipes.py --trial FOLDER    packs HEAD into FOLDER, with recipes of that: they can be tried before any release

README.md says which recipe was tried by what, and how a release is made.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HEADER = "host/include/slabcast.h"
# Every file that names the source, and how it spells the version in an address.
FILES = {
    "aur/PKGBUILD": "$pkgver",
    "conan/conanfile.py": "{self.version}",
    "conda/recipe.yaml": "${{ version }}",
    "homebrew/slabcast.rb": "{version}",
    "nix/package.nix": "${finalAttrs.version}",
    "spack/package.py": "{version}",
    "vcpkg/portfile.cmake": "${VERSION}",
    "vcpkg/vcpkg.json": "{version}",
}
VERSION = re.compile(r"\b(version|pkgver)(\W{1,4})\d+\.\d+\.\d+")
ADDRESS = re.compile(r"\w+://(?:[^\"'\n]*?\.tar\.gz|[^\s\"']+)")
CHECKSUM = re.compile(r"\b(?:[0-9a-f]{128}|[0-9a-f]{64})\b")

Source = dict[str, str]


def fail(text: str) -> None:
    sys.exit(f"recipes: {text}")


# ---- the source ----


def version_of(header: str) -> str:
    numbers = re.findall(r"#define SLAB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    return ".".join(numbers)


def read_source() -> Source:
    lines = (HERE / "source.txt").read_text().splitlines()
    source = dict(line.split() for line in lines if not line.startswith("#"))
    if not source["archive"].endswith(".tar.gz"):
        fail("source.txt: an archive ends in .tar.gz, which tells it from the home")
    if source["release"] == "none":
        source["version"] = version_of((ROOT / HEADER).read_text())
    else:
        source["version"] = source["release"].removeprefix("v")
    return source


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, stdout=subprocess.PIPE).stdout


def pack(commit: str, folder: Path) -> Source:
    """Writes the commit's sources as an archive into the folder."""
    version = version_of(git("show", f"{commit}:{HEADER}").decode())
    data = git("archive", "--format=tar.gz", f"--prefix=slabcast-{version}/", commit)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"slabcast-{version}.tar.gz").write_bytes(data)
    return {"version": version, "sha256": hashlib.sha256(data).hexdigest(), "sha512": hashlib.sha512(data).hexdigest()}


# ---- the recipes ----


def rewritten(file: str, source: Source) -> str:
    archive = source["archive"].replace("{version}", FILES[file]).replace("{version}", source["version"])
    text = VERSION.sub(lambda found: found[1] + found[2] + source["version"], (HERE / file).read_text())
    text = ADDRESS.sub(lambda found: archive if found[0].endswith(".tar.gz") else source["home"], text)
    return CHECKSUM.sub(lambda found: source["sha512" if len(found[0]) == 128 else "sha256"], text)


def write(source: Source, folder: Path) -> None:
    for file in FILES:
        (folder / file).write_text(rewritten(file, source))


def release(tag: str) -> None:
    source = pack(tag, ROOT / "build")
    if tag != "v" + source["version"]:
        fail(f"the tag {tag} has version {source['version']}")
    text = (HERE / "source.txt").read_text()
    for name, value in {"release": tag, "sha256": source["sha256"], "sha512": source["sha512"]}.items():
        text = re.sub(rf"(?m)^({name} +).*", rf"\g<1>{value}", text)
    (HERE / "source.txt").write_text(text)
    write(read_source(), HERE)
    print(f"build/slabcast-{source['version']}.tar.gz belongs to the release, these very bytes")


def trial(folder: Path) -> None:
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    source = {**read_source(), **pack("HEAD", folder), "archive": f"file://{folder}/slabcast-{{version}}.tar.gz"}
    write(source, folder)


# ---- their own tools ----

# The command that parses each recipe, in its folder.
COMMANDS = {
    "aur": ("makepkg", "--printsrcinfo"),
    "conan": ("conan", "inspect", "."),
    "homebrew": ("ruby", "-c", "slabcast.rb"),
    "nix": ("nix-instantiate", "--parse", "package.nix"),
}
# conda-forge's own settings, as far as the recipe uses them.
CONDA_VARIANT = "c_compiler: [clang]\nc_stdlib: [sysroot]"


class Refused(Exception):
    """A recipe, by its tool, with the tool's words."""


def run(*command: str, folder: Path) -> str:
    """Tools keep their settings in a folder that goes. makepkg refuses root."""
    homes = {"HOME": str(folder), "CONAN_HOME": str(folder)}
    user = {"user": "nobody"} if command[0] == "makepkg" and os.geteuid() == 0 else {}
    done = subprocess.run(command, cwd=folder, env={**os.environ, **homes}, text=True, capture_output=True, **user)
    if done.returncode:
        raise Refused(done.stdout + done.stderr)
    return done.stdout


def parsed_by_command(*command: str, folder: Path) -> str:
    """Prints by which version."""
    if not shutil.which(command[0]):
        return f"not parsed: {command[0]} is not here"
    run(*command, folder=folder)
    number = re.search(r"\d+(\.\d+)+", run(command[0], "--version", folder=folder))
    return f"parsed by {command[0]} {number[0] if number else '?'}"


def parsed_by_rattler_build(folder: Path) -> str:
    try:
        import rattler_build as conda
    except ImportError:
        return "not parsed: py-rattler-build is not here"
    try:
        recipe = conda.Stage0Recipe.from_file(folder / "recipe.yaml")
        for platform in "linux-64", "linux-aarch64", "osx-arm64":
            config = conda.RenderConfig(conda.PlatformConfig(target_platform=platform))
            if not recipe.render(conda.VariantConfig.from_yaml(CONDA_VARIANT), config):
                raise Refused(f"nothing is built on {platform}")
    except conda.RattlerBuildError as error:
        raise Refused(error) from None
    return "parsed by py-rattler-build " + conda.rattler_build_version()


def parsed_by_python(folder: Path) -> str:
    ast.parse((folder / "package.py").read_text())
    return f"parsed by Python {sys.version.split()[0]}, not by spack"


def parsed_by_cmake(folder: Path) -> str:
    """A script is parsed whole before its first line returns. The functions in it are vcpkg's."""
    json.loads((folder / "vcpkg.json").read_text())
    (folder / "port.cmake").write_text("return()\n" + (folder / "portfile.cmake").read_text())
    return parsed_by_command("cmake", "-P", "port.cmake", folder=folder) + ", not by vcpkg"


def parsed(recipe: str, folder: Path) -> str:
    if recipe in COMMANDS:
        return parsed_by_command(*COMMANDS[recipe], folder=folder)
    return {"conda": parsed_by_rattler_build, "spack": parsed_by_python, "vcpkg": parsed_by_cmake}[recipe](folder)


def check() -> None:
    source = read_source()
    for file in FILES:
        if (HERE / file).read_text() != rewritten(file, source):
            fail(f"packaging/{file} has not the source of source.txt: run packaging/recipes.py --write")
    if source["release"] == "none":
        print(f"no release yet: the recipes name {source['version']} and checksums of zeros")
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "packaging"
        shutil.copytree(HERE, copy)
        subprocess.run(["chmod", "-R", "a+rwX", work], check=True)  # for tools that run as another user
        for recipe in dict.fromkeys(file.split("/")[0] for file in FILES):
            text = "".join((HERE / file).read_text() for file in FILES if file.startswith(recipe + "/"))
            if not (ADDRESS.search(text) and CHECKSUM.search(text) and source["version"] in text):
                fail(f"packaging/{recipe} lacks a version, an address or a checksum")
            try:
                print(f"{recipe:8} {parsed(recipe, copy / recipe)}")
            except (Refused, SyntaxError, json.JSONDecodeError) as words:
                fail(f"packaging/{recipe}: {words}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--write"]:
        write(read_source(), HERE)
    elif arguments == ["--check"]:
        check()
    elif len(arguments) == 2 and arguments[0] == "--release":
        release(arguments[1])
    elif len(arguments) == 2 and arguments[0] == "--trial":
        trial(Path(arguments[1]).resolve())
    else:
        sys.exit(__doc__)
