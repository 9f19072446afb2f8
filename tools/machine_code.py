#!/usr/bin/env python3
"""Counts what the machine code of a GPU's kernel takes: registers, memory of its own, instructions by class.

    machine_code.py --made-by MAKER... -- CODE...                 prints a table: bench/results/machine_code.txt
    machine_code.py --check TABLE --made-by MAKER... -- CODE...   fails where a figure is 5 % above the table's

A MAKER is what the names of targets begin with, a colon and what made their code: "sm: ptxas 13". CODE is a file
VARIANT.TARGET: what ptxas -v and nvdisasm -c print (TARGET sm_90), or clang's assembly with -fverbose-asm (gfx906).
Loops that take most of the time are told apart: a BVH's nodes, a leaf's triangles, boxes in local memory. A loop's
counts leave out loops inside it. All paths count, also those that exclude each other.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

GROWTH = 1.05

# A class is that of the first pattern that an instruction's name matches from its begin on. Names of memory are
# OpenCL's: NVIDIA calls local memory shared, and private memory local.
NVIDIA = [
    ("fma", r"FFMA"),
    ("add", r"FADD"),
    ("mul", r"FMUL"),
    ("minmax", r"FMNMX"),
    ("imad", r"U?IMAD|HFMA2"),  # moves and shifts too, where the compiler gives them to the multipliers
    ("move", r"U?MOV|CS2R|S2U?R|R2UR|P2R|R2P"),
    ("select", r"FSETP|FSEL|FSET|FCHK|U?SEL|U?ISETP|U?PLOP3"),
    ("convert", r"I2F|F2I|F2F|FRND"),
    ("global", r"LDG"),
    ("local", r"LDS"),
    ("private", r"LDL"),
    ("generic", r"LD\."),
    ("constant", r"U?LDC"),
    ("store", r"ST[GSL]?\b|RED|ATOM"),
    ("branch", r"BR[AX]|BREAK|BSSY|BSYNC|CALL|RET|EXIT|WARPSYNC|BAR"),
    ("integer", r"U?(LOP3|SHF|IADD|LEA|PRMT|POPC|FLO|BREV|BMSK|SGXT|IABS|IMNMX|VIADD|VIMNMX)|VOTE"),
]
AMD = [
    ("fma", r"v_(dual_)?(fma|fmac|fmaak|fmamk|mad|mac|madak|madmk)_f32"),
    ("add", r"v_(dual_)?(add|sub|subrev)_f32"),
    ("mul", r"v_(dual_)?mul_f32"),
    ("minmax", r"v_(dual_)?(min|max|min3|max3|med3|minmax|maxmin)_f32"),
    ("move", r"[sv]_(dual_)?mov|v_(read|write)"),
    ("select", r"v_cmp|v_(dual_)?cndmask|s_cmp|s_cselect|s_bitcmp"),
    ("convert", r"v_cvt"),
    ("global", r"global_load"),
    ("local", r"ds_(read|load)"),
    ("private", r"(buffer|scratch)_load"),
    ("generic", r"flat_load"),
    ("constant", r"s_(buffer_)?load"),
    ("store", r"(global|flat|ds|buffer|scratch)_(store|write|atomic|add)"),
    ("branch", r"s_c?branch|s_endpgm|s_barrier|s_setpc"),
    ("integer", r"[sv]_(dual_)?(add|sub|mul|mad|lshl|lshr|ashr|and|andn2|or|orn2|xor|xnor|not|bf|bcnt|ff|ctz|clz|perm"
     r"|align|min|max)"),
]  # fmt: skip
CLASSES = [name for name, _ in NVIDIA] + ["other"]
COLUMNS = ["registers", "spilt", "frame", "all", *CLASSES]
Rows = dict[tuple[str, str, str], dict[str, int]]  # by variant, target and part
HINTS = re.compile(r"NOP|s_nop|s_delay_alu|s_clause|s_(set_)?inst_prefetch")  # nothing is executed


class Instruction(NamedTuple):
    classes: tuple[str, ...]  # of the one, or of the two that go together
    reads_row: bool  # 16 bytes of global memory
    targets: tuple[str, ...]  # labels that it may jump to
    goes_on: bool  # with the next instruction


class Code(NamedTuple):
    figures: dict[str, int]
    instructions: list[Instruction]
    labels: dict[str, int]  # the instruction behind each


def class_of(name: str, table: list[tuple[str, str]]) -> str:
    return next((label for label, pattern in table if re.match(pattern, name)), "other")


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if not found:
        raise SystemExit(f"machine_code: nothing in the code matches {pattern!r}")
    return int(found[1])


def nvidia_code(text: str) -> Code:
    """Of the kernel, without the functions behind it, which it calls for rare quotients and roots."""
    figures = {
        "registers": number(r"Used (\d+) registers", text),
        "spilt": number(r"(\d+) bytes spill stores", text),
        "frame": number(r"(\d+) bytes stack frame", text),
    }
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if re.match(r"\$\S+:$", line):
            break
        label = re.match(r"(\.L_\w+):$", line)
        if label:
            labels[label[1]] = len(instructions)
        found = re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+ +)?([A-Z][\w.]*)(.*)", line)
        if not found or HINTS.match(found[2]):
            continue
        guard, name, operands = found.groups()
        targets = re.findall(r"\.L_\w+", operands) if re.match(r"BR[AX]|CALL", name) else []  # some loops end by a call
        leaves = bool(targets) or name.startswith(("EXIT", "RET"))
        instruction = Instruction(
            classes=(class_of(name, NVIDIA),),
            reads_row=name.startswith("LDG") and ".128" in name,
            targets=tuple(targets),
            goes_on=not leaves or guard is not None or re.match(r" +!?U?P\d", operands) is not None,
        )
        instructions.append(instruction)
    return Code(figures, instructions, labels)


def amd_code(text: str) -> Code:
    figures = {
        "registers": number(r"; NumVgprs: (\d+)", text),
        "spilt": 4 * text.count("-byte Folded Spill"),
        "frame": number(r"; ScratchSize: (\d+)", text),
    }
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        line = line.split(";")[0].rstrip()
        label = re.match(r"(\.L\w+):$", line)
        if label:
            labels[label[1]] = len(instructions)
        if not re.match(r"\t[a-z]", line) or HINTS.match(line.strip()):
            continue
        together = [each.split() for each in line.split("::")]
        name, *operands = together[0]
        instruction = Instruction(
            classes=tuple(class_of(each[0], AMD) for each in together),
            reads_row=re.match(r"global_load_(dwordx4|b128)", name) is not None,
            targets=tuple(operands[:1]) if "branch" in name else (),
            goes_on=name not in ("s_branch", "s_endpgm"),
        )
        instructions.append(instruction)
    return Code(figures, instructions, labels)


class Graph:
    """Blocks of instructions that are executed together, and the loops that they are in."""

    def __init__(self, code: Code) -> None:
        count = len(code.instructions)
        starts = {0, *code.labels.values()}
        starts |= {at + 1 for at, each in enumerate(code.instructions) if each.targets or not each.goes_on}
        begins = sorted(start for start in starts if start < count)
        block_at = {begin: block for block, begin in enumerate(begins)}
        self.blocks = [code.instructions[begin:end] for begin, end in zip(begins, [*begins[1:], count])]
        self.after: list[set[int]] = []
        for block, instructions in enumerate(self.blocks):
            last = instructions[-1]
            after = {block_at[code.labels[target]] for target in last.targets}
            if last.goes_on and block + 1 < len(self.blocks):
                after.add(block + 1)
            self.after.append(after)
        self.dominators = self._dominators()
        self.loops = self._loops()

    def _dominators(self) -> dict[int, set[int]]:
        """Of each block that can be reached: the blocks that every way to it leads through."""
        ordered: list[int] = []
        left = [0]
        while left:
            block = left.pop()
            if block not in ordered:
                ordered.append(block)
                left += self.after[block]
        before = {block: [other for other in ordered if block in self.after[other]] for block in ordered}
        dominators = {block: set(ordered) for block in ordered}
        dominators[0] = {0}
        changed = True
        while changed:
            changed = False
            for block in ordered[1:]:
                now = set.intersection(*(dominators[other] for other in before[block])) | {block}
                changed = changed or now != dominators[block]
                dominators[block] = now
        return dominators

    def _loops(self) -> dict[int, set[int]]:
        """Natural loops by their first block, which dominates the blocks that lead back to it."""
        loops: dict[int, set[int]] = {}
        for block in self.dominators:
            for first in self.after[block] & self.dominators[block]:
                loop, left = loops.setdefault(first, {first}), [block]
                while left:
                    inside = left.pop()
                    if inside not in loop:
                        loop.add(inside)
                        left += [other for other in self.dominators if inside in self.after[other]]
        return loops

    def own_blocks(self, first: int) -> list[int]:
        """A loop's blocks without those of loops inside it."""
        inner = [loop for other, loop in self.loops.items() if other != first and other in self.loops[first]]
        return sorted(self.loops[first].difference(*inner))

    def instructions(self, blocks: Iterable[int]) -> list[Instruction]:
        return [each for block in blocks for each in self.blocks[block]]

    def own(self, first: int) -> list[Instruction]:
        return self.instructions(self.own_blocks(first))

    def is_inner(self, first: int) -> bool:
        return any(first in loop for other, loop in self.loops.items() if other != first)


