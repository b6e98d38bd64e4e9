"""What a budget of memory costs, beside the square-root rule.

    python benchmarks/memory_budget.py [--layers 12 24 50 100] [--measure 12] [--write]

For residual nets and GPTs of some depths, whose last layer gives the loss, it prints the planned
peak of a training step and what it computes again, as a share of the forward pass: without
recomputing, with a checkpoint behind every sqrt(n)-th layer, with the peak of that as a budget,
with half of what it takes without, and with the smallest budget.  ``--measure`` runs the nets of
that depth, and prints the peak of what steps allocate, interpreted and compiled.
``--write`` puts it into docs/performance.md.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import machine
import numpy as np
from page import PAGE, block, replace_part

import fluidlite as fluid
from fluidlite.backward.recompute import SUBPROGRAM
from fluidlite.backward.rematerialization import BYTE_COST
from fluidlite.ir.analysis import reads_of, writes_of
from fluidlite.ir.costs import bytes_of, multiply_adds

layers = fluid.layers


def residual_net(count: int) -> tuple[Any, list[Any]]:
    """The loss of a residual net for images, and what its layers give."""
    x = fluid.data("x", [8, 3, 16, 16], "float32")
    label = fluid.data("label", [8, 1], "int64")
    hidden = _convolved(x, 16, act="relu")
    outs = []
    for _ in range(count):
        inner = _convolved(_convolved(hidden, 16, act="relu"), 16)
        hidden = layers.relu(layers.elementwise_add(hidden, inner))
        outs.append(hidden)
    logits = layers.fc(layers.pool2d(hidden, pool_type="avg", global_pooling=True), 10)
    return layers.mean(layers.softmax_with_cross_entropy(logits, label)), outs


def _convolved(x: Any, channels: int, act: str | None = None) -> Any:
    made = layers.conv2d(x, channels, 3, padding=1, bias_attr=False)
    return layers.batch_norm(made, act=act)


def gpt(count: int, width: int = 64, heads: int = 4, words: int = 64) -> tuple[Any, list[Any]]:
    """The loss of a GPT, and what its layers give."""
    batch, time_steps = 4, 32
    tokens = fluid.data("tokens", [batch, time_steps], "int64")
    label = fluid.data("label", [batch * time_steps, 1], "int64")
    mask = fluid.data("mask", [1, 1, time_steps, time_steps], "float32")
    hidden = fluid.embedding(tokens, [words, width])
    outs = []
    for _ in range(count):
        normal = layers.layer_norm(hidden, begin_norm_axis=2)
        q, k, v = (_in_heads(layers.fc(normal, width, num_flatten_dims=2), heads) for _ in "qkv")
        scores = layers.matmul(q, k, transpose_y=True, alpha=(width // heads) ** -0.5)
        weights = layers.dropout(layers.softmax(scores + mask), 0.1)
        mixed = layers.transpose(layers.matmul(weights, v), [0, 2, 1, 3])
        mixed = layers.fc(layers.reshape(mixed, [0, 0, width]), width, num_flatten_dims=2)
        hidden = hidden + layers.dropout(mixed, 0.1)
        normal = layers.layer_norm(hidden, begin_norm_axis=2)
        inner = layers.fc(normal, 4 * width, num_flatten_dims=2, act="gelu")
        hidden = hidden + layers.dropout(layers.fc(inner, width, num_flatten_dims=2), 0.1)
        outs.append(hidden)
    logits = layers.fc(hidden, words, num_flatten_dims=2)
    logits = layers.reshape(logits, [batch * time_steps, words])
    return layers.mean(layers.softmax_with_cross_entropy(logits, label)), outs


def _in_heads(x: Any, heads: int) -> Any:
    size = x.shape[-1] // heads
    return layers.transpose(layers.reshape(x, [0, 0, heads, size]), [0, 2, 1, 3])


NETS: dict[str, Callable[[int], tuple[Any, list[Any]]]] = {"ResNet": residual_net, "GPT": gpt}


class Built(NamedTuple):
    """A training program."""

    main: Any
    startup: Any
    loss: Any
    seconds: float  #: of the processor, in ``minimize``
    peak: int  #: planned, with parameters and states
    again: float  #: what is computed again, as a share of the forward pass


def built(net: str, count: int, memory: Any = None, checkpoints: bool = False) -> Built:
    """A training program with a budget of memory, or checkpoints by the square-root rule.

    Args:
        net: its name.
        count: of layers.
        memory: the budget.
        checkpoints: whether there are some.
    """
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        loss, outs = NETS[net](count)
        optimizer: Any = fluid.optimizer.Momentum(0.01, 0.9)
        if checkpoints:
            optimizer = fluid.optimizer.RecomputeOptimizer(optimizer)
            optimizer.set_checkpoints(outs[:: round(math.sqrt(count))][1:])
        begin = time.process_time()
        optimizer.minimize(loss, memory=memory)
        seconds = time.process_time() - begin
    peak = fluid.inspect.memory_timeline(main).total
    return Built(main, startup, loss, seconds, peak, _again(main))


def _again(program: Any) -> float:
    """What is computed again, as a share of the forward pass."""
    costs = {False: 0, True: 0}
    for op in program.global_block().ops:
        again = any(SUBPROGRAM in name for name in op.output_arg_names)
        if (op.role == 0 or again) and op.definition.derived_from is None:
            names = {*reads_of(op), *writes_of(op)}
            size = sum(bytes_of(program.global_block().var(name), 1) for name in names)
            costs[again] += multiply_adds(op, 1) + BYTE_COST * size
    return costs[True] / costs[False]


def smallest_of(net: str, count: int) -> int:
    """The smallest budget that can be met."""
    try:
        built(net, count, memory=1)
    except fluid.errors.BudgetError as error:
        return error.smallest
    raise AssertionError("one byte is not enough")


def measured(made: Built) -> str:
    """Peaks of what an interpreted step allocates and a compiled one."""
    rng = np.random.default_rng(0)
    feed = {}
    for name in ("x", "tokens", "label", "mask"):
        if made.main.global_block().has_var(name):
            variable = made.main.global_block().var(name)
            drawn = rng.normal(size=variable.shape)
            values = drawn if variable.dtype.is_float else rng.integers(0, 10, variable.shape)
            feed[name] = values.astype(variable.dtype.dtype)
    scope, exe = fluid.Scope(), fluid.Executor()
    exe.run(made.startup, scope=scope)
    tracemalloc.start()
    peaks = []
    for _ in range(5):
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        loss = exe.run(made.main, feed=feed, fetch_list=[made.loss], scope=scope)[0]
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    footprint = exe.plan(made.main, [made.loss]).footprint
    compiled = "none" if footprint is None else f"{footprint.peak / 2**20:.1f}"
    return f"interpreted {peaks[0] / 2**20:6.1f} compiled {compiled:>6} MiB loss {float(loss[0])!r}"


def rows(net: str, count: int, measure: bool) -> list[str]:
    """The lines of a net."""
    plain, rule = built(net, count), built(net, count, checkpoints=True)
    tried = [("without", plain), ("sqrt rule", rule)]
    tried.append(("its peak as budget", built(net, count, memory=rule.peak)))
    tried.append(("50%", built(net, count, memory="50%")))
    begin = time.process_time()
    smallest = smallest_of(net, count)
    refused = time.process_time() - begin
    tried.append(("smallest", built(net, count, memory=smallest)))
    lines = []
    for title, made in tried:
        line = (
            f"{net:<6} {count:>4}  {title:<18} {made.peak / 2**20:7.2f} MiB "
            f"{made.peak / plain.peak:6.1%}  again {made.again:6.1%}  "
            f"built in {made.seconds:5.2f} s"
        )
        if measure:
            values = made.peak - fluid.inspect.memory_timeline(made.main).kept
            line += f"\n      values planned {values / 2**20:6.1f} {measured(made)}"
        lines.append(line)
    lines.append(f"{net:<6} {count:>4}  one byte is refused in {refused:.2f} s")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[12, 24, 50, 100])
    parser.add_argument("--measure", type=int, nargs="*", default=[])
    parser.add_argument("--write", metavar="PAGE", nargs="?", const=str(PAGE))
    args = parser.parse_args()
    lines = []
    for net in NETS:
        for count in args.layers:
            for line in rows(net, count, count in args.measure):
                print(line, flush=True)
                lines.append(line)
    if args.write:
        text = f"{machine.description()}.\n\n{block(lines)}"
        replace_part(Path(args.write), "memory-budget", text)


if __name__ == "__main__":
    main()
