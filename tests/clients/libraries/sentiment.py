"""Senta says of sentences how likely they are positive, with the model that it brings.

Its lists of whole numbers were int64 for 1.6, and its lengths a column; 1.8.5 takes the former for
float32, refuses the latter, and fails.  There the program gives it arrays.
"""

import sys
import types

import numpy as np
from paddle.fluid import core
from Senta import Senta


def arrays(senta, texts):
    """What ``create_input`` makes, of arrays."""
    pairs = [senta.dataset.word_to_ids(text) for text in texts]
    words = np.array([ids for ids, _ in pairs], "int64").reshape(len(texts), -1, 1)
    lengths = np.array([length for _, length in pairs], "int64")
    return core.PaddleTensor(words, "src_ids"), core.PaddleTensor(lengths, "seq_len")


def results(sentences):
    """The answers, one sentence at a time and all at once."""
    senta = Senta()
    if "fluidlite" not in sys.modules:
        senta.create_input = types.MethodType(arrays, senta)
    alone = [senta.predict(text)[0] for text in sentences[:20]]
    together = senta.predict(sentences)
    return {
        "texts": [text for text, *_ in together[:20]] == [text for text, *_ in alone],
        "alone": [[int(label), float(low), float(high)] for _, label, low, high in alone],
        "together": [[int(label), float(low), float(high)] for _, label, low, high in together],
        "of nothing": senta.predict(""),
    }
