"""Which operators work in float16, which in float32, and which in what they are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ArgumentError
from ...ground.arguments import refused
from ...ground.missing_names import answer
from ...ground.protected import answers_protected
from ...ground.reprs import Described

#: products of matrices: safe in float16, and most of the work
WHITE = frozenset(["conv2d", "matmul", "mul"])
#: sums of many numbers, and what is steep: kept in float32
BLACK = frozenset([
    "cos_sim", "cross_entropy", "cross_entropy2", "exp", "log", "mean",
    "sigmoid_cross_entropy_with_logits", "softmax", "softmax_with_cross_entropy", "square", "sum",
])  # fmt: skip
#: float16 or float32, as what they read
GRAY = frozenset([
    "batch_norm", "cast", "dropout", "elementwise_add", "elementwise_div", "elementwise_floordiv",
    "elementwise_max", "elementwise_min", "elementwise_mod", "elementwise_mul", "elementwise_pow",
    "elementwise_sub", "fill_constant", "flatten2", "gather", "gaussian_random",
    "gaussian_random_batch_size_like", "get_tensor_from_selected_rows", "leaky_relu",
    "lookup_table", "pool2d", "pool3d", "rank", "relu", "relu6", "reshape2", "scale", "sigmoid",
    "sign", "slice", "soft_relu", "stack", "tanh", "top_k", "transpose2",
    "uniform_random_batch_size_like", "unstack",
])  # fmt: skip


@answers_protected
class AutoMixedPrecisionLists(Described):
    """Which operators work in float16 and which in float32.

    ``white_list``: in float16.  ``gray_list``: in float16 if something that they read was made in
    float16 and nothing on purpose in float32.  ``black_list`` and all others: in float32.

    Args:
        custom_white_list: types of operators that work in float16, too.
        custom_black_list: types of operators that do not.
        custom_black_varnames: operators that read or write a variable of such a name do not.

    Raises:
        ArgumentError: an argument is no collection of texts, or a type stands in both lists.

    >>> lists = fluid.contrib.mixed_precision.AutoMixedPrecisionLists(["tanh"], ["conv2d"])
    >>> sorted(lists.white_list), "tanh" in lists.gray_list
    (['matmul', 'mul', 'tanh'], False)
    """

    _shown = "white_list=white_list black_list=black_list"

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
    ) -> None:
        white = _checked("custom_white_list", custom_white_list)
        black = _checked("custom_black_list", custom_black_list)
        both = sorted(white & black)
        if both:
            raise ArgumentError(
                f"expected a type in custom_white_list or custom_black_list, got {both[0]!r} in "
                f"both"
            )
        #: types of operators, as the class says
        self.white_list: set[str] = (set(WHITE) | white) - black
        self.black_list: set[str] = (set(BLACK) | black) - white
        self.gray_list: set[str] = set(GRAY) - white - black
        #: names of variables
        self.black_varnames: set[str] = _checked("custom_black_varnames", custom_black_varnames)


def _checked(what: str, given: Any) -> set[str]:
    if given is None:
        return set()
    listed = None if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    if listed is None or not all(isinstance(each, str) for each in listed):
        raise refused("", what, "a list of texts", given)
    return set(listed)


answer(globals())
