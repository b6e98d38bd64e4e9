"""PaddleCraft's BERT learns to fill in words: the losses of four steps."""

import importlib.util
import sys

import numpy as np
import paddle.fluid as fluid
from outcomes import mark, outcome
from parameters import four_losses

# its modules import each other as if its folders were on the path
(FOLDER,) = importlib.util.find_spec("paddlecraft").submodule_search_locations
sys.path += [FOLDER, FOLDER + "/utils"]

from bert import Bert  # noqa: E402


def learned(shared):
    """The losses, and a number for the operators."""
    main, startup = fluid.Program(), fluid.Program()
    sizes = dict(n_layer=2, n_head=2, d_wordembedding=16, d_key=8, d_value=8, d_model=16)
    sizes.update(d_inner_hid=32, vocab_size=40, max_position_seq_len=12)
    sizes.update(prepostprocess_dropout=0.0, attention_dropout=0.0, relu_dropout=0.0)
    random = np.random.RandomState(0)
    feed = {
        "words": random.randint(0, 40, [3, 8]),
        "places": np.arange(8)[None].repeat(3, 0),
        "parts": random.randint(0, 2, [3, 8]),
        "mask": (np.arange(8)[None, :, None] < np.array([[[8]], [[6]], [[5]]])).astype("float32"),
        "wanted": random.randint(0, 40, [5, 1]),
        "positions": random.randint(0, 24, [5, 1]),
        "follows": random.randint(0, 2, [3, 1]),
    }
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        fed = {
            name: fluid.data(name, [None, *each.shape[1:]], str(each.dtype))
            for name, each in feed.items()
        }
        bert = Bert("bert", is_pretraining=True, weight_sharing=shared, **sizes)
        bert.is_pretraining = (
            False  # else ``build`` compares variables with None, which 1.8 refuses
        )
        bert.build(*list(fed.values())[:4])
        *_, loss = bert.get_pretraining_output(*list(fed.values())[4:])
        fluid.optimizer.Adam(0.01).minimize(loss)
    losses = four_losses(main, startup, feed, loss)
    return {"losses": losses, "program": mark([op.type for op in main.global_block().ops])}


def results(_):
    """What it gives with one table of words for both ends, and with two."""
    return {"one table": outcome(learned, True), "two tables": outcome(learned, False)}
