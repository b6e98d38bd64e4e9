"""The recorded calls of layers as ONNX: with sizes that stay unknown where all forms are direct,
and else for the sizes of what is fed.
"""

import numpy as np
import pytest
from exported.models import assert_same, run
from exported.without import LAYERS_OF_SIZES, LAYERS_WITHOUT
from oracle.golden import arrays
from oracle.test_layers import CASES, flat, under

import fluidlite as fluid
from fluidlite.errors import UnsupportedError

TIMES = 3  #: how often the second batch has what is recorded


class Sample:
    """A call of a layer in the default programs, with its parameters in the scope."""

    def __init__(self, name):
        recorded = under(arrays("layer_cases.npz"), f"{name}:")
        lengths = CASES[name]["lod_in"]
        self.feed = {
            key: fluid.create_lod_tensor(value, lengths[key]) if key in lengths else value
            for key, value in under(recorded, "in/").items()
        }
        names = {"fluid": fluid, "layers": fluid.layers, "np": np}
        exec(compile(CASES[name]["code"], name, "exec"), names)
        self.out = flat(names["out"])
        self.program, self.executor = fluid.default_main_program(), fluid.Executor()
        #: rates of learning belong to steps of training, which tests leave out
        self.is_step = name.startswith("lr_")
        startup = fluid.default_startup_program()
        if startup.global_block().ops:
            self.executor.run(startup)
        for key, value in under(recorded, "param/").items():
            fluid.global_scope().var(key).get_tensor().set(value, fluid.CPUPlace())
        block = self.program.global_block()
        self.shapes = {key: list(block.var(key).shape) for key in self.feed}

    def export(self, path, feeds):
        """Write it down."""
        fluid.onnx.export(self.program, path, feeds, self.out, updates=self.is_step)

    def assert_the_same(self, path, feed):
        """What a file gives for some feeds is what the executor gives."""
        program = self.program if self.is_step else self.program.clone(for_test=True)
        found = list(run(path, feed).values())
        right = self.executor.run(program, feed, fetch_list=self.out, return_numpy=False)
        for ours, theirs in zip(found, right):
            assert_same(ours, theirs)
        assert len(found) >= len(right)

    @property
    def declared(self):
        """What is known of inputs before they come: shapes, and how rows form sequences."""
        has_sequences = lambda v: isinstance(v, fluid.LoDTensor)
        return {k: v if has_sequences(v) else self.shapes[k] for k, v in self.feed.items()}

    @property
    def larger(self):
        """What is fed with more samples, where their number is declared as unknown; None where no
        input says so, or where there are as many as sequences.
        """
        unknown = {name for name, shape in self.shapes.items() if shape[:1] == [-1]}
        if not unknown or any(isinstance(v, fluid.LoDTensor) for v in self.feed.values()):
            return None
        return {k: np.concatenate([v] * TIMES) if k in unknown else v for k, v in self.feed.items()}


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "layer.onnx")


@pytest.mark.parametrize("name", sorted(CASES.keys() - LAYERS_WITHOUT - LAYERS_OF_SIZES))
def test_a_layer_computes_the_same_for_batches_of_all_sizes(name, path, capfd):
    sample = Sample(name)
    sample.export(path, sample.declared)
    sample.assert_the_same(path, sample.feed)
    if sample.larger is not None:
        sample.assert_the_same(path, sample.larger)


@pytest.mark.parametrize("name", sorted(LAYERS_OF_SIZES))
def test_a_layer_that_is_written_out_asks_for_sizes_and_refuses_others(name, path):
    sample = Sample(name)
    with pytest.raises(UnsupportedError, match="give the shapes of what is fed"):
        sample.export(path, sample.declared)
    sample.export(path, sample.feed)
    sample.assert_the_same(path, sample.feed)
    if sample.larger is not None:
        with pytest.raises(Exception, match="(?i)invalid dimensions"):
            run(path, sample.larger)


@pytest.mark.parametrize("name", sorted(LAYERS_WITHOUT))
def test_a_layer_without_a_form_is_refused_with_its_line(name, path):
    sample = Sample(name)
    with pytest.raises(UnsupportedError, match=f" at {name}:[0-9]+ has no form in ONNX: "):
        sample.export(path, sample.feed)
