"""What gradcheck found."""

from __future__ import annotations

from dataclasses import dataclass

from ..ground.callsite import CallSite
from ..ground.quoting import escaping
from .explain import Explanation
from .gradient_paths import place


@dataclass(frozen=True)
class Checked:
    """What was found about the gradient of one input at one order."""

    name: str
    shape: tuple[int, ...]
    order: int
    ok: bool
    elements: int  #: how many were checked one by one
    error: float  #: the largest relative error
    index: tuple[int, ...] | None  #: where; None where no element was checked
    found: float  #: the gradient there
    expected: float  #: by finite differences
    problem: str = ""  #: what is wrong beyond the numbers

    @escaping
    def __str__(self) -> str:
        where = "no elements" if self.index is None else f"element {list(self.index)}"
        if self.ok:
            return (
                f"order {self.order}, {self.name} {list(self.shape)}: largest relative error "
                f"{self.error:.1e}, at {where}; {self.elements} elements checked"
            )
        numbers = f"{where} is {number(self.found)}, by finite differences {number(self.expected)}"
        text = f"order {self.order}, {self.name} {list(self.shape)}: {numbers}"
        return f"{text}; {self.problem}" if self.problem else text


@dataclass(frozen=True)
class FaultyRule:
    """An operator whose gradient is not that of its kernel."""

    type: str
    operator: str  #: its text
    callsite: CallSite | None  #: the user's line
    slot: str
    variable: str  #: in that slot
    index: tuple[int, ...] | None  #: the element, None where the shape is wrong already
    found: float | None
    expected: float | None
    what: str

    @escaping
    def __str__(self) -> str:
        at = "" if self.index is None else f", element {list(self.index)}"
        return (
            f"operator {self.operator}{place(self.callsite)}\n"
            f"  input {self.slot}, variable {self.variable!r}{at}: {self.what}"
        )


@dataclass(frozen=True)
class Report:
    """The result of :func:`gradcheck`.

    >>> report = fluid.gradcheck(fluid.tanh, [fluid.to_tensor([0.5], dtype="float64")])
    >>> report.ok, report.order
    (True, 1)
    """

    ok: bool
    order: int  #: the highest order at which everything agrees
    inputs: tuple[Checked, ...]  #: one for each input and order
    culprits: tuple[FaultyRule, ...] = ()  #: operators that are wrong by themselves
    explanations: tuple[Explanation, ...] = ()  #: why gradients that are missing are
    hint: str = ""  #: where else to look

    @property
    def wrong(self) -> tuple[Checked, ...]:
        """What disagrees."""
        return tuple(each for each in self.inputs if not each.ok)

    @escaping
    def __str__(self) -> str:
        if self.ok:
            head = f"gradients agree with finite differences up to order {self.order}"
            return "\n".join([head, *(f"  {each}" for each in self.inputs)])
        lines = ["gradients disagree with finite differences"]
        lines += [_indented(str(each)) for each in self.wrong]
        lines += [_indented(str(each)) for each in self.culprits]
        for explanation in self.explanations:
            if explanation.flows:
                lines.append(f"  to {explanation.variable!r} some ways are closed:")
                lines += [_indented(_indented(str(stop))) for stop in explanation.stops]
            else:
                lines.append(_indented(str(explanation)))
        if self.hint:
            lines.append(_indented(self.hint))
        return "\n".join(lines)


def number(value: float) -> str:
    """A number as reports show it."""
    return f"{value:.7g}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
