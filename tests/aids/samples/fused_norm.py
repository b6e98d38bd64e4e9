"""Samples of the operators in fluidlite/ops/fused_norm.py."""

from .form import Sample, samples

X = [2, 3, 4]


def normal(rng, **shapes):
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


@samples("skip_layernorm")
def skip_layernorm(rng):
    ins = normal(rng, X=X, Y=X, Scale=[4], Bias=[4])
    yield Sample(ins, dict(epsilon=1e-5, begin_norm_axis=2))


@samples("fused_embedding_eltwise_layernorm")
def embedding(rng):
    ids = [rng.integers(0, 3, [2, 5]), rng.integers(0, 6, [2, 5])]
    tables = [rng.normal(size=[3, 4]), rng.normal(size=[6, 4])]
    yield Sample(dict(Ids=ids, Embs=tables, **normal(rng, Bias=[4], Scale=[4])))


@samples("fused_fc_elementwise_layernorm")
def fc(rng):
    ins = normal(rng, X=[3, 5], W=[5, 4], Y=[3, 4])
    yield Sample(ins)
    more = normal(rng, Bias0=[4], Scale=[4], Bias1=[4])
    yield Sample(dict(ins, **more), dict(activation_type="relu"), "relu")


@samples("fused_bias_dropout_residual_layer_norm")
def dropped(rng):
    ins = normal(rng, X=X, Residual=X, Bias=[4], LnScale=[4], LnBias=[4])
    yield Sample(ins, dict(is_test=True), "test")
    ins = normal(rng, X=X, Residual=X)
    yield Sample(ins, dict(dropout_rate=0.3, dropout_seed=7), "seed")


@samples("rms_norm", "fused_bias_residual_layernorm")
def residual(rng, type):
    attrs = dict(epsilon=1e-5, begin_norm_axis=2, quant_scale=-1.0, quant_round_type=0)
    attrs.update(quant_max_bound=0.0, quant_min_bound=0.0)
    if type != "rms_norm":
        attrs.update(residual_alpha=0.5)
    yield Sample(normal(rng, x=X, norm_weight=[4]), attrs)
    ins = normal(rng, x=X, bias=[4], residual=X, norm_weight=[12], norm_bias=[12])
    yield Sample(ins, dict(attrs, begin_norm_axis=1), "residual")
