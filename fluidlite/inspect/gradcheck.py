"""Checking the gradients of a program against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import unique_name
from ..backward import gradients
from ..errors import ArgumentError, GradientCheckError, suggestion
from ..ground.arguments import refused
from ..ground.dtypes import Kind, as_dtype
from ..ground.values import LoDTensor, SelectedRows
from ..input import data
from ..ir.block import Block
from ..ir.declared import described, is_the_same
from ..ir.passes import prune
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..scope import Scope, global_scope
from .comparing import Comparing
from .differences import STEP, Array, Limits, weighed, weight_like
from .eager import EagerCheck, takes_tensors
from .explain import explain_gradient
from .faulty_rules import between, driving_operators, find_culprits
from .float64 import dense, in_float64, is_continuous, persistable_values, widened, with_data
from .report import Checked, Report
from .seeded_runs import SeededRuns

_ALL = 100  # elements of an array that are all checked; of larger ones as many at random


class _Case(NamedTuple):
    """What is checked: a program of our own in double precision."""

    program: Program
    values: dict[str, Any]  #: what is fed, and the persistable variables
    sources: list[str]  #: what is differentiated by
    goals: list[str]


def gradcheck(
    subject: Program | Callable[..., Any],
    inputs: Mapping[str, Any] | Sequence[Any],
    target: Variable | str | Sequence[Variable | str] | None = None,
    order: int = 1,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    eps: float | None = None,
    elements: int | None = None,
    seed: int = 0,
    scope: Scope | None = None,
    raise_error: bool = True,
) -> Report:
    """Compare the gradients of a program, or of a function of eager tensors, with finite
    differences, in double precision.

    Gradients are taken with respect to every float in ``inputs``, both parts of every complex
    number, and every trainable parameter. A
    target of several elements is weighted with random numbers. From the second order on, the
    gradients of the order before, weighted likewise, are differentiated.

    The program, its scope and the names in use stay as they are: a copy is checked.

    Args:
        subject: a program; or a function that builds one: it takes a variable for each of
            ``inputs`` and returns what to differentiate, one variable or several; or a function of
            eager tensors, which returns such.
        inputs: name -> array (or LoDTensor) of everything that is fed; for a function a list of
            arrays serves, too. Eager tensors among them say that the function is one of eager
            tensors; tensors that it reads besides are constants, and should be float64.
        target: what to differentiate, variables of the program or their names; for a function what
            it returns.
        order: the highest order to check.
        rtol: the relative difference that is allowed.
        atol: the absolute difference that is allowed in any case.
        eps: the step of the differences; 6e-6 when None.
        elements: how many elements of each array are checked one by one, drawn at random; 100 when
            None. Where not all are, a random direction through all of them is checked as well.
        seed: of the sample and the weights, and of random operators where the program has none.
        scope: where the values of parameters are; the global scope when None.
        raise_error: whether to raise when something disagrees; else the report says so.

    Returns:
        a report: ``ok``, and what was found about each input at each order.

    Raises:
        GradientCheckError: a gradient is wrong, or missing although the target depends on the
            input; names the input, the element, and the operator that is at fault.
        ArgumentError: an argument does not fit.
        NoGradientError: an operator on the way has no gradient rule.

    >>> def norm(x, y):
    ...     return fluid.layers.sqrt(fluid.layers.reduce_sum(fluid.layers.square(x * y)))
    >>> report = fluid.gradcheck(norm, {"x": np.ones([2, 3]), "y": np.ones([2, 3])}, order=2)
    >>> report.ok, report.order
    (True, 2)
    >>> x = fluid.to_tensor([0.5, -1.0])
    >>> fluid.gradcheck(lambda x: fluid.tanh(x) * x, [x], order=2).ok
    True
    """
    for name, value in (("rtol", rtol), ("atol", atol), ("eps", STEP if eps is None else eps)):
        if not value > 0:
            raise ArgumentError(f"expected {name} to be above 0, got {value!r}")
    for name, value in (("order", order), ("elements", _ALL if elements is None else elements)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ArgumentError(f"expected {name} to be an integer of at least 1, got {value!r}")
    limits = Limits(rtol, atol, STEP if eps is None else eps)
    check: EagerCheck | _Check
    if not isinstance(subject, Program) and callable(subject) and takes_tensors(inputs):
        if target is not None or scope is not None:
            raise ArgumentError("target and scope belong to a program; a function returns its own")
        check = EagerCheck(subject, inputs, limits, elements or _ALL, seed)
    else:
        case = _case(subject, inputs, target, scope, seed)
        check = _Check(case, limits, elements or _ALL, seed)
    report = check.run(order)
    if raise_error and not report.ok:
        raise GradientCheckError(str(report))
    return report


def _case(subject: Any, inputs: Any, target: Any, scope: Scope | None, seed: int) -> _Case:
    if isinstance(subject, Program):
        case = _of_program(subject, inputs, target, scope, seed)
    elif callable(subject):
        if target is not None or scope is not None:
            raise ArgumentError("target and scope belong to a program; a function returns its own")
        case = _of_function(subject, inputs, seed)
    else:
        raise ArgumentError(
            f"expected a program or a function that builds one, got {subject!r:.60} of type "
            f"{type(subject).__name__}"
        )
    return case


def _of_program(
    program: Program, inputs: Any, target: Any, scope: Scope | None, seed: int
) -> _Case:
    if not isinstance(inputs, Mapping):
        raise ArgumentError(
            f"expected inputs to be a dictionary of names and arrays, got {type(inputs).__name__}"
        )
    if target is None:
        raise ArgumentError("a program is checked at a target; say which variable: target=loss")
    listed = target if isinstance(target, (list, tuple)) else [target]
    goals = [_goal(each, program) for each in listed]
    pruned = prune(in_float64(program), inputs, goals)
    pruned.random_seed = program.random_seed or seed + 1
    block = pruned.global_block()
    fed = {}
    for name, value in inputs.items():
        if name not in program.global_block().vars:
            raise ArgumentError(
                f"the program has no variable {name!r} to feed"
                f"{suggestion(name, program.global_block().vars)}"
            )
        fed_value = value if isinstance(value, LoDTensor) else np.asarray(value)
        wanted = name in block.vars and block.vars[name].dtype
        if wanted and wanted.is_continuous and not isinstance(fed_value, LoDTensor):
            fed_value = fed_value.astype("complex128" if wanted.is_complex else "float64")
        if name in block.vars:
            fed[name] = widened(fed_value)
    persistables = persistable_values(pruned, global_scope() if scope is None else scope)
    sources = [name for name, value in fed.items() if is_continuous(value)]
    sources += [
        p.name
        for p in pruned.all_parameters()
        if p.trainable
        and not p.stop_gradient
        and p.name not in fed
        and is_continuous(persistables.get(p.name))
    ]
    for name in sources:
        block.vars[name].stop_gradient = False
    own = Scope()
    for name, value in persistables.items():
        own.var(name).value = value
    # the executor knows best what is wrong with a feed, or with a parameter that has no value
    Executor().run(pruned, feed=fed, fetch_list=goals, scope=own, return_numpy=False)
    return _Case(pruned, {**persistables, **fed}, sources, goals)


def _goal(target: Any, program: Program) -> str:
    name = target.name if isinstance(target, Variable) else target
    if not isinstance(name, str):
        raise refused("", "the target", "a variable or its name", target)
    known = program.global_block().vars
    if name not in known:
        raise ArgumentError(
            f"the target {name!r} is no variable of block 0 of the program{suggestion(name, known)}"
        )
    if isinstance(target, Variable) and not (
        target is known[name]
        or (target.program is not program and is_the_same(known[name], target))
    ):
        raise ArgumentError(
            f"the target {name!r} is a variable of another program or block, {described(target)}; "
            f"the program's own is {described(known[name])}; give it by its name"
        )
    if known[name].kind is not Kind.LOD_TENSOR or not known[name].dtype.is_continuous:
        raise ArgumentError(
            f"expected the target to be a tensor of floats, got {known[name]!r}; only floats have "
            f"gradients"
        )
    return name


def _of_function(function: Callable[..., Any], inputs: Any, seed: int) -> _Case:
    if not isinstance(inputs, (Mapping, list, tuple)):
        raise ArgumentError(
            f"expected inputs to be arrays by name, or a list of them, got {type(inputs).__name__}"
        )
    if not isinstance(inputs, Mapping):
        inputs = {f"input_{k}": value for k, value in enumerate(inputs)}
    values = {n: v if isinstance(v, LoDTensor) else np.asarray(v) for n, v in inputs.items()}
    main, startup = Program(), Program()
    main.random_seed = startup.random_seed = seed + 1
    with unique_name.guard(), program_guard(main, startup):
        variables = [_fed(name, value) for name, value in values.items()]
        target = function(*variables)
    scope = Scope()
    if startup.global_block().ops:
        Executor().run(startup, scope=scope)
    return _of_program(main, values, target, scope, seed)


def _fed(name: str, value: Any) -> Variable:
    array, level = dense(value), len(value.offsets) if isinstance(value, LoDTensor) else 0
    made = data(name, [-1, *array.shape[1:]] if level else array.shape, array.dtype, level)
    made.stop_gradient = not made.dtype.is_continuous
    return made


class _Check:
    """One check of a case.

    Args:
        case: what is checked.
        limits: what is allowed.
        elements: how many elements of an array are checked one by one.
        seed: of what is drawn.
    """

    def __init__(self, case: _Case, limits: Limits, elements: int, seed: int) -> None:
        self.case = case
        self.limits = limits
        # a stream of its own: weights that equal the user's numbers would hide mistakes
        self.rng = np.random.default_rng([seed, 0x6772_6164])
        self.comparing = Comparing(limits, elements, self.rng)
        self.values = dict(case.values)

    def run(self, order: int) -> Report:
        """Check up to an order; stops at the first one that disagrees."""
        block = self.case.program.global_block()
        goals = [block.var(name) for name in self.case.goals]
        checked: list[Checked] = []
        for k in range(1, order + 1):
            before = SeededRuns(self.case.program, [v.name for v in goals])
            weights = self._weighted(block, goals, before.run(self.values), all_random=k > 1)
            sources = [block.var(name) for name in self.case.sources]
            derivatives = gradients(goals, sources, [block.var(w) for w in weights]) or [None]
            flowing = [v for v in derivatives if v is not None]
            after = SeededRuns(self.case.program, [v.name for v in flowing]).run(self.values)
            by_name = dict(zip([v.name for v in flowing], after))
            here = []
            for source, gradient in zip(sources, derivatives):
                value = None if gradient is None else by_name[gradient.name]
                here.append(self._compare(source.name, value, before, weights, k))
            checked += here
            wrong = [each.name for each in here if not each.ok]
            if wrong:
                return self._failed(k, checked, wrong, goals)
            goals = [v for v in flowing if not isinstance(by_name[v.name], SelectedRows)]
            if not goals:
                break  # nothing is left that could depend on anything
        return Report(True, order, tuple(checked))

    def _weighted(
        self, block: Block, goals: list[Variable], found: list[Any], all_random: bool
    ) -> list[str]:
        """The names of variables that the goals are weighted with."""
        names = []
        for goal, value in zip(goals, found):
            name = f"{goal.name}@WEIGHT"
            while name in block.vars:
                name += "@"
            shape = goal.shape if goal.has_shape else None
            weight = weight_like(self.rng, dense(value), all_random or dense(value).size > 1)
            dtype = as_dtype(weight.dtype)
            block.create_var(name=name, shape=shape, dtype=dtype, stop_gradient=True)
            self.values[name] = weight
            names.append(name)
        return names

    def _compare(
        self, name: str, gradient: Any, before: SeededRuns, weights: list[str], order: int
    ) -> Checked:
        value = self.values[name]
        array = dense(value)
        factors = [self.values[w] for w in weights]

        def total(data: Array) -> tuple[float, float]:
            found = before.run({**self.values, name: with_data(value, data)})
            return weighed(factors, map(dense, found))

        return self.comparing.compare(name, array, gradient, total, order)

    def _failed(
        self, order: int, checked: list[Checked], wrong: list[str], goals: list[Variable]
    ) -> Report:
        """What is known about a disagreement."""
        program = self.case.program
        names = [v.name for v in goals]
        part = prune(program, self.values, names)
        seen = SeededRuns(part, names).watch(self.values)
        concerned = between(part, wrong, names)
        culprits = find_culprits(seen, concerned, self.limits, self.rng)
        block = program.global_block()
        explained = [explain_gradient(block.var(name), goals) for name in wrong]
        stopped = tuple(each for each in explained if not each.flows or each.stops)
        hint = ""
        if not culprits and not stopped:
            hint = "every operator on the way agrees with its own rule"
            driving = driving_operators(part, concerned)
            if driving:
                hint += "; what drives blocks was not checked by itself:\n" + "\n".join(driving)
        return Report(False, order - 1, tuple(checked), tuple(culprits), stopped, hint)
