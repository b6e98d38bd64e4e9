"""Clipping of gradients."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, UnknownVariableError
from fluidlite.ir.operator import OpRole

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], "float32")


def loss_of_a_layer(**attrs):
    x = fluid.data("x", [None, 3], "float32")
    return fluid.layers.reduce_sum(fluid.layers.fc(x, 1, **attrs) * 2.0)


# of the layer: by the weight twice the sums of X's columns, by the bias twice the number of rows
DW, DB = 2 * X.sum(axis=0)[:, None], np.array([4.0])


def fetch(*variables):
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return executor.run(feed={"x": X}, fetch_list=list(variables))


def clipped(clip):
    """The clipped gradients of the weight and the bias, by the pairs that a clip returns."""
    pairs = clip(fluid.backward.append_backward(loss_of_a_layer()))
    assert [p.name for p, _ in pairs] == ["fc_0.w_0", "fc_0.b_0"]
    return fetch(*(grad for _, grad in pairs))


def test_by_value():
    dw, db = clipped(fluid.clip.GradientClipByValue(3.5, -1.0))
    np.testing.assert_allclose(dw, np.clip(DW, -1.0, 3.5))
    np.testing.assert_allclose(db, [3.5])


def test_by_norm():
    dw, db = clipped(fluid.clip.GradientClipByNorm(4.5))
    np.testing.assert_allclose(dw, DW * 4.5 / np.linalg.norm(DW), rtol=1e-6)
    np.testing.assert_allclose(db, DB)


@pytest.mark.parametrize("most", [2.0, 100.0])
def test_by_global_norm(most):
    norm = np.sqrt((DW**2).sum() + (DB**2).sum())
    dw, db = clipped(fluid.clip.GradientClipByGlobalNorm(most))
    scale = most / max(most, norm)
    np.testing.assert_allclose(dw, DW * scale, rtol=1e-6)
    np.testing.assert_allclose(db, DB * scale, rtol=1e-6)


def test_a_function_chooses_what_is_clipped():
    dw, db = clipped(fluid.clip.GradientClipByValue(0.5, need_clip=lambda p: "b_0" in p.name))
    np.testing.assert_allclose(dw, DW)
    np.testing.assert_allclose(db, [0.5])


def test_what_is_not_clipped_does_not_count_for_the_global_norm():
    clip = fluid.clip.GradientClipByGlobalNorm(0.5, need_clip=lambda p: "b_0" in p.name)
    dw, db = clipped(clip)
    np.testing.assert_allclose(dw, DW)
    np.testing.assert_allclose(db, [0.5])


def test_nothing_is_appended_when_nothing_is_clipped():
    pairs = fluid.backward.append_backward(loss_of_a_layer())
    count = len(pairs[0][0].block.ops)
    assert fluid.clip.GradientClipByNorm(1.0, need_clip=lambda p: False)(pairs) == pairs
    assert fluid.clip.GradientClipByGlobalNorm(1.0)([]) == []
    assert len(pairs[0][0].block.ops) == count


def test_a_parameter_without_gradient_is_left_out_of_the_pairs():
    (w, dw), (b, _) = fluid.backward.append_backward(loss_of_a_layer())
    found = fluid.clip.GradientClipByNorm(1.0)([(w, dw), (b, None)])
    assert [(p.name, g.name) for p, g in found] == [("fc_0.w_0", "clip_by_norm_0.tmp_0")]
    assert fluid.clip.GradientClipByGlobalNorm(1.0)([(b, None)]) == []


def test_operators_are_about_the_parameter_and_its_clipped_gradient():
    loss = loss_of_a_layer()
    fluid.optimizer.SGD(0.1, grad_clip=fluid.clip.GradientClipByGlobalNorm(1.0)).minimize(loss)
    ops = [op for op in loss.block.ops if op.namescope == "/gradient_clip/"]
    assert [(op.type, op.role_vars) for op in ops] == [
        (kind, (f"fc_0.{p}_0", f"elementwise_mul_{i}.tmp_0"))
        for kind, p, i in [
            ("square", "b", 0),
            ("reduce_sum", "b", 0),
            ("square", "w", 1),
            ("reduce_sum", "w", 1),
            ("sum", "w", 1),
            ("sqrt", "w", 1),
            ("fill_constant", "w", 1),
            ("elementwise_max", "w", 1),
            ("elementwise_div", "w", 1),
            ("elementwise_mul", "b", 0),
            ("elementwise_mul", "w", 1),
        ]
    ]
    assert {op.role for op in ops} == {OpRole.OPTIMIZE}


class HalfOfIt(fluid.clip.GradientClipBase):
    """A user's own."""

    def clip(self, params_grads):
        return [fluid.layers.scale(grad, 0.5) for _, grad in params_grads]


