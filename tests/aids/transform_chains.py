"""Random programs under transformations, three in a row: they compute what they computed.

    python tests/aids/transform_chains.py --count 1000 [--first 0]

prints the seeds of programs that do not, the transformations, and what differs.
"""

import argparse
import random
import sys
import time
import warnings
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import numpy as np
from surgery_trials import DTYPE, Subject, is_random

import fluidlite as fluid
from fluidlite import layers, transform
from fluidlite.errors import ArgumentError, BudgetError, FluidError
from fluidlite.ir.compare import differences
from fluidlite.ir.operator import OpRole


def parsed(main, subject):
    """By the text format."""
    return fluid.Program.parse(str(main)) if not _has_notes(main) else main


def _has_notes(main):
    return any(op.carried for block in main.blocks for op in block.ops)


def simplified(main, subject):
    """By laws of algebra."""
    return transform.simplify(main, subject.fetch)


def exactly_simplified(main, subject):
    """By laws that keep every bit."""
    return transform.simplify(main, subject.fetch, exact=True)


def shared(main, subject):
    """What is computed twice, once."""
    return transform.share(main, subject.fetch)


def folded(main, subject):
    """What is constant, computed."""
    return transform.fold_constants(main, subject.fetch)


def specialized(main, subject):
    """For the shapes that are fed."""
    feed, known = subject.feeds[0], main.global_block().vars
    if any(feed[n].shape != other[n].shape for other in subject.feeds for n in feed):
        return main
    shapes = {
        name: value.shape
        for name, value in feed.items()
        if hasattr(value, "shape") and name in known and not known[name].lod_level
    }
    return transform.specialize(main, shapes=shapes)


def expanded(main, subject):
    """Gradients as their parts, where shapes are known."""
    try:
        return transform.expand(main)
    except ArgumentError:
        return main


def outlined(main, subject):
    """Some operators in a block of their own."""
    forward = [i for i, op in enumerate(main.global_block().ops) if op.role == OpRole.FORWARD]
    if len(forward) < 3:
        return main
    at = subject.rng.randrange(len(forward) - 2)
    try:
        main = transform.outline(main, forward[at : at + 2])
    except ArgumentError:
        return main
    known = main.global_block().vars  # what only the block reads moves into it
    subject.fetch = [name for name in subject.fetch if name in known]
    return main


def probed(main, subject):
    """With operators that only look."""
    floats = [
        i
        for i, op in enumerate(main.global_block().ops)
        if op.role == OpRole.FORWARD and op.type in ("relu", "tanh", "elementwise_add", "mul")
    ]
    if not floats:
        return main
    return transform.insert_after(
        main, subject.rng.choice(floats), lambda value: void(layers.reduce_max(value))
    )


def void(_):
    """Nothing: the operator stays."""


def patched(main, subject):
    """By a patch of what another transformation changes."""
    other = transform.fold_constants(main, subject.fetch)
    patch = transform.make_patch(main, other)
    again = transform.apply_patch(patch, main)
    assert not differences(other, again)
    return again


def rewritten(main, subject):
    """By a rule that says the same in other words."""
    twice = transform.Rule(lambda x: layers.tanh(x), lambda x: layers.scale(layers.tanh(x), 1.0))
    return transform.rewrite(main, twice, keep=subject.fetch)


def passed(main, subject):
    """By a pass that does nothing, and says so."""
    nothing = transform.program_pass(
        lambda program: None,
        keeps=[transform.conditions.interface, transform.conditions.persistable],
    )
    return transform.Pipeline([nothing]).run(main).program


def _is_plain(value):
    """Whether a value is an array without sequences."""
    return isinstance(value, (np.ndarray, fluid.LoDTensor)) and not getattr(value, "lod", list)()


def vmapped(main, subject):
    """For three examples at once; from here on what runs for one after the other gave is right."""
    feed, rows = subject.feeds[0], subject.values[0]
    inputs = [n for n, value in feed.items() if getattr(value, "dtype", None) == DTYPE]
    known = main.global_block().vars
    fetch = [name for name, value in rows.items() if name in known and _is_plain(value)]
    fetch = [name for name in fetch if not known[name].persistable]
    if not inputs or not fetch or is_random(main):
        return main
    try:
        program, _, outputs = transform.vmap(main, inputs, fetch)
    except FluidError:  # sequences, and states of each example, are refused
        return main
    one, results = subject.main, []
    examples = [{**feed, **{n: feed[n] * (1 + 0.01 * k) for n in inputs}} for k in range(3)]
    subject.fetch = fetch
    for subject.feeds in [[example] for example in examples]:
        results += subject.computed(one, subject.startup)
    subject.feeds = [{**feed, **{n: np.stack([e[n] for e in examples]) for n in inputs}}]
    values = [np.stack([row[name] for row in results]) for name in fetch]
    subject.fetch = [variable.name for variable in outputs]
    subject.values = [dict(zip(subject.fetch, values, strict=True))]
    subject.main, subject.text = program, str(program)
    return program


