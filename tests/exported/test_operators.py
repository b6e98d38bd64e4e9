"""Every operator that can be written as ONNX computes there what it computes here."""

import pytest
from exported.models import assert_same, run
from exported.without import WITHOUT

import fluidlite as fluid
from fluidlite.errors import UnsupportedError
from fluidlite.ground.values import bare
from fluidlite.opdef.definition import registered

from cases import cases_of
from samples.form import GENERATORS

export = fluid.onnx.export
DEFINITIONS = [
    op
    for op in registered()
    if op.type in GENERATORS and op.type not in ("feed", "fetch") and not op.random
]
AT_MOST = 4  #: samples of each operator


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


def exported(case, path):
    """Write a case down; gives the program, what is fed and what comes out."""
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
    try:
        export(one.program, path, feeds, fetched, scope=one.scope, updates=True)
    except UnsupportedError:
        feeds = held_constants(case, one)
        export(one.program, path, feeds, fetched, scope=one.scope, updates=True)
    return feeds, dict(zip(fetched, right, strict=True))


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda op: op.type)
def test_an_operator_written_as_onnx_computes_the_same(definition, tmp_path):
    path, refused = str(tmp_path / "model.onnx"), []
    for case in cases_of(definition)[:AT_MOST]:
        try:
            feeds, right = exported(case, path)
        except UnsupportedError as error:
            refused.append(str(error))
            continue
        found = run(path, feeds, list(right))
        for name, value in right.items():
            assert_same(found[name], value)
    assert bool(refused) == (definition.type in WITHOUT), refused[:1]


def test_the_operators_without_a_form_are_there():
    assert set(WITHOUT) <= {op.type for op in DEFINITIONS}
