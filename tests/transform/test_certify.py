"""Certificates of gradients say what is right, find what is wrong, and can be checked again."""

from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers, transform
from fluidlite.errors import ArgumentError, FileFormatError, GradientCheckError
from fluidlite.ir.operator import Operator, OpRole
from fluidlite.transform import certify, check_certificate

PROGRAMS = Path(__file__).parent.parent / "programs" / "nets"


def network(act="tanh"):
    x = fluid.data("x", [None, 4], "float32")
    hidden = fluid.layers.fc(x, 3, act=act)
    loss = fluid.layers.mean(hidden * hidden + fluid.layers.reduce_sum(hidden))
    fluid.append_backward(loss)
    return fluid.default_main_program()


def gradient_op(program, type):
    return next(op for op in program.global_block().ops if op.type == type)


def test_a_right_gradient_is_certified_with_a_small_probability_of_error():
    certificate = certify(network())
    assert certificate.ok
    assert certificate.headline == "certified: 9 gradients are the derivative"
    assert certificate.bits > 60
    assert {each.method for each in certificate.gradients} == {"field"}
    assert "probability below 2^-" in str(certificate)


def test_each_operator_that_gradients_flow_through_is_listed_with_its_line():
    certificate = certify(network())
    listed = [each.type for each in certificate.operators]
    squared = ["elementwise_mul", "reduce_sum", "elementwise_add", "mean"]
    assert listed == ["mul", "elementwise_add", "tanh", *squared]
    assert all("test_certify.py" in each.callsite for each in certificate.operators)


def test_a_wrong_attribute_is_found_in_its_operator():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    fluid.gradients(fluid.layers.scale(fluid.layers.leaky_relu(x, alpha=0.5), 3.0), x)
    program = fluid.default_main_program()
    gradient_op(program, "leaky_relu_grad").set_attr("alpha", 0.25)
    with pytest.raises(GradientCheckError, match="WRONG: 1 of 3 gradients") as caught:
        certify(program)
    message = str(caught.value)
    assert "leaky_relu_grad" in message
    assert "slot X@GRAD: expected" in message
    assert "residue" in message
    assert "test_certify.py" in message


def test_a_dropped_contribution_is_named():
    program = network()
    total = next(op for op in program.global_block().ops if op.type == "sum")
    total.set_input("X", *total.input("X")[1:])
    certificate = certify(program, raise_error=False)
    (fault,) = certificate.faults
    assert fault.variable == "fc_0.tmp_2"
    assert any("reduce_sum" in line and "missing" in line for line in fault.culprits)


def test_a_gradient_that_is_not_there_is_missing():
    program = network()
    block = program.global_block()
    block.set_ops([op for op in block.ops if op.type not in ("tanh_grad",)])
    certificate = certify(program, raise_error=False)
    assert not certificate.ok


def test_a_seed_other_than_one_is_wrong():
    program = network()
    gradient_op(program, "fill_constant").set_attr("value", 2.0)
    (fault,) = certify(program, raise_error=False).faults
    assert fault.variable == "mean_0.tmp_0"


def test_a_certificate_is_checked_again_from_its_text():
    program = network()
    certificate = certify(program)
    assert check_certificate(str(certificate), program).ok
    assert certificate.recheck() == certificate
    assert check_certificate(str(certificate), program, seed=7).ok


def test_a_certificate_of_another_program_is_refused():
    program = network()
    text = str(certify(program))
    gradient_op(program, "tanh_grad").set_input("Out", "fc_0.tmp_1")
    with pytest.raises(GradientCheckError, match="of another program"):
        check_certificate(text, program)


def test_a_changed_certificate_does_not_hold():
    program = network()
    text = str(certify(program)).replace("fc_0.w_0: polynomial", "fc_0.w_9: polynomial")
    with pytest.raises(GradientCheckError, match=r"does not hold: it says .*fc_0\.w_9"):
        check_certificate(text, program)


