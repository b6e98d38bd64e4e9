"""Powers of betas that are the same for many parameters: computed once for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..step import Step

#: of an optimizer, the slots of a power, of what replaces it, and the attribute that it is of
_POWERS = {"adam": (("Beta1Pow", "Beta1PowOut", "beta1"), ("Beta2Pow", "Beta2PowOut", "beta2"))}


def same_powers(steps: Iterable[Step], values: Mapping[str, Any]) -> dict[str, str]:
    """Variables that hold what another one holds, and will: by name that of the other one.

    Args:
        steps: all of a program; powers that more than one of them touches are left out.
        values: of variables, by name.
    """
    steps = list(steps)
    touched = Counter(name for each in steps for name in {*each.reads, *each.writes})
    first: dict[Any, str] = {}
    same = {}
    for step in steps:
        inputs = step.op.inputs
        if any(inputs.get(f"{slot}Tensor") for slot in ("Beta1", "Beta2")):
            continue
        for slot, result, beta in _POWERS.get(step.instance.type, ()):
            (name,) = inputs[slot]
            if step.op.outputs[result] != (name,) or touched[name] != 1 or name not in values:
                continue
            value = np.asarray(values[name])
            key = slot, getattr(step.instance, beta), value.dtype, value.shape, value.tobytes()
            if first.setdefault(key, name) != name:
                same[name] = first[key]
    return same
