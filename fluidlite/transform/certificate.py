"""Certificates of gradients: what is certified, how, and what is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..ground.quantities import quantity
from ..ground.quoting import escaping
from ..ground.values import LoDTensor
from ..ir.program import Program
from ..ir.text import program_text

_TITLE = "certificate of a gradient, form 1"
ONES = "1"  #: stands for a weight of ones
#: method -> what it means in a report
_METHODS = {
    "field": "polynomial identity",
    "numbers": "numbers",
    "wrong": "WRONG",
    "missing": "MISSING",
    "unknown": "not certified",
}


@dataclass(frozen=True)
class CertifiedGradient:
    """What was found about the gradient of one value.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> pairs = fluid.append_backward(fluid.layers.mean(fluid.layers.fc(x, 2)))
    >>> certificate = fluid.transform.certify(fluid.default_main_program())
    >>> [(g.variable, g.method) for g in certificate.gradients if g.variable.startswith("fc_0.w")]
    [('fc_0.w_0', 'field')]
    """

    variable: str
    version: int  #: how often the variable had been written, with this value
    sweep: int  #: which differentiation of the program
    gradient: str  #: the variable that holds it; empty if there is none
    method: str  #: "field", "numbers", "wrong", "missing" or "unknown"
    residue: int | None = None  #: along the direction that was drawn, in the first round
    expected: str = ""  #: where it is wrong
    found: str = ""  #: where it is wrong
    held: int = 0  #: elements that were left out, since they lay at kinks
    culprits: tuple[str, ...] = ()  #: the operators that are at fault, with slots and lines
    why: str = ""  #: it is not certified

    @property
    def ok(self) -> bool:
        """Whether it is certified."""
        return self.method in ("field", "numbers")

    @property
    def wrong(self) -> bool:
        """Whether it is known not to be the derivative."""
        return self.method in ("wrong", "missing")

    @escaping
    def __str__(self) -> str:
        again = f", value {self.version}" if self.version > 1 else ""
        text = f"{self.variable}{again}: {_METHODS[self.method]}"
        if self.residue is not None:
            text += f", residue {self.residue:x}"
        if self.held:
            text += f", but for {self.held} elements at kinks"
        if self.wrong:
            text += f"; expected {self.expected}, found {self.found}"
        text += f": {self.why}" if self.why else ""
        return "\n      ".join([text, *self.culprits])


@dataclass(frozen=True)
class CertifiedOperator:
    """What was found about an operator that gradients flow through.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> pairs = fluid.append_backward(fluid.layers.mean(fluid.layers.fc(x, 2)))
    >>> certificate = fluid.transform.certify(fluid.default_main_program())
    >>> [(op.type, op.method) for op in certificate.operators]
    [('mul', 'field'), ('elementwise_add', 'field'), ('mean', 'field')]
    """

    position: int
    type: str
    callsite: str
    variables: tuple[str, ...]  #: to whose gradients it contributes
    method: str  #: the weakest one among those

    @escaping
    def __str__(self) -> str:
        line = f" ({self.callsite})" if self.callsite else ""
        return (
            f"#{self.position} {self.type}{line}: {', '.join(self.variables)}: "
            f"{_METHODS[self.method]}"
        )


def _unmade(text: str) -> Certificate:
    raise ArgumentError("only a certificate that certify made knows its program")


@dataclass(frozen=True)
class Certificate:
    """A report that the gradients of a program are derivatives, which others can check again.

    ``str`` gives its text; :func:`check_certificate` and :meth:`recheck` do the work once more.

    >>> x = fluid.data("x", [2])
    >>> x.stop_gradient = False
    >>> loss = fluid.layers.reduce_sum(fluid.layers.square(x))
    >>> _ = fluid.backward.gradients(loss, x)
    >>> certificate = fluid.transform.certify(fluid.default_main_program())
    """

    digest: str  #: of the program's text
    targets: tuple[str, ...]  #: what is differentiated, with its weights
    exponent: int  #: residues are modulo 2^exponent - 1
    seed: int
    rounds: int  #: how many points were asked for
    points: int  #: how many were drawn, to take each branch once
    batch_size: int
    degree: int  #: the largest degree of an identity that was tested
    bits: float  #: at each point a wrong gradient passes with a probability below 2^-bits
    gradients: tuple[CertifiedGradient, ...]
    operators: tuple[CertifiedOperator, ...]
    idle: tuple[str, ...] = ()  #: operators of the gradient part that no gradient above depends on
    untaken: tuple[str, ...] = ()  #: blocks that did not run at any point
    held_constant: tuple[str, ...] = ()  #: operators whose results vary, but have no gradient
    not_asked: tuple[str, ...] = ()  #: parameters that have no gradient
    changed: tuple[str, ...] = ()  #: operators behind the gradient part that write a gradient anew
    differences: tuple[str, ...] = ()  #: types whose slopes are differences of numbers
    stopped: tuple[str, ...] = ()  #: what was given as ``no_grad_set``
    weights: tuple[tuple[str, str], ...] = ()  #: what was given as ``target_gradients``
    fed: tuple[tuple[str, str], ...] = ()  #: what was fed, and digests of it
    #: checks the text of a certificate on the same program
    again: Callable[[str], Certificate] = field(default=_unmade, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether every gradient is certified."""
        return bool(self.gradients) and all(each.ok for each in self.gradients) and not self._left

    def recheck(self) -> Certificate:
        """Do the work once more, from the same seeds, on the program that it was made of.

        Raises:
            GradientCheckError: the program is another one by now, or something else is found.
        """
        return self.again(str(self))

    @property
    def _left(self) -> int:
        """How many parts of the program nothing is said of, beside gradients."""
        return len(self.idle) + len(self.untaken)

    @property
    def faults(self) -> tuple[CertifiedGradient, ...]:
        """The gradients that are not the derivative."""
        return tuple(each for each in self.gradients if each.wrong)

    @property
    def uncertified(self) -> tuple[CertifiedGradient, ...]:
        """The gradients of which nothing is known."""
        return tuple(each for each in self.gradients if each.method == "unknown")

    @property
    def headline(self) -> str:
        """The result in one line."""
        count = len(self.gradients)
        if self.faults:
            return f"WRONG: {len(self.faults)} of {count} gradients are not the derivative"
        if self.uncertified or self._left:
            return (
                f"certified in part: not certified are {len(self.uncertified)} of {count} "
                f"gradients, {quantity(len(self.idle), 'gradient operator')}, "
                f"{quantity(len(self.untaken), 'block')}"
            )
        line = f"certified: {count} gradients are the derivative"
        if self.held_constant:
            line += f", with {quantity(len(self.held_constant), 'result')} held constant"
        return line

    @escaping
    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield _TITLE
        yield f"result: {self.headline}"
        yield f"program: sha256 {self.digest}"
        for each in self.targets:
            yield f"differentiated: {each}"
        yield f"seed: {self.seed}"
        yield f"rounds: {self.rounds}"
        yield f"points: {self.points}"
        yield f"batch size: {self.batch_size}"
        yield f"prime: 2^{self.exponent} - 1"
        yield f"degree: at most {self.degree}"
        exact = sum(each.method == "field" for each in self.gradients)
        if exact:
            yield (
                f"error: {exact} are polynomial identities; a wrong one passes at one point with "
                f"a probability below 2^-{int(self.bits)}"
            )
        rest = sum(each.method == "numbers" for each in self.gradients)
        if rest:
            yield (
                f"numbers: {rest} are equal along {self.points} random directions, but for a "
                "relative 2^-22"
                + (f"; for 2^-16 behind {', '.join(self.differences)}" if self.differences else "")
            )
        yield from (f"stopped at: {name}" for name in self.stopped)
        yield from (f"weight: {name} = {weight or ONES}" for name, weight in self.weights)
        yield from (f"fed: {name} = {digest}" for name, digest in self.fed)
        if self.not_asked:
            yield f"parameters without a gradient: {', '.join(self.not_asked)}"
        lists: dict[str, Sequence[object]] = {
            "gradients": self.gradients,
            "operators": self.operators,
            "gradient operators that no gradient above depends on": self.idle,
            "operators whose results are held constant, as in fluid, although they change": (
                self.held_constant
            ),
            "blocks that did not run": self.untaken,
            "written anew behind the gradients, which is not certified": self.changed,
        }
        for title, listed in lists.items():
            if listed or title in ("gradients", "operators"):
                yield f"{title}:"
                yield from (f"  {each}" for each in listed)