def test_a_text_that_is_no_certificate_is_refused():
    with pytest.raises(FileFormatError, match="begins with 'certificate of a gradient"):
        check_certificate("nothing", network())


def test_a_program_without_gradients_is_refused():
    fluid.layers.fc(fluid.data("x", [2, 3]), 2)
    with pytest.raises(ArgumentError, match="no gradients to certify"):
        certify(fluid.default_main_program())


@pytest.mark.parametrize("name", ["seed", "rounds", "batch_size"])
def test_numbers_that_do_not_fit_are_refused(name):
    with pytest.raises(ArgumentError, match=f"expected {name} to be an integer"):
        certify(network(), **{name: -1})


def test_gradients_of_gradients_are_certified_too():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    (first,) = fluid.gradients(fluid.layers.reduce_sum(fluid.layers.tanh(x) * x), x)
    fluid.gradients(first, x)
    program = fluid.default_main_program()
    certificate = certify(program)
    assert certificate.ok
    assert certificate.targets == ("reduce_sum_0.tmp_0", "x@GRAD")
    gradient_op(program, "tanh_grad_grad").set_input("Out", "tmp_0")
    assert certify(program, raise_error=False).faults


def test_weights_of_targets_are_said():
    x, w = fluid.data("x", [2, 3], "float32"), fluid.data("w", [2, 3], "float32")
    x.stop_gradient = False
    y = fluid.layers.square(x)
    fluid.gradients(y, x, target_gradients=w)
    program = fluid.default_main_program()
    assert certify(program, target_gradients={y: w}).ok
    with pytest.raises(ArgumentError, match="say which"):
        certify(program)


def test_what_writes_a_gradient_anew_behind_the_gradients_is_said():
    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 3]), 1, bias_attr=False))
    decay = fluid.regularizer.L2Decay(0.1)
    fluid.optimizer.SGD(0.1, regularization=decay).minimize(loss)
    certificate = certify(fluid.default_main_program())
    assert certificate.changed == ("#6 sum -> fc_0.w_0@GRAD",)
    assert "which is not certified" in str(certificate)


def test_where_gradients_stop_is_said():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    hidden = fluid.layers.square(x)
    fluid.gradients(fluid.layers.reduce_sum(hidden * x), x, no_grad_set={hidden.name})
    program = fluid.default_main_program()
    assert certify(program, no_grad_set={hidden}).ok
    certificate = certify(program, raise_error=False)
    assert [each.method for each in certificate.faults] == ["missing"]


def test_loops_and_branches_are_certified_as_a_whole():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    i = fluid.layers.fill_constant([1], "int64", 0)
    count = fluid.layers.fill_constant([1], "int64", 3)
    _, y = fluid.layers.while_loop(
        lambda i, y: fluid.layers.less_than(i, count),
        lambda i, y: [fluid.layers.increment(i, in_place=False), fluid.layers.tanh(y * x)],
        [i, fluid.layers.scale(x, 1.0)],
    )
    zero = fluid.layers.fill_constant([1], "float32", 0.0)
    positive = fluid.layers.less_than(zero, fluid.layers.reduce_sum(x))
    z = fluid.layers.cond(positive, lambda: y * y, lambda: fluid.layers.scale(y, 2.0))
    fluid.append_backward(fluid.layers.mean(z))
    program = fluid.default_main_program()
    certificate = certify(program)
    assert certificate.ok, str(certificate)
    assert {"while", "conditional_block"} <= {each.type for each in certificate.operators}
    inner = next(op for b in program.blocks[1:] for op in b.ops if op.type == "tanh_grad")
    inner.set_input("Out", inner.input("Out@GRAD")[0])
    faults = certify(program, raise_error=False).faults
    assert any(
        line.startswith("in block ") and "tanh_grad" in line and "where backward writes" in line
        for fault in faults
        for line in fault.culprits
    )


