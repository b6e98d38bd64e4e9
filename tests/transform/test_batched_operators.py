"""Every operator, for a batch of examples: held against runs for one after the other, with the
gradients.
"""

import numpy as np
import pytest
from batches import BatchedCase
from shares import shared

from fluidlite.errors import LoDError
from fluidlite.opdef.definition import lookup, registered
from fluidlite.transform.batching_rules import rule_of

from cases import Case, cases_of
from samples.form import GENERATORS

#: those whose values differ between runs, that have effects, or whose results have sequences
LEFT_OUT = {"feed", "fetch", "dropout", "rrelu"}


#: operators with a rule that does not hold for their first sample, or for its gradient
LOOPED = {
    "batch_norm",  # in training
    "conv3d",
    "conv3d_adjoint_input",
    "conv3d_transpose",
    "cross_entropy2",
    "deformable_conv",
    "deformable_conv_v1",
}


def is_compared(definition):
    """Whether runs of an operator can be compared."""
    if definition.type in LEFT_OUT or definition.execute is not None or definition.random:
        return False
    is_alone = not (definition.is_update or definition.communicates)
    return is_alone and definition.type in GENERATORS


TYPES = [definition.type for definition in registered() if is_compared(definition)]


#: operators whose results have sequences
MAKES_SEQUENCES = {"im2sequence", "lod_reset", "sequence_unpad"} | {
    type for type in TYPES if any(slot.ragged for slot in lookup(type).outputs)
}


def comparisons(type):
    """The first case of an operator without sequences, with names of inputs to batch."""
    cases = [case for case in cases_of(lookup(type)) if isinstance(case, Case)]
    case = next((c for c in cases if not c.sample.lods and c.sample.values_matter), None)
    if case is None:
        return  # its samples have sequences, which are refused
    feed = case.program().feed
    names = [name for name, value in feed.items() if np.asarray(value).dtype.kind == "f"]
    for batched in {tuple(names or feed), tuple(names[:1])} - {()}:
        yield case, list(batched)


@pytest.mark.parametrize("type", shared(sorted({*TYPES} - MAKES_SEQUENCES)))
def test_an_operator_computes_for_a_batch_what_it_computes_for_each(type):
    for case, batched in comparisons(type):
        both = BatchedCase(case, batched)
        error, name = both.difference()
        assert error < 1e-9, f"{name} differs by {error} where {batched} are batched"
        if len(batched) == 1 and rule_of(lookup(type)) is not None and type not in LOOPED:
            assert "recurrent" not in [op.type for op in both.made.program.global_block().ops]


@pytest.mark.parametrize("type", sorted(MAKES_SEQUENCES))
def test_an_operator_that_makes_sequences_is_refused_by_name(type):
    for case, batched in comparisons(type):
        with pytest.raises(LoDError, match=f"{type}.*writes.*holds sequences"):
            BatchedCase(case, batched)