def counts(instructions: list[Instruction]) -> Counter[str]:
    return Counter(name for each in instructions for name in each.classes)


def parts_of_round(graph: Graph, first: int, triangles: bool) -> dict[str, list[Instruction]]:
    """A round of the compressed traversal: the visit of a node, which lanes with leaves left pass over, and the rest.

    The visit is the code behind a block that every way to the read of the node leads through, but not every way to a
    triangle's bounds. Where all are triangles, `rest` has the instructions up to the rounded edge functions, where most
    triangles end. `exact` has the instructions behind them: behind the block that reads the vertices.
    """
    blocks = graph.own_blocks(first)
    counted = {block: counts(graph.blocks[block]) for block in blocks}
    reads = max(blocks, key=lambda block: sum(each.reads_row for each in graph.blocks[block]))
    behind = [block for block in blocks if reads not in graph.dominators[block]]
    tests = max(behind, key=lambda block: counted[block]["minmax"])
    entries = graph.dominators[reads] - graph.dominators[tests]
    visit = [block for block in blocks if graph.dominators[block] & entries]
    rest = [block for block in blocks if block not in visit]
    parts = {"node": graph.instructions(visit), "triangle": graph.instructions(rest)}
    if triangles:
        vertices = max(rest, key=lambda block: counted[block]["global"])
        exact = [block for block in rest if vertices in graph.dominators[block] and block != vertices]
        parts["triangle"] = graph.instructions(block for block in rest if block not in exact)
        parts["exact"] = graph.instructions(exact)
    return parts


