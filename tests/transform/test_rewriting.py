"""Rules that are written as functions are found in programs, and their replacements put there."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import (
    ArgumentError,
    DTypeError,
    EquivalenceError,
    ForeignEffectError,
    NoGradientError,
    RewriteError,
    ShapeError,
    UnknownVariableError,
)
from fluidlite.ir.compare import differences
from fluidlite.transform import Rule, any_of, attributes, optional, rewrite, rewriting, rule
from fluidlite.transform.editing import infer_shapes

F = fluid.nn.functional


def types(program, block=0):
    return [op.type for op in program.blocks[block].ops]


def parsed(operators, variables="x y z w: float32[3, 3]"):
    """A program of some operators on square matrices, all of which may be fed."""
    names, _, form = variables.partition(":")
    lines = [f"data {name}:{form}" for name in names.split()]
    made = []
    for line in operators:
        target = line.partition(" = ")[0].strip("{}")
        made += [part.rpartition("=")[2].strip() for part in target.split(",")]
    known = set(names.split())
    lines += [f"var {name}:{form}" for name in dict.fromkeys(made) if name not in known]
    body = "\n".join([*lines, "", *operators])
    made = Program.parse(f"program (seed=0) {{\nblock 0 {{\n{body}\n}}\n}}")
    infer_shapes(made)
    return made


def reasons(program, rules, **more):
    return [place.reason for place in rewriting(program, rules, **more).places]


RELU_TWICE = Rule(
    lambda x: layers.relu(layers.relu(x)), lambda x: layers.relu(x), name="relu_twice"
)
FUSED = Rule(
    lambda x, w, b: layers.relu(x @ w + b),
    lambda x, w, b: layers.relu(layers.mul(x, w) + b),
    name="fused",
)


def perceptron(act="relu"):
    x = fluid.data("x", [None, 8], "float32")
    hidden = layers.fc(x, 6, act=act)
    return layers.fc(hidden, 2, act=act)


FEED = {"x": np.random.default_rng(0).normal(size=(5, 8)).astype("float32")}


def test_a_rule_puts_its_replacement_wherever_its_pattern_is():
    program = parsed(["a = relu(X=x)", "b = relu(X=a)", "c = tanh(X=b)"])
    before = str(program)
    changed = rewrite(program, RELU_TWICE)
    assert types(changed) == ["relu", "tanh"]
    assert changed.global_block().ops[0].output("Out") == ["b"]
    assert not changed.global_block().has_var("a")
    assert str(program) == before


def test_a_layer_is_found_however_it_is_spelled():
    out = perceptron()
    program = out.block.program
    changed = rewriting(program, FUSED)
    assert changed.count == 2
    assert types(program)[:3] == ["mul", "elementwise_add", "relu"]  # the axis of fc is 1
    for act in (layers.relu, F.relu):
        fluid.reset_default_programs()
        x, w, b = (
            fluid.data(n, s, "float32") for n, s in (("x", [4, 3]), ("w", [3, 2]), ("b", [2]))
        )
        act(fluid.layers.matmul(x, w) + b)
        assert rewriting(fluid.default_main_program(), FUSED).count == 1


def test_operators_take_over_who_they_replace():
    with fluid.name_scope("part"), fluid.device_guard("cpu"):
        out = perceptron()
    program = out.block.program
    old, new = program.global_block().ops, rewrite(program, FUSED).global_block().ops
    assert {op.namescope for op in new} == {op.namescope for op in old} == {"/part/"}
    assert {op.callsite for op in new} == {op.callsite for op in old}
    assert {op.device for op in new} == {op.device for op in old}


def test_a_repeated_operand_is_one_value():
    twice = Rule(lambda f, x: f.elementwise_add(x, x), lambda x: layers.scale(x, 2.0))
    program = parsed(["a = elementwise_add(X=x, Y=x)", "b = elementwise_add(X=x, Y=y)"])
    assert types(rewrite(program, twice)) == ["scale", "elementwise_add"]
    assert reasons(program, twice)[1] == "operand x is 'x' and 'y', expected one value"


def test_operands_of_commutative_operators_stand_in_any_order():
    square_plus = Rule(lambda x, y: layers.square(x) + y, lambda x, y: x * x + y)
    program = parsed(["a = square(X=x)", "b = elementwise_add(X=y, Y=a)"])
    assert types(rewrite(program, square_plus)) == ["elementwise_mul", "elementwise_add"]
    minus = Rule(lambda x, y: layers.square(x) - y, lambda x, y: x * x - y)
    program = parsed(["a = square(X=x)", "b = elementwise_sub(X=y, Y=a)"])
    assert rewriting(program, minus).count == 0


@pytest.mark.parametrize(
    "pattern, line",
    [
        (lambda x, y: x @ y, "a = mul(X=x, Y=y)"),
        (lambda x, y: layers.mul(x, y), "a = matmul(X=x, Y=y)"),
        (lambda x, y: x + y, "a = sum(X=[x, y])"),
        (lambda x, y: layers.sum([x, y]), "a = elementwise_add(X=x, Y=y)"),
        (lambda x, y: x + y, "a = elementwise_add(X=x, Y=y, axis=0)"),
        (lambda x: x * x, "a = square(X=x)"),
        (lambda x: layers.square(x), "a = elementwise_mul(X=x, Y=x)"),
        (lambda f, x: f.softmax(x, axis=1), "a = softmax(X=x, axis=-1)"),
        (lambda f, x: f.reduce_sum(x, dim=[-1]), "a = reduce_sum(X=x, dim=[1])"),
        (lambda f, x: f.reduce_sum(x, reduce_all=True), "a = reduce_sum(X=x, dim=[0, 1])"),
        (lambda f, x: f.mean(x), "a = reduce_mean(X=x, dim=[0, 1])"),
        (lambda f, x: f.reduce_mean(x, reduce_all=True), "a = mean(X=x)"),
        (
            lambda f, x: f.transpose(x, axis=[1, 0]),
            "{Out=a, XShape=s} = transpose2(X=x, axis=[1, 0])",
        ),
        (lambda f, x: f.transpose2(x, axis=[1, 0]), "a = transpose(X=x, axis=[1, 0])"),
        (lambda x: layers.scale(x, 2.0, bias_after_scale=False), "a = scale(X=x, scale=2.0)"),
        (lambda x: layers.scale(x, 0.1), "a = scale(X=x, scale=0.10000000149011612)"),
        (lambda x: layers.softmax(x), "a = softmax(X=x, use_cudnn=true)"),
        (lambda x: layers.cast(x, "int32"), "a = cast(X=x, in_dtype=float64, out_dtype=int32)"),
    ],
)
def test_spellings_of_one_meaning_are_found(pattern, line):
    program = parsed([line])
    same = Rule(pattern, pattern, name="same")
    assert reasons(program, same) == [""]


@pytest.mark.parametrize(
    "pattern, line, reason",
    [
        (lambda x: layers.softmax(x), "a = softmax(X=x, axis=0)", "has axis=0, expected -1"),
        (
            lambda x: layers.scale(x, 2.0),
            "a = scale(X=x, scale=3.0)",
            "has scale=3.0, expected 2.0",
        ),
        (lambda x, y: x @ y, "a = matmul(X=x, Y=y, alpha=2.0)", "has alpha=2.0, expected 1.0"),
        (lambda x: layers.relu(layers.tanh(x)), "a = relu(X=x)", "'x' is written by no operator"),
        (
            lambda f, x: f.reshape2(x, shape=[9]),
            "{Out=a, XShape=s} = reshape2(X=x, Shape=y, shape=[9])",
            "has 1 input in slot Shape, expected none",
        ),
    ],
)
def test_what_means_something_else_is_told(pattern, line, reason):
    same = Rule(pattern, pattern, name="same")
    assert reason in reasons(parsed([line]), same)[0]


def test_attributes_may_have_any_value_and_are_given_to_the_replacement():
    shifted = Rule(
        lambda x: attributes(layers.scale(x), by="scale", shift="bias"),
        lambda x, by, shift: layers.scale(x, 2 * by, bias=shift),
        where=lambda by: by > 1,
    )
    program = parsed(["a = scale(X=x, scale=3.0, bias=1.0)", "b = scale(X=y, scale=0.5)"])
    changed = rewrite(program, shifted)
    assert [op.attr("scale") for op in changed.global_block().ops] == [6.0, 0.5]
    assert changed.global_block().ops[0].attr("bias") == 1.0
    anything = Rule(lambda x: attributes(layers.softmax(x), ...), lambda x: layers.softmax(x))
    assert types(rewrite(parsed(["a = softmax(X=x, axis=0)"]), anything)) == ["softmax"]
    with pytest.raises(ArgumentError, match="scale has no attribute 'factor'"):
        rewrite(program, Rule(lambda x: attributes(layers.scale(x), k="factor"), lambda x, k: x))


@pytest.mark.parametrize("size", [3, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_of_python_are_found_whatever_their_shape(size, dtype):
    x = fluid.data("x", [size, 3], dtype)
    (1.0 / x) * (x**3.0)
    cube = Rule(lambda x: x**3.0, lambda x: x * x * x, name="cube")
    inverse = Rule(lambda x: 1.0 / x, lambda x: layers.reciprocal(x), name="inverse")
    program = fluid.default_main_program()
    feed = {"x": np.random.default_rng(0).normal(size=(3, 3)).astype(dtype)}
    changed = rewrite(program, [cube, inverse], check=feed)
    assert sorted(types(changed)) == [*["elementwise_mul"] * 3, "reciprocal"]
    other = Rule(lambda x: x**2.0, lambda x: x * x)
    assert "value" in reasons(program, other)[0]


def test_a_constant_that_others_read_stays():
    program = parsed(
        [
            "c = fill_constant(shape=[1], value=3.0, dtype=float32)",
            "a = elementwise_pow(X=x, Y=c)",
            "b = elementwise_pow(X=a, Y=c)",
        ]
    )
    cube = Rule(lambda x: x**3.0, lambda x: x * x * x)
    assert types(rewrite(program, cube)) == ["elementwise_mul"] * 4


def test_optional_parts_may_be_missing():
    layer = Rule(
        lambda x, w, b: layers.relu(optional(lambda y: y + b)(x @ w)),
        lambda x, w, b: F.relu(layers.mul(x, w) if b is None else layers.mul(x, w) + b),
        name="layer",
    )
    with_bias = ["a = matmul(X=x, Y=w)", "b = elementwise_add(X=a, Y=y)", "c = relu(X=b)"]
    without = ["a = matmul(X=x, Y=w)", "c = relu(X=a)"]
    assert types(rewrite(parsed(with_bias), layer)) == ["mul", "elementwise_add", "relu"]
    assert types(rewrite(parsed(without), layer)) == ["mul", "relu"]


def test_alternatives_are_given_by_name():
    act = any_of(layers.relu, layers.tanh, name="act")
    doubled = Rule(lambda x: act(layers.scale(x, 2.0)), lambda x, act: act(x + x))
    program = parsed(["a = scale(X=x, scale=2.0)", "b = tanh(X=a)"])
    assert types(rewrite(program, doubled)) == ["elementwise_add", "tanh"]
    both = Rule([lambda x: layers.relu(x), lambda x: layers.tanh(x)], lambda x: layers.sigmoid(x))
    assert types(rewrite(parsed(["a = relu(X=x)", "b = tanh(X=a)"]), both)) == ["sigmoid"] * 2


def test_one_choice_of_a_name_holds_for_all_its_places():
    act = any_of(layers.relu, layers.tanh, name="act")
    twice = Rule(lambda x: act(act(x)), lambda x, act: act(x))
    assert rewriting(parsed(["a = relu(X=x)", "b = tanh(X=a)"]), twice).count == 0
    assert rewriting(parsed(["a = tanh(X=x)", "b = tanh(X=a)"]), twice).count == 1
    with pytest.raises(ArgumentError, match="no pattern is traced"):
        act(fluid.data("x", [2], "float32"))


def test_a_condition_sees_shapes_types_and_uses():
    program = parsed(["a = relu(X=x)", "b = relu(X=y)", "c = elementwise_add(X=a, Y=x)"])
    seen = {}

    def once(x, match):
        seen[x.name] = (x.shape, x.dtype.name, match.uses("x"), match.operators[0].type)
        return match.uses("x") == 1

    only_y = Rule(lambda x: layers.relu(x), lambda x: layers.tanh(x), where=once)
    assert types(rewrite(program, only_y)) == ["relu", "tanh", "elementwise_add"]
    assert seen == {"x": ((3, 3), "FP32", 2, "relu"), "y": ((3, 3), "FP32", 1, "relu")}
    assert reasons(program, only_y)[0] == "its condition says no"


def test_a_pattern_may_give_several_values():
    pair = Rule(
        lambda x: (layers.exp(x), layers.exp(-x)), lambda x: (layers.exp(x), 1.0 / layers.exp(x))
    )
    program = parsed(
        ["a = exp(X=x)", "n = scale(X=x, scale=-1.0)", "b = exp(X=n)", "c = tanh(X=b)"]
    )
    changed = rewrite(program, pair, check={"x": np.ones((3, 3), "float32")})
    assert types(changed)[-1] == "tanh"
    assert "scale" not in types(changed)


def test_results_that_are_read_early_are_written_early():
    pair = Rule(
        lambda x: (layers.exp(x), layers.exp(-x)), lambda x: (layers.exp(x), 1.0 / layers.exp(x))
    )
    program = parsed(
        ["a = exp(X=x)", "c = tanh(X=a)", "n = scale(X=x, scale=-1.0)", "b = exp(X=n)"]
    )
    changed = rewrite(program, pair, check={"x": np.ones((3, 3), "float32")})
    assert types(changed)[-1] == "tanh"


def test_an_inner_value_that_is_read_elsewhere_is_no_part_of_a_match():
    program = parsed(["a = relu(X=x)", "b = relu(X=a)", "c = tanh(X=a)"])
    assert reasons(program, RELU_TWICE) == [
        "'x' is written by no operator before, expected `relu`",
        "'a' is read by operator 2, tanh as well",
    ]
    keeping = Rule(lambda x: layers.relu(layers.relu(x)), lambda x: layers.relu(x), keeps=True)
    assert types(rewrite(program, keeping)) == ["relu", "relu", "tanh"]
    assert rewrite(program, keeping).global_block().ops[1].input("X") == ["x"]


def test_what_is_to_be_fetched_stays():
    program = parsed(["a = relu(X=x)", "b = relu(X=a)"])
    assert rewriting(program, RELU_TWICE, keep=["a"]).count == 0
    assert rewriting(program, RELU_TWICE, keep=[program.global_block().var("b")]).count == 1
    with pytest.raises(UnknownVariableError, match="keep has 'aa'"):
        rewrite(program, RELU_TWICE, keep=["aa"])


def test_names_that_are_rebound_in_between_stand_in_the_way():
    late = Rule(
        lambda x: layers.relu(layers.scale(x, 2.0)), lambda x: layers.scale(layers.relu(x), 2.0)
    )
    rebound = ["a = scale(X=x, scale=2.0)", "x = tanh(X=x)", "b = relu(X=a)"]
    early = rewrite(parsed(rebound), late, check={"x": np.eye(3, dtype="float32") - 0.5})
    assert types(early) == ["relu", "scale", "tanh"]
    twice = [*rebound[:2], "b = relu(X=x)", "c = tanh(X=b)", rebound[2]]
    assert reasons(parsed(twice), late)[1] == (
        "'x' is rebound by operator 1, tanh before the end of the match"
    )
    in_place = ["x = scale(X=x, scale=2.0)", "x = relu(X=x)", "b = tanh(X=x)"]
    changed = rewrite(parsed(in_place), late, check={"x": np.eye(3, dtype="float32") - 0.5})
    assert types(changed) == ["relu", "scale", "tanh"]


def test_a_value_is_one_of_those_that_its_name_holds():
    program = parsed(["a = tanh(X=x)", "a = relu(X=a)", "b = relu(X=a)", "c = relu(X=b)"])
    changed = rewrite(program, RELU_TWICE, check={"x": np.eye(3, dtype="float32") - 0.5})
    assert types(changed) == ["tanh", "relu", "relu"]
    assert changed.global_block().ops[1].output("Out") == ["b"]


def test_matches_do_not_overlap_and_rounds_repeat_them():
    program = parsed(["a = relu(X=x)", "b = relu(X=a)", "c = relu(X=b)", "d = relu(X=c)"])
    assert types(rewrite(program, RELU_TWICE)) == ["relu", "relu"]
    assert types(rewrite(program, RELU_TWICE, rounds=9)) == ["relu"]
    done = rewriting(program, RELU_TWICE, rounds=9)
    assert done.settled
    assert [place.round for place in done.places if not place.reason] == [1, 1, 2]
    growing = Rule(lambda x: layers.relu(x), lambda x: layers.relu(layers.relu(x)))
    assert not rewriting(program, growing, rounds=3).settled
    assert len(types(rewrite(program, growing, rounds=3))) == 32


def test_the_first_rule_that_matches_counts():
    first = Rule(lambda x: layers.relu(x), lambda x: layers.tanh(x), name="first")
    program = parsed(["a = relu(X=x)", "b = relu(X=a)"])
    assert types(rewrite(program, [RELU_TWICE, first])) == ["tanh", "tanh"]
    assert types(rewrite(program, [first, RELU_TWICE])) == ["tanh", "tanh"]


def test_explanations_say_for_each_place_why_not(capsys):
    program = perceptron("tanh").block.program
    after = layers.relu(program.global_block().vars["fc_1.tmp_2"])
    rewrite(program, FUSED, explain=True)
    said = capsys.readouterr().out
    assert (
        f"operator 6, relu at {after.op.callsite}: fused: 'fc_1.tmp_2' is written by `tanh`" in said
    )
    assert "expected `elementwise_add`" in said
    assert "0 of 1 places rewritten" in said


def test_rules_run_in_all_blocks():
    x = fluid.data("x", [4, 3], "float32")
    i = layers.fill_constant([1], "int64", 0)
    limit = layers.fill_constant([1], "int64", 3)
    total = layers.assign(x)
    condition = layers.less_than(i, limit)
    loop = layers.While(condition)
    with loop.block():
        layers.assign(layers.relu(layers.relu(layers.scale(total, 1.5))), total)
        layers.increment(i)
        layers.less_than(i, limit, cond=condition)
    program = fluid.default_main_program()
    done = rewriting(program, RELU_TWICE)
    assert done.count == 1
    assert str(done.places[-1]).startswith("block 1, operator 2, relu")
    feed = {"x": np.eye(4, 3, dtype="float32")}
    rewrite(program, RELU_TWICE, check=feed, keep=[total])


def test_what_a_loop_hands_on_stays():
    x = fluid.data("x", [4, 3, 5], "float32")
    rnn = layers.StaticRNN()
    with rnn.step():
        word = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 5], batch_ref=word)
        inner = layers.relu(word + before)
        rnn.update_memory(before, inner)
        rnn.step_output(layers.relu(inner))
    layers.mean(rnn())
    program = fluid.default_main_program()
    assert rewriting(program, RELU_TWICE).count == 0
    longer = Rule(lambda x: layers.relu(x), lambda x: layers.relu(layers.relu(x)))
    feed = {"x": np.random.default_rng(0).normal(size=(4, 3, 5)).astype("float32")}
    assert rewriting(program, longer).count == 2
    rewrite(program, longer, check=feed)


# -- gradients -------------------------------------------------------------------------------------


def trained(act="relu"):
    out = perceptron(act)
    fluid.optimizer.Adam(0.1).minimize(layers.mean(layers.square(out)))
    fluid.Executor().run(fluid.default_startup_program())
    return out.block.program


def test_gradients_are_derived_anew_and_optimizers_stay():
    program = trained()
    before = str(program)
    changed = rewrite(program, FUSED, check=FEED)
    assert str(program) == before
    block = changed.global_block()
    steps = [op for op in block.ops if op.type == "adam"]
    assert len(steps) == 4
    assert all(block.has_var(op.input("Grad")[0]) for op in steps)
    gradients = [op for op in block.ops if op.type == "elementwise_add_grad"]
    assert [op.attr("axis") for op in gradients] == [-1, -1]
    assert not any("fc_0.tmp_0" in op.input_arg_names for op in block.ops)


def test_a_rule_that_finds_nothing_gives_the_program_back():
    for program in (trained("tanh"), perceptron("tanh").block.program):
        assert not differences(program, rewrite(program, FUSED))


def test_gradients_of_several_losses_come_back_in_their_places():
    x = fluid.data("x", [None, 8], "float32")
    for name in ("one", "two"):
        out = layers.fc(x, 2, act="relu", param_attr=name)
        fluid.optimizer.SGD(0.1).minimize(layers.mean(out), parameter_list=[name])
    fluid.Executor().run(fluid.default_startup_program())
    program = fluid.default_main_program()
    changed = rewriting(program, FUSED)
    assert changed.count == 2
    rewrite(program, FUSED, check=FEED)
    assert [t for t in types(changed.program) if t in ("sgd", "mean")] == ["mean", "sgd"] * 2


def test_gradients_through_loops_follow():
    x = fluid.data("x", [4, 3, 5], "float32")
    rnn = layers.StaticRNN()
    with rnn.step():
        word = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 5], batch_ref=word)
        inner = layers.tanh(layers.fc([word, before], 5, bias_attr=False))
        rnn.update_memory(before, inner)
        rnn.step_output(inner)
    fluid.optimizer.SGD(0.1).minimize(layers.mean(rnn()))
    fluid.Executor().run(fluid.default_startup_program())
    program = fluid.default_main_program()
    other = Rule(lambda x: layers.tanh(x), lambda x: 2.0 * layers.sigmoid(2.0 * x) - 1.0)
    feed = {"x": np.random.default_rng(0).normal(size=(4, 3, 5)).astype("float32")}
    changed = rewrite(program, other, check=feed)
    assert "tanh_grad" not in types(changed, 2)
    assert "sigmoid_grad" in types(changed, 2)


def test_values_that_are_computed_again_are_so_afterwards():
    x = fluid.data("x", [None, 8], "float32")
    kept, hidden = [], x
    for _ in range(4):
        hidden = layers.fc(layers.dropout(hidden, 0.25), 8, act="relu")
        hidden = layers.layer_norm(hidden)
        kept.append(hidden)
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    optimizer._set_checkpoints(kept[:3])
    optimizer.minimize(layers.mean(hidden))
    fluid.Executor().run(fluid.default_startup_program())
    program = fluid.default_main_program()
    before = rewriting(program, FUSED)
    assert before.count == 4
    again = [n for n in before.program.global_block().vars if ".fused_" in n and ".subprog_" in n]
    assert len(again) == 6
    rewrite(program, FUSED, check=FEED)


def test_gradients_that_cannot_be_derived_anew_stand_in_the_way():
    x = fluid.data("x", [None, 8], "float32")
    x.stop_gradient = False
    y = layers.fc(x, 3, act="relu")
    (slope,) = fluid.gradients([y], [x])
    layers.mean(layers.relu(slope))
    program = fluid.default_main_program()
    (first, second) = rewriting(program, FUSED).places
    assert "'fc_0.tmp_2'" in first.reason or "gradient" in first.reason
    assert second.reason
    other = Rule(lambda x: layers.relu(x), lambda x: layers.tanh(x))
    done = rewriting(program, other)
    assert [bool(place.reason) for place in done.places] == [True, False]


def test_what_was_said_of_the_gradient_of_an_inner_value_stands_in_the_way():
    out = perceptron()
    block = out.block
    block.vars["fc_0.tmp_1"].stop_gradient = True
    block.vars["fc_1.tmp_0"].error_clip = fluid.clip.ErrorClipByValue(1.0)
    assert reasons(block.program, FUSED) == [
        "gradients stop at 'fc_0.tmp_1'",
        "the gradient of 'fc_1.tmp_0' is clipped",
    ]


def test_a_saved_training_program_is_rewritten():
    program = Program.parse_from_string(trained().to_bytes())
    changed = rewrite(program, FUSED, check=FEED)
    assert types(changed).count("adam") == 4
    assert rewriting(program, FUSED).count == 2


def test_parameters_that_are_frozen_get_no_gradient_afterwards():
    x = fluid.data("x", [None, 8], "float32")
    frozen = fluid.ParamAttr(trainable=False)
    out = layers.fc(layers.fc(x, 6, act="relu"), 2, act="relu", param_attr=frozen)
    fluid.optimizer.SGD(0.1).minimize(layers.mean(out))
    fluid.Executor().run(fluid.default_startup_program())
    program = fluid.default_main_program()
    changed = rewrite(program, FUSED, check=FEED)
    assert rewriting(program, FUSED).count == 2
    assert not changed.global_block().has_var("fc_1.w_0@GRAD")


def test_a_replacement_without_a_gradient_is_refused_where_one_is_needed():
    program = trained()
    stopped = Rule(
        lambda x: layers.relu(x),
        lambda f, x: f.cast(f.sign(f.assign(x)), out_dtype="float32", in_dtype="float32"),
    )
    with pytest.raises((NoGradientError, EquivalenceError)):
        rewrite(program, stopped, check=FEED)
    fused = Rule(
        lambda x, w, b: layers.mul(x, w) + b, lambda f, x, w, b: f.fc(x, w, b, in_num_col_dims=1)
    )
    with pytest.raises(
        NoGradientError, match=r"flows to 'fc_.\.._0' any more; `fc` has no gradient$"
    ):
        rewrite(program, fused)


# -- failures --------------------------------------------------------------------------------------


def test_a_rule_that_raises_leaves_the_program_as_it_was():
    program = parsed(["a = relu(X=x)", "b = tanh(X=a)"])
    before = str(program)

    def faulty(x):
        raise KeyError("forgotten")

    for rules, what in (
        (Rule(faulty, lambda x: x), "its pattern fails: KeyError"),
        (Rule(lambda x: layers.relu(x), faulty), "its replacement fails: KeyError"),
        (
            Rule(lambda x: layers.relu(x), lambda x: layers.tanh(x), where=faulty),
            "its condition fails: KeyError",
        ),
    ):
        with pytest.raises(RewriteError, match=what):
            rewrite(program, rules)
        assert str(program) == before


def test_an_error_names_the_rule_the_operator_and_the_line():
    out = perceptron()
    wrong = Rule(lambda x: layers.relu(x), lambda x: layers.fc(x, 3), name="wrong")
    with pytest.raises(RewriteError) as caught:
        rewrite(out.block.program, wrong)
    assert "rule 'wrong': its replacement makes parameters (fc_0.w_0, fc_0.b_0)" in str(
        caught.value
    )
    assert f"at operator 2, relu at {out.block.ops[2].callsite}" in str(caught.value)


def test_a_replacement_of_another_shape_or_type_is_refused():
    program = parsed(["a = relu(X=x)"])
    with pytest.raises(ShapeError, match="rule 'sums': expected a replacement of 'a'"):
        rewrite(
            program, Rule(lambda x: layers.relu(x), lambda x: layers.reduce_sum(x), name="sums")
        )
    with pytest.raises(DTypeError, match="rule 'casts'"):
        rewrite(
            program, Rule(lambda x: layers.relu(x), lambda x: layers.cast(x, "int32"), name="casts")
        )


def test_rules_that_cannot_be_are_refused():
    program = parsed(["a = relu(X=x)"])
    for made, error, what in (
        (lambda: Rule(lambda *x: x, lambda x: x), ArgumentError, "operands are matched by name"),
        (lambda: Rule(3, lambda x: x), ArgumentError, "to be functions"),
        (lambda: Rule([], lambda x: x), ArgumentError, "at least one pattern"),
        (lambda: Rule(lambda x: x, lambda x: x, shapes={"y": [1]}), ArgumentError, "no operand"),
        (lambda: Rule(lambda x: x, lambda x: x), RewriteError, "gives its operand 'x'"),
        (lambda: Rule(lambda x: 3, lambda x: x), RewriteError, "has to give variables"),
        (lambda: Rule(lambda x: [layers.relu(x)] * 2, lambda x: x), RewriteError, "value twice"),
        (
            lambda: Rule(lambda x: layers.relu(x), lambda y: y),
            ArgumentError,
            "the replacement takes",
        ),
        (lambda: Rule(lambda x: layers.fc(x, 3), lambda x: x), RewriteError, "shapes="),
        (
            lambda: Rule(lambda x: (layers.tanh(x), layers.relu(x))[1], lambda x: x),
            RewriteError,
            "depends on its operator `tanh`",
        ),
        (
            lambda: Rule(lambda x: layers.relu(x), lambda x: (x, x)),
            RewriteError,
            "gives 1 value, its replacement 2",
        ),
    ):
        with pytest.raises(error, match=what):
            rewrite(program, made())
    for arguments, what in (((program, [3]), "rules"), (("program", RELU_TWICE), "program")):
        with pytest.raises(ArgumentError, match=what):
            rewrite(*arguments)
    with pytest.raises(ArgumentError, match="rounds"):
        rewrite(program, RELU_TWICE, rounds=0)


def test_functions_that_ask_for_shapes_are_told_them():
    def normal(x):
        return F.softmax(x, axis=-1) if len(x.shape) == 2 else x

    rows = Rule(normal, lambda f, x: f.softmax(x), shapes={"x": [-1, 3]}, name="rows")
    assert rewriting(parsed(["a = softmax(X=x)"]), rows).count == 1
    others = parsed(["a = softmax(X=x)"], "x: float32[3, 4]")
    assert reasons(others, rows) == ["x is 'x' of shape [3, 4], expected [-1, 3]"]


def test_a_check_finds_rules_that_are_wrong():
    program = parsed(["a = sigmoid(X=x)"])
    feed = {"x": np.random.default_rng(1).normal(size=(3, 3)).astype("float32")}
    wrong = Rule(lambda x: layers.sigmoid(x), lambda x: layers.tanh(x))
    with pytest.raises(EquivalenceError, match="the programs differ: 'a' is"):
        rewrite(program, wrong, check=feed)
    right = Rule(lambda x: layers.sigmoid(x), lambda x: 0.5 * layers.tanh(0.5 * x) + 0.5)
    rewrite(program, right, check=feed)
    with pytest.raises(ArgumentError, match="feeds by name"):
        rewrite(program, right, check=[1])


def test_a_check_compares_gradients():
    x = fluid.data("x", [4, 3], "float32")
    x.stop_gradient = False
    layers.relu(x)
    program = fluid.default_main_program()

    def stopped(f, x):
        out = f.relu(x)
        constant = f.assign(out)
        constant.stop_gradient = True
        return f.elementwise_sub(f.elementwise_add(out, constant), f.assign(out))

    feed = {"x": np.random.default_rng(1).normal(size=(4, 3)).astype("float32")}
    with pytest.raises(EquivalenceError, match="x@GRAD"):
        rewrite(program, Rule(lambda x: layers.relu(x), stopped), check=feed)


def test_a_replacement_may_be_an_operand():
    plain = Rule(lambda x: layers.assign(x), lambda x: x)
    program = parsed(["a = assign(X=x)", "b = relu(X=a)"])
    assert types(rewrite(program, plain)) == ["relu"]
    assert types(rewrite(parsed(["a = assign(X=x)"]), plain)) == ["assign"]
    assert types(rewrite(program, plain, keep=["a"])) == ["assign", "relu"]
    chain = parsed(["a = assign(X=x)", "b = assign(X=a)", "c = relu(X=b)", "d = tanh(X=a)"])
    changed = rewrite(chain, plain, check={"x": np.eye(3, dtype="float32") - 0.5})
    assert [op.input("X") for op in changed.global_block().ops] == [["x"], ["x"]]
    rebound = parsed(["a = assign(X=x)", "x = tanh(X=x)", "b = relu(X=a)"])
    changed = rewrite(rebound, plain, check={"x": np.eye(3, dtype="float32") - 0.5})
    assert types(changed) == ["assign", "tanh", "relu"]


def test_patterns_may_be_long(recursion_limit):
    def chain(x):
        for _ in range(200):
            x = layers.tanh(x)
        return x

    x = fluid.data("x", [2], "float32")
    chain(layers.relu(chain(x)))
    recursion_limit(200)
    changed = rewrite(fluid.default_main_program(), Rule(chain, lambda x: layers.sigmoid(x)))
    assert types(changed) == ["sigmoid", "relu", "sigmoid"]


def test_the_decorator_makes_a_rule_of_a_replacement():
    @rule(lambda x: layers.relu(layers.relu(x)))
    def once(x):
        return layers.relu(x)

    assert isinstance(once, Rule)
    assert repr(once) == "<Rule once>"
    assert types(rewrite(parsed(["a = relu(X=x)", "b = relu(X=a)"]), once)) == ["relu"]


def test_a_frozen_batch_norm_is_a_pattern_by_its_operator():
    x = fluid.data("x", [2, 3, 4, 4], "float32")
    layers.batch_norm(x, is_test=True)
    folded = Rule(
        lambda f, x, scale, bias, mean, variance: attributes(
            f.batch_norm(x, scale, bias, mean, variance, is_test=True), epsilon="epsilon"
        )[0],
        lambda f, x, scale, bias, mean, variance, epsilon: f.elementwise_add(
            f.elementwise_mul(x, scale / layers.sqrt(variance + epsilon), axis=1),
            bias - mean * scale / layers.sqrt(variance + epsilon),
            axis=1,
        ),
        name="folded",
    )
    fluid.Executor().run(fluid.default_startup_program())
    feed = {"x": np.random.default_rng(1).normal(size=(2, 3, 4, 4)).astype("float32")}
    changed = rewrite(fluid.default_main_program(), folded, check=feed)
    assert "batch_norm" not in types(changed)


def test_a_value_that_a_branch_may_leave_as_it_is_stays():
    x = fluid.data("x", [1], "float32")
    inner = layers.relu(x)
    layers.relu(inner)
    with layers.Switch() as switch, switch.case(layers.less_than(x, layers.zeros([1], "float32"))):
        layers.assign(layers.ones([1], "float32"), inner)
    layers.tanh(inner)
    program = fluid.default_main_program()
    (_, second) = rewriting(program, RELU_TWICE).places
    assert "conditional_block" in second.reason
    longer = Rule(lambda x: layers.relu(x), lambda x: layers.relu(layers.relu(x)))
    rewrite(program, longer, check={"x": np.array([0.5], "float32")})


def test_operators_that_nobody_defined_stay():
    program = Program.parse(
        "program (seed=0) {\nblock 0 {\ndata x: float32[3]\nvar a: float32[3]\nvar b: float32[3]\n"
        "var c: float32[3]\na = relu(X=x)\nb = relu(X=a)\n{Out=c} = magic(X=b, k=3)\n}\n}"
    )
    changed = rewrite(program, RELU_TWICE)
    assert types(changed) == ["relu", "magic"]
    assert changed.global_block().ops[1].attr("k") == 3


def test_what_stands_for_a_foreign_operator_is_foreign(tmp_path):
    target = tmp_path / "a.npy"
    np.save(target, np.ones(3))
    program = Program.parse(
        "program (seed=0) {\nblock 0 {\nvar a: float32[3]\n"
        f'a = load(file_path="{target}")\n}}\n}}'
    )
    again = Rule(
        lambda f: attributes(f.load(file_path="?"), ..., path="file_path"),
        lambda f, path: f.assign(f.load(file_path="".join(list(path)))),
    )
    changed = rewrite(program, again)
    assert types(changed) == ["load", "assign"]
    assert changed.global_block().ops[0].foreign == program.global_block().ops[0].foreign
    with pytest.raises(ForeignEffectError):
        fluid.Executor().run(changed, fetch_list=["a"])


def test_rules_are_traced_as_programs_where_tensors_run_at_once():
    program = parsed(["a = relu(X=x)", "b = relu(X=a)"])
    shifted = Rule(
        lambda x: layers.relu(layers.relu(x)),
        lambda x: layers.relu(x) + layers.fill_constant([3, 3], "float32", 0.0),
    )
    with fluid.dygraph.guard():
        assert types(rewrite(program, shifted)) == ["relu", "fill_constant", "elementwise_add"]


def test_values_of_no_elements_and_of_double_precision_are_checked():
    program = parsed(["a = relu(X=x)", "b = relu(X=a)"], "x: float64[0, 3]")
    assert types(rewrite(program, RELU_TWICE, check={"x": np.ones((0, 3))})) == ["relu"]


QUICK = {
    "of one value twice": (
        lambda x: layers.relu(x) - layers.tanh(x),
        ["a = relu(X=x)", "b = tanh(X=x)", "c = elementwise_sub(X=a, Y=b)"],
    ),
    "of two values": (
        lambda x: layers.relu(x) - layers.tanh(x),
        ["a = relu(X=x)", "b = tanh(X=y)", "c = elementwise_sub(X=a, Y=b)"],
    ),
    "of one operator twice": (
        lambda x: layers.relu(x) - layers.relu(x),
        ["a = relu(X=x)", "c = elementwise_sub(X=a, Y=a)"],
    ),
    "of a shared operator": (
        lambda x: (lambda a: a - layers.tanh(a))(layers.relu(x)),
        ["a = relu(X=x)", "b = tanh(X=a)", "c = elementwise_sub(X=a, Y=b)"],
    ),
    "of an operator that is not shared": (
        lambda x: (lambda a: a - layers.tanh(a))(layers.relu(x)),
        ["a = relu(X=x)", "d = relu(X=x)", "b = tanh(X=d)", "c = elementwise_sub(X=a, Y=b)"],
    ),
    "of a sum": (lambda x, y: layers.relu(x + y), ["a = sum(X=[x, y])", "b = relu(X=a)"]),
    "of a replaced result": (
        lambda x: layers.relu(layers.relu(x)),
        ["a = relu(X=x)", "b = relu(X=a)", "c = relu(X=b)", "d = relu(X=c)"],
    ),
    "of a rebound operand": (
        lambda x: layers.tanh(layers.relu(x)),
        ["a = relu(X=x)", "x = tanh(X=y)", "b = tanh(X=a)"],
    ),
    "of another attribute": (
        lambda x: layers.relu(layers.scale(x, 2.0)),
        ["a = scale(X=x, scale=3.0)", "b = relu(X=a)"],
    ),
}


@pytest.mark.parametrize("case", QUICK)
def test_the_quick_search_without_reasons_finds_what_the_one_with_reasons_finds(case):
    pattern, lines = QUICK[case]
    same = Rule(pattern, lambda x, y=None: layers.square(x), name="same")
    program = parsed(lines)
    with_reasons = rewriting(program, same)
    quick = rewriting(program, same, explain=False)
    assert str(quick.program) == str(with_reasons.program)
    assert quick.places == tuple(each for each in with_reasons.places if not each.reason)


def test_a_check_leaves_out_results_that_the_rule_drops():
    shift = Rule(
        lambda f, x, s, b, m, v: attributes(f.batch_norm(x, s, b, m, v, is_test=True), ...)[0],
        lambda f, x, s, b, m, v: f.elementwise_add(f.elementwise_mul(x, s, axis=1), b, axis=1),
    )
    x = fluid.data("x", [None, 3])
    layers.batch_norm(x, is_test=True, epsilon=0.0)  # its moments are nobody's
    fluid.Executor().run(fluid.default_startup_program())
    changed = rewrite(fluid.default_main_program(), shift, check={"x": np.ones((2, 3), "float32")})
    assert types(changed) == ["elementwise_mul", "elementwise_add"]
