"""ddparser learns trees of made-up sentences: losses, scores, and the trees that it finds."""

import types

import absent
import numpy as np
import paddle.fluid as fluid
import paddle.fluid.dygraph as dygraph
from outcomes import mark, outcome

absent.stand_in("LAC", "requests", "tqdm")

from ddparser.parser import model as parser  # noqa: E402

WORDS, CHARACTERS, RELATIONS = 30, 20, 4
SIZES = dict(
    n_words=WORDS, n_feats=CHARACTERS, n_rels=RELATIONS, n_embed=12, n_char_embed=6,
    n_lstm_feat_embed=8, n_tran_feat_embed=8, n_feat_embed=8, n_lstm_hidden=10, n_lstm_layers=2,
    n_tran_feat_head=2, n_tran_feat_layer=1, n_tran_word_head=2, n_tran_word_layer=2,
    n_mlp_arc=9, n_mlp_rel=7, pad_index=0, unk_index=1, bos_index=2, eos_index=3, feat_pad_index=0,
    embed_dropout=0.0, lstm_dropout=0.0, mlp_dropout=0.0, use_data_parallel=False, nranks=1,
    pretrained_embed_shape=None, punct=True, prob=False, tree=True,
)  # fmt: skip


def sentences(random, with_characters):
    """Two batches: words, characters (or tags), heads and relations."""
    batches = []
    for length in (5, 7):
        words = random.randint(4, WORDS, [3, length])
        words[:, 0] = 2
        words[1, -2:] = 0
        shape = [3, length, 4] if with_characters else [3, length]
        heads = random.randint(0, length - 2, [3, length])
        relations = random.randint(0, RELATIONS, [3, length])
        batches.append([words, random.randint(1, CHARACTERS, shape), heads, relations])
    return batches


class Loader:
    """Batches again and again, as the library asks for them."""

    def __init__(self, batches):
        self.batches = batches

    def __call__(self):
        return ([dygraph.to_variable(each) for each in batch] for batch in self.batches)

    def __len__(self):
        return len(self.batches)


def learned(encoding, feature):
    """What comes of three passes."""
    args = types.SimpleNamespace(encoding_model=encoding, feat=feature, **SIZES)
    with dygraph.guard():
        model = parser.Model(args)
        for layer in model.sublayers():
            if isinstance(vars(layer).get("dropout"), types.FunctionType):
                layer.dropout = lambda value: value  # no system draws as another one does
        for number, (_, value) in enumerate(sorted(model.state_dict().items())):
            draw = np.random.RandomState(number).uniform(-0.4, 0.4, value.shape)
            value.set_value(draw.astype("float32"))
        clip = fluid.clip.GradientClipByGlobalNorm(5.0)
        rates = dygraph.ExponentialDecay(0.01, 5000, 0.75)
        adam = fluid.optimizer.AdamOptimizer(
            rates, 0.9, 0.9, 1e-4, parameter_list=model.parameters(), grad_clip=clip
        )
        loader = Loader(sentences(np.random.RandomState(0), feature == "char"))
        losses = [parser.epoch_train(args, model, adam, loader, turn) for turn in range(3)]
        evaluated = outcome(parser.epoch_evaluate, args, model, loader, None)
        model.eval()
        words, features, *_ = next(iter(loader()))
        scores = model(words, features)
        heads = np.concatenate([np.zeros([3, 1]), words.numpy()[:, 1:]], 1)
        heads = dygraph.to_variable(heads.astype("int64")) != 0
        trees = outcome(parser.decode, args, *scores, heads)
        names = mark([sorted(model.state_dict()), [each.name for each in model.parameters()]])
    return {
        "losses": losses,
        "evaluated": evaluated if evaluated == "fails" else float(evaluated[0]),
        "scores": np.array(scores[0].numpy()).ravel()[:40].tolist(),
        "trees": trees if trees == "fails" else [np.array(each.numpy()).tolist() for each in trees],
        "names": names,
    }


def results(_):
    """What each encoder gives."""
    kinds = [("lstm", "char"), ("lstm", "pos"), ("transformer", "char")]
    return {" ".join(kind): outcome(learned, *kind) for kind in kinds}
