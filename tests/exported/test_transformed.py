"""Saved models that were cut, patched, folded and pruned run elsewhere with the same numbers."""

import pytest
from exported.models import assert_same, run
from recorded_models import MODELS, OF_PADDLE2, loaded

import fluidlite as fluid
from fluidlite import transform
from fluidlite.ir.analysis import fetched_names


@pytest.mark.parametrize("model", [*MODELS, *OF_PADDLE2])
def test_a_transformed_model_computes_what_was_recorded(model, tmp_path):
    program, feeds, outputs = loaded(model, tmp_path, fluid.Executor())
    names = fetched_names(program.global_block())
    pruned = transform.cut(program, list(feeds), names)
    patched = transform.apply_patch(transform.make_patch(program, pruned), program)
    folded = transform.fold_constants(transform.freeze(patched), keep=names)
    shared = transform.share(folded, keep=names)
    path = tmp_path / "model.onnx"
    fluid.onnx.export(shared, path, feeds=feeds, fetches=names)
    found = run(path, feeds, names)
    for name, right in zip(names, outputs, strict=True):
        assert_same(found[name], right)


@pytest.mark.parametrize("model", ["fc/inference", "image"])
def test_halves_of_a_model_run_one_behind_the_other(model, tmp_path):
    program, feeds, outputs = loaded(model, tmp_path, fluid.Executor())
    (name,) = fetched_names(program.global_block())
    middle = fluid.inspect.dominators(program, name, sources=list(feeds))
    middle = middle[len(middle) // 2].name
    value = feeds
    for k, (begins, end) in enumerate(([list(feeds), middle], [[middle], name])):
        path = tmp_path / f"{k}.onnx"
        half = transform.freeze(transform.cut(program, begins, [end]))
        fluid.onnx.export(half, path, feeds=value, fetches=[end])
        value = run(path, value, [end])
    assert_same(value[name], outputs[0])