def test_a_branch_that_never_runs_is_named():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    never = fluid.layers.less_than(
        fluid.layers.fill_constant([1], "float32", 2.0),
        fluid.layers.fill_constant([1], "float32", 1.0),
    )
    z = fluid.layers.cond(never, lambda: x * x, lambda: fluid.layers.scale(x, 2.0))
    fluid.append_backward(fluid.layers.mean(z))
    certificate = certify(fluid.default_main_program())
    assert not certificate.ok
    assert certificate.untaken
    assert certificate.points == 8
    assert "certified in part" in certificate.headline
    assert certificate.recheck() == certificate


def test_an_operator_that_nobody_defined_is_not_certified():
    program = network()
    text = str(program).replace("fc_0.tmp_2 = tanh(", "{Out=fc_0.tmp_2} = unheard_of(")
    certificate = certify(fluid.Program.parse(text), raise_error=False)
    assert not certificate.ok
    assert any("unheard_of" in each.why for each in certificate.uncertified)


def test_elements_at_kinks_are_left_out_and_counted():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    fluid.append_backward(fluid.layers.mean(fluid.layers.reduce_max(x, dim=1)))
    feed = {"x": np.array([[1, 1, 0], [0, 3, 2]], "float32") + 0.5}
    certificate = certify(fluid.default_main_program(), feed=feed)
    assert certificate.gradients[-1].variable == "x"
    assert "elements at kinks" in str(certificate)


def test_what_is_fed_takes_the_place_of_random_numbers():
    x = fluid.data("x", [2, 3], "float32")
    x.stop_gradient = False
    label = fluid.data("label", [2, 1], "int64")
    cost = fluid.layers.softmax_with_cross_entropy(x, label)
    fluid.append_backward(fluid.layers.mean(cost))
    program = fluid.default_main_program()
    certificate = certify(program, feed={"label": np.array([[2], [1]])})
    assert certificate.ok
    assert certificate.fed[0][0] == "label"
    with pytest.raises(GradientCheckError):
        check_certificate(str(certificate), program)
    with pytest.raises(ArgumentError, match="no variable 'labels' to feed; did you mean 'label'"):
        certify(program, feed={"labels": np.array([[2], [1]])})


@pytest.mark.parametrize(
    "name",
    ["dynamic_rnn", "grad_of_grad", "lr_noam_warmup", "minimize_twice", "recompute", "while_array"],
)
def test_programs_with_the_names_of_fluid_are_certified(name):
    certificate = certify(fluid.Program.parse((PROGRAMS / f"{name}.txt").read_text()), rounds=1)
    assert certificate.ok, str(certificate)


def test_a_gradient_that_was_clipped_on_the_way_is_not_the_derivative():
    text = (PROGRAMS / "callbacks_error_clip.txt").read_text()
    (fault,) = certify(fluid.Program.parse(text), raise_error=False).faults
    assert any("clip" in line for line in fault.culprits)


def test_a_weight_that_was_not_said_is_hinted_at():
    program = fluid.Program.parse((PROGRAMS / "gradients_targets.txt").read_text())
    with pytest.raises(GradientCheckError, match="it reads 'tg' as a gradient: where that is a"):
        certify(program)
    assert certify(program, target_gradients={"tanh_0.tmp_0": "tg"}).ok


def test_sequences_of_different_lengths_are_certified():
    x = fluid.data("x", [None, 3], "float32", lod_level=1)
    x.stop_gradient = False
    pooled = fluid.layers.sequence_pool(fluid.layers.sequence_softmax(fluid.layers.fc(x, 1)), "sum")
    fluid.append_backward(fluid.layers.mean(pooled * pooled))
    feed = {"x": fluid.create_lod_tensor(np.ones([5, 3], "float32"), [[2, 3]], fluid.CPUPlace())}
    certificate = certify(fluid.default_main_program(), feed=feed)
    assert certificate.ok
    assert check_certificate(str(certificate), fluid.default_main_program(), feed).ok


# -- behind simplify -------------------------------------------------------------------------------


def _square_net(x):
    h = layers.fc(x, 5, act="relu")
    return layers.mean(layers.square(layers.fc(h, 3)))