def forwarded(main, subject):
    """With the change of the loss along what is fed; gradients say how large it is."""
    feed, loss, known = subject.feeds[0], subject.loss, main.global_block().vars
    if loss not in known or known[loss].shape != (1,):
        return main
    inputs = [n for n, value in feed.items() if getattr(value, "dtype", None) == DTYPE]
    inputs = [name for name in inputs if name in known]
    if not inputs or is_random(main):
        return main
    pulled = transform.vjp(subject.main, loss, inputs)
    program, tangents, (change,) = transform.jvp(main, loss, inputs)
    fetch, rng = subject.fetch, np.random.default_rng(subject.rng.randrange(10**6))
    fed = {pulled.inputs[0].name: np.ones([1], DTYPE)}
    subject.fetch = [slope.name for slope in pulled.outputs]
    plain, subject.feeds = subject.feeds, [{**feed, **fed} for feed in subject.feeds]
    rows = subject.computed(pulled.program, subject.startup)
    subject.feeds = [
        {**feed, **{t.name: rng.normal(size=feed[n].shape) for t, n in zip(tangents, inputs)}}
        for feed in plain
    ]
    for values, row, feed in zip(subject.values, rows, subject.feeds, strict=True):
        pairs = zip(row.values(), tangents, strict=True)
        values[change.name] = np.array([sum(np.sum(slope * feed[t.name]) for slope, t in pairs)])
    subject.fetch = [*fetch, change.name]
    subject.main, subject.text = program, str(program)
    return program


def recomputed(main, subject):
    """Gradients anew, within half of the memory."""
    known, feed = main.global_block().vars, subject.feeds[0]
    if subject.loss not in known or known[subject.loss].shape != (1,):
        return main
    subject.fetch = [
        n for n in subject.fetch if n in known and not known[n].persistable and "@GRAD" not in n
    ]
    forward = transform.cut(main, list(feed), [subject.loss, *subject.fetch])
    if not forward.all_parameters():
        return main
    rows = len(next(iter(feed.values())))
    plain, program, slopes = forward.clone(), forward.clone(), []
    for each, memory in ((plain, None), (program, "50%")):
        loss, size = each.global_block().var(subject.loss), memory and rows
        try:
            pairs = fluid.backward.append_backward(loss, memory=memory, batch_size=size)
        except BudgetError as error:
            pairs = fluid.backward.append_backward(loss, memory=error.smallest, batch_size=size)
        slopes = [slope.name for _, slope in pairs]
    subject.feeds = [feed]
    before = {n: subject.values[0][n] for n in subject.fetch}
    subject.fetch += slopes
    subject.values = subject.computed(plain, subject.startup)
    subject.main, subject.text = program, str(program)
    subject.check([{**subject.values[0], **before}])
    return program


TRANSFORMATIONS = [
    *(parsed, simplified, exactly_simplified, shared, folded, specialized, expanded, outlined),
    *(probed, patched, rewritten, passed, vmapped, forwarded, recomputed),
]


def chained(seed, length=3):
    """Names of the transformations that a seed stands for; they were tried."""
    rng = random.Random(seed)
    subject = Subject(rng.randrange(10**6))
    chosen = rng.choices(TRANSFORMATIONS, k=length)
    main = subject.main
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for transformation in chosen:
                main = transformation(main, subject)
                main.verify()
            subject.check(subject.computed(main, subject.startup))
    except Exception as error:
        names = ", ".join(each.__name__ for each in chosen)
        raise AssertionError(f"{seed}: {names}: {type(error).__name__}: {error}") from error
    return [each.__name__ for each in chosen]


def run():
    """Try as many as one likes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    begin, wrong = time.monotonic(), 0
    for seed in range(args.first, args.first + args.count):
        fluid.reset_default_programs()
        try:
            chained(seed)
        except AssertionError as error:
            wrong += 1
            print(str(error)[:400], flush=True)
    print(f"{args.count} chains, {wrong} wrong, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run())