def parts_of(variant: str, graph: Graph) -> dict[str, list[Instruction]]:
    """The loops that are counted apart, by name."""
    own = {first: graph.own(first) for first in graph.loops}
    counted = {first: counts(own[first]) for first in own}
    inner = [first for first in own if graph.is_inner(first)]
    nodes = [first for first in inner if sum(each.reads_row for each in own[first]) >= 4]
    steps = [first for first in inner if counted[first]["local"] >= 12 and counted[first]["minmax"] >= 48]
    leaves = [first for first in inner if counted[first]["fma"] and first not in nodes]
    parts = {}
    if variant.startswith("compressed") and nodes:
        parts = parts_of_round(graph, max(nodes, key=lambda first: len(own[first])), "kinds16" in variant)
    elif not variant.startswith("flat") and leaves:
        parts["triangle"] = own[max(leaves, key=lambda first: counted[first]["minmax"])]
    steps.sort(key=lambda first: (counted[first]["local"], -counted[first]["fma"]))
    for name, first in zip(["alike", "others", "axial"], steps):  # by how their rays' directions are
        parts[name] = own[first]
    return parts


def rows_of(path: Path) -> Rows:
    target = path.suffix[1:]
    code = (nvidia_code if target.startswith("sm") else amd_code)(path.read_text())
    graph = Graph(code)
    rows: Rows = {}
    for part, instructions in {"kernel": code.instructions, **parts_of(path.stem, graph)}.items():
        counted = counts(instructions)
        rows[path.stem, target, part] = {
            **(code.figures if part == "kernel" else {}),
            "all": sum(counted.values()),
            **{name: counted[name] for name in CLASSES},
        }
    return rows


