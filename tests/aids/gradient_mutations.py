"""Programs whose gradient part has a mistake, and whether it changes a gradient."""

import random
from collections import Counter

import numpy as np

import fluidlite as fluid
from fluidlite.errors import FluidError
from fluidlite.inspect.float64 import in_float64
from fluidlite.ir.operator import EMPTY, OpRole
from fluidlite.transform import certify

#: gradient operators of one input that can stand for each other
_ALIKE = ("relu_grad", "tanh_grad", "sigmoid_grad", "square_grad", "exp_grad", "abs_grad")
_SIMILAR = 1e-7  #: relative differences below it are rounding


def gradient_ops(program):
    """The operators of the gradient parts, those of blocks of gradients included."""
    inner = [op for b in program.blocks if b.forward_block_idx >= 0 for op in b.ops]
    return [op for op in program.global_block().ops if op.role & OpRole.BACKWARD] + inner


def _alike(program, op, name):
    """Other variables that an operator could read by mistake."""
    variable = op.find_var(name)
    if variable is None or not variable.has_shape:
        return []
    named = {n: v for b in program.blocks for n, v in b.vars.items()}
    return sorted(
        n
        for n, v in named.items()
        if n != name
        and v.has_shape
        and v.shape == variable.shape
        and v.dtype == variable.dtype
        and op.find_var(n) is v
    )


def _breaks(rng, op, one, other):
    """Whether two variables have other shapes, so that what takes one for the other fails early;
    one time in five that is as it should be.
    """
    found = [op.find_var(name) for name in (one, other)]
    shapes = [None if v is None or not v.has_shape else v.shape for v in found]
    return shapes[0] != shapes[1] and rng.random() < 0.8


def another_input(rng, program, op):
    """Reads another variable of the same shape."""
    if not op.inputs:
        return None
    slot = rng.choice(sorted(op.inputs))
    names = list(op.inputs[slot])
    place = rng.randrange(len(names)) if names else 0
    others = _alike(program, op, names[place]) if names else []
    if not others:
        return None
    names[place] = rng.choice(others)
    op.set_input(slot, *names)
    return f"{slot} reads {names[place]}"


def swapped_inputs(rng, program, op):
    """Two slots read what the other one should."""
    slots = [slot for slot, names in op.inputs.items() if len(names) == 1]
    if len(slots) < 2:
        return None
    one, other = rng.sample(slots, 2)
    first, second = op.inputs[one], op.inputs[other]
    if _breaks(rng, op, first[0], second[0]):
        return None
    op.set_input(one, *second)
    op.set_input(other, *first)
    return f"{one} and {other} are swapped"


def swapped_outputs(rng, program, op):
    """Two gradients are called like the other one."""
    slots = [s for s, names in op.outputs.items() if len(names) == 1 and names[0] != EMPTY]
    if len(slots) < 2:
        return None
    one, other = rng.sample(slots, 2)
    first, second = op.outputs[one], op.outputs[other]
    if _breaks(rng, op, first[0], second[0]):
        return None
    op.set_output(one, *second)
    op.set_output(other, *first)
    return f"{one} and {other} are swapped"


def dropped_part(rng, program, op):
    """A sum lacks a part, or has one twice."""
    names = list(op.inputs.get("X", ()))
    if op.type != "sum" or len(names) < 2:
        return None
    place = rng.randrange(len(names))
    if rng.random() < 0.5:
        del names[place]
    else:
        names[place] = names[place - 1]
    op.set_input("X", *names)
    return f"the sum lacks part {place}"


def another_attribute(rng, program, op):
    """An attribute has another value."""
    definition = op.definition
    known = {} if definition is None else definition.attributes
    given = [a for a in known.values() if isinstance(op.attrs.get(a.name, a.default), (float, int))]
    given = [a for a in given if a.kind in ("float", "int", "bool")]
    if not given:
        return None
    attribute = rng.choice(given)
    value = op.attrs.get(attribute.name, attribute.default)
    if attribute.kind == "bool":
        changed = not value
    elif attribute.kind == "int":
        changed = value + rng.choice([-1, 1])
    else:
        changed = value * 1.5 + 0.25
    op.set_attr(attribute.name, changed)
    return f"{attribute.name} = {changed}"


def another_type(rng, program, op):
    """The gradient operator of another function."""
    types = [type for type in _ALIKE if type != op.type]
    if op.type not in _ALIKE or op.block.idx:
        return None
    block, type = op.block, rng.choice(types)
    names = {slot: list(given) for slot, given in op.inputs.items()}
    gradient, forward = names["Out@GRAD"], names.get("Out") or names.get("X")
    slot = "X" if type in ("square_grad", "abs_grad") else "Out"
    made = block.append_op(
        type, {slot: forward, "Out@GRAD": gradient}, {"X@GRAD": list(op.output("X@GRAD"))}
    )
    made.role = op.role
    ops = [made if each is op else each for each in block.ops[:-1]]
    block.set_ops(ops)
    return f"{type} in place of {op.type}"


def moved(rng, program, op):
    """The operator runs some places earlier or later."""
    if rng.random() < 0.5:
        return None
    block = op.block
    ops = list(block.ops)
    at = ops.index(op)
    to = min(max(at + rng.choice([-3, -2, -1, 1, 2, 3]), 0), len(ops) - 1)
    if to == at or not (block.idx or ops[to].role & OpRole.BACKWARD):
        return None
    ops.insert(to, ops.pop(at))
    block.set_ops(ops)
    return f"runs {to - at} places later"


