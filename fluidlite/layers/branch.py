"""Branches: cond, case, switch_case, Switch and IfElse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, TypeVar
from typing import cast as cast_type

from .. import unique_name
from ..errors import ArgumentError
from ..ground.callsite import warn
from ..ground.dtypes import DType
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.program import default_main_program
from ..ir.variable import Variable, is_tensor
from .compare import equal, logical_and, logical_not
from .creation import assign, fill_constant
from .driving import append_conditional, checked_condition, checked_function, new_block
from .layer import LayerBuilder, is_variable, layer
from .math import cast
from .structure import mapped

T = TypeVar("T")
Function = Callable[[], T]


def cond(
    pred: Variable,
    true_fn: Function[T] | None = None,
    false_fn: Function[T] | None = None,
    name: str | None = None,
) -> T:
    """What one of two functions gives, depending on a truth that is known when the program runs.

    Args:
        pred: a variable of one truth; of a tensor, one function is called at once.
        true_fn: gives a variable, a list or tuple of them (also nested), or None.
        false_fn: gives as many; where an element type differs, it is known when the program runs.
        name: of the layer.

    Returns:
        a variable for each that the functions give, in the same structure; None where they give
        None.

    Raises:
        ArgumentError: an argument is of the wrong type, or the functions give different structures.

    >>> x = fluid.layers.fill_constant([1], "float32", -2.0)
    >>> negative = fluid.layers.less_than(x, x * 0.0)
    >>> y = fluid.layers.cond(negative, lambda: x * -1.0, lambda: x)
    >>> fluid.Executor().run(fetch_list=[y])
    [array([2.], dtype=float32)]
    """
    checked_condition(pred, "cond")
    for function, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if function is not None:
            checked_function(function, what)
    if is_tensor(pred):
        chosen = true_fn if bool(pred) else false_fn
        return cast_type("T", None) if chosen is None else chosen()
    on_true = None if true_fn is None else _branch(pred, true_fn)
    on_false = None if false_fn is None else _branch(logical_not(pred), false_fn)
    if on_true is None and on_false is None:
        return cast_type("T", None)
    _need_alike(on_true, on_false)
    mask = cast(pred, "int32")
    return _merged(mask, on_false, on_true)


def _branch(pred: Variable, function: Function) -> Any:
    """What a function gives, as variables of the block around, and the operator that runs it."""
    parent = default_main_program().current_block()
    with new_block("conditional_block") as block:
        found = mapped(function(), lambda v: _handed_out(v, parent))
    append_conditional(parent, block, [pred], scalar=True)
    return found


def _handed_out(value: Any, parent: Any) -> Variable:
    if not isinstance(value, Variable):
        raise ArgumentError(
            f"expected a function of cond to give variables, got {value!r:.60} of type "
            f"{type(value).__name__}"
        )
    shape = value.shape if value.has_shape else None
    outer = parent.create_var(dtype=value.dtype, shape=shape, type=value.kind)
    assign(value, outer)
    return outer


def _need_alike(a: Any, b: Any) -> None:
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        for x, y in zip(a, b):
            _need_alike(x, y)
    elif isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        for key in a:
            _need_alike(a[key], b[key])
    elif isinstance(a, Variable) and isinstance(b, Variable):
        if a.dtype != b.dtype:
            warn(
                f"the functions of cond give variables of {a.dtype} and of {b.dtype}: the result "
                f"has the element type of the branch that runs; cast one of them",
                None,
            )
    elif a is not None or b is not None:
        raise ArgumentError(
            f"expected both functions of cond to give the same structure, got {_structure(a)} "
            f"and {_structure(b)}"
        )


def _structure(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_structure, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_structure(v)}" for k, v in value.items()) + "}"
    return "nothing" if value is None else "a variable"


def _merged(mask: Variable, on_false: Any, on_true: Any) -> Any:
    if isinstance(on_true, (list, tuple)):
        return type(on_true)(_merged(mask, f, t) for f, t in zip(on_false, on_true))
    if isinstance(on_true, Mapping):
        return {k: _merged(mask, on_false[k], t) for k, t in on_true.items()}
    if on_true is None:
        return None
    block = mask.block
    shape = on_true.shape if on_true.has_shape and on_true.shape == on_false.shape else None
    known = on_true.has_shape and on_false.has_shape
    if shape is None and known and on_true.ndim == on_false.ndim:
        shape = tuple(m if m == n else -1 for m, n in zip(on_true.shape, on_false.shape))
    dtype = on_false.dtype if on_false.dtype.is_float else on_true.dtype
    merged = block.create_var(dtype=dtype, shape=shape, type=on_true.kind)
    block.append_op("select_input", {"X": [on_false, on_true], "Mask": mask}, {"Out": merged})
    return merged


def case(
    pred_fn_pairs: Sequence[tuple[Variable, Function[T]]],
    default: Function[T] | None = None,
    name: str | None = None,
) -> T:
    """What the function of the first condition that holds gives.

    Args:
        pred_fn_pairs: pairs of a variable of one truth and a function.
        default: used where no condition holds; the last pair's function when None.
        name: of the layer.

    Raises:
        ArgumentError: an argument is of the wrong type, or there are no pairs.

    >>> x = fluid.layers.fill_constant([1], "float32", 0.5)
    >>> one = fluid.layers.fill_constant([1], "float32", 1.0)
    >>> pairs = [(fluid.layers.less_than(one, x), lambda: x * 10.0)]
    >>> y = fluid.layers.case(pairs, default=lambda: x * 2.0)
    >>> fluid.Executor().run(fetch_list=[y])
    [array([1.], dtype=float32)]
    """
    if not isinstance(pred_fn_pairs, (list, tuple)) or not pred_fn_pairs:
        raise ArgumentError(
            f"expected pred_fn_pairs to be a list of at least one pair, got {pred_fn_pairs!r:.60}"
        )
    pairs = []
    for pair in pred_fn_pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ArgumentError(f"expected pairs of a condition and a function, got {pair!r:.60}")
        checked_condition(pair[0], "case")
        pairs.append((pair[0], checked_function(pair[1], "the function of a case")))
    if default is None:
        default = pairs.pop()[1]
        if not pairs:
            return default()
    return _nested(pairs[::-1], checked_function(default, "default"))


def _nested(pairs: Sequence[tuple[Variable, Function[T]]], default: Function) -> Any:
    """Conditions one inside the other, the last pair outermost."""
    otherwise = default
    for pred, function in pairs:
        otherwise = partial(cond, pred, function, otherwise)
    return otherwise()


def switch_case(
    branch_index: Variable,
    branch_fns: Mapping[int, Function[T]] | Sequence[Function[T] | tuple[int, Function[T]]],
    default: Function[T] | None = None,
    name: str | None = None,
) -> T:
    """What the function of a number gives.

    Args:
        branch_index: a variable of one integer.
        branch_fns: functions by number: a dictionary, a list of pairs, or a list of functions,
            which are numbered from 0.
        default: used for other numbers; the function of the largest number when None.
        name: of the layer.

    Raises:
        ArgumentError: an argument is of the wrong type, or a number stands twice.

    >>> k = fluid.layers.fill_constant([1], "int64", 2)
    >>> x = fluid.layers.fill_constant([1], "float32", 3.0)
    >>> y = fluid.layers.switch_case(k, {1: lambda: x * 10.0, 2: lambda: x * x})
    >>> fluid.Executor().run(fetch_list=[y])
    [array([9.], dtype=float32)]
    """
    if not is_variable(branch_index):
        raise ArgumentError(
            f"expected branch_index to be a variable, got {branch_index!r:.60} of type "
            f"{type(branch_index).__name__}"
        )
    if branch_index.dtype not in (DType.INT32, DType.INT64, DType.UINT8):
        raise ArgumentError(
            f"expected branch_index {branch_index.name!r} to be an integer, got "
            f"{branch_index.dtype}"
        )
    numbered = _numbered(branch_fns)
    if is_tensor(branch_index):
        last = checked_function(default, "default") if default is not None else numbered[-1][1]
        chosen: Any = branch_index
        return dict(numbered).get(int(chosen), last)()
    if branch_index.dtype is not DType.INT64:
        branch_index = cast(branch_index, "int64")
    if default is None:
        default = numbered.pop()[1]
        if not numbered:
            return default()
    pairs = [
        (equal(branch_index, fill_constant([1], "int64", number)), function)
        for number, function in numbered
    ]
    return _nested(pairs, checked_function(default, "default"))


def _numbered(branch_fns: Any) -> list[tuple[int, Function]]:
    listed: list[Any]
    if isinstance(branch_fns, Mapping):
        listed = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)) and branch_fns:
        listed = [f if isinstance(f, (list, tuple)) else (k, f) for k, f in enumerate(branch_fns)]
    else:
        listed = []
    if not listed:
        raise ArgumentError(
            f"expected branch_fns to be functions by number, at least one, got {branch_fns!r:.60}"
        )
    seen = set()
    for pair in listed:
        if len(pair) != 2 or isinstance(pair[0], bool) or not isinstance(pair[0], int):
            raise ArgumentError(f"expected pairs of a number and a function, got {pair!r:.60}")
        if pair[0] in seen:
            raise ArgumentError(f"number {pair[0]} stands twice in branch_fns")
        seen.add(pair[0])
        checked_function(pair[1], f"the function of {pair[0]}")
    return sorted(listed, key=lambda pair: int(pair[0]))


@answers_protected
class Switch(Described):
    """Blocks of which the first whose condition holds runs; they write variables made before.

    >>> x = fluid.layers.fill_constant([1], "float32", 3.0)
    >>> two = fluid.layers.fill_constant([1], "float32", 2.0)
    >>> rate = fluid.layers.create_global_var([1], 0.0, "float32", persistable=True)
    >>> with fluid.layers.Switch() as switch:
    ...     with switch.case(fluid.layers.less_than(x, two)):
    ...         _ = fluid.layers.assign(x, rate)
    ...     with switch.default():
    ...         _ = fluid.layers.assign(two, rate)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> exe.run(fetch_list=[rate])
    [array([2.], dtype=float32)]
    """

    def __init__(self, name: str | None = None) -> None:
        self.name: str = unique_name.generate("switch") if name is None else name
        self._inside = False
        #: holds where no condition so far does
        self._none_yet: Variable | None = None
        self._has_default = False

    def __enter__(self) -> Switch:
        self._inside = True
        return self

    def __exit__(self, *error: object) -> None:
        self._inside = False

    @contextmanager
    def case(self, condition: Variable) -> Iterator[None]:
        """What runs where a condition holds and none before it did.

        Raises:
            ArgumentError: this is outside ``with``, after ``default``, or no condition is given.
        """
        self._need_inside("case")
        if self._has_default:
            raise ArgumentError("a case of a Switch stands before its default")
        checked_condition(condition, "Switch.case")
        if self._none_yet is None:
            taken, self._none_yet = condition, logical_not(condition)
        else:
            before = self._none_yet
            self._none_yet = logical_and(before, logical_not(condition))
            taken = logical_and(before, condition)
        with _conditional(taken):
            yield

    @contextmanager
    def default(self) -> Iterator[None]:
        """What runs where no condition holds.

        Raises:
            ArgumentError: this is outside ``with``, or there is no case before it.
        """
        self._need_inside("default")
        if self._none_yet is None:
            raise ArgumentError("the default of a Switch stands after at least one case")
        self._has_default = True
        with _conditional(self._none_yet):
            yield

    def _need_inside(self, what: str) -> None:
        if not self._inside:
            raise ArgumentError(f"{what} of a Switch is used inside: with Switch() as switch: ...")


@contextmanager
def _conditional(condition: Variable) -> Iterator[None]:
    parent = default_main_program().current_block()
    with new_block("conditional_block") as block:
        yield
    append_conditional(parent, block, [condition], scalar=True)


@answers_protected
class IfElse(Described):
    """Two blocks, one for the rows of a batch where a condition holds and one for the others.

    Args:
        cond: a variable of truths, one for each row: [N, 1].
        name: of the layer.

    >>> x = fluid.data("x", [None, 2])
    >>> y = fluid.data("y", [None, 1])
    >>> zero = fluid.layers.fill_constant([1], "float32", 0.0)
    >>> choice = fluid.layers.IfElse(fluid.layers.less_than(y, zero))
    >>> with choice.true_block():
    ...     choice.output(choice.input(x) * -1.0)
    >>> with choice.false_block():
    ...     choice.output(choice.input(x) * 10.0)
    >>> out = choice()[0]
    >>> feed = {"x": np.ones([2, 2], "float32"), "y": np.array([[1], [-1]], "float32")}
    >>> fluid.Executor().run(feed=feed, fetch_list=[out])[0]
    array([[10., 10.],
           [-1., -1.]], dtype=float32)
    """

    def __init__(self, cond: Variable, name: str | None = None) -> None:
        if not isinstance(cond, Variable) or cond.dtype is not DType.BOOL:
            raise ArgumentError(f"IfElse: expected a variable of type bool, got {cond!r:.60}")
        self.cond = cond
        self.name: str = unique_name.generate("ifelse") if name is None else name
        self._parts: dict[str, tuple[Variable, Variable]] = {}
        self._outputs: tuple[list[Variable], list[Variable]] = ([], [])
        self._branch: int | None = None  #: 0 in the false block, 1 in the true one
        self._parent = default_main_program().current_block()

    @contextmanager
    def _block(self, branch: int) -> Iterator[None]:
        self._parent = default_main_program().current_block()
        self._branch = branch
        try:
            with new_block("conditional_block") as block:
                yield
                if not self._outputs[branch]:
                    raise ArgumentError("a block of IfElse must call output(...)")
        finally:
            self._branch = None
        append_conditional(self._parent, block, [self.cond], scalar=False)

    def true_block(self) -> AbstractContextManager[None]:
        """What is computed for the rows where the condition holds."""
        return self._block(1)

    def false_block(self) -> AbstractContextManager[None]:
        """What is computed for the other rows."""
        return self._block(0)

    def input(self, x: Variable) -> Variable:
        """The rows of ``x`` that the block is for.

        Raises:
            ArgumentError: this is outside a block.
        """
        if self._branch is None:
            raise ArgumentError("input of an IfElse is used inside true_block or false_block")
        if x.name not in self._parts:
            outs = [
                self._parent.create_var(
                    name=unique_name.generate(f"ifelse_input{self.name}"), dtype=x.dtype
                )
                for _ in range(2)
            ]
            self._parent.append_op(
                "split_lod_tensor",
                inputs={"X": x, "Mask": self.cond},
                outputs={"OutTrue": outs[0], "OutFalse": outs[1]},
                attrs={"level": 0},
            )
            self._parts[x.name] = (outs[1], outs[0])
        return self._parts[x.name][self._branch]

    def output(self, *outs: Variable) -> None:
        """What the block computed; both blocks give as many.

        Raises:
            ArgumentError: this is outside a block, or something else than variables is given.
        """
        if self._branch is None:
            raise ArgumentError("output of an IfElse is used inside true_block or false_block")
        for out in outs:
            if not isinstance(out, Variable):
                raise ArgumentError(f"expected output to be given variables, got {out!r:.60}")
            outer = self._parent.create_var(
                name=unique_name.generate(f"{self.name}_output"),
                dtype=out.dtype,
                shape=out.shape if out.has_shape else None,
            )
            assign(out, outer)
            self._outputs[self._branch].append(outer)

    def __call__(self) -> list[Variable]:
        """The outputs of both blocks, with the rows in their order.

        Raises:
            ArgumentError: there is no block, or they give different numbers of outputs.
        """
        on_false, on_true = self._outputs
        if not on_false and not on_true:
            raise ArgumentError("an IfElse needs true_block or false_block before it is called")
        if not on_false or not on_true:
            return on_false or on_true
        if len(on_false) != len(on_true):
            raise ArgumentError(
                f"expected both blocks of an IfElse to give as many outputs, got {len(on_true)} "
                f"and {len(on_false)}"
            )
        return [_rows_merged(self.cond, t, f) for t, f in zip(on_true, on_false)]


@layer("merge_lod_tensor")
def _rows_merged(
    f: LayerBuilder, mask: Variable, on_true: Variable, on_false: Variable
) -> Variable:
    return f.merge_lod_tensor(mask, mask, on_true, on_false, level=0)


def split_lod_tensor(input: Variable, mask: Variable, level: int = 0) -> tuple[Variable, Variable]:
    """The rows of a variable where a mask holds, and the others; of one with sequences, the
    sequences.

    Args:
        input: rows, or sequences of them.
        mask: a truth for each, [n, 1], bool.
        level: of the sequences that are divided; 0 for the outermost.

    >>> x = fluid.data("x", [None, 1])
    >>> first, second = fluid.layers.control_flow.split_lod_tensor(x, x > 2.0)
    >>> fluid.Executor().run(
    ...     feed={"x": np.array([[1], [5], [2]], "float32")}, fetch_list=[first, second]
    ... )
    [array([[5.]], dtype=float32), array([[1.],
           [2.]], dtype=float32)]
    """
    block = default_main_program().current_block()
    stem = unique_name.generate("split_lod_tensor")
    parts = [
        block.create_var(name=unique_name.generate(f"{stem}.tmp"), dtype=input.dtype)
        for _ in range(2)
    ]
    block.append_op(
        "split_lod_tensor",
        {"X": input, "Mask": mask},
        {"OutTrue": parts[0], "OutFalse": parts[1]},
        {"level": level},
    )
    return parts[0], parts[1]


@layer("merge_lod_tensor")
def merge_lod_tensor(
    f: LayerBuilder,
    in_true: Variable,
    in_false: Variable,
    x: Variable,
    mask: Variable,
    level: int = 0,
) -> Variable:
    """What ``split_lod_tensor`` divided, put together again.

    Args:
        in_true: rows or sequences, as many as ``mask`` has truths.
        in_false: the others.
        x: what was divided.
        mask: a truth for each, [n, 1], bool.
        level: of the sequences that were divided.

    >>> x = fluid.data("x", [None, 1])
    >>> mask = x > 2.0
    >>> high, low = fluid.layers.control_flow.split_lod_tensor(x, mask)
    >>> both = fluid.layers.control_flow.merge_lod_tensor(high * 10.0, low, x, mask)
    >>> fluid.Executor().run(feed={"x": np.array([[1], [5]], "float32")}, fetch_list=[both])
    [array([[ 1.],
           [50.]], dtype=float32)]
    """
    return f.merge_lod_tensor(x, mask, in_true, in_false, level=level)
