"""Checks of what optimizers are given."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from ..backward.budget import within_budget
from ..errors import ArgumentError, ShapeError, suggestion
from ..ground.arguments import a_function, instance_of, is_finite, or_none, refused, said
from ..ground.callsite import warn
from ..ground.docstrings import Family
from ..ground.doubts import number
from ..ground.dtypes import Kind
from ..ground.fields import field, fields_of, from_fields
from ..ir.operator import OpRole
from ..ir.program import Program, default_startup_program
from ..ir.variable import Variable, is_tensor
from ..opdef.arithmetic import Arithmetic
from ..regularizer import L2Decay, WeightDecayRegularizer

if TYPE_CHECKING:
    from typing_extensions import Self

Pair = tuple[Variable, Variable | None]  #: a parameter and its gradient; None where it has none

Pairs = list[tuple[Variable, Variable]]  #: parameters and their gradients


#: optimizers, of programs and of eager parameters
OPTIMIZERS = Family(
    {
        "learning_rate": "the size of steps: a number, or a variable of one element, as those that "
        "schedules make; for eager parameters a number or a decay of ``fluid.dygraph``.",
        "parameter_list": "the parameters, or their names, to update; all trainable ones when "
        "None. With eager parameters steps are made at once; within ``dygraph.guard()`` it is "
        "needed.",
        "parameters": "paddle 2's name for ``parameter_list``; groups, too: dictionaries with "
        "``params`` and what holds for these: ``learning_rate``, a factor, ``weight_decay``, "
        "``grad_clip`` and the optimizer's own numbers.",
        "weight_decay": "paddle 2's name for ``regularization``: a regularizer, or a number, the "
        "coefficient of ``L2Decay``.  With eager parameters, paddle 2's names mean paddle 2's "
        "formula and defaults; names of both in one call are refused.",
        "regularization": "added to the gradients of parameters that have no regularizer of their "
        "own.",
        "grad_clip": "how gradients are clipped, before regularization; when None, as "
        "``set_gradient_clip`` said.",
        "name": "stands in the names of the optimizer's variables.",
        "epsilon": "keeps the division finite.",
        "beta1": "how much of the running mean of the gradient stays; a number in [0, 1).",
        "beta2": "the same for the mean of its square.",
        "momentum": "how much of the velocity stays.",
        "lazy_mode": "update only the rows that a gradient of selected rows has.",
        "multi_precision": "keep eager parameters of float16 and bfloat16 in float32 besides, and "
        "states of them, too.",
        "use_multi_tensor": "accepted: steps are the same.",
        "rescale_grad": "accepted, with a warning when it is not 1: it has no effect in Paddle 2, "
        "either.",
    },
    raises="ArgumentError: an argument is of another kind.",
)

#: optimizers whose examples minimize a loss
OF_LOSS = OPTIMIZERS.extended(
    {},
    setup="""
    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    """,
)


#: number that optimizers are given -> the least that makes sense, and what it should be less than
BOUNDS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("epsilon", "initial_accumulator_value", "l1", "l2", "clip"), (0.0,)),
    "momentum": (0.0,),
    **dict.fromkeys(("lars_weight_decay", "batch_size", "sigma"), (0.0,)),
    **dict.fromkeys(("beta1", "beta2", "rho", "decay"), (0.0, 1.0)),
}


#: arguments that all optimizers have
COMMON = (
    *("learning_rate", "parameter_list", "regularization", "grad_clip", "name"),
    *("parameters", "weight_decay"),
)

#: further arguments that only paddle 2 has, and what they are where they say nothing
MORE_OF_PADDLE2 = {
    "multi_precision": False,
    "use_multi_tensor": False,
    "rescale_grad": 1.0,
    "always_adapt": False,
}


@from_fields
class Arguments:
    """What all optimizers can be given by paddle 2's names, too, and how they check the rest."""

    parameters: Iterable[Any] | None = field(default=None, kw_only=True)
    weight_decay: float | WeightDecayRegularizer | None = field(default=None, kw_only=True)

    #: the arguments that the constructor was given by name
    _named: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__init__" not in vars(cls):  # Python 3.10 asks ``__new__`` for its signature there
            cls.__init__ = cls.__init__  # type: ignore[method-assign]

    def __new__(cls, *given: Any, **named: Any) -> Self:
        made = super().__new__(cls)
        vars(made)["_named"] = frozenset(named)
        return made

    def begin(self, given: dict[str, Any]) -> None:
        """Take over what the constructor was given.

        Args:
            given: arguments by name.
        """

    def checked(self, name: str, value: Any) -> Any:
        """An argument of a subclass: a number within its bounds, True or False, or as it is.

        Raises:
            ArgumentError: it should be a number, and is none.
        """
        kind = fields_of(type(self)).get(name, "float")
        if name == "rescale_grad" and value != MORE_OF_PADDLE2[name]:
            warn(
                f"{type(self).__name__}: rescale_grad has no effect, as in Paddle 2 where layers "
                f"run at once; multiply the loss instead",
                None,
            )
        if kind == "bool":
            return bool(value)
        variable = kind == "float | Variable" and isinstance(value, Arithmetic)
        if kind.startswith("Callable"):
            return or_none(a_function)(type(self).__name__, name, value)
        if variable or not kind.startswith("float"):
            return value
        return number(type(self).__name__, name, value, *BOUNDS.get(name, ()))