def left_out(rng, program, op):
    """The operator is not there."""
    if rng.random() < 0.8:
        return None
    op.block.set_ops([each for each in op.block.ops if each is not op])
    return "is left out"


KINDS = (
    another_input, another_input, swapped_inputs, swapped_outputs, dropped_part, dropped_part,
    another_attribute, another_type, another_type, moved, left_out,
)  # fmt: skip


def mutated(program, seed):
    """A copy of a program with one mistake in its gradient part, and what it is.

    Args:
        program: with gradients.
        seed: chooses the mistake.
    """
    rng = random.Random(f"{seed}")
    while True:
        copied = program.clone()
        op = rng.choice(gradient_ops(copied))
        text, kind = f"{op.type} -> {', '.join(op.output_arg_names)}", rng.choice(KINDS)
        said = kind(rng, copied, op)
        if said is not None:
            return copied, f"{text}: {said}"


def final_gradients(program):
    """The names of the gradients that the first block computes, but for parts of sums."""
    names = [
        name
        for op in program.global_block().ops
        if op.role & OpRole.BACKWARD
        for name in op.output_arg_names
    ]
    return sorted({n for n in names if n.endswith("@GRAD") and "@RENAME@" not in n})


def values(program, names, sources):
    """Gradients in double precision; None where the program does not run.

    Args:
        program: what to run.
        names: of the gradients.
        sources: what is fed, and the parameters.
    """
    wide, scope = in_float64(program), fluid.Scope()
    block = wide.global_block()
    feed = {n: v for n, v in sources.items() if n in block.vars and not block.vars[n].persistable}
    for name, value in sources.items():
        if name not in feed:
            scope.var(name).value = value
    executor = fluid.Executor()
    found = {}
    wide.random_seed = 3
    ops = [op for op in block.ops if not op.role & OpRole.OPTIMIZE]
    block.set_ops(ops)
    try:
        with np.errstate(all="ignore"):
            results = executor.run(
                wide, feed=feed, fetch_list=list(names), scope=scope, return_numpy=False
            )
    except Exception:
        return None
    for name, value in zip(names, results):
        data = value.to_dense() if hasattr(value, "to_dense") else np.asarray(value)
        found[name] = np.asarray(data, "float64")
    return found


def same(one, other):
    """Whether gradients are equal but for rounding."""
    if one is None or other is None:
        return one is other
    for name, value in one.items():
        against = other[name]
        if value.shape != against.shape:
            return False
        size = max(np.abs(value).max(initial=0.0), np.abs(against).max(initial=0.0))
        if not np.allclose(value, against, rtol=_SIMILAR, atol=_SIMILAR * size, equal_nan=True):
            return False
    return True


def drawn(program, seed):
    """Values of what a program reads: data, and variables that stay.

    Args:
        program: whose variables.
        seed: of the numbers.
    """
    rng = np.random.default_rng(seed)
    found = {}
    for variable in program.global_block().vars.values():
        if not (variable.persistable or variable.is_data) or not variable.has_shape:
            continue
        shape = [3 if size < 0 else size for size in variable.shape]
        if variable.dtype.is_float:
            size = max(np.prod(shape) / max(shape, default=1), 1.0) if variable.persistable else 1.0
            number = rng.normal(size=shape) / np.sqrt(size)
            statistic = variable.persistable and not hasattr(variable, "trainable")
            found[variable.name] = np.abs(number) + 0.25 if statistic else number
        else:
            found[variable.name] = rng.integers(0, 2, shape).astype(variable.dtype.dtype)
    return found


class Judged:
    """A program with gradients, against which copies with mistakes are judged.

    Args:
        program: it.
        points: at how many points programs are run to see whether a mistake changes a gradient.
    """

    def __init__(self, program, points=2):
        self.program = program
        self.headline = certify(program).headline
        self._names = final_gradients(program)
        self._sources = [drawn(program, k) for k in range(points)]
        self._before = [values(program, self._names, each) for each in self._sources]
        assert None not in self._before

    def truth(self, copied):
        """What a mistake does: "broken", "equal" or "changed"."""
        after = [values(copied, self._names, each) for each in self._sources]
        if any(each is None for each in after):
            return "broken"
        return "equal" if all(map(same, self._before, after)) else "changed"

    def verdict(self, copied):
        """What a certificate says of a copy: "wrong", "right", "left open" or "refused"."""
        try:
            certificate = certify(copied, raise_error=False)
        except FluidError:
            return "refused"
        if certificate.faults:
            return "wrong"
        return "right" if certificate.headline == self.headline else "left open"


#: what a certificate may say of a mistake
MAY_SAY = {
    "broken": ("wrong", "left open", "refused"),
    "equal": ("right",),
    "changed": ("wrong", "left open", "refused"),
}


def tried(program, seeds):
    """Mistakes that a certificate judges otherwise than runs do, and how often which is judged how.

    Args:
        program: with gradients.
        seeds: one for each mistake.
    """
    judged, counts, findings = Judged(program), Counter(), []
    for seed in seeds:
        copied, what = mutated(program, seed)
        truth, verdict = judged.truth(copied), judged.verdict(copied)
        if (truth, verdict) == ("equal", "wrong"):  # these points may lie in another branch
            truth = Judged(program, points=12).truth(copied)
        counts[truth, verdict] += 1
        if verdict not in MAY_SAY[truth]:
            findings.append(f"seed {seed}, {what}: it is {truth}, the certificate says {verdict}")
    return findings, counts