def written(key: tuple[str, str, str], row: Mapping[str, object]) -> str:
    cells = [f"{row.get(name, '-'):>{max(len(name), 4)}}" for name in COLUMNS]
    return " ".join([f"{key[0]:29} {key[1]:7} {key[2]:8}", *cells])


HEAD = """\
# What compilers make of the kernels for GPUs: registers, bytes spilt, bytes of the frame in memory, instructions in all
# and by class. Of a kernel and of its loops, each without loops inside it: a compressed node, and a primitive after it;
# of triangles that is up to their short test, and exact what those take that it leaves; a triangle; four
# local boxes against four rays, where the signs of all rays are alike, of others, and where one is parallel to an axis.
# Made by `./dev gate --update`. The gate fails where a figure grows by 5 % and this table does not say so."""


def table(rows: Rows, makers: list[str]) -> str:
    title = written(("# variant", "target", "part"), {name: name for name in COLUMNS})
    lines = [HEAD, *(f"# {maker}" for maker in makers), "#", title]
    return "\n".join([*lines, *(written(key, row) for key, row in rows.items())])


def read_table(text: str) -> tuple[list[str], Rows]:
    makers: list[str] = []
    rows: Rows = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#"):
            makers.append(line[2:])
        elif words:
            cells = zip(COLUMNS, words[3:])
            rows[words[0], words[1], words[2]] = {name: int(cell) for name, cell in cells if cell != "-"}
    return makers, rows


def faults(rows: Rows, known: Rows) -> list[str]:
    """Where the rows exceed the table's, a sentence each. A part that is in one of them alone is a fault too."""
    made = {key[:2] for key in rows}
    lost = [key for key in known if key[:2] in made and key not in rows]
    found = [f"{' '.join(key)}: the code has no such loop, the table has" for key in lost]
    for key, row in rows.items():
        if key not in known:
            found.append(f"{' '.join(key)}: the table has no such row")
            continue
        for name, now in row.items():
            before = known[key][name]
            if now > GROWTH * before:
                found.append(f"{' '.join(key)}: {name} was {before} and is {now}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path, metavar="TABLE")
    parser.add_argument("--made-by", nargs="+", default=[], metavar="MAKER")
    parser.add_argument("code", nargs="+", type=Path)
    given = parser.parse_args()
    rows = {key: row for path in given.code for key, row in rows_of(path).items()}
    if given.check is None:
        print(table(rows, given.made_by))
        return 0
    makers, known = read_table(given.check.read_text())
    judged: Rows = {}
    for maker in given.made_by:
        if maker in makers:
            judged.update({key: row for key, row in rows.items() if key[1].startswith(maker.split(":")[0])})
        else:
            print(f"machine_code: NOT JUDGED: {given.check.name} has nothing of {maker}")
    found = faults(judged, known)
    for fault in found:
        print(f"machine_code: {fault}", file=sys.stderr)
    if found:
        print(f"machine_code: where that is meant, ./dev gate --update writes {given.check}", file=sys.stderr)
    else:
        print(f"machine_code: {len(judged)} rows are as in {given.check.name}, or better")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
