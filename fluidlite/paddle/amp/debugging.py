"""``paddle.amp.debugging`` of paddle 2.6: what operators compute with, and what is not finite."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final, TypeVar

import numpy as np

from ...eager.listening import Listener, start, stop
from ...eager.recording import TensorRecord
from ...eager.tensor import Tensor
from ...errors import ArgumentError, NonFiniteError
from ...ground import state
from ...ground.arguments import instance_of
from ...ground.console import say
from ...ground.public_names import list_public_names
from ...ground.refusing import refusing
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries
from ...opdef.definition import Op
from ..modes import in_dynamic_mode

__all__ = [
    "DebugMode", "TensorCheckerConfig", "check_layer_numerics", "check_numerics",
    "collect_operator_stats", "compare_accuracy", "disable_operator_stats_collection",
    "disable_tensor_checker", "enable_operator_stats_collection", "enable_tensor_checker",
    "in_dynamic_or_pir_mode", "set_checked_op_list", "set_skipped_op_list",
]  # fmt: skip

in_dynamic_or_pir_mode = in_dynamic_mode
F = TypeVar("F", bound=Callable[..., Any])


class DebugMode(Enum):
    """What is printed of values."""

    CHECK_NAN_INF_AND_ABORT = 0  #: those that are not finite, and that is an error
    CHECK_NAN_INF = 1  #: those that are not finite
    CHECK_ALL_FOR_OVERFLOW = 2  #: those that float16 does not hold
    CHECK_ALL = 3  #: all


_NAMES = {"float16": "fp16", "float32": "fp32", "float64": "fp64"}
_LARGEST = 65504.0  # of float16
#: types of operators whose names in 2.6 are others
_CALLED = {
    **{name: f"{name}2" for name in ("reshape", "squeeze", "transpose", "unsqueeze")},
    **{f"{name}_v2": name for name in ("adadelta", "adam", "lamb")},
    "matmul": "matmul_v2",
}
_HEADS = (
    "<--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- | "
    "--- FP32 Calls--- | -- Other Calls -->"
)


def _told(array: Any, op_type: str, name: str, mode: DebugMode) -> tuple[list[int], list[float]]:
    """Print what a mode says of an array; its counts of NaN, infinities and zeros, and its largest,
    least and mean value.
    """
    flat = array.reshape(-1).astype("float64")
    known = flat[~np.isnan(flat)]
    counts = [int(np.isnan(flat).sum()), int(np.isinf(flat).sum()), int((flat == 0).sum())]
    with np.errstate(all="ignore"):
        mean = float(flat.mean()) if flat.size else 0.0
    values = [float(known.max()), float(known.min()), mean] if known.size else [float("nan")] * 3
    bad = bool(counts[0] or counts[1])
    kind = _NAMES[array.dtype.name]
    where = f"[device=cpu, op={op_type}, tensor={name}, dtype={kind}]"
    spread = ", ".join(f"{n}={_digits(v)}" for n, v in zip(("max", "min", "mean"), values))
    if bad:
        numbers = f"num_nan={counts[0]}, num_inf={counts[1]}, num_zero={counts[2]}"
        say(f"[PRECISION] [ERROR] in {where}, numel={flat.size}, {numbers}, {spread}")
        if mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
            raise NonFiniteError(f"there are values that are not finite ({numbers}) in {where}")
    elif mode is DebugMode.CHECK_ALL or (
        mode is DebugMode.CHECK_ALL_FOR_OVERFLOW and max(map(abs, values)) > _LARGEST
    ):
        say(f"[PRECISION] in {where}, numel={flat.size}, num_zero={counts[2]}, {spread}")
    return counts, values


def _digits(value: float) -> str:
    return f"{value:e}" if np.isfinite(value) else str(value)


def check_numerics(
    tensor: Tensor,
    op_type: str,
    var_name: str,
    debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
) -> tuple[Tensor, Tensor]:
    """Look for values that are not finite, and say what is found.

    Args:
        tensor: of floats.
        op_type, var_name: stand in what is printed.
        debug_mode: what is printed.

    Returns:
        the numbers of NaN, infinities and zeros; the largest value, the least and the mean.

    Raises:
        NonFiniteError: there are some, and the mode says so.
        ArgumentError: the tensor is no tensor of floats.

    >>> from fluidlite import paddle
    >>> counts, values = paddle.amp.debugging.check_numerics(
    ...     paddle.to_tensor([1.0, 0.0]), "op", "x"
    ... )
    >>> counts.tolist(), values.tolist()
    ([0, 0, 1], [1.0, 0.0, 0.5])
    """
    if not isinstance(tensor, TensorRecord) or tensor.array.dtype.name not in _NAMES:
        raise ArgumentError(f"expected check_numerics of a tensor of floats, got {tensor!r:.60}")
    counts, values = _told(tensor.array, op_type, var_name, debug_mode)
    made: Any = tensor.results
    return made(np.array(counts, "int64")), made(np.array(values, "float32"))


class TensorCheckerConfig(Described):
    """What :func:`enable_tensor_checker` looks for.

    Args:
        enable: whether it looks at all.
        debug_mode: what is printed.
        output_dir: accepted: it is printed.
        checked_op_list: the types of operators that are looked at; all when None.
        skipped_op_list: those that are not.
        debug_step: the first step and the one behind the last; all when None.
        stack_height_limit: accepted: errors say the user's line.

    Raises:
        ArgumentError: ``debug_mode`` is none.
    """

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Iterable[str] | None = None,
        skipped_op_list: Iterable[str] | None = None,
        debug_step: tuple[int, int] | list[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        instance_of(DebugMode, "a DebugMode")(self, "debug_mode", debug_mode)
        self.enable, self.debug_mode = enable, debug_mode
        self.checked_op_list, self.skipped_op_list = checked_op_list, skipped_op_list
        self.start_step: int | None = None
        self.end_step: int | None = None
        if debug_step is not None:
            self.start_step, self.end_step = debug_step
        self.current_step_id = -1

    def update_and_check_step_id(self) -> bool:
        """Count a step; whether it is looked at."""
        if not self.enable:
            return False
        self.current_step_id += 1
        if self.start_step is None or self.end_step is None:
            return True
        return self.start_step <= self.current_step_id < self.end_step

    def looks_at(self, op_type: str) -> bool:
        """Whether operators of a type are looked at."""
        if self.skipped_op_list and op_type in self.skipped_op_list:
            return False
        return not self.checked_op_list or op_type in self.checked_op_list

    def start_check_nan_inf(self) -> None:
        """Look from here on."""
        _checker.end()
        _checker.begin(_Checks(self))

    def stop_check_nan_inf(self) -> None:
        """Look no longer."""
        _checker.end()


class _Checks(Listener):
    """Looks at what operators compute."""

    def __init__(self, config: TensorCheckerConfig) -> None:
        self._config = config

    def ran(self, op: Op, ins: Any, outs: Mapping[str, Any]) -> None:
        for value in outs.values():
            for tensor in value if isinstance(value, (list, tuple)) else [value]:
                self._look(op.type, getattr(tensor, "array", None))

    def pulled(self, kind: str, flows: list[Any]) -> None:
        for flow in flows:
            self._look(f"{kind}_grad", getattr(flow, "array", flow))

    def _look(self, kind: str, array: Any) -> None:
        floats = isinstance(array, np.ndarray) and array.dtype.name in _NAMES and array.size
        if floats and self._config.looks_at(kind.removesuffix("_grad")):
            _told(array, kind, "", self._config.debug_mode)


class _Counts(Listener):
    """Counts operators by the element types of what they compute."""

    def __init__(self) -> None:
        self.calls: dict[str, list[int]] = {}

    def ran(self, op: Op, ins: Any, outs: Mapping[str, Any]) -> None:
        firsts = (v[0] if isinstance(v, (list, tuple)) and v else v for v in outs.values())
        dtype = next((str(v.array.dtype) for v in firsts if hasattr(v, "array")), "")
        self.calls.setdefault(op.type, [0, 0, 0, 0])[column_of(dtype)] += 1


def column_of(dtype: str) -> int:
    """Where the table of :func:`print_stats` has an element type."""
    return {"float16": 0, "bfloat16": 1, "float32": 2}.get(dtype, 3)


class _Switched:
    """A listener that is switched on and off."""

    def __init__(self, name: str) -> None:
        self._slot: state.StateSlot[Any] = state.slot(name, lambda: None)

    def begin(self, listener: Listener) -> None:
        self._slot.switch((listener, start(listener)))

    def end(self) -> Any:
        """Who listened; None where nobody did."""
        listener, before = self._slot.get() or (None, None)
        if listener is not None:
            self._slot.switch(None)
            stop(before)
        return listener


_checker = _Switched("checker of tensors")
_collector = _Switched("counter of operators")


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Look for values that are not finite in what operators compute from here on, and in gradients.

    Args:
        checker_config: what to look for; each call is a step.

    Raises:
        ArgumentError: it is something else.
    """
    kind = instance_of(TensorCheckerConfig, "a TensorCheckerConfig")
    kind("enable_tensor_checker", "checker_config", checker_config)
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Look no longer."""
    _checker.end()


def check_layer_numerics(func: F) -> F:
    """Make of the ``forward`` of a layer one that looks for values that are not finite in what its
    operators compute.

    Args:
        func: takes the layer and a tensor.
    """

    @functools.wraps(func)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], TensorRecord):
            raise ArgumentError("the first input of a layer whose numbers are checked is a tensor")
        before = start(_Checks(TensorCheckerConfig(True, DebugMode.CHECK_NAN_INF)))
        try:
            return func(self, *args, **kwargs)
        finally:
            stop(before)

    found: Any = checked
    return found


def enable_operator_stats_collection() -> None:
    """Count the operators that run from here on."""
    if _collector._slot.get() is None:
        _collector.begin(_Counts())


def disable_operator_stats_collection() -> None:
    """Print a table of the operators that were counted."""
    counts = _collector.end()
    if counts is not None:
        print_stats(counts.calls)


def print_stats(calls: Mapping[str, Iterable[int]]) -> None:
    """Print how many operators computed in which element type.

    Args:
        calls: type -> numbers of float16, bfloat16, float32 and others.
    """
    say("<{:-^120}>".format(" op list "))
    say(_HEADS)
    named = {_CALLED.get(kind, kind): numbers for kind, numbers in calls.items()}
    for kind in sorted(named):
        say(f"  {kind:<40}|" + "|".join(f"  {n:<17}" for n in named[kind]))
    say("<{:-^120}>\n".format(f" op count: {len(calls)} "))


@contextmanager
def collect_operator_stats() -> Iterator[None]:
    """A guard that prints a table of the operators that ran under it.

    >>> from fluidlite import paddle
    >>> with paddle.amp.debugging.collect_operator_stats():
    ...     _ = paddle.exp(paddle.ones([2]))  # doctest: +SKIP
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


compare_accuracy: Final = refusing(
    "compare_accuracy(dump_path: str, another_dump_path: str, output_filename: str, "
    "loss_scale: float = 1, dump_all_tensors: bool = False)",
    "Not there: it compares what two runs on a GPU wrote.",
    "compare_accuracy reads what checkers wrote in runs on a GPU, in float16 and in float32; "
    "here checkers print what they find",
)


def set_checked_op_list(checked_op_list: Iterable[str] | None) -> None:
    """Have the checker that is on look at operators of these types alone.

    Args:
        checked_op_list: the types; None for all.
    """
    _listed("checked_op_list", checked_op_list)


def set_skipped_op_list(skipped_op_list: Iterable[str] | None) -> None:
    """Have the checker that is on look at no operators of these types.

    Args:
        skipped_op_list: the types; None for none.
    """
    _listed("skipped_op_list", skipped_op_list)


def _listed(name: str, types: Iterable[str] | None) -> None:
    found = _checker._slot.get()
    if found is not None:
        setattr(found[0]._config, name, types)


list_public_names(globals())
api_boundaries(globals())
