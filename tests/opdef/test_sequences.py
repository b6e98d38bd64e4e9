"""How operators ask for sequences, and the faster kernels that they may bring."""

import numpy as np
import pytest

from fluidlite.errors import LoDError
from fluidlite.ground.values import LoDTensor, offsets_from
from fluidlite.opdef.definition import Op, lookup
from fluidlite.opdef.gradient import Tape
from fluidlite.opdef.sequences import lengths_of, lod_of, offsets_of, positions_in, rows_in

from gradcheck import evaluator

ROWS = LoDTensor(np.arange(5.0).reshape(5, 1), [[0, 1, 3], [0, 2, 2, 5]])


def test_offsets_are_those_of_the_innermost_level():
    assert offsets_of(ROWS, "X") == (0, 2, 2, 5)
    assert lod_of(np.ones(3)) == ()


def test_a_value_on_a_tape_has_the_sequences_of_what_it_holds():
    assert offsets_of(Tape(evaluator()).watch(ROWS), "X", 2) == (0, 2, 2, 5)


def test_too_few_levels_are_refused():
    with pytest.raises(LoDError, match="expected X with sequences, got no LoD; feed a LoDTensor"):
        offsets_of(np.ones(3), "X")
    with pytest.raises(LoDError, match="sequences of 3 levels, got 2 level"):
        offsets_of(ROWS, "X", 3)


def test_offsets_and_lengths_are_two_forms_of_one_thing():
    assert lengths_of((0, 2, 2, 5)).tolist() == [2, 0, 3]
    assert offsets_from([2, 0, 3]) == (0, 2, 2, 5)
    assert offsets_from([]) == (0,)


def test_rows_of_chosen_sequences_lie_behind_each_other():
    assert rows_in((0, 2, 2, 5), [2, 1, 0, 2]).tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert rows_in((0, 2), []).tolist() == []


def test_each_row_knows_its_sequence_and_its_position():
    number, position = positions_in((0, 2, 2, 5))
    assert number.tolist() == [0, 0, 2, 2, 2]
    assert position.tolist() == [0, 1, 0, 1, 2]


def test_a_composition_may_bring_kernels_and_stays_the_meaning_for_higher_orders():
    class cube_with_kernels(Op):
        """Out = X * X * X."""

        signature = "X -> Out"
        taken = []  # no annotation: it is no attribute

        def expand(self, f, X):
            return X * X * X

        def run_numpy(self, xp, X):
            self.taken.append("run")
            return X**3

        def grad_numpy(self, xp, X, dOut):
            self.taken.append("grad")
            return {"X": 3 * X**2 * dOut}

    f, x = evaluator(), np.array([2.0])
    assert f.cube_with_kernels(x) == 8
    gradient = lookup("cube_with_kernels_grad")({})
    slope = f.apply(gradient, {"X": x, "Out@GRAD": np.array([1.0])})
    assert slope["X@GRAD"] == 12
    assert cube_with_kernels.taken == ["run", "grad"]
    outer, inner = Tape(f), None
    box = outer.watch(x)
    inner = Tape(outer)
    inside = inner.watch(box)
    (first,) = inner.pull([(inner.cube_with_kernels(inside), np.array([1.0]))], [inside])
    (second,) = outer.pull([(first, np.array([1.0]))], [box])
    assert second == 12
