"""Layers and gradients of programs, where paddle 2 has more arguments than fluid 1.8."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ... import backward, io, layers
from ...errors import ArgumentError
from ...functions.bounds_in_run import put
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...ir.program import Program
from ...ir.variable import Variable


def _printed(result: Variable, print_tensor_layout: bool = True) -> Variable:
    """What is printed.

    Args:
        result: the variable.
        print_tensor_layout: accepted; there is one layout.
    """
    return result


def _appended(pairs: Any, distop_context: None = None) -> list[tuple[Variable, Variable]]:
    """What was appended.

    Args:
        pairs: parameters with their gradients.
        distop_context: accepted; one process needs none.
    """
    return pairs


def _areas(
    found: Any, ins_tag_weight: Variable | None = None
) -> tuple[Variable, Variable, list[Variable]]:
    """Numbers without dimensions.

    Args:
        found: areas, and counts.
        ins_tag_weight: accepted; paddle 2.6 computes the same with it.
    """
    total, lately, counts = found
    return total.reshape([]), lately.reshape([]), counts


def _number(share: Variable) -> Variable:
    return share.reshape([])


_SPELLED = Spelling({})
Print: Callable[..., Variable] = _SPELLED(
    layers.Print,
    order="input, first_n, message, summarize, print_tensor_name, print_tensor_type, "
    "print_tensor_shape, print_tensor_layout, print_tensor_lod, print_phase",
    then=_printed,
)
append_backward: Callable[..., list[tuple[Variable, Variable]]] = _SPELLED(
    backward.append_backward,
    "append_backward",
    """Append the operators that compute gradients of a loss.

    Returns:
        parameters with their gradients.

    >>> from fluidlite import paddle
    >>> x = paddle.static.data("x", [None, 4])
    >>> loss = paddle.mean(paddle.static.nn.fc(x, 1))
    >>> [gradient.name for _, gradient in paddle.static.append_backward(loss)]
    ['fc_0.w_0@GRAD', 'fc_0.b_0@GRAD']
    """,
    order="loss, parameter_list, no_grad_set, callbacks, checkpoints, distop_context",
    then=_appended,
)
auc: Callable[..., tuple[Variable, Variable, list[Variable]]] = _SPELLED(
    layers.auc,
    "auc",
    """The area under the curve of true over false positive rates, over all runs and the last ones.

    Returns:
        the area over all runs, and that over the last ones, float64 without dimensions; and the
        variables that hold the counts.
    """,
    order="input, label, curve, num_thresholds, topk, slide_steps, ins_tag_weight",
    then=_areas,
)
accuracy: Callable[..., Variable] = _SPELLED(
    layers.accuracy,
    "accuracy",
    """The share of rows whose label is among the highest scores.

    Returns:
        a float32 variable without dimensions.

    >>> from fluidlite import paddle
    >>> paddle.enable_static()
    >>> scores = paddle.static.data("scores", [None, 4])
    >>> label = paddle.static.data("label", [None, 1], "int64")
    >>> paddle.static.accuracy(scores, label).shape
    ()
    """,
    then=_number,
)


def setitem(x: Variable, index: Any, value: Any) -> Variable:
    """A variable like another one but for values at an index.

    Args:
        x: the variable.
        index: numbers, slices, lists, variables, ``...`` and None, or a tuple of them.
        value: a variable, an array or a number; broadcasts to what the index takes.

    >>> from fluidlite import paddle
    >>> paddle.enable_static()
    >>> x = paddle.full([2], 1.0)
    >>> y = paddle.static.setitem(x, 0, 5.0)
    >>> paddle.static.Executor().run(fetch_list=[y])
    [array([5., 1.], dtype=float32)]
    """
    result: Variable = put(x, index, value)
    return result


def save(program: Program, model_path: Path, protocol: int = 4, **configs: Any) -> None:
    """Write a program, its parameters, and what optimizers keep of them.

    Args:
        program: the program; values come from the global scope.
        model_path: the files' path without the endings ``.pdmodel``, ``.pdparams``, ``.pdopt``.
        protocol: from 2 to 4; files are pickles of protocol 2, which every Python reads.
        configs: accepted.

    Raises:
        ArgumentError: the path ends with a folder, or the protocol is another one.
        NotInitializedError: a variable has no value.
        FileError: a file cannot be written; says which, and why.
    """
    if not isinstance(protocol, int) or not 1 < protocol < 5:
        raise ArgumentError(f"expected protocol to be 2, 3 or 4, got {protocol!r:.60}")
    io.save(program, model_path)


def load(
    program: Program,
    model_path: Path,
    executor: Any = None,
    var_list: Iterable[Variable] | None = None,
) -> None:
    """Read what ``save`` wrote into the global scope.

    Args:
        program: says which variables.
        model_path: the files' path without the endings.
        executor, var_list: as of ``fluid.load``.

    Raises:
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a variable is missing, or is not as declared; says which.
    """
    io.load(program, model_path, executor, var_list)


list_public_names(globals())
api_boundaries(globals())
