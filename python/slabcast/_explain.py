"""The answer of explain(): the steps of one test, as objects and as text."""

from __future__ import annotations

from ctypes import byref, create_string_buffer
from dataclasses import dataclass
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _structs
from ._library import library
from ._records import HIT, HIT64, INTERVAL, INTERVAL64
from ._results import INVALID


class Step(NamedTuple):
    """A number that a test computes on its way. As str() a line of text, with the value in hexadecimal too."""

    part: str
    """The part that it is a step of: "ray", "x", "bounds x", "edge bc", "answer"."""
    name: str
    """No other step of the part has it."""
    value: Union[float, bool]
    """A bool where the step is a question."""
    formula: str
    """How it follows from earlier steps; "" where it is given."""
    note: str
    """The consequence of this value, such as the fate of a NaN; "" where there is none."""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Explanation:
    """How one ray meets one primitive. str() gives the text that `slabcast explain` prints."""

    kind: str
    """ "plane", "sphere", "box", "obb" or "triangle"."""
    primitive: int
    geometry: int
    hit: NDArray[np.void]
    """Of HIT, or of HIT64 where the ray is float64, without a dimension. It is that of closest() in a scene of this
    primitive alone."""
    interval: NDArray[np.void]
    """Of INTERVAL or INTERVAL64, likewise."""
    steps: tuple[Step, ...]

    def __getitem__(self, place: tuple[str, str]) -> Step:
        """The step of a part and a name: explanation["x", "near t"]. A test that rejects early has fewer."""
        for step in self.steps:
            if (step.part, step.name) == place:
                return step
        raise KeyError(place)

    @property
    def is_hit(self) -> bool:
        """Whether the ray hits the primitive."""
        return bool(self.hit["primitive"] < INVALID)

    def __str__(self) -> str:
        noun = "oriented box" if self.kind == "obb" else self.kind
        if self.is_hit:
            digits = 9 if self.hit.dtype == HIT else 12
            result = f"hit at t = {self.hit['t']:.{digits}g}"
        else:
            result = "the ray is invalid" if self.hit["primitive"] == INVALID else "miss"
        lines = [f"{noun} {self.primitive} of geometry {self.geometry}: {result}"]
        part = ""
        for step in self.steps:
            if step.part != part:
                part = step.part
                lines += ["", part]
            lines.append(f"  {step}")
        return "\n".join(lines)


def _step_of(native: _structs.Step) -> Step:
    text = create_string_buffer(library.slab_step_text(byref(native), None, 0) + 1)
    library.slab_step_text(byref(native), text, len(text))
    value = native.value != 0 if native.is_question else native.value
    names = (native.part.decode(), native.name.decode())
    return Step(*names, value, native.formula.decode(), native.note.decode(), text.value.decode())


def explanation_of(
    found: Union[_structs.Explanation, _structs.Explanation64],
    primitive: int,
    geometry: int,
    steps: list[_structs.Step],
) -> Explanation:
    """The library's explanation as objects of Python."""
    doubles = isinstance(found, _structs.Explanation64)
    hit = np.frombuffer(bytes(found.hit), HIT64 if doubles else HIT)[0]
    interval = np.frombuffer(bytes(found.interval), INTERVAL64 if doubles else INTERVAL)[0]
    return Explanation(
        _library.SHAPES[found.kind], primitive, geometry, hit, interval, tuple(_step_of(step) for step in steps)
    )