def test_users_write_their_own():
    dw, db = clipped(HalfOfIt())
    np.testing.assert_allclose(dw, DW / 2)
    np.testing.assert_allclose(db, DB / 2)
    loss = loss_of_a_layer()
    ops, _ = fluid.optimizer.SGD(0.1, grad_clip=HalfOfIt()).minimize(loss)
    assert [op.input("Grad")[0][:6] for op in ops] == ["scale_"] * 2


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda c: c.GradientClipByValue("a"), "GradientClipByValue: expected max to be a finite"),
        (lambda c: c.GradientClipByValue(-1.0), r"less than max, got min=1\.0, max=-1\.0"),
        (lambda c: c.GradientClipByValue(1.0, 2.0), r"less than max, got min=2\.0, max=1\.0"),
        (lambda c: c.GradientClipByNorm("x"), "clip_norm to be a positive number, got 'x'"),
        (lambda c: c.GradientClipByNorm(0.0), r"clip_norm to be a positive number, got 0\.0"),
        (lambda c: c.GradientClipByGlobalNorm(float("inf")), "clip_norm to be a number of at"),
        (lambda c: c.GradientClipByNorm(1.0, need_clip=3), "need_clip to be a function"),
        (lambda c: c.ErrorClipByValue(None), "ErrorClipByValue: expected max to be a finite"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make(fluid.clip)


# -- set_gradient_clip -----------------------------------------------------------------------------


def set_clip(*args, **kwargs):
    """Set it, and take the warning that there is a newer way."""
    with pytest.warns(UserWarning, match="give an optimizer its grad_clip") as caught:
        fluid.clip.set_gradient_clip(*args, **kwargs)
    assert caught[0].filename == __file__


def gradients_used(loss, **more):
    """What each parameter is updated with."""
    ops, _ = fluid.optimizer.SGD(0.1, **more).minimize(loss)
    return {op.input("Param")[0]: op.input("Grad")[0] for op in ops}


def test_all_parameters_there_are_get_a_clip():
    loss = loss_of_a_layer()
    set_clip(fluid.clip.GradientClipByGlobalNorm(1.0))
    assert gradients_used(loss) == {
        "fc_0.b_0": "elementwise_mul_0.tmp_0",
        "fc_0.w_0": "elementwise_mul_1.tmp_0",
    }


@pytest.mark.parametrize("of_parameters, place", [(True, 0), (False, 6)])
def test_the_bound_of_parameters_stands_before_their_norms_and_an_optimizers_behind(
    of_parameters, place
):
    loss = loss_of_a_layer()
    begin, clip = len(loss.block.ops), fluid.clip.GradientClipByGlobalNorm(1.0)
    if of_parameters:
        set_clip(clip)
    gradients_used(loss, grad_clip=None if of_parameters else clip)
    written = [op for op in loss.block.ops[begin:] if "gradient_clip" in op.namescope]
    assert [op.type for op in written].index("fill_constant") == place


@pytest.mark.parametrize("by_name", [True, False])
def test_listed_parameters_get_a_clip(by_name):
    loss = loss_of_a_layer()
    weight = loss.block.var("fc_0.w_0")
    clip = fluid.clip.GradientClipByValue(0.1)
    set_clip(clip, [weight.name if by_name else weight], loss.program)
    assert gradients_used(loss) == {"fc_0.b_0": "fc_0.b_0@GRAD", "fc_0.w_0": "clip_0.tmp_0"}


def test_the_clip_of_the_optimizer_takes_the_place_of_those_of_parameters():
    loss = loss_of_a_layer()
    set_clip(fluid.clip.GradientClipByNorm(1.0))
    with pytest.warns(UserWarning, match="SGD has a grad_clip, so what set_gradient_clip said"):
        used = gradients_used(loss, grad_clip=fluid.clip.GradientClipByValue(1.0))
    assert set(used.values()) == {"clip_0.tmp_0", "clip_1.tmp_0"}


def test_parameters_are_clipped_as_their_attributes_say():
    loss = loss_of_a_layer(
        param_attr=fluid.ParamAttr(gradient_clip=fluid.clip.GradientClipByNorm(0.1)),
        bias_attr=fluid.ParamAttr(gradient_clip=fluid.clip.GradientClipByValue(0.1)),
    )
    assert gradients_used(loss) == {"fc_0.b_0": "clip_0.tmp_0", "fc_0.w_0": "clip_by_norm_0.tmp_0"}


def of_two_groups(first, second):
    return loss_of_a_layer(
        param_attr=fluid.ParamAttr(gradient_clip=first),
        bias_attr=fluid.ParamAttr(gradient_clip=second),
    )


def test_groups_have_norms_of_their_own():
    clip = fluid.clip.GradientClipByGlobalNorm
    loss = of_two_groups(clip(0.5, "weights"), clip(0.25, "biases"))
    used = gradients_used(loss)
    dw, db = fetch(used["fc_0.w_0"], used["fc_0.b_0"])
    np.testing.assert_allclose(dw, DW * 0.5 / np.linalg.norm(DW), rtol=1e-6)
    np.testing.assert_allclose(db, [0.25], rtol=1e-6)


def test_a_group_with_two_norms_is_refused():
    clip = fluid.clip.GradientClipByGlobalNorm
    with pytest.raises(ArgumentError, match=r"'fc_0.b_0' and 'fc_0.w_0' are clipped together"):
        gradients_used(of_two_groups(clip(0.5), clip(0.25)))


def test_an_attribute_that_is_no_clip_is_refused():
    with pytest.raises(
        ArgumentError, match="expected the gradient_clip of 'fc_0.w_0' to be a clip"
    ):
        gradients_used(of_two_groups(3, None))


@pytest.mark.parametrize("clip", [3, None, fluid.clip.ErrorClipByValue(1.0)])
def test_something_that_is_no_clip_is_refused(clip):
    with (
        pytest.warns(UserWarning, match="give an optimizer its grad_clip"),
        pytest.raises(ArgumentError, match="expected clip to be a clip such as"),
    ):
        fluid.clip.set_gradient_clip(clip)


@pytest.mark.filterwarnings("ignore:set_gradient_clip is the old way")
def test_parameters_that_are_none_are_refused():
    loss, clip = loss_of_a_layer(), fluid.clip.GradientClipByNorm(1.0)
    with pytest.raises(UnknownVariableError, match="no variable 'nope'"):
        fluid.clip.set_gradient_clip(clip, param_list=["nope"])
    with pytest.raises(ArgumentError, match="expected parameters or their names in param_list"):
        fluid.clip.set_gradient_clip(clip, param_list=[loss])
    with pytest.raises(ArgumentError, match="expected param_list to be a list"):
        fluid.clip.set_gradient_clip(clip, param_list="fc_0.w_0")


def test_a_clip_that_comes_too_late_is_warned_about():
    fluid.optimizer.SGD(0.1).minimize(loss_of_a_layer())
    with pytest.warns(UserWarning, match="call it before minimize"):
        set_clip(fluid.clip.GradientClipByNorm(1.0))


# -- error clips -----------------------------------------------------------------------------------


def test_a_gradient_is_clipped_before_it_flows_on():
    x = fluid.data("x", [None, 3], "float32")
    hidden = fluid.layers.fc(x, 1, bias_attr=False)
    hidden.error_clip = fluid.clip.ErrorClipByValue(0.25)
    loss = fluid.layers.reduce_sum(hidden * 2.0)
    ((_, dw),) = fluid.optimizer.SGD(0.1).backward(loss)
    np.testing.assert_allclose(fetch(dw)[0], 0.25 * X.sum(axis=0)[:, None])


def test_a_gradient_of_several_parts_is_clipped_when_they_are_summed():
    x = fluid.data("x", [None, 3], "float32")
    hidden = fluid.layers.fc(x, 1, bias_attr=False)
    hidden.error_clip = fluid.clip.ErrorClipByValue(0.5, -0.25)
    loss = fluid.layers.reduce_sum(hidden * hidden)
    ((_, dw),) = fluid.backward.append_backward(loss, callbacks=[fluid.clip.error_clip_callback])
    clip = next(op for op in loss.block.ops if op.type == "clip")
    assert clip.input("X") == clip.output("Out") == ["fc_0.tmp_0@GRAD"]
    assert clip.role == OpRole.BACKWARD
    assert [op.type for op in loss.block.ops].count("clip") == 1
    value, found = fetch(hidden, dw)
    np.testing.assert_allclose(found, X.T @ np.clip(2 * value, -0.25, 0.5), rtol=1e-5)


def test_an_error_clip_leaves_the_program_when_it_is_cloned_for_testing():
    x = fluid.data("x", [None, 3], "float32")
    hidden = fluid.layers.fc(x, 1)
    hidden.error_clip = fluid.clip.ErrorClipByValue(0.25)
    fluid.optimizer.SGD(0.1).minimize(fluid.layers.reduce_sum(hidden))
    test = fluid.default_main_program().clone(for_test=True)
    assert [op.type for op in test.global_block().ops] == ["mul", "elementwise_add", "reduce_sum"]


def test_an_error_clip_of_another_kind_is_refused():
    loss = loss_of_a_layer()
    loss.block.var("fc_0.tmp_0").error_clip = 3
    with pytest.raises(ArgumentError, match="expected the error_clip of 'fc_0.tmp_0' to be one"):
        fluid.optimizer.SGD(0.1).minimize(loss)
    loss.block.var("fc_0.tmp_0").error_clip = None


def test_clips_as_text_are_what_the_real_ones_are():
    clip = fluid.clip
    assert [
        str(clip.GradientClipByValue(1.0, -2.0)),
        str(clip.GradientClipByNorm(0.3)),
        str(clip.GradientClipByGlobalNorm(1.0)),
    ] == [
        "Clip Gradient By Value, min = -2.000000, max=1.000000",
        "Gradient Clip By Norm, clip_norm=0.300000",
        "Gradient Clip By GlobalNorm, global_norm=1.000000",
    ]


@pytest.mark.parametrize("base", [fluid.clip.GradientClipBase, fluid.nn.ClipGradByGlobalNorm])
def test_a_derived_clip_says_what_tensors_and_programs_give(base):
    class Halved(base):
        def __init__(self):
            super().__init__(*[1.0] * (base is not fluid.clip.GradientClipBase))

        def _dygraph_clip(self, params_grads):
            return [(param, grad * 0.5) for param, grad in params_grads]

        _static_clip = _dygraph_clip

    w = fluid.create_parameter([2], "float32")
    w.set_value(np.zeros(2, "float32"))
    sgd = fluid.paddle.optimizer.SGD(0.5, parameters=[w], grad_clip=Halved())
    (w * 8.0).sum().backward()
    sgd.step()
    assert w.tolist() == [-2.0, -2.0]
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.layers.data("x", [1], append_batch_size=False)
        v = fluid.layers.create_parameter([1], "float32")
        gradient = fluid.layers.scale(x, 8.0)
        ((_, halved),) = Halved()([(v, gradient)])
        feed = {"x": np.ones(1, "float32")}
        (found,) = fluid.Executor().run(feed=feed, fetch_list=[halved])
    assert found.tolist() == [4.0]
