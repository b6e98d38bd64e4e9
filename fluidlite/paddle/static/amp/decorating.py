"""Optimizers of programs whose losses are scaled, as 2.6 does on a CPU, where nothing is cast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ....contrib import mixed_precision
from ....contrib.mixed_precision.decorator import OptimizerWithMixedPrecision
from ....contrib.mixed_precision.loss_scaling import ScalingRule
from ....errors import ArgumentError
from ....ground.arguments import instance_of, integer, or_none, positive, refused
from ....ground.fields import from_fields
from ....ground.refusing import refusing
from ....ground.reprs import Described
from ....ir.program import Program
from ....optimizer import Optimizer
from ....optimizer.wrapped import an_optimizer
from ....scope import Scope
from ...amp import black_list, white_list


@from_fields
class AutoMixedPrecisionLists(Described):
    """Which operators would work in 16 bits on a GPU.

    Args:
        custom_white_list: types of operators that would, besides those of ``white_list``.
        custom_black_list: types that would not.
        custom_black_varnames: variables whose operators would not.
        dtype: float16 or bfloat16.

    Raises:
        ArgumentError: a type stands in both lists, or the element type is another one.

    >>> from fluidlite import paddle
    >>> lists = paddle.static.amp.CustomOpLists(custom_white_list={"relu"})
    >>> "relu" in lists.white_list, "exp" in lists.black_list
    (True, True)
    """

    custom_white_list: Iterable[str] | None = None
    custom_black_list: Iterable[str] | None = None
    custom_black_varnames: Iterable[str] | None = None
    dtype: str = "float16"

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments."""
        dtype: str = given.pop("dtype")
        white, black, names = ({*(listed or ())} for listed in given.values())
        if white & black:
            raise ArgumentError(f"{min(white & black)!r} stands in both custom lists")
        if dtype not in white_list():
            raise refused(self, "dtype", "float16 or bfloat16", dtype)
        self.amp_dtype: str = dtype
        self.white_list: set[str] = (white_list()[dtype]["O1"] | white) - black
        self.black_list: set[str] = (black_list()[dtype]["O1"] | black) - white
        self.black_varnames: set[str] = names


CustomOpLists = AutoMixedPrecisionLists


class ScalesLosses(OptimizerWithMixedPrecision):
    """An optimizer of programs whose losses are scaled; made by :func:`decorate`."""

    def amp_init(
        self,
        place: Any,
        scope: Scope | None = None,
        test_program: Program | None = None,
        use_fp16_test: bool = False,
        rewrite_master_weight: bool = False,
    ) -> None:
        """Cast parameters, which on a CPU stay in float32.

        Args:
            place, scope, test_program, use_fp16_test, rewrite_master_weight: accepted: nothing is
                cast.
        """


def decorate(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionLists | None = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    master_grad: bool = False,
    init_loss_scaling: float = 2.0**15,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool | None = False,
    use_promote: bool = False,
    *,
    use_pure_fp16: bool = False,
    use_fp16_guard: bool | None = None,
    use_bf16: bool = False,
) -> ScalesLosses:
    """An optimizer that multiplies losses by a factor, divides gradients by it, and makes no steps
    with gradients that are not finite.  Operators work in float32, as 2.6's do on a CPU.

    Args:
        optimizer: makes the steps.
        amp_lists: which operators would work in 16 bits on a GPU.
        level: O0, OD, O1 or O2; by place a number in its stead is ``init_loss_scaling``.
        dtype: float16, or bfloat16, whose factor is 1.
        master_weight, master_grad, use_amp_guard, use_promote: accepted: nothing is cast.
        init_loss_scaling: the first factor.
        incr_every_n_steps, decr_every_n_nan_or_inf: after so many good steps it becomes larger,
            after so many skipped ones smaller.
        incr_ratio, decr_ratio: what it is multiplied by then.
        use_dynamic_loss_scaling: whether it changes; with float16 when None.
        use_pure_fp16, use_fp16_guard: accepted: nothing is cast.
        use_bf16: bfloat16 for ``dtype``.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> from fluidlite import paddle
    >>> sgd = paddle.static.amp.decorate(fluid.optimizer.SGD(0.1), init_loss_scaling=8.0)
    >>> x = fluid.data("x", [None, 3], "float32")
    >>> ops, pairs = sgd.minimize(fluid.layers.mean(fluid.layers.fc(x, 1)))
    >>> sgd.get_loss_scaling().name
    'loss_scaling_0'
    """
    an_optimizer("decorate", optimizer)
    if isinstance(level, (int, float)):
        level, init_loss_scaling = "O1", float(level)
    if level not in ("O0", "OD", "O1", "O2"):
        raise refused("decorate", "level", "one of O0, OD, O1, O2", level)
    if dtype not in white_list():
        raise refused("decorate", "dtype", "float16 or bfloat16", dtype)
    kinds = AutoMixedPrecisionLists, mixed_precision.AutoMixedPrecisionLists
    or_none(instance_of(kinds, "AutoMixedPrecisionLists"))("decorate", "amp_lists", amp_lists)
    if optimizer._eager is not None:
        raise ArgumentError("decorate: this optimizer is one of tensors; use paddle.amp for it")
    half = dtype == "float16" and not use_bf16
    nothing = mixed_precision.AutoMixedPrecisionLists()
    nothing.white_list = set()
    rule = ScalingRule(
        integer("decorate", "incr_every_n_steps", incr_every_n_steps),
        integer("decorate", "decr_every_n_nan_or_inf", decr_every_n_nan_or_inf),
        positive("decorate", "incr_ratio", incr_ratio),
        positive("decorate", "decr_ratio", decr_ratio),
    )
    changes = half if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling
    factor = positive("decorate", "init_loss_scaling", init_loss_scaling) if half else 1.0
    return ScalesLosses(optimizer, nothing, factor, changes, rule)


@contextmanager
def fp16_guard() -> Iterator[None]:
    """A guard whose operators would work in float16 on a GPU; on a CPU they do not."""
    yield


_NO_HALF = "programs of 2.6 in float16 run on a GPU alone: its CPU has no kernels for them"


cast_model_to_fp16: Final = refusing(
    "cast_model_to_fp16(program: Program, amp_lists: AutoMixedPrecisionLists | None = None, "
    "use_fp16_guard: bool = True, dest_type: Any = None, level: str = 'O2', "
    "use_promote: bool = False)",
    "Not there.",
    f"cast_model_to_fp16: {_NO_HALF}",
)
cast_parameters_to_fp16: Final = refusing(
    "cast_parameters_to_fp16(place: Any, program: Program, scope: Scope | None = None, "
    "to_fp16_var_names: Iterable[str] | None = None, dest_type: Any = None, "
    "rewrite_master_weight: bool = False, master_weights: dict[str, Any] | None = None)",
    "Not there.",
    f"cast_parameters_to_fp16: {_NO_HALF}",
)