@functools.cache
def kept_attributes(words: str) -> tuple[tuple[str, str], ...]:
    """Pairs of an attribute, and where the argument is kept that it is.

    Args:
        words: ``attribute=argument``, or only one where both have one name.
    """
    pairs = (word.partition("=") for word in words.split())
    return tuple((name, f"_{argument or name}") for name, _, argument in pairs)


def in_words_of_paddle2(
    optimizer: str, fluids: Mapping[str, Any], paddle2s: Mapping[str, Any]
) -> bool:
    """Whether a call uses names that only paddle 2 has, which has other formulas.

    Args:
        optimizer: what the optimizer is called.
        fluids: what was given by names that only fluid 1.8 has; None for what was not.
        paddle2s: the same of paddle 2.

    Raises:
        ArgumentError: it uses both.
    """
    old, new = ([n for n, v in words.items() if v is not None] for words in (fluids, paddle2s))
    if old and new:
        raise ArgumentError(
            f"{optimizer}: {' and '.join(old)} and {' and '.join(new)} cannot be given both: the "
            f"first is of fluid 1.8, the second of paddle 2, and each means its own formula; use "
            f"parameter_list and regularization, or parameters and weight_decay"
        )
    return bool(new)


def decay_of(optimizer: str, weight_decay: Any) -> Any:
    """A regularizer, in place of its coefficient, too."""
    if not is_finite(weight_decay):
        return weight_decay
    coefficient, decay = number(optimizer, "weight_decay", weight_decay, least=0), L2Decay()
    object.__setattr__(decay, "regularization_coeff", coefficient)  # a warning has our word for it
    return decay


def programs_of(loss: Any, startup: Program | None) -> tuple[Program, Program]:
    """The program of a loss, and the one that gives its variables their first values.

    Raises:
        ArgumentError: one of them is something else.
        ShapeError: the loss is not one element by its declared shape.
    """
    if not isinstance(loss, Variable):
        why = "; this optimizer is one of programs, make it with a parameter_list"
        raise ArgumentError(
            f"expected the loss to be a variable, got {said(loss)}{why if is_tensor(loss) else ''}"
        )
    or_none(instance_of(Program, "a Program"))("", "startup_program", startup)
    if loss.has_shape and any(n != 1 for n in loss.shape):
        raise ShapeError(
            f"expected a loss of one element, {loss.name!r} is declared with shape "
            f"{list(loss.shape)}; reduce it first: layers.mean or layers.reduce_sum"
        )
    return loss.program, startup or default_startup_program()


def checked_parameters(owner: Any, given: Any) -> list[Any] | None:
    """What an optimizer updates, as a list.

    Args:
        owner: the optimizer.
        given: parameters or names; None for all.

    Raises:
        ArgumentError: something else was given.
    """
    if given is None:
        return None
    if isinstance(given, (str, bytes, Arithmetic)) or not isinstance(given, Iterable):
        what = "parameters" if owner.of_paddle2 else "parameter_list"
        wanted = "a list of parameters or names"
        if hasattr(given, "parameters"):
            wanted += f", as {what}=layer.parameters()"
        raise refused(owner, what, wanted, given)
    return list(given)


