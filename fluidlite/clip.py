"""Clipping of gradients: those of parameters, before optimizers use them, and those of any variable
while they flow back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from . import unique_name
from .errors import ArgumentError
from .ground.arguments import a_function, finite, instance_of, or_none, positive, refused
from .ground.callsite import warn
from .ground.docstrings import Family
from .ground.doubts import number
from .ground.dtypes import Kind
from .ground.missing_names import answer
from .ground.protected import HasProtectedArguments, answers_protected
from .ground.public_names import list_public_names
from .ground.tracebacks import api_boundaries
from .ground.values import SelectedRows
from .ir.block import Block
from .ir.name_scope import name_scope
from .ir.operator import OpRole
from .ir.program import Program, default_main_program
from .ir.variable import Parameter, Variable, is_tensor

Pair = tuple[Variable, Variable | None]  #: a parameter and its gradient; None where it has none
NeedClip = Callable[[Variable], bool]


CLIPS = Family(
    {
        "max": "the largest value.",
        "min": "the smallest one; ``-max`` when None.",
        "clip_norm": "the largest norm.",
        "group_name": "which parameters are taken together where they have clips of their own.",
        "need_clip": "a function that says of a parameter whether its gradient is clipped, and "
        "counts; all do when None.",
        "auto_skip_clip": "accepted; nothing is scaled where nothing has to be.",
    },
    raises="ArgumentError: a number is none, or is out of range.",
)


def _take_bounds(clip: Any) -> None:
    """Keep bounds as floats.

    Raises:
        ArgumentError: they are no numbers, or in the wrong order.
    """
    high = finite(clip, "max", clip.max)
    low = -high if clip.min is None else finite(clip, "min", clip.min)
    if not low < high:
        raise ArgumentError(
            f"{type(clip).__name__}: expected min to be less than max, got min={low}, max={high}"
        )
    object.__setattr__(clip, "min", low)
    object.__setattr__(clip, "max", high)


@answers_protected
class GradientClipBase(HasProtectedArguments):
    """The base of all clips of parameters' gradients: called with pairs of a parameter and its
    gradient, it appends the operators that clip and returns the pairs to use.

    A subclass says in ``clip`` what to append; or, as in the real libraries, in ``_dygraph_clip``
    and ``_static_clip`` which pairs tensors and variables give.
    """

    protected: ClassVar[Mapping[str, str]] = {"_need_clip_func": "need_clip"}

    #: says of a parameter whether its gradient is clipped; all are when None
    need_clip: NeedClip | None = None

    def __call__(self, params_grads: Iterable[Pair]) -> list[Pair]:
        """Append the operators that clip, behind the gradients.

        Args:
            params_grads: pairs of a parameter and its gradient; None where it has none.

        Returns:
            the pairs with clipped gradients, in the same order, without those that have none.
        """
        pairs = list(params_grads)
        at_once = any(grad is not None and is_tensor(grad) for _, grad in pairs)
        return self._dygraph_clip(pairs) if at_once else self._static_clip(pairs)

    def _dygraph_clip(self, params_grads: Iterable[Pair]) -> list[Pair]:
        return self._pairs(params_grads, self.clip)

    def _static_clip(self, params_grads: Iterable[Pair]) -> list[Pair]:
        return self._pairs(params_grads, self.clip)

    def _pairs(
        self, params_grads: Iterable[Pair], clip: Callable[..., list[Variable]]
    ) -> list[Pair]:
        """The pairs with the gradients that ``clip`` makes of those of a program."""
        with_gradient = [(p, g) for p, g in params_grads if g is not None]
        pairs: list[Pair] = [*with_gradient]
        chosen = [(p, g) for p, g in with_gradient if self._clips(p)]
        if not chosen:
            return pairs
        if is_tensor(chosen[0][1]):
            clipped_grads = self.clip_tensors(chosen)
        else:
            with chosen[0][1].program.as_role(OpRole.OPTIMIZE), name_scope("gradient_clip"):
                clipped_grads = clip(chosen)
        clipped = {param.name: grad for (param, _), grad in zip(chosen, clipped_grads, strict=True)}
        return [(p, clipped.get(p.name, g)) for p, g in with_gradient]

    def clip(self, params_grads: Sequence[tuple[Variable, Variable]]) -> list[Variable]:
        """The clipped gradients, one for each pair.

        Args:
            params_grads: the pairs to clip, at least one.
        """
        raise NotImplementedError

    def clip_tensors(self, params_grads: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The same for eager parameters and their gradients.

        What ``clip`` says in layers holds for these, too.

        Args:
            params_grads: the pairs to clip, at least one.
        """
        return self.clip(params_grads)

    def _clip_of_parameters(
        self, params_grads: Sequence[tuple[Variable, Variable]]
    ) -> list[Variable]:
        """As :meth:`clip`, with operators in the order that fluid has for clips of parameters."""
        return self.clip(params_grads)

    @property
    def group(self) -> Hashable:
        """The same for all clips whose parameters are clipped together."""
        return self

    def _clips(self, param: Variable) -> bool:
        if not getattr(param, "need_clip", True):
            return False
        return self.need_clip is None or bool(self.need_clip(param))

    def __post_init__(self) -> None:
        or_none(a_function)(self, "need_clip", self.need_clip)


