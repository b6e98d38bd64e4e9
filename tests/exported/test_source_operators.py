"""Every operator that can be written as NumPy source computes there what it computes here."""

import pytest
from exported.sources import assert_same, run
from exported.without import SOURCE_WITHOUT
from shares import shared

import fluidlite as fluid
from fluidlite.errors import UnsupportedError
from fluidlite.ground.values import bare
from fluidlite.opdef.definition import registered

from cases import cases_of
from samples.form import GENERATORS

DEFINITIONS = [
    op
    for op in registered()
    if op.type in GENERATORS and op.type not in ("feed", "fetch") and not op.random
]
AT_MOST = 3  #: samples of each operator


def held_constants(case, one):
    """Make the inputs that only say what to do parameters: their values are known then."""
    feeds = dict(one.feed)
    for slot, variables in one.inputs.items():
        if case.op.input_slots[slot].constant:
            for variable in variables:
                if variable.name in feeds:
                    variable.persistable, variable.is_data = True, False
                    one.put(variable.name, bare(feeds.pop(variable.name)))
    return feeds


def written(case, path):
    """Write a case down; gives the file, what is fed and what comes out."""
    case = case.in_single_precision()
    one = case.program()
    fetched = [
        variable.name
        for slot, variables in one.outputs.items()
        if not case.op.output_slots[slot].hidden
        for variable in variables
    ]
    right = one.run([one.block.var(name) for name in fetched])
    feeds = dict(one.feed)
    give = [one.program, path, one.scope]
    try:
        found = fluid.export.numpy_source(*give, feeds, fetched, updates=True)
    except UnsupportedError:
        feeds = held_constants(case, one)
        found = fluid.export.numpy_source(*give, feeds, fetched, updates=True)
    return found, feeds, dict(zip(fetched, right, strict=True))


@pytest.mark.parametrize("definition", shared(DEFINITIONS), ids=lambda op: op.type)
def test_an_operator_written_as_source_computes_the_same(definition, tmp_path):
    refused = []
    for case in cases_of(definition)[:AT_MOST]:
        try:
            source, feeds, right = written(case, tmp_path / "model.py")
        except UnsupportedError as error:
            refused.append(str(error))
            continue
        found = run(source, feeds)
        for name, value in right.items():
            assert_same(found[name], value, 1e-5)
    assert bool(refused) == (definition.type in SOURCE_WITHOUT), refused[:1]


def test_the_operators_without_a_form_are_there():
    assert set(SOURCE_WITHOUT) <= {op.type for op in DEFINITIONS}
