"""Norms of models that are folded into convolutions, and channels that are cut out of them: the
recipes of the cookbook, on programs that somebody saved.
"""

import numpy as np

import fluidlite as fluid
from fluidlite import layers, transform

#: operators that work on each channel alone, and their slots of numbers for each channel
BY_CHANNEL = {
    "batch_norm": ("Scale", "Bias", "Mean", "Variance"),
    "elementwise_add": ("Y",),
    "pool2d": (),
    "relu": (),
    "tanh": (),
}


@transform.rule(
    lambda f, image, w, scale, bias, mean, variance: transform.attributes(
        f.batch_norm(
            transform.attributes(f.conv2d(image, w), ...), scale, bias, mean, variance, is_test=True
        ),
        epsilon="epsilon",
    )[0]
)
def fold(f, image, w, scale, bias, mean, variance, epsilon, match):
    factor = scale / layers.sqrt(variance + epsilon)
    folded = layers.elementwise_mul(w, factor, axis=0)
    maps = f.conv2d(image, folded, **match.operators[0].attrs)
    return f.elementwise_add(maps, bias - mean * factor, axis=1)


def without_norms(program, fetches):
    """The program with the norms behind convolutions folded; None where there are none."""
    done = transform.rewriting(program, fold, keep=fetches)
    if not done.count:
        return None
    frozen = transform.freeze(done.program, scope=fluid.global_scope())
    return transform.fold_constants(frozen, keep=fetches)


def between_convolutions(program):
    """Of a convolution whose channels the next one reads: its filter, the names of what has a
    number for each channel on the way, and the filter of the next; None where there is none.
    """
    block = program.global_block()
    readers = {}
    for op in block.ops:
        for name in op.input_arg_names:
            readers.setdefault(name, []).append(op)
    for first in block.ops:
        if first.type != "conv2d" or first.attr("groups") != 1:
            continue
        names, op, value = [], first, first.output("Output")[0]
        while len(readers.get(value, ())) == 1:
            (op,) = readers[value]
            if op.type not in BY_CHANNEL:
                break
            inner = [op.input(slot)[0] for slot in BY_CHANNEL[op.type]]
            if not all(block.var(name).persistable for name in inner):
                break
            names += inner
            value = op.output("Y" if op.type == "batch_norm" else "Out")[0]
        if op.type == "conv2d" and op is not first and op.attr("groups") == 1:
            return first.input("Filter")[0], names, op.input("Filter")[0]
    return None


@transform.program_pass(keeps=[transform.conditions.interface])
def cut_channels(program, arrays):
    for name, array in arrays.items():
        program.global_block().var(name).declare(array.shape)


def narrowed(program, run):
    """What is left of a program without the last channels of a convolution, and what the whole
    computes where the next one makes nothing of them; None where nothing can be cut.

    The scope has the smaller arrays then.

    Args:
        program: a model.
        run: gives what a program computes.
    """
    found = between_convolutions(program)
    if found is None:
        return None
    scope, (first, names, second) = fluid.global_scope(), found
    array = {name: np.array(scope.value(name)) for name in (first, *names, second)}
    left = array[first].shape[0] // 2
    array[second][:, left:] = 0
    scope.var(second).value = array[second]
    wanted = run(program)
    smaller = {name: np.ascontiguousarray(array[name][:left]) for name in (first, *names)}
    smaller[second] = np.ascontiguousarray(array[second][:, :left])
    for name, value in smaller.items():
        scope.var(name).value = value
    return cut_channels(program, arrays=smaller), wanted