class _EachClip(GradientClipBase):
    """A clip that treats every gradient by itself, in one operator."""

    def clip(self, params_grads: Sequence[tuple[Variable, Variable]]) -> list[Variable]:
        clipped_grads = []
        for param, grad in params_grads:
            begin = len(grad.block.ops)
            clipped = self._clipped(grad)
            for op in grad.block.ops[begin:]:
                op.role_vars = (param.name, clipped.name)
            clipped_grads.append(clipped)
        return clipped_grads

    def clip_tensors(self, params_grads: Sequence[tuple[Any, Any]]) -> list[Any]:
        return [self._clipped(grad) for _, grad in params_grads]

    def _clipped(self, grad: Variable) -> Variable:
        raise NotImplementedError


@CLIPS
@dataclass(frozen=True)
class GradientClipByValue(_EachClip):
    """Keeps every element of a gradient in [min, max].

    >>> fluid.clip.GradientClipByValue(0.5).min
    -0.5
    """

    max: float
    min: float | None = None
    need_clip: NeedClip | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _take_bounds(self)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def _clipped(self, grad: Variable) -> Variable:
        made: Variable = _layer(grad, "clip").clip(grad, min=self.min, max=self.max)
        return made


@CLIPS
@dataclass(frozen=True)
class GradientClipByNorm(_EachClip):
    """Scales every gradient whose Euclidean norm is larger than ``clip_norm`` to that norm.

    >>> fluid.clip.GradientClipByNorm(2).clip_norm
    2.0
    """

    clip_norm: float
    need_clip: NeedClip | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "clip_norm", positive(self, "clip_norm", self.clip_norm))

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def _clipped(self, grad: Variable) -> Variable:
        f = _layer(grad, "clip_by_norm")
        made: Variable = f.clip_by_norm(grad, max_norm=self.clip_norm)
        return made


@CLIPS
@dataclass(frozen=True)
class GradientClipByGlobalNorm(GradientClipBase):
    """Scales all gradients by one number when the Euclidean norm of them together is larger than
    ``clip_norm``, so that it becomes that.

    >>> fluid.clip.GradientClipByGlobalNorm(1.0).group_name
    'default_group'
    """

    clip_norm: float
    group_name: str = "default_group"
    need_clip: NeedClip | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "clip_norm", number(self, "clip_norm", self.clip_norm, least=0))

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    @property
    def group(self) -> Hashable:
        return type(self), self.group_name

    def clip(self, params_grads: Sequence[tuple[Variable, Variable]]) -> list[Variable]:
        return self._clipped(params_grads, len(params_grads[0][1].block.ops))

    def _clip_of_parameters(
        self, params_grads: Sequence[tuple[Variable, Variable]]
    ) -> list[Variable]:
        first = params_grads[0][1]
        return self._clipped(params_grads, len(first.block.ops), self._bound(first))

    def _clipped(
        self,
        params_grads: Sequence[tuple[Variable, Variable]],
        begin: int,
        bound: Variable | None = None,
    ) -> list[Variable]:
        """The clipped gradients.

        Args:
            params_grads: the pairs to clip.
            begin: how many operators the block had before.
            bound: ``clip_norm``, where an operator gives it already.
        """
        block = params_grads[0][1].block
        owners: list[int] = []  # of each operator: the position of the pair that it is about

        def own(position: int) -> None:
            owners.extend([position] * (len(block.ops) - begin - len(owners)))

        squares = []
        for i, (_, grad) in enumerate(params_grads):
            squares.append(_squared_norm(grad))
            own(i)
        scale = self._scale(squares, bound)
        own(len(params_grads) - 1)
        clipped: list[Variable] = []
        for i, (_, grad) in enumerate(params_grads):
            clipped.append(_layer(grad, "elementwise_mul").elementwise_mul(grad, scale))
            own(i)
        for op, i in zip(block.ops[begin:], owners, strict=True):
            op.role_vars = (params_grads[i][0].name, clipped[i].name)
        return clipped

    def clip_tensors(self, params_grads: Sequence[tuple[Any, Any]]) -> list[Any]:
        scale = self._scale([_squared_norm(grad) for _, grad in params_grads])
        return [_times(grad, scale) for _, grad in params_grads]

    def _bound(self, like: Any) -> Variable:
        """``clip_norm``, as a variable of the element type of another one."""
        bound: Variable = _layer(like, "fill_constant").fill_constant(
            shape=[1], dtype=like.dtype, value=self.clip_norm, str_value=str(self.clip_norm)
        )
        bound.stop_gradient = True
        return bound

    def _scale(self, squares: list[Variable], bound: Variable | None = None) -> Variable:
        """What gradients are multiplied by: clip_norm / max(clip_norm, norm)."""
        like = squares[0]
        norm = _layer(like, "sqrt").sqrt(_layer(like, "sum").sum(squares))
        most = self._bound(like) if bound is None else bound
        larger = _layer(like, "elementwise_max").elementwise_max(most, norm)
        scale: Variable = _layer(like, "elementwise_div").elementwise_div(most, larger)
        return scale


