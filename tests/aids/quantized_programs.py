"""Comparison of quantized programs with recorded ones; passes number names in any order."""

import collections
import re

import numpy as np

_NUMBERED = re.compile(
    r"(accum|state|scales|channel_scale|accum@|state@)_\d+$|(save_infer_model/scale_0.tmp)_\d+$"
)
_SHOWN = ("quantization_type", "out_threshold", "skip_quant")
#: attributes that are written only where they differ from their defaults
_USUAL = {"quant_axis": 0, "x_num_col_dims": 1, "is_test": False, "with_quant_attr": False}


def plain_name(name):
    return _NUMBERED.sub(lambda match: match[1] or match[2], name)


def by_results(program, shown=_SHOWN):
    """The operators by their types and what they write, without numbers in names."""
    found, counts = {}, collections.Counter()
    for op in program["ops"]:
        names = {
            side: {s: [plain_name(n) for n in names] for s, names in op[side].items()}
            for side in ("inputs", "outputs")
        }
        written = tuple(n for _, names in sorted(names["outputs"].items()) for n in names)
        is_scale = "quant" in op["type"] or op["type"].endswith("_scale")
        attrs = {
            n: v
            for n, v in op["attrs"].items()
            if is_scale or n in shown or n.endswith("_quant_scale")
        }
        counts[op["type"], written] += 1
        found[op["type"], written, counts[op["type"], written]] = {**names, "attrs": attrs}
    return found


def nearly(mine, real):
    if isinstance(real, str) or mine is None:
        return mine == real
    return np.shape(mine) == np.shape(real) and np.allclose(mine, real, rtol=1e-4, atol=1e-6)


def declared(program):
    """Shapes and persistence of what operators name, without numbers in names."""
    sides = [op[side] for op in program["ops"] for side in ("inputs", "outputs")]
    named = {name for side in sides for names in side.values() for name in names}
    found = {}
    for name, variable in program["vars"].items():
        if name in named - {"feed", "fetch"}:
            shape, _, kept = variable
            found.setdefault(plain_name(name), []).append((shape, kept))
    return {name: sorted(variables) for name, variables in found.items()}


def assert_same_program(mine, real, shown=_SHOWN):
    mine_ops, real_ops = by_results(mine, shown), by_results(real, shown)
    assert sorted(mine_ops) == sorted(real_ops)
    for key, op in real_ops.items():
        found = mine_ops[key]
        assert (found["inputs"], found["outputs"]) == (op["inputs"], op["outputs"]), key
        for name, value in op["attrs"].items():
            mine_value = found["attrs"].get(name, _USUAL.get(name))
            assert nearly(mine_value, value), (key, name)
    assert declared(mine) == declared(real)


def assert_same_states(mine, real):
    """The values of the scope, those of names that differ in their numbers alone in any order."""
    groups = {}
    for states, side in ((mine, 0), (real, 1)):
        for name, (dtype, values) in states.items():
            groups.setdefault(plain_name(name), ([], []))[side].append((dtype, values))
    for name, (found, wanted) in groups.items():
        assert [dtype for dtype, _ in found] == [dtype for dtype, _ in wanted], name
        for (_, a), (_, b) in zip(sorted(found), sorted(wanted), strict=True):
            assert np.allclose(a, b, rtol=2e-4, atol=2e-5), name
