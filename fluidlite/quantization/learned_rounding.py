"""Weights rounded up or down as serves results best, which is learned from data.

The method is AdaRound (Nagel et al., Up or down? Adaptive rounding for post-training quantization,
2020): between the two whole numbers each weight stands at a soft place, which the error of the
results and a penalty of places in the middle move to one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from ..eager.recording import eager
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..ground.reprs import Described
from ..ir.analysis import reads_of
from ..ir.operator import Operator
from ..ir.program import Program
from ..opdef.whole_numbers import largest
from ..runtime.executor import Executor
from ..scope import Scope
from .editions import PADDLE_2_6
from .rounding import array_of, put
from .weights import bias_correction_w, scale_beside

GAMMA, ZETA = -0.1, 1.1  #: what soft places reach, before they are clipped to [0, 1]
STEPS = 1000  #: of learning
WARM = 0.2  #: the part of them without a penalty


def compute_soft_rounding(alpha_v: Any) -> Any:
    """Soft places between whole numbers, from 0 to 1: the stretched logistic function, clipped.

    Args:
        alpha_v: any numbers, a tensor or a variable.
    """
    stretched = eager.scale(eager.sigmoid(alpha_v), scale=ZETA - GAMMA)
    return eager.clip(eager.scale(stretched, bias=GAMMA), min=0.0, max=1.0)


def compute_soft_rounding_np(alpha_v: Any) -> Any:
    """The same of an array.

    >>> import fluidlite.paddle.static.quantization.adaround as adaround
    >>> adaround.compute_soft_rounding_np(np.array([-9.0, 9.0])).tolist()
    [0.0, 1.0]
    """
    return np.clip((ZETA - GAMMA) / (1 + np.exp(-alpha_v)) + GAMMA, 0, 1)


class AdaRoundLoss(Described):
    """What learning makes small.

    Args:
        reg_param: what the penalty of places in the middle counts.
        default_beta_range: its exponent at first and at last.
    """

    def __init__(self, reg_param: float = 0.01, default_beta_range: Sequence[float] = (20, 2)):
        self.default_reg_param, self.default_beta_range = reg_param, tuple(default_beta_range)

    def compute_recon_loss(self, ada_quantized_output: Any, orig_output: Any) -> Any:
        """The mean of the squares of errors, which are summed over the last dimension.

        Args:
            ada_quantized_output: results with rounded weights.
            orig_output: those with the weights.
        """
        error = eager.square(eager.elementwise_sub(ada_quantized_output, orig_output))
        return eager.mean(eager.reduce_sum(error, dim=[-1]))

    def compute_round_loss(self, alpha_v: Any, warm_start: Any, beta: Any) -> Any:
        """The penalty of places in the middle.

        Args:
            alpha_v: as of :func:`compute_soft_rounding`.
            warm_start: whether there is none yet.
            beta: its exponent.
        """
        middle = eager.abs(eager.scale(compute_soft_rounding(alpha_v), scale=2.0, bias=-1.0))
        places = eager.scale(middle**beta, scale=-1.0, bias=1.0)
        penalty = eager.reduce_sum(places, reduce_all=True) * self.default_reg_param
        return penalty * (1.0 - float(warm_start))

    def compute_beta(self, max_iter: int, cur_iter: int, warm_start: float) -> float:
        """The exponent at a step: it goes down as half a wave of the cosine does.

        Args:
            max_iter: how many steps there are.
            cur_iter: the step.
            warm_start: the part of them without a penalty.
        """
        first, last = self.default_beta_range
        begin = warm_start * max_iter
        part = (cur_iter - begin) / (max_iter - begin)
        return last + 0.5 * (first - last) * (1 + math.cos(part * math.pi))


class WeightedOperator:
    """An operator with a weight, apart from its program.

    Args:
        op: the operator.
        weight: the name of the weight.
        scope: has it, and other parameters.
    """

    def __init__(self, op: Operator, weight: str, scope: Scope) -> None:
        block = op.block
        assert block is not None
        self.weight: Any = array_of(scope, weight)
        self._name, self._op = weight, op
        names = [name for name in dict.fromkeys(reads_of(op)) if name != weight]
        stays = {name: block.var_recursive(name).persistable for name in names}
        self._parameters = {name: array_of(scope, name) for name in names if stays[name]}
        #: what it reads that is no parameter
        self.reads: list[str] = [name for name in names if not stays[name]]

    def results(self, batch: Mapping[str, Any], weight: Any) -> Any:
        """What it computes.

        Args:
            batch: what it reads, by name.
            weight: in place of its own.
        """
        values = {**self._parameters, **batch, self._name: weight}
        inputs = self._op.inputs
        slots = {s: values[names[0]] for s, names in inputs.items() if names[0] in values}
        found = getattr(eager, self._op.type)(**slots, **self._op.instance().attr_values())
        return found[0] if isinstance(found, (tuple, list)) else found


def learned(
    operator: WeightedOperator,
    batches: Iterable[Mapping[str, Any]],
    scale: Any,
    axis: int,
    bits: int = 8,
    rate: float = 0.001,
    steps: int = STEPS,
) -> Any:
    """Whole numbers in place of a weight, each one of the two that it stands between: the nearest
    ones where those serve the results on the data as well.

    Args:
        operator: that reads the weight.
        batches: what it reads besides; each one serves for a step, and again where there are less.
        scale, axis, bits: as of ``quant_tensor``.
        rate: of learning, by Adam (Kingma and Ba, 2015).
        steps: how many there are.

    Raises:
        ArgumentError: there are no batches.
    """
    weight, most = operator.weight, largest(bits)
    step = scale_beside(weight, scale, axis) / most
    below = np.clip(np.floor(weight / step), -most, most - 1)
    place = np.clip(weight / step - below, 1e-4, 1 - 1e-4)
    alpha = -np.log((ZETA - GAMMA) / (place - GAMMA) - 1).astype(weight.dtype)
    loss, data = AdaRoundLoss(), list(batches)
    if not data:
        raise ArgumentError("expected data to learn roundings with, got none")
    exact = [operator.results(batch, weight) for batch in data]
    mean, square = np.zeros_like(alpha), np.zeros_like(alpha)
    for k, at in enumerate(islice(cycle(range(len(data))), steps)):
        leaf: Any = Tensor(alpha, stop=False)
        soft = (compute_soft_rounding(leaf) + below) * step
        error = loss.compute_recon_loss(operator.results(data[at], soft), exact[at])
        if k >= WARM * steps:
            error = error + loss.compute_round_loss(leaf, False, loss.compute_beta(steps, k, WARM))
        error.backward()
        slope = leaf.grad.numpy()
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope * slope - square)
        size = np.sqrt(square / (1 - 0.999 ** (k + 1))) + 1e-8
        alpha = alpha - rate * mean / (1 - 0.9 ** (k + 1)) / size
    nearest = np.clip(np.round(weight / step), -most, most)
    candidates = nearest, below + (compute_soft_rounding_np(alpha) >= 0.5)

    def error_of(whole: Any) -> float:
        results = [operator.results(batch, (whole * step).astype(weight.dtype)) for batch in data]
        pairs = zip(results, exact)
        return sum(loss.compute_recon_loss(*pair).item() for pair in pairs)

    return min(candidates, key=error_of)


def run_adaround(
    data_loader: Iterable[Any],
    fp32_program: Program,
    fetch_list: Sequence[Any],
    exe: Executor,
    scope: Scope,
    place: Any,
    quantized_op_pairs: Mapping[str, str],
    weight_op_pairs: Mapping[str, str],
    scale_dict: Mapping[str, Any],
    num_iterations: int = STEPS,
    lr: float = 0.001,
    bias_correction: bool = False,
    fast_mode: bool = True,
) -> None:
    """Weights of a scope become whole numbers, rounded as serves results best.

    Args:
        data_loader: gives what the program is fed: dictionaries.
        fp32_program: the program.
        fetch_list: not read.
        exe: runs it.
        scope: has the weights.
        place: not read.
        quantized_op_pairs: a weight -> the result of its operator.
        weight_op_pairs: a weight -> the type of its operator.
        scale_dict: a weight -> its scale, or that of each slice.
        num_iterations: steps of learning.
        lr: their rate.
        bias_correction: whether whole numbers shall have the mean and the spread of the weight.
        fast_mode: not read.

    Raises:
        ArgumentError: no operator reads a weight and writes its result, or there are no data.
    """
    ops = fp32_program.global_block().ops
    layers = {}
    for weight, out in quantized_op_pairs.items():
        op = next((o for o in ops if o.reads(weight) and out in o.output_arg_names), None)
        if op is None:
            raise ArgumentError(f"no operator reads {weight!r} and writes {out!r}")
        layers[weight] = WeightedOperator(op, weight, scope)
    names = list(dict.fromkeys(name for layer in layers.values() for name in layer.reads))
    batches = []
    for fed in data_loader:
        fed = fed[0] if isinstance(fed, (list, tuple)) else fed
        values = exe.run(fp32_program, feed=fed, fetch_list=names, scope=scope)
        batches.append(dict(zip(names, values)))
    for weight, layer in layers.items():
        scale = np.asarray(scale_dict[weight])
        axis = PADDLE_2_6.slices.get(weight_op_pairs[weight], 0)
        whole = learned(layer, batches, scale, axis, rate=lr, steps=num_iterations)
        if bias_correction:
            whole = np.round(bias_correction_w(layer.weight, whole, scale, axis))
        put(scope, weight, whole, layer.weight.dtype)