def _squared_norm(grad: Any) -> Variable:
    """The sum of the squares of a gradient's elements; rows that are named twice are added up."""
    if is_tensor(grad):
        grad = _whole(grad)
    elif grad.kind is Kind.SELECTED_ROWS:
        grad = _layer(grad, "merge_selected_rows").merge_selected_rows(grad)
        f = _layer(grad, "get_tensor_from_selected_rows")
        grad = f.get_tensor_from_selected_rows(grad)
    square = _layer(grad, "square").square(grad)
    total: Variable = _layer(grad, "reduce_sum").reduce_sum(square, dim=[0], reduce_all=True)
    return total


def _times(grad: Any, factor: Any) -> Any:
    """A gradient that is a tensor, or rows of one, times a tensor of one element."""
    values = grad.array
    if isinstance(values, SelectedRows):
        return grad.results(values * factor.array)
    return _layer(grad, "elementwise_mul").elementwise_mul(grad, factor)


def _whole(grad: Any) -> Any:
    """A gradient of which only some rows are stored, as a whole."""
    values = grad.array
    return grad.results(values.to_dense()) if isinstance(values, SelectedRows) else grad


def _layer(like: Any, kind: str) -> Any:
    """An interpreter that appends to the block of a variable and names results as a layer does; for
    a tensor, one that runs operators at once.
    """
    if is_tensor(like):
        return like.layer(like.results, kind, None)
    return like.block.builder(f"{unique_name.generate(kind)}.tmp")


def append_gradient_clip_ops(params_grads: Iterable[Pair]) -> list[Pair]:
    """Append the operators that clip gradients as their parameters say.

    Args:
        params_grads: pairs of a parameter and its gradient; None where it has none.

    Returns:
        the pairs with the gradients to use, in the same order.

    Raises:
        ArgumentError: a parameter's clip is of another kind, or parameters of one group have
            different norms.
    """
    pairs = list(params_grads)
    groups: dict[Any, tuple[GradientClipBase, list[Pair]]] = {}
    for param, grad in pairs:
        clip = getattr(param, "gradient_clip_attr", None)
        if clip is None or grad is None:
            continue
        if not isinstance(clip, GradientClipBase):
            wanted = "a clip such as GradientClipByNorm(1.0)"
            raise refused("", f"the gradient_clip of {param.name!r}", wanted, clip)
        first, members = groups.setdefault(clip.group, (clip, []))
        if members and first != clip:
            raise ArgumentError(
                f"parameters {members[0][0].name!r} and {param.name!r} are clipped together, and "
                f"their clips differ: {first} and {clip}; give one another group_name"
            )
        members.append((param, grad))
    clipped = {
        param.name: grad
        for clip, some in groups.values()
        for param, grad in clip._pairs(some, clip._clip_of_parameters)
    }
    return [(p, g if g is None else clipped.get(p.name, g)) for p, g in pairs]