def _entropy_net(x):
    label = fluid.data("label", [4, 1], "int64")
    scores = layers.fc(layers.fc(x, 5, act="tanh"), 3)
    return layers.mean(layers.softmax_with_cross_entropy(scores, label))


def _quotient_net(x):
    h = layers.concat([layers.fc(x, 6, act="relu"), x], 1)
    a, b = layers.split(h, 2, 1)
    return layers.mean(a * b / (1.0 + layers.square(b)))


def _normed_net(x):
    return layers.mean(layers.log(layers.square(layers.layer_norm(layers.fc(x, 6))) + 1.0))


@pytest.mark.parametrize("net", [_square_net, _entropy_net, _quotient_net, _normed_net])
def test_simplified_gradients_are_certified_as_a_whole_and_wrong_ones_are_found(net):
    loss = net(fluid.data("x", [4, 6]))
    gradients = [gradient for _, gradient in fluid.append_backward(loss)]
    simple = transform.simplify(fluid.default_main_program(), [loss, *gradients])
    ones = {loss: None}
    certificate = transform.certify(simple, target_gradients=ones)
    assert certificate.ok and certificate.bits > 60
    covered = {each.variable for each in certificate.gradients}
    assert covered >= {parameter.name for parameter in simple.all_parameters()}
    assert any("compared as a whole" in each.why for each in certificate.gradients)
    assert transform.check_certificate(str(certificate), simple).ok

    wrong = simple.clone()
    scaled = [op for op in wrong.global_block().ops if op.type == "scale" and op.role & 1]
    scaled[-1].set_attr("scale", 1.5 * scaled[-1].attr("scale") + 0.25)
    assert not transform.certify(wrong, target_gradients=ones, raise_error=False).ok


@pytest.mark.parametrize(
    "inner",
    [lambda h: layers.tanh(h), lambda h: h * h * h, lambda h: layers.exp(h) * 2.0],
    ids=["tanh", "cube", "exp"],
)
def test_simplified_gradients_of_gradients_are_certified_and_wrong_ones_are_found(inner):
    x = fluid.data("x", [3, 4], "float32")
    x.stop_gradient = False
    weight = layers.create_parameter([4, 5], "float32", name="w")
    y = layers.reduce_sum(inner(layers.matmul(x, weight)))
    (gradient,) = fluid.gradients(y, x)
    loss = layers.reduce_mean(layers.square(gradient)) + y
    wanted = [y, loss, gradient, *fluid.gradients(loss, [weight, x])]
    simple = transform.simplify(fluid.default_main_program(), wanted)
    both = {y: None, loss: None}
    certificate = certify(simple, target_gradients=both)
    assert certificate.ok
    assert {("x", 0), ("x", 1), ("w", 1)} <= {(g.variable, g.sweep) for g in certificate.gradients}
    assert check_certificate(str(certificate), simple).ok
    assert certify(simple, target_gradients={loss: None}).ok

    for output in wanted[2:]:
        wrong = simple.clone()
        block = wrong.global_block()
        ops = [*block.ops]
        at = max(k for k, op in enumerate(ops) if op.writes(output.name)) + 1
        ends = {"X": (output.name,)}, {"Out": (output.name,)}
        doubled = Operator(block, "scale", *ends, {"scale": 2.0}, role=OpRole.BACKWARD)
        block.set_ops([*ops[:at], doubled, *ops[at:]])
        assert certify(wrong, target_gradients=both, raise_error=False).faults


def test_a_parameter_whose_gradient_is_gone_lets_the_step_to_it_be_missing():
    x = fluid.data("x", [4, 6])
    loss = _square_net(x)
    pairs = fluid.append_backward(loss)
    main = fluid.default_main_program()
    one = main.clone()
    block = one.global_block()
    first = pairs[0][1].name
    block.set_ops(op for op in block.ops if not op.writes(first))
    certificate = transform.certify(one, raise_error=False)
    assert not certificate.ok or pairs[0][0].name in certificate.not_asked
