"""Nets, trainings and layers of the real system that wait for what is not there yet.

An entry whose net or layer can be built fails a test, so that it is taken out.
"""

import fnmatch

#: pattern of a net's or training's name -> what it waits for
WAITING = {
    "dynamic_rnn": "DynamicRNN and sequences",
    "gru_crf*": "dynamic_gru, linear_chain_crf and sequences",
    "lstm_lod": "dynamic_lstm and sequences",
    "seq_conv_text": "sequence_conv_pool and sequences",
}

#: layers that are not there yet: what they wait for -> ids of calls
WAITING_LAYERS = {
    "cells of recurrent nets": "rnn_cells rnn_lstm_cell",
}
_REASONS = {name: why for why, names in WAITING_LAYERS.items() for name in names.split()}


def layer_waits_for(name):
    """What a call of a layer waits for; None where it is there."""
    return _REASONS.get(name)


def waits_for(name):
    """What a net or training waits for; None where it is there."""
    found = [why for pattern, why in WAITING.items() if fnmatch.fnmatchcase(name, pattern)]
    return found[0] if found else None