def set_gradient_clip(
    clip: GradientClipBase,
    param_list: Sequence[Variable | str] | None = None,
    program: Program | None = None,
) -> None:
    """Say how gradients of parameters are clipped by optimizers that are given no ``grad_clip``.

    Parameters that are not mentioned are not clipped.  A warning says, as fluid 1.8's does, that an
    optimizer's ``grad_clip`` is the newer way.

    Args:
        clip: how.
        param_list: parameters, or their names; all that there are now when None.
        program: whose; the default main program when None.

    Raises:
        ArgumentError: an argument is of another kind.
        UnknownVariableError: the program has no such parameter.

    >>> import warnings
    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     fluid.clip.set_gradient_clip(fluid.clip.GradientClipByNorm(1.0), ["fc_0.w_0"])
    >>> ops, pairs = fluid.optimizer.SGD(0.1).minimize(loss)
    >>> [op.input("Grad") for op in ops]
    [['fc_0.b_0@GRAD'], ['clip_by_norm_0.tmp_0']]
    """
    warn(
        "set_gradient_clip is the old way: give an optimizer its grad_clip, as in "
        "SGD(0.1, grad_clip=fluid.clip.GradientClipByNorm(1.0))",
        None,
    )
    instance_of(GradientClipBase, "a clip such as GradientClipByNorm(1.0)")(
        "set_gradient_clip", "clip", clip
    )
    program = default_main_program() if program is None else program
    instance_of(Program, "a Program")("set_gradient_clip", "program", program)
    if isinstance(param_list, (str, Variable)):
        raise refused(
            "set_gradient_clip", "param_list", "a list of parameters or names", param_list
        )
    listed = program.all_parameters() if param_list is None else param_list
    chosen = [_parameter(each, program) for each in listed]
    for param in chosen:
        param.gradient_clip_attr = clip
    if any(op.role & OpRole.OPTIMIZE for op in program.global_block().ops):
        warn(
            "set_gradient_clip has no effect on steps of optimizers that the program has already; "
            "call it before minimize",
            None,
        )


def _parameter(given: Any, program: Program) -> Parameter:
    param = program.global_block().var(given) if isinstance(given, str) else given
    if not isinstance(param, Parameter):
        raise ArgumentError(f"expected parameters or their names in param_list, got {given!r:.60}")
    return param


# -- clipping while gradients flow back ------------------------------------------------------------


class ErrorClipBase:
    """The base of what a variable's ``error_clip`` may be."""

    def append(self, block: Block, grad_name: str) -> None:
        """Append the operators that clip a gradient in place.

        Args:
            block: where the gradient has just been computed.
            grad_name: the gradient's name.
        """
        raise NotImplementedError


@answers_protected
@CLIPS
@dataclass(frozen=True)
class ErrorClipByValue(ErrorClipBase):
    """Keeps every element of a variable's gradient in [min, max] while it flows back.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> hidden = fluid.layers.fc(x, 4)
    >>> hidden.error_clip = fluid.clip.ErrorClipByValue(0.1)
    >>> ops, pairs = fluid.optimizer.SGD(0.1).minimize(fluid.layers.mean(hidden))
    >>> [op.output("Out") for op in hidden.block.ops if op.type == "clip"]
    [['fc_0.tmp_1@GRAD']]
    """

    max: float
    min: float | None = None

    def __post_init__(self) -> None:
        _take_bounds(self)

    def append(self, block: Block, grad_name: str) -> None:
        attrs = {"min": self.min, "max": self.max}
        with block.program.as_role(OpRole.BACKWARD):
            block.append_op("clip", {"X": grad_name}, {"Out": grad_name}, attrs)


def error_clip_callback(block: Block, context: Mapping[str, Any]) -> None:
    """Clip gradients that have just been computed, where their variables have an ``error_clip``.

    One of the ``callbacks`` of ``append_backward``; optimizers use it.

    Args:
        block: where the gradient operators are appended.
        context: the names of gradients and of their variables; the last gradient operator.

    Raises:
        ArgumentError: an ``error_clip`` is of another kind.
    """
    for grad_name in context["__current_op_desc__"].output_arg_names():
        name = context.get(grad_name)
        if name is None or "@RENAME@" in grad_name:  # a part: the sum is clipped
            continue
        variable = block.var_recursive(name)
        clip = variable.error_clip
        if clip is None:
            continue
        if not isinstance(clip, ErrorClipBase):
            wanted = "one such as ErrorClipByValue(1.0)"
            raise refused("", f"the error_clip of {name!r}", wanted, clip)
        clip.append(block, grad_name)


__all__ = [
    "ErrorClipByValue", "GradientClipByGlobalNorm", "GradientClipByNorm", "GradientClipByValue",
    "set_gradient_clip",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
