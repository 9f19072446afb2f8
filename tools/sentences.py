#!/usr/bin/env python3
"""Counts the sentences of more than 30 words in what people read: sentences.py [--list] [PATH...]

Public headers, other comments, messages and pages are counted apart; each has a share of long sentences that it may
have. --list prints the long ones, with their place. The exit code is 1 where a kind has more.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MOST = 30
# The share of long sentences that is allowed, by kind.
ALLOWED = {"headers": 0.0, "messages": 0.0, "comments": 0.02, "docs": 0.02}
# Not ours to word, or no prose: results of runs, tables of faults, output of other programs.
PASSED_OVER = re.compile(r"^(bench/results/|LICENSE|tests/mutants/(mutants\.txt|RESULTS)|tests/PROOF)")
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx|Fig|No)\.", re.I)


class Sentence(NamedTuple):
    kind: str
    path: str
    line: int
    words: int
    text: str


def split(text: str) -> list[str]:
    """The sentences of a paragraph. A full stop ends one where a blank and no small letter follows."""
    text = ABBREVIATIONS.sub(lambda found: found[0].replace(".", ""), " ".join(text.split()))
    return [part for part in re.split(r"(?<=[.!?])[)\"'`]*\s+(?![a-z])", text) if part]


def words(text: str) -> int:
    """Words and numbers; a formula or a name in backquotes is one."""
    text = re.sub(r"`[^`]*`", "code", text)
    return sum(any(c.isalnum() for c in word) for word in re.split(r"[\s/]+|(?<=\w),(?=\w)", text))


def told(kind: str, path: Path, line: int, paragraph: str) -> Iterator[Sentence]:
    for text in split(paragraph):
        yield Sentence(kind, str(path.relative_to(ROOT)), line, words(text), text)


def of_page(path: Path, text: str) -> Iterator[Sentence]:
    """Paragraphs, items and cells of Markdown, without code."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", lambda found: "\n" * found[0].count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    paragraph, begin = "", 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        if bare.startswith("|"):
            for cell in bare.strip("|").split("|"):
                yield from told("docs", path, number, cell)
            bare = ""
        ends = not bare or re.match(r"([-*+]|\d+\.) ", bare) or bare.startswith(("#", ">"))
        if ends and paragraph:
            yield from told("docs", path, begin, paragraph)
            paragraph = ""
        if not bare or line.startswith("    ") and not paragraph:
            continue
        begin = begin if paragraph else number
        paragraph += " " + re.sub(r"^([-*+]|\d+\.|#+|>) ", "", bare)


def paragraphs(comment: str) -> list[str]:
    """Of a comment: empty lines and items part them."""
    lines = [re.sub(r"^\s*(/\*+<?|//+<?|#+|\*+/?)?\s?", "", line) for line in comment.rstrip("*/ \n").splitlines()]
    text = "\n".join(line.rstrip() for line in lines)
    text = re.sub(r"^-{3,}.*$|^.*-{4,}$", "", text, flags=re.M)
    return [part for part in re.split(r"\n\s*\n|\n\s*[-*] |\n {2,}(?=\S)", text) if part.strip()]


def of_c(path: Path, text: str) -> Iterator[Sentence]:
    kind = "headers" if "host/include" in str(path) else "comments"
    literals = r"\"(?:[^\"\\\n]|\\.)*\""
    for found in re.finditer(rf"/\*.*?\*/|//[^\n]*|(?:{literals}\s*(?:PRI\w+\s*)?)+", text, re.S):
        line = text.count("\n", 0, found.start()) + 1
        if found[0][0] == "/":
            for paragraph in paragraphs(found[0]):
                yield from told(kind, path, line, paragraph)
        elif str(path.relative_to(ROOT)).startswith(("host/", "program/")):
            message = re.sub(r"\"\s*(?:PRI\w+)?\s*\"", "", found[0].strip())[1:-1]
            for paragraph in re.split(r"\\n", message):
                yield from told("messages", path, line, paragraph)


def of_script(path: Path, text: str) -> Iterator[Sentence]:
    """Comments of shells, CMake and Python, and Python's docstrings."""
    for found in re.finditer(r"(?:^[ \t]*#(?!!).*\n)+", text, re.M):
        line = text.count("\n", 0, found.start()) + 1
        for paragraph in paragraphs(found[0]):
            yield from told("comments", path, line, paragraph)
    if path.suffix != ".py":
        return
    for found in re.finditer(r'"""(.*?)"""', text, re.S):
        line = text.count("\n", 0, found.start()) + 1
        for paragraph in re.split(r"\n\s*\n|\n\s*[-*] |\n\s*(?=\w+: )", found[1]):
            yield from told("comments", path, line, paragraph)


def readers(path: Path) -> Iterator[Sentence]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        yield from of_page(path, text)
    elif path.suffix in (".c", ".h", ".cl", ".inc", ".def", ".cu"):
        yield from of_c(path, text)
    elif path.suffix in (".py", ".sh", ".cmake") or path.name in ("dev", "CMakeLists.txt", "run"):
        yield from of_script(path, text)


def files(given: list[str]) -> list[Path]:
    if given:
        return [Path(name).resolve() for name in given]
    if not (ROOT / ".git").exists():
        print("sentences: this is no clone, and git is not asked for its files")
        sys.exit(77)
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\n") if name and not PASSED_OVER.match(name)]


def main() -> int:
    given = sys.argv[1:]
    listing = "--list" in given
    found = [s for path in files([g for g in given if g != "--list"]) for s in readers(path) if s.words > 2]
    failed = False
    for kind, share in ALLOWED.items():
        sizes = sorted(s.words for s in found if s.kind == kind)
        if not sizes:
            continue
        long = [s for s in found if s.kind == kind and s.words > MOST]
        failed = failed or len(long) > share * len(sizes)
        print(
            f"{kind}: {len(long)} of {len(sizes)} sentences have more than {MOST} words, {len(long) / len(sizes):.1%};"
            f" median {sizes[len(sizes) // 2]}, ninth decile {sizes[len(sizes) * 9 // 10]}"
        )
        for s in sorted(long, key=lambda s: -s.words) if listing else ():
            print(f"  {s.path}:{s.line}: {s.words}: {s.text}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
