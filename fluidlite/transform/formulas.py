"""What a program computes, as a formula: in text and in LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..ground.dtypes import as_dtype
from ..ground.quoting import escaping, latex_name
from ..ir.analysis import fed_names, reads_of, writes_of
from ..ir.literal import key_text, name_text, value_text
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .selecting import names_in_block_0
from .spellings import filled_number

_WIDTH = 72  #: letters of a line; what is longer gets a name of its own

# how tightly operators bind
_RELATION, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(6)


class Term(NamedTuple):
    """A part of a formula.

    Args:
        head: an operator (``+``), a function, ``number`` or ``name``.
        parts: what it is applied to.
        said: the number or the name; the options of a function.
    """

    head: str
    parts: tuple[Term, ...] = ()
    said: str = ""


_INFIX = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _RELATION),
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "@": _PRODUCT,
    "^": _POWER,
}
_LATEX_INFIX = {
    "*": r" \odot ",
    "@": r" \, ",
    "==": " = ",
    "!=": r" \neq ",
    "<=": r" \leq ",
    ">=": r" \geq ",
}
#: functions that LaTeX knows, or has a sign for
_LATEX_FUNCTIONS = {
    **{name: f"\\{name}" for name in ("cos", "cosh", "exp", "sin", "sinh", "tan", "tanh")},
    "log": r"\ln",
    "max": r"\max",
    "min": r"\min",
    "sigmoid": r"\sigma",
    "sum": r"\sum",
    "acos": r"\arccos",
    "asin": r"\arcsin",
    "atan": r"\arctan",
}


def _text(term: Term) -> tuple[str, int]:
    if term.head == "name":
        name, mark, count = term.said.rpartition("'")
        return (f"{name_text(name)}'{count}" if mark else name_text(term.said)), _ATOM
    if term.head == "number":
        return term.said, _SIGN if term.said[:1] == "-" else _ATOM
    if term.head in _INFIX:
        binds = _INFIX[term.head]
        left, right = term.parts
        sign = "^" if term.head == "^" else f" {term.head} "
        closed = _bracketed(_text(left), binds + (term.head == "^"))
        return f"{closed}{sign}{_bracketed(_text(right), binds + 1)}", binds
    if term.head == "neg":
        return f"-{_bracketed(_text(term.parts[0]), _SIGN)}", _SIGN
    if term.head == "T":
        return f"{_bracketed(_text(term.parts[0]), _ATOM)}ᵀ", _ATOM
    listed = [_text(part)[0] for part in term.parts] + [term.said] * bool(term.said)
    return f"{term.head}({', '.join(listed)})", _ATOM


def _bracketed(text: tuple[str, int], least: int, brackets: str = "()") -> str:
    written, binds = text
    if binds >= least:
        return written
    return f"({written})" if brackets == "()" else f"\\left({written}\\right)"


def _latex(term: Term) -> tuple[str, int]:
    if term.head == "name":
        if term.said.endswith("@GRAD"):
            return f"\\overline{{{latex_name(term.said[:-5])}}}", _ATOM
        return latex_name(term.said), _ATOM
    if term.head == "number":
        return _latex_number(term.said), _SIGN if term.said[:1] == "-" else _ATOM
    if term.head == "/":
        above, below = (_latex(part)[0] for part in term.parts)
        return f"\\frac{{{above}}}{{{below}}}", _ATOM
    if term.head == "^":
        left, right = term.parts
        return f"{_closed(_latex(left), _ATOM)}^{{{_latex(right)[0]}}}", _POWER
    if term.head in _INFIX:
        binds = _INFIX[term.head]
        left, right = term.parts
        sign = _LATEX_INFIX.get(term.head, f" {term.head} ")
        if term.head == "*" and "number" in (left.head, right.head):
            sign = r" \, "
        return f"{_closed(_latex(left), binds)}{sign}{_closed(_latex(right), binds + 1)}", binds
    if term.head == "neg":
        return f"-{_closed(_latex(term.parts[0]), _SIGN)}", _SIGN
    if term.head == "T":
        return f"{_closed(_latex(term.parts[0]), _ATOM)}^{{\\top}}", _POWER
    if term.head == "sqrt":
        return f"\\sqrt{{{_latex(term.parts[0])[0]}}}", _ATOM
    if term.head == "abs":
        return f"\\left|{_latex(term.parts[0])[0]}\\right|", _ATOM
    listed = [_latex(part)[0] for part in term.parts]
    name = _LATEX_FUNCTIONS.get(term.head) or f"\\operatorname{{{latex_name(term.head)}}}"
    said = f"_{{\\text{{{latex_name(term.said)}}}}}" if term.said else ""
    return f"{name}{said}\\left({', '.join(listed)}\\right)", _ATOM


def _closed(latex: tuple[str, int], least: int) -> str:
    return _bracketed(latex, least, "latex")


def _latex_number(said: str) -> str:
    digits, _, power = said.partition("e")
    return f"{digits} \\cdot 10^{{{int(power)}}}" if power else said


@dataclass(frozen=True, repr=False)
class Formula:
    """What some variables hold: equations, the requested ones first.

    It prints as text; a notebook shows it in LaTeX.

    >>> y = fluid.layers.exp(fluid.data("x", [2]) * 2.0)
    >>> formula = fluid.transform.formula(fluid.default_main_program(), y)
    >>> formula.goals, str(formula)
    (1, 'exp_0.tmp_0 = exp(2.0 * x)')
    """

    equations: tuple[tuple[str, Term], ...]  #: a name, and what it is
    goals: int  #: how many of them were asked for

    @escaping
    def __str__(self) -> str:
        lines = [
            f"{_text(Term('name', (), name))[0]} = {_text(term)[0]}"
            for name, term in self.equations
        ]
        if len(lines) > self.goals:
            lines[self.goals :] = ["where", *(f"  {line}" for line in lines[self.goals :])]
        return "\n".join(lines)

    @property
    def latex(self) -> str:
        """The equations in LaTeX, below each other."""
        lines = [
            f"{_latex(Term('name', (), name))[0]} &= {_latex(term)[0]}"
            for name, term in self.equations
        ]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


def formula(
    program: Program,
    outputs: Iterable[Variable | str] | Variable | str,
    inputs: Iterable[Variable | str] = (),
) -> Formula:
    """What a program computes, as a formula of what it is fed and of its parameters.

    What is read more than once, or would make a line too long, gets an equation of its own.
    Gradient operators stand as functions; :func:`expand` writes what they compute.

    Args:
        program: any.
        outputs: variables of block 0 whose last values are to be shown.
        inputs: variables that stand for themselves, although they are computed.

    Raises:
        UnknownVariableError: block 0 has no variable of a name.

    >>> from fluidlite import transform
    >>> x = fluid.data("x", [None, 3])
    >>> w = fluid.layers.create_parameter([3, 1], "float32", name="w")
    >>> loss = fluid.layers.mean(fluid.layers.square(fluid.layers.mul(x, w) - 1.0))
    >>> print(transform.formula(fluid.default_main_program(), loss))
    mean_0.tmp_0 = mean((x @ w - 1.0)^2)
    """
    goals = names_in_block_0(program, outputs)
    block = program.global_block()
    known = {*names_in_block_0(program, inputs), *fed_names(block)}
    return _Equations(block.ops, goals, known).formula()


class _Equations:
    """Goes through the operators that variables depend on."""

    def __init__(self, ops: list[Operator], goals: list[str], inputs: set[str]) -> None:
        self.goals = goals
        self.inputs = inputs
        self.ops = _needed(ops, goals, inputs)
        #: name -> how often the value that it has now will be read
        self.reads = _reads(self.ops, goals)
        self.terms: dict[str, Term] = {}
        self.equations: list[tuple[str, Term]] = []
        self.written: Counter[str] = Counter()

    def formula(self) -> Formula:
        for position, op in enumerate(self.ops):
            written = [
                (name, term_of(op, self._term, slot, k))
                for slot, names in op.outputs.items()
                for k, name in enumerate(names)
                if name != EMPTY and name not in self.inputs
            ]
            for name, term in written:  # which may be what the operator reads, too
                self._take(position, name, term)
        goals = [(name, self.terms.get(name, Term("name", (), name))) for name in self.goals]
        named = {name for name, _ in self.equations}
        more = [each for each in self.equations if each[0] not in self.goals]
        goals = [
            (name, dict(self.equations)[name]) if name in named else (name, term)
            for name, term in goals
        ]
        return Formula((*goals, *reversed(more)), len(goals))

    def _take(self, position: int, name: str, term: Term) -> None:
        """Note what a name holds from now on."""
        self.written[name] += 1
        reads = self.reads[position, name]
        is_plain = term.head in ("name", "number")
        if reads == 0 and name not in self.goals:
            return
        if is_plain or (reads <= 1 and len(_text(term)[0]) <= _WIDTH):
            self.terms[name] = term
            return
        count = self.written[name]
        label = name if count == 1 else f"{name}'{count}"
        self.equations.append((label, term))
        self.terms[name] = Term("name", (), label)

    def _term(self, name: str) -> Term:
        return self.terms.get(name, Term("name", (), name))


def _needed(ops: list[Operator], goals: list[str], inputs: set[str]) -> list[Operator]:
    """The operators that the last values of names depend on, in order."""
    wanted = set(goals) - inputs
    needed = []
    for op in reversed(ops):
        if wanted.intersection(writes_of(op)):
            needed.append(op)
            wanted.difference_update(writes_of(op))
            wanted.update(n for n in reads_of(op) if n not in inputs)
    needed.reverse()
    return needed


def _reads(ops: list[Operator], goals: list[str]) -> Mapping[tuple[int, str], int]:
    """How often each value is read: by the position of what writes it, and its name."""
    counts: Counter[tuple[int, str]] = Counter()
    writer: dict[str, int] = {}
    for position, op in enumerate(ops):
        for name in op.input_arg_names:
            if name in writer:
                counts[writer[name], name] += 1
        writer.update((name, position) for name in op.output_arg_names)
    counts.update((writer[name], name) for name in goals if name in writer)
    return counts


# -- operators -------------------------------------------------------------------------------------

#: the operator of a name -> the sign between its two inputs
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^"}
#: operators whose names say other things than formulas do
_NAMES = {
    "reduce_sum": "sum", "reduce_mean": "mean", "reduce_max": "max", "reduce_min": "min",
    "elementwise_max": "max", "elementwise_min": "min", "reshape2": "reshape",
    "squeeze2": "squeeze", "unsqueeze2": "unsqueeze", "flatten2": "flatten",
    "logical_not": "not", "logical_and": "and", "logical_or": "or",
}  # fmt: skip
_COMPARE = {
    "equal": "==",
    "not_equal": "!=",
    "less_than": "<",
    "less_equal": "<=",
    "greater_than": ">",
    "greater_equal": ">=",
}
#: attributes that do not change what is computed
_SILENT = frozenset(
    ["axis_", "data_format", "force_cpu", "in_dtype", "is_test", "out_dtype", "reduce_all"]
    + ["x_data_format", "y_data_format", "zero_d"]
)

Terms = Callable[[str], Term]


def term_of(op: Operator, term: Terms, slot: str, k: int = 0) -> Term:
    """What an operator writes, of the terms of what it reads.

    Args:
        op: the operator.
        term: gives the term of a name.
        slot: of the output.
        k: its place in the slot.
    """
    special = _SPECIAL.get(op.type)
    if special is not None:
        made = special(op, term)
        if made is not None:
            return made
    sign = _SIGNS.get(op.type.removeprefix("elementwise_"))
    if sign and op.type.startswith("elementwise_"):
        return Term(sign, (term(op.input("X")[0]), term(op.input("Y")[0])))
    parts = tuple(term(name) for name in op.input_arg_names if name != EMPTY)
    if op.type in _COMPARE:
        return Term(_COMPARE[op.type], parts)
    shown = {n: v for n, v in op.attrs.items() if n not in _SILENT}
    if op.has_attr("reduce_all") and not op.attr("reduce_all"):
        shown = {"dim": op.attr("dim"), **shown}
    said = ", ".join(f"{key_text(name)}={value_text(value)}" for name, value in shown.items())
    whole = Term(_NAMES.get(op.type) or key_text(op.type), parts, said)
    declared = getattr(op.definition, "outputs", ())
    hidden = {o.name for o in declared if o.hidden}
    is_gradient = getattr(op.definition, "derived_from", None) is not None
    there = {s for s, names in op.outputs.items() if any(n != EMPTY for n in names)}
    seen = {o.name for o in declared} if is_gradient else there - hidden
    if slot not in hidden and len(seen) <= 1 and len(op.outputs.get(slot, ())) <= 1:
        return whole
    index = f"[{k}]" if len(op.output(slot)) > 1 else ""
    return Term(f"{slot}{index} of", (whole,))


def _scale(op: Operator, term: Terms) -> Term | None:
    if op.inputs.get("ScaleTensor"):
        return None
    x = term(op.input("X")[0])
    scale, bias = op.attr("scale"), op.attr("bias")
    if not op.attr("bias_after_scale"):
        return _times(scale, _plus(x, bias))
    return _plus(_times(scale, x), bias)


def _times(number: float, x: Term) -> Term:
    if number == 1:
        return x
    if number == -1:
        return Term("neg", (x,))
    return Term("*", (_number(number), x))


def _plus(x: Term, number: float) -> Term:
    if number == 0:
        return x
    return Term("-" if number < 0 else "+", (x, _number(abs(number))))


def _number(value: float) -> Term:
    return Term("number", (), value_text(float(value)))


def _sum(op: Operator, term: Terms) -> Term:
    first, *more = (term(name) for name in op.input("X"))
    for part in more:
        first = Term("+", (first, part))
    return first


def _product(op: Operator, term: Terms) -> Term | None:
    x, y = term(op.input("X")[0]), term(op.input("Y")[0])
    if op.type != "mul":
        if op.attr("transpose_X" if op.type == "matmul" else "trans_x"):
            x = Term("T", (x,))
        if op.attr("transpose_Y" if op.type == "matmul" else "trans_y"):
            y = Term("T", (y,))
    product = Term("@", (x, y))
    return _times(op.attr("alpha"), product) if op.type == "matmul" else product


def _transpose(op: Operator, term: Terms) -> Term | None:
    axes = list(op.attr("axis"))
    return Term("T", (term(op.input("X")[0]),)) if axes == [1, 0] else None


def _power(op: Operator, term: Terms) -> Term | None:
    if op.inputs.get("FactorTensor"):
        return None
    return Term("^", (term(op.input("X")[0]), _number(op.attr("factor"))))


def _same(op: Operator, term: Terms) -> Term:
    return term(op.input("X")[0])


def _cast(op: Operator, term: Terms) -> Term | None:
    """The value itself, unless an integer or a truth value is made of another kind of number."""
    source, target = as_dtype(op.attr("in_dtype")), as_dtype(op.attr("out_dtype"))
    if target.is_float or np.can_cast(source.dtype, target.dtype, "same_kind"):
        return _same(op, term)
    return Term("cast", (_same(op, term),), str(target))


def _constant(op: Operator, term: Terms) -> Term | None:
    return None if op.inputs.get("ValueTensor") else _number(filled_number(op.attrs))


def _listed(op: Operator, term: Terms) -> Term | None:
    """A constant of one element."""
    elements = [v for n in op.attrs if n.endswith("_values") for v in op.attr(n)]
    return _number(elements[0]) if len(elements) == 1 else None


_SPECIAL: dict[str, Callable[[Operator, Terms], Term | None]] = {
    "assign": _same,
    "assign_value": _listed,
    "cast": _cast,
    "fill_constant": _constant,
    "fill_zeros_like": lambda op, term: _number(0.0),
    "fill_any_like": lambda op, term: _number(op.attr("value")),
    "matmul": _product,
    "matmul_v2": _product,
    "mul": _product,
    "pow": _power,
    "reciprocal": lambda op, term: Term("/", (_number(1.0), _same(op, term))),
    "scale": _scale,
    "square": lambda op, term: Term("^", (_same(op, term), Term("number", (), "2"))),
    "sum": _sum,
    "transpose": _transpose,
    "transpose2": _transpose,
}


def names_of(terms: Iterable[Term]) -> Iterator[str]:
    """The names in terms."""
    stack: list[Any] = list(terms)
    while stack:
        term = stack.pop()
        if term.head == "name":
            yield term.said
        stack += term.parts
