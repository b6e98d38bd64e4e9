"""PaddleHelix's encoders of proteins learn: transformer, LSTM and ResNet."""

import absent
import numpy as np
import paddle.fluid as fluid
from outcomes import mark, outcome
from parameters import four_losses

absent.stand_in("pgl", "pgl.utils", "pgl.graph", "rdkit", "rdkit.Chem", "sklearn", "networkx")

from pahelix.model_zoo.protein_sequence_model import ProteinSequenceModel  # noqa: E402
from pahelix.utils.protein_tools import ProteinTokenizer  # noqa: E402

CHAINS = ["MKVLAAGIVG", "GGWQPY", "ACDEFGHIK"]


def fed():
    """Three chains, as tokens and places, and classes of their tokens."""
    tokens = [ProteinTokenizer().gen_token_ids(list(chain)) for chain in CHAINS]
    places = [list(range(len(each))) for each in tokens]
    lengths = [[len(each) for each in tokens]]

    def joined(parts):
        value = np.concatenate(parts).reshape(-1, 1).astype("int64")
        return fluid.create_lod_tensor(value, lengths, fluid.CPUPlace())

    return {
        "token": joined(tokens),
        "pos": joined(places),
        "label": joined([np.arange(len(each)) % 3 for each in tokens]),
        "whole": np.array([[0], [1], [0]], "int64"),
    }


def learned(kind, test):
    """The losses of four steps, and a number for the operators."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        inputs = {
            name: fluid.layers.data(name, [1], dtype="int64", lod_level=1)
            for name in ("token", "pos", "label")
        }
        whole = fluid.layers.data("whole", [1], dtype="int64")
        config = {
            "model_type": kind,
            "hidden_size": 12,
            "layer_num": 2,
            "head_num": 2,
            "dropout": 0.0,
        }
        model = ProteinSequenceModel({**config, "max_len": 16}, name="protein")
        hidden, pooled, kept = model.forward(inputs, test)
        entropy = fluid.layers.softmax_with_cross_entropy
        loss = fluid.layers.mean(entropy(fluid.layers.fc(hidden, 3), inputs["label"]))
        loss += fluid.layers.mean(entropy(fluid.layers.fc(pooled, 2), whole))
        adam = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.Adam(0.01, epsilon=1e-4))
        adam._set_checkpoints(kept)
        adam.minimize(loss)
    feed = fed() if kind != "lstm" else {n: v for n, v in fed().items() if n != "pos"}
    names = [each.name for each in main.all_parameters()]
    return {"losses": four_losses(main, startup, feed, loss), "parameters": mark(sorted(names))}


def results(_):
    """What each encoder gives."""
    kinds = [("transformer", False), ("lstm", False), ("resnet", False), ("transformer", True)]
    return {f"{kind} {test}": outcome(learned, kind, test) for kind, test in kinds}