def digest_of(program: Program) -> str:
    """The digest of what a program computes: of its text without the users' lines."""
    return sha256(program_text(program, call_sites=False).encode("utf-8", "replace")).hexdigest()


def digest_of_value(value: object) -> str:
    """What stands for a value that was fed."""
    array = np.asarray(value.data if isinstance(value, LoDTensor) else value)
    lod = repr(value.offsets) if isinstance(value, LoDTensor) else ""
    said = f"{array.dtype.str}{array.shape}{lod}".encode()
    return f"{array.dtype}{list(array.shape)} sha256 {sha256(said + array.tobytes()).hexdigest()}"


def fields_of(text: str) -> Mapping[str, list[str]]:
    """The lines of a report that say how it was made: what stands before and behind the colon.

    Raises:
        FileFormatError: it is no report.
    """
    head, _, _ = text.partition("\ngradients:")
    lines = head.splitlines()
    if not lines or lines[0] != _TITLE:
        raise FileFormatError(f"expected a text that begins with {_TITLE!r}")
    fields: dict[str, list[str]] = {}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        fields.setdefault(name, []).append(value)
    return fields


def number_of(fields: Mapping[str, list[str]], name: str) -> int:
    """A whole number that a report says.

    Raises:
        FileFormatError: it says none.
    """
    try:
        return int(fields[name][0])
    except (KeyError, ValueError):
        raise FileFormatError(f"expected the report to say '{name}: ' and a number") from None
