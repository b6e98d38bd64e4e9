"""Layers and gradients of programs, where paddle 2 has more arguments than fluid 1.8."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ... import backward, io, layers
from ...errors import ArgumentError
from ...functions.items import set_item
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.program import Program
from ...ir.variable import Variable

if TYPE_CHECKING:
    pass


def Print(
    input: Variable,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Variable:
    """A variable that is printed whenever it is computed; use the result in its place.

    Args:
        input: a variable.
        first_n, message, summarize, print_tensor_name, print_tensor_type, print_tensor_shape,
            print_tensor_lod, print_phase: as of ``fluid.layers.Print``.
        print_tensor_layout: accepted; there is one layout.

    Raises:
        ArgumentError: ``print_phase`` is neither "forward", "backward" nor "both".
    """
    return layers.Print(
        input,
        first_n,
        message,
        summarize,
        print_tensor_name,
        print_tensor_type,
        print_tensor_shape,
        print_tensor_lod,
        print_phase,
    )


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Variable | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callable[..., Any]] | None = None,
    checkpoints: Sequence[Variable | str] | None = None,
    distop_context: None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the operators that compute gradients of a loss.

    Args:
        loss, parameter_list, no_grad_set, callbacks, checkpoints: as of ``fluid.append_backward``.
        distop_context: accepted; one process needs none.

    Returns:
        parameters with their gradients.

    >>> from fluidlite import paddle
    >>> x = paddle.static.data("x", [None, 4])
    >>> loss = paddle.mean(paddle.static.nn.fc(x, 1))
    >>> [gradient.name for _, gradient in paddle.static.append_backward(loss)]
    ['fc_0.w_0@GRAD', 'fc_0.b_0@GRAD']
    """
    return backward.append_backward(loss, parameter_list, no_grad_set, callbacks, checkpoints)


def auc(
    input: Variable,
    label: Variable,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Variable | None = None,
) -> tuple[Variable, Variable, list[Variable]]:
    """The area under the curve of true over false positive rates, over all runs and the last ones.

    Args:
        input, label, curve, num_thresholds, topk, slide_steps: as of ``fluid.layers.auc``.
        ins_tag_weight: accepted; paddle 2.6 computes the same with it.
    """
    total, lately, counts = layers.auc(input, label, curve, num_thresholds, topk, slide_steps)
    return total.reshape([]), lately.reshape([]), counts


def accuracy(
    input: Variable,
    label: Variable,
    k: int = 1,
    correct: Variable | None = None,
    total: Variable | None = None,
) -> Variable:
    """The share of rows whose label is among the highest scores, without dimensions.

    Args:
        input, label, k, correct, total: as of ``fluid.layers.accuracy``.

    >>> from fluidlite import paddle
    >>> paddle.enable_static()
    >>> scores = paddle.static.data("scores", [None, 4])
    >>> label = paddle.static.data("label", [None, 1], "int64")
    >>> paddle.static.accuracy(scores, label).shape
    ()
    """
    return layers.accuracy(input, label, k, correct, total).reshape([])


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
    result: Variable = set_item(x, index, value)
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
