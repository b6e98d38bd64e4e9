"""Samples of the operators in fluidlite/ops/fused_steps.py."""

from .form import Sample, samples


def normal(rng, **shapes):
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


@samples(*(f"fused_elementwise_{name}" for name in ("add", "sub", "mul", "div")))
def pairs(rng, type):
    ins = dict(X=rng.normal(size=[2, 3]), Y=rng.uniform(1, 2, [3]))
    yield Sample(ins)
    if type == "fused_elementwise_add":
        attrs = dict(fuse_activation="swish", fuse_alpha=0.5, fused_unsqueeze2_axes=[1])
        yield Sample(ins, dict(attrs, fused_output_scale=2.0), "swish")


@samples("fused_elemwise_add_activation")
def add_activation(rng):
    attrs = dict(functor_list=["tanh", "elementwise_add"])
    yield Sample(normal(rng, X=[2, 3], Y=[3]), attrs)


@samples("fused_softplus")
def softplus(rng):
    yield Sample(normal(rng, X=[2, 3]), dict(beta=2.0, threshold=1.5, fuse_activation="tanh"))


@samples("fused_conv2d", "fused_conv2d_add_act")
def conv2d(rng, type):
    ins = normal(rng, Input=[2, 3, 4, 5], Filter=[4, 3, 2, 3])
    more = normal(rng, Bias=[4], ResidualData=[2, 4, 3, 3])
    if type == "fused_conv2d":
        yield Sample(ins, dict(fuse_activation="sigmoid"))
        yield Sample(dict(ins, **more), dict(fuse_residual_connection=True), "residual")
    else:
        yield Sample(dict(ins, **more), dict(activation="sigmoid"))
        yield Sample(ins, dict(activation="identity", split_channels=[1, 3]), "parts")


@samples("fused_conv3d")
def conv3d(rng):
    attrs = dict(strides=[1, 1, 1], paddings=[0, 0, 0], dilations=[1, 1, 1], data_format="NCDHW")
    ins = normal(rng, Input=[1, 2, 3, 4, 3], Filter=[2, 2, 2, 2, 2], Bias=[2])
    yield Sample(ins, dict(attrs, fuse_activation="tanh"))


@samples("fused_matmul")
def matmul(rng):
    ins = normal(rng, X=[2, 3, 4], Y=[2, 5, 4])
    yield Sample(ins, dict(trans_y=True, matmul_alpha=0.5, fuse_activation="sigmoid"))
    attrs = dict(fused_reshape_X=[0, 0, 2, 2], fused_transpose_X=[0, 2, 1, 3])
    attrs.update(fused_transpose_Out=[0, 2, 1, 3], fused_reshape_Out=[0, 0, -1])
    yield Sample(normal(rng, X=[3, 5, 4], Y=[3, 2, 2, 6]), attrs, "heads")


@samples("fused_transpose")
def transpose(rng):
    yield Sample(normal(rng, X=[2, 3, 4]), dict(axis=[2, 0, 1], fused_unsqueeze2_axes=[0]))
    yield Sample(normal(rng, X=[2, 1, 4]), dict(axis=[1, 0], fused_squeeze2_axes=[1]), "fewer")


@samples("fusion_transpose_flatten_concat")
def flatten_concat(rng):
    attrs = dict(trans_axis=[0, 2, 3, 1], flatten_axis=1, concat_axis=1)
    yield Sample(dict(X=[rng.normal(size=[2, 3, 4, 1]), rng.normal(size=[2, 2, 1, 3])]), attrs)


@samples("fused_bias_act")
def bias_act(rng):
    yield Sample(normal(rng, x=[2, 6], bias=[6]))
    yield Sample(normal(rng, x=[2, 6]), dict(act_method="swiglu"), "halves")


@samples("fused_dropout_add")
def dropout_add(rng):
    ins = normal(rng, x=[2, 3], y=[2, 3])
    yield Sample(ins, dict(p=0.5, is_test=True, mode="downgrade_in_infer"), "test")
    attrs = dict(p=0.5, is_test=False, mode="upscale_in_train", seed=3, fix_seed=True)
    yield Sample(ins, attrs, "seed")


@samples("fused_scale_bias_add_relu")
def scale_bias(rng):
    ins = normal(rng, x1=[2, 3, 4], scale1=[4], bias1=[4], x2=[2, 3, 4])
    yield Sample(ins, dict(fuse_dual=False, exhaustive_search=False))
    more = normal(rng, scale2=[4], bias2=[4])
    yield Sample(dict(ins, **more), dict(fuse_dual=True, exhaustive_search=False), "dual")


@samples("batch_fc")
def batch_fc(rng):
    yield Sample(normal(rng, Input=[2, 3, 4], W=[2, 4, 5], Bias=[2, 5]))
