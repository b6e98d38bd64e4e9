"""Hostile inputs give a defined result or a named error, in bounds of time and memory."""

import pytest
from shares import shared

from fluidlite.opdef.definition import registered

from hostile import attacks, fault, limits
from samples.form import GENERATORS, samples_of

#: what the executor does itself
PASSED_OVER = ("feed", "fetch")
ATTACKED = {
    op.type: op
    for op in registered()
    if op.execute is None and op.type in GENERATORS and op.type not in PASSED_OVER
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("type", shared(ATTACKED))
def test_hostile_inputs_give_a_result_or_a_named_error(type):
    faults = {}
    with limits():
        for sample in samples_of(type):
            for attack in attacks(ATTACKED[type], sample):
                what = fault(ATTACKED[type], attack)
                if what is not None:
                    faults[f"{sample.name} {attack.name}"] = what
    assert not faults