@contextmanager
def stepping_within(
    loss: Any, startup: Program | None, memory: str | float | None, batch_size: int | None
) -> Iterator[None]:
    """Let what is appended for a loss inside take no more memory than it may.

    Args:
        loss: the loss, whose program is rewritten.
        startup: as of ``minimize``.
        memory, batch_size: as of ``minimize``.

    Raises:
        ArgumentError: the loss is an eager tensor, whose values are there already.
        BudgetError: the memory is too little.
    """
    if memory is None and batch_size is None:
        yield
        return
    if is_tensor(loss):
        raise ArgumentError("memory is planned for programs; the values of eager tensors are there")
    _, startup = programs_of(loss, startup)
    with within_budget(loss.block, memory, batch_size, startup):
        yield


def _values_of_a_file(program: Program) -> str:
    """How to train the variables of a program that was loaded; an empty text if it has none."""
    kept = (v for v in program.list_vars() if v.persistable and v.kind is Kind.LOD_TENSOR)
    first = next((v.name for v in kept if v.has_dtype and v.dtype.dtype.kind == "f"), None)
    if first is None:
        return ""
    return (
        "; a program from a file does not say which of its variables are parameters: name those "
        f"to train, as in parameter_list=[{first!r}, ...]"
    )


def reached(
    pairs: list[tuple[Variable, Variable]],
    optimizer: str,
    loss: Variable,
    listed: Iterable[Variable | str] | None,
) -> list[tuple[Variable, Variable]]:
    """The parameters that a loss reaches, and their gradients; it warns if there are none.

    Args:
        pairs: these.
        optimizer: its class.
        loss: what is minimized.
        listed: the parameters that are to be updated, where the user said which.
    """
    if pairs:
        _warn_of_two_steps(optimizer, loss, pairs)
        return pairs
    parameters = loss.program.all_parameters()
    if listed is not None:
        names = [p if isinstance(p, str) else p.name for p in listed]
        known = [variable.name for variable in loss.program.list_vars()]
        missing = next((name for name in names if name not in known), None)
        if missing is not None:
            why = f"its program has no parameter {missing!r}{suggestion(missing, known)}"
        else:
            why = f"it does not depend on {', '.join(names)}, which are to be updated"
    elif not parameters:
        why = f"its program has no parameters{_values_of_a_file(loss.program)}"
    elif not any(p.trainable for p in parameters):
        why = f"all are frozen (trainable=False): {', '.join(p.name for p in parameters)}"
    else:
        why = "it depends on none, or a variable with stop_gradient lies between"
    warn(
        f"{optimizer}: no trainable parameter reaches the loss {loss.name!r}, so that nothing is "
        f"updated: {why}",
        None,
    )
    return pairs


def _warn_of_two_steps(
    optimizer: str, loss: Variable, pairs: list[tuple[Variable, Variable]]
) -> None:
    """Warn where an earlier ``minimize`` of the same loss updates the same parameters."""
    names = {param.name for param, _ in pairs}
    ops = loss.program.global_block().ops
    begins = [op for op in ops if op.role == OpRole.BACKWARD | OpRole.LOSS]
    if sum(op.first_output.startswith(loss.grad_name) for op in begins) < 2:
        return
    steps = [op for op in ops if op.role & OpRole.OPTIMIZE and "Param" in op.input_names]
    again = [op for op in steps if names.intersection(op.input("Param"))]
    if again:
        twice = sorted({op.input("Param")[0] for op in again})
        warn(
            f"{optimizer}: an earlier minimize of {loss.name!r}, at {again[0].callsite}, updates "
            f"{', '.join(twice)} already: each run makes both steps; call minimize once, in front "
            f"of the loop that runs",
            None,
        )


def checked_pairs(given: Any) -> list[Pair]:
    """Pairs of a parameter and its gradient, as a new list."""
    wanted = "expected params_grads to be a list of pairs (parameter, gradient), "
    if isinstance(given, (str, bytes, Variable)) or not isinstance(given, Iterable):
        raise ArgumentError(f"{wanted}got {said(given)}")
    pairs: list[Pair] = []
    for pair in given:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentError(f"{wanted}got {said(pair)} in it")
        param, grad = pair
        if not isinstance(param, Variable) or not (grad is None or isinstance(grad, Variable)):
            raise ArgumentError(f"{wanted}got ({said(param)}, {said(grad)}) in it")
        pairs.append((param, grad))
    return pairs
