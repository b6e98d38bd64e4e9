"""A budget of memory holds, changes no bit, and costs as little as the best choice there is."""

import itertools
import random
import warnings
from unittest import mock

import numpy as np
import pytest
from random_programs.program import batch, build, recipe
from random_programs.ways import interpreting
from shares import share

import fluidlite as fluid
from fluidlite.backward.budget import Budget
from fluidlite.backward.recompute import SUBPROGRAM
from fluidlite.backward.rematerialization import GradientTrace
from fluidlite.backward.selection import Selection
from fluidlite.errors import ArgumentError, BudgetError

layers = fluid.layers
TRIALS = share(10)


def built(make, memory=None, optimizer=None, batch_size=None):
    """Main and startup program of a loss that is made small, and the loss."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 5
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        loss = make()
        optimizer = fluid.optimizer.Adam(0.01) if optimizer is None else optimizer()
        optimizer.minimize(loss, memory=memory, batch_size=batch_size)
    return main, startup, loss


def trained(main, startup, loss, steps=3):
    """Losses of some steps, and what stays."""
    scope, exe = fluid.Scope(), fluid.Executor()
    exe.run(startup, scope=scope)
    x = main.global_block().var("x")
    feed = {
        "x": np.random.default_rng(0).normal(size=[abs(x.shape[0]), *x.shape[1:]]).astype("float32")
    }
    losses = [exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(steps)]
    names = [v.name for v in main.list_vars() if v.persistable]
    return losses, {name: np.array(scope.value(name)) for name in names}


def assert_same(found, wanted):
    np.testing.assert_array_equal(found[0], wanted[0])
    assert found[1].keys() == wanted[1].keys()
    for name, value in wanted[1].items():
        np.testing.assert_array_equal(found[1][name], value)


def planned(program, batch_size=1):
    return fluid.inspect.memory_timeline(program, batch_size).total


def copies_in(program):
    ops = program.global_block().ops
    return sum(any(SUBPROGRAM in name for name in op.output_arg_names) for op in ops)


def chain(count=8, width=8, rows=64):
    """A net whose values are much larger than its parameters."""
    hidden = fluid.data("x", [rows, width])
    for _ in range(count):
        hidden = layers.dropout(layers.fc(hidden, width, act="tanh"), 0.3)
    return layers.mean(layers.square(layers.fc(hidden, 1)))


def images():
    hidden = fluid.data("x", [8, 3, 8, 8])
    for _ in range(6):
        hidden = layers.batch_norm(layers.conv2d(hidden, 4, 3, padding=1), act="relu")
    return layers.mean(layers.square(hidden))


@pytest.mark.parametrize(
    "memory, size",
    [
        *((1000, 1000), (2.5e3, 2500), ("1000", None), ("512KiB", 2**19), ("64MB", 2**26)),
        *(("1.5GB", 3 * 2**29), ("2 gb", 2**31), ("300 bytes", 300), ("1e3B", 1000)),
        *(("50%", 40), ("12.5 %", 10), ("0B", None), ("0%", None), ("", None), ("64MX", None)),
        *((0, None), (-1, None), (0.5, None), (True, None), ([], None), (float("nan"), None)),
        *((float("inf"), None), ("-3MB", None), ("infMB", None), ("1e999GB", None)),
    ],
)
def test_a_budget_is_bytes_or_a_text_with_a_unit_or_a_share(memory, size):
    if size is None:
        with pytest.raises(ArgumentError, match="expected memory"):
            Budget(memory)
    else:
        assert Budget(memory).of(80) == size


def test_a_fraction_is_told_how_shares_are_written():
    with pytest.raises(ArgumentError, match='a share is a text, as "50%"'):
        Budget(0.5)


@pytest.mark.parametrize("share_of", [90, 60, 40])
@pytest.mark.parametrize("make", [chain, images])
def test_the_planned_peak_is_within_the_budget_and_no_bit_changes(make, share_of):
    plain = built(make)
    less = built(make, f"{share_of}%")
    assert planned(less[0]) <= share_of * planned(plain[0]) // 100
    assert copies_in(less[0]) > 0
    less[0].verify()
    with interpreting():
        assert_same(trained(*less), trained(*plain))


@pytest.mark.parametrize("make", [chain, images])
def test_peaks_are_planned_as_the_timeline_counts_them(make):
    choices, best = [], Selection.best

    def noting(selection, budget):
        choices.append(best(selection, budget))
        return choices[-1]

    with mock.patch.object(Selection, "best", noting):
        main, _, _ = built(make, "50%")
    timeline = fluid.inspect.memory_timeline(main)
    live = [moment.live for moment in timeline.moments]
    assert live == choices[-1].schedule.held.live.tolist()


def test_a_budget_that_is_met_anyway_changes_nothing():
    told, plain = (built(chain, memory)[0].global_block().ops for memory in ("1GB", None))
    assert [(op.type, op.inputs, op.outputs) for op in told] == [
        (op.type, op.inputs, op.outputs) for op in plain
    ]


def test_compiled_steps_compute_what_interpreted_ones_do():
    plain = built(images)
    less = built(images, "50%")
    found, wanted = trained(*less, steps=5), trained(*plain, steps=5)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4)
    for name, value in wanted[1].items():
        if "moment" in name and value.ndim > 1:
            np.testing.assert_allclose(found[1][name], value, rtol=1e-2, atol=1e-5)


def _recompute():
    return fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))


def _merging():
    return fluid.optimizer.GradientMergeOptimizer(fluid.optimizer.SGD(0.1), k_steps=2)


def _amp():
    return fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.1))


def _lookahead():
    return fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1), k=2)


def _clipped():
    clip = fluid.clip.GradientClipByGlobalNorm(0.1)
    return fluid.optimizer.Momentum(
        0.1, 0.9, regularization=fluid.regularizer.L2Decay(0.1), grad_clip=clip
    )


@pytest.mark.parametrize("optimizer", [_recompute, _merging, _amp, _lookahead, _clipped])
def test_optimizers_around_others_keep_to_a_budget(optimizer):
    alone = optimizer is _recompute  # which needs checkpoints where there is no budget
    plain = built(chain, None, (lambda: fluid.optimizer.SGD(0.1)) if alone else optimizer)
    less = built(chain, "70%", optimizer)
    assert planned(less[0]) <= 0.7 * planned(plain[0])
    with interpreting():
        assert_same(trained(*less), trained(*plain))


def test_a_recompute_optimizer_needs_checkpoints_still_where_there_is_no_budget():
    optimizer = _recompute()
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        optimizer.minimize(chain(), memory="1GB")
    with pytest.raises(ValueError, match="call set_checkpoints"):
        optimizer.minimize(chain(2))


def test_checkpoints_and_a_budget_go_together():
    def make():
        loss = chain(16)
        kept.append(loss.block.var("dropout_3.tmp_0"))
        return loss

    def optimizer():
        made = _recompute()
        made.set_checkpoints(kept[-1:])
        return made

    kept = []
    by_hand = built(make, None, optimizer)
    less = built(make, "80%", optimizer)
    assert planned(less[0]) <= 0.8 * planned(by_hand[0])
    with interpreting():
        assert_same(trained(*less), trained(*by_hand))


def test_gradients_that_are_asked_for_are_held_to_the_end():
    def total(memory):
        main = fluid.Program()
        with fluid.unique_name.guard(), fluid.program_guard(main, fluid.Program()):
            pairs = fluid.backward.append_backward(chain(), memory=memory)
        held = [gradient for _, gradient in pairs]
        return fluid.inspect.memory_timeline(main, fetch_list=held).total

    assert total("60%") <= 0.6 * total(None)


def test_gradients_of_inputs_keep_to_a_budget():
    def built_for(memory):
        main = fluid.Program()
        with fluid.unique_name.guard(), fluid.program_guard(main, fluid.Program()):
            x = fluid.data("x", [8, 16])
            x.stop_gradient = False
            hidden = x
            for _ in range(12):
                hidden = layers.tanh(layers.scale(hidden, 1.1))
            (slope,) = fluid.gradients(hidden, x, memory=memory)
        feed = {"x": np.linspace(-1, 1, 128, dtype="float32").reshape(8, 16)}
        total = fluid.inspect.memory_timeline(main, fetch_list=[slope]).total
        return fluid.Executor().run(main, feed=feed, fetch_list=[slope])[0], total

    (plain, whole), (less, total) = built_for(None), built_for("60%")
    assert total <= 0.6 * whole
    np.testing.assert_array_equal(less, plain)


def test_running_averages_are_moved_once():
    plain, less = built(images), built(images, "45%")
    norms = [op for op in less[0].global_block().ops if op.type == "batch_norm"]
    assert len(norms) > 4  # some are run again
    with interpreting():
        found, wanted = trained(*less, steps=1)[1], trained(*plain, steps=1)[1]
    for name in (n for n in wanted if "batch_norm" in n):
        np.testing.assert_array_equal(found[name], wanted[name])


def test_what_is_overwritten_is_copied_for_operators_that_run_again():
    def make():
        x = fluid.data("x", [8, 16])
        factor = layers.create_global_var([1], 2.0, "float32", persistable=True)
        hidden = layers.fc(x, 16, act="tanh")
        for _ in range(6):
            hidden = layers.elementwise_mul(layers.tanh(hidden), factor)
            layers.increment(factor)  # what runs again has to see the value before
        return layers.mean(layers.square(hidden))

    def sgd():
        return fluid.optimizer.SGD(0.1)

    plain, less = built(make, None, sgd), built(make, "75%", sgd)
    assert any("@SAVED_" in name for name in less[0].global_block().vars)
    with interpreting():
        assert_same(trained(*less), trained(*plain))


def test_blocks_are_left_whole_and_what_they_read_is_kept():
    def make():
        x = fluid.data("x", [8, 16])
        hidden = layers.fc(x, 16, act="tanh")
        for _ in range(4):
            hidden = layers.tanh(layers.scale(hidden, 1.5))
        count, most = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
        going_on = layers.less_than(count, most)
        loop = layers.While(going_on)
        total = layers.scale(hidden, 1.0)
        with loop.block():
            layers.assign(layers.elementwise_add(layers.tanh(total), hidden), total)
            layers.increment(count)
            layers.less_than(count, most, cond=going_on)
        for _ in range(4):
            total = layers.tanh(layers.scale(total, 1.5))
        return layers.mean(total)

    plain, less = built(make), built(make, "80%")
    assert planned(less[0]) <= 0.8 * planned(plain[0])
    with interpreting():
        assert_same(trained(*less), trained(*plain))


def test_unknown_sizes_need_a_batch_size():
    def make():
        return chain(rows=None)

    with pytest.raises(ArgumentError, match=r"'x' has shape \[-1, 8\]; give batch_size"):
        built(make, "50%")
    less = built(make, "50%", batch_size=64)
    assert planned(less[0], 64) <= 0.5 * planned(built(make)[0], 64)
    for wrong in (0, 1.5, True):
        with pytest.raises(ArgumentError, match="expected batch_size to be a positive int"):
            built(make, "50%", batch_size=wrong)
    with pytest.raises(ArgumentError, match="give memory, too"):
        built(make, None, batch_size=8)


def test_compiled_steps_run_again_what_programs_run_again_several_times():
    def make():
        hidden = fluid.data("x", [64, 8])
        for _ in range(16):
            hidden = layers.fc(hidden, 8, act="tanh")
        return layers.mean(hidden)

    with pytest.raises(BudgetError) as error:
        built(make, 1)
    main, startup, loss = built(make, error.value.smallest)
    scope, exe = fluid.Scope(), fluid.Executor(passes="-gemm_batching")
    exe.run(startup, scope=scope)
    feed = {"x": np.zeros([64, 8], "float32")}
    for _ in range(2):
        exe.run(main, feed=feed, fetch_list=[loss], scope=scope)
    products = exe.plan(main, [loss]).stages[-1].text.count("= mul(")
    assert products > 2 * 16  # more than each one twice


def test_a_budget_that_cannot_be_met_names_one_that_can():
    with fluid.unique_name.guard():
        loss = chain()
        before = str(fluid.default_main_program()), str(fluid.default_startup_program())
        with pytest.raises(BudgetError, match="cannot be met: the smallest budget found") as error:
            fluid.optimizer.Adam(0.01).minimize(loss, memory=100)
        assert (str(loss.block.program), str(fluid.default_startup_program())) == before
    for said in ("parameters take", "what else stays between runs", "while ", "test_budget.py:"):
        assert said in str(error.value)
    smallest = error.value.smallest
    less = built(chain, smallest)
    assert planned(less[0]) <= smallest
    with interpreting():
        assert_same(trained(*less), trained(*built(chain)))


def test_a_loss_in_a_branch_is_refused():
    x = fluid.data("x", [8, 4])
    with layers.Switch() as switch, switch.case(layers.fill_constant([1], "bool", True)):
        loss = layers.mean(layers.fc(x, 1))
        with pytest.raises(ArgumentError, match="memory is planned for the values of block 0"):
            fluid.backward.append_backward(loss, memory="1GB")


def test_eager_tensors_have_no_plan():
    with fluid.dygraph.guard():
        weight = fluid.create_parameter([2], "float32")
        sgd = fluid.optimizer.SGD(0.1, parameter_list=[weight])
        with pytest.raises(ArgumentError, match="memory is planned for programs"):
            sgd.minimize(fluid.sum(weight), memory="1GB")


def test_checkpoints_between_checkpoints_take_less_than_the_square_root():
    plain = built(lambda: chain(28))
    with pytest.raises(BudgetError) as error:
        built(lambda: chain(28), 1)
    stays = fluid.inspect.memory_timeline(plain[0]).kept
    slopes = 4 * 28 * 8 * 9
    one = 4 * 64 * 8  # bytes of what a layer gives
    assert error.value.smallest - stays - slopes < 11 * one  # and each layer saves three


# -- beside the best there is ----------------------------------------------------------------------


def random_trace(rng, diamonds):
    """A small net with gradients whose values and products have random sizes."""
    main = fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, fluid.Program()):
        hidden = fluid.data("x", [rng.choice([4, 16]), rng.choice([8, 32])])

        def layer(x, width):
            how = rng.randrange(3)
            if how == 2 and width == x.shape[1]:
                return layers.exp(layers.scale(x, 0.1))
            return layers.fc(x, width, bias_attr=False, act="tanh" if how == 1 else None)

        while len(main.global_block().ops) < 6:
            width = rng.choice([4, 16, 64, 128])
            one = layer(hidden, width)
            hidden = one * layer(hidden, width) if diamonds else one
        loss = layers.mean(hidden)
        first = len(main.global_block().ops)
        pairs = fluid.backward.append_backward(loss)
    before = {id(op) for op in main.global_block().ops[:first]}
    held = [loss.name, *(gradient.name for _, gradient in pairs)]
    return GradientTrace(main.global_block(), first, before, held, 1)


@pytest.mark.parametrize("diamonds", [False, True])
@pytest.mark.parametrize("seed", range(TRIALS))
def test_small_nets_get_the_best_of_all_choices(seed, diamonds):
    trace = random_trace(random.Random(seed), diamonds)
    every = []
    for chosen in itertools.product([False, True], repeat=len(trace.made_at)):
        dropped = {name: 1 for name, drop in zip(trace.made_at, chosen) if drop}
        schedule = trace.schedule(dropped)
        every.append((schedule.peak, schedule.cost))
    plain, low = trace.schedule({}).peak, min(peak for peak, _ in every)
    for part in (0.0, 0.3, 0.6, 0.9):
        budget = int(low + part * (plain - low))
        found = Selection(trace).best(budget).schedule
        assert found.peak <= budget
        assert found.cost <= min(cost for peak, cost in every if peak <= budget)


def test_a_deep_net_costs_less_than_the_square_root_rule_at_its_peak():
    def by_rule():
        made = _recompute()
        made.set_checkpoints([f"dropout_{k}.tmp_0" for k in range(5, 36, 6)])
        return made

    rule = built(lambda: chain(36), None, by_rule)
    less = built(lambda: chain(36), planned(rule[0]), lambda: fluid.optimizer.SGD(0.1))
    products = [
        sum(op.type == "mul" for op in main.global_block().ops) - 37 for main in (rule[0], less[0])
    ]
    assert 0 < products[1] < products[0]


# -- random programs -------------------------------------------------------------------------------


def random_program(seed, memory):
    """A random program whose step keeps to a budget for batches of 4."""
    given = {} if memory is None else {"memory": memory, "batch_size": 4}
    minimize, append = fluid.optimizer.Optimizer.minimize, fluid.backward.append_backward
    with (
        mock.patch.object(
            fluid.optimizer.Optimizer, "minimize", lambda self, loss: minimize(self, loss, **given)
        ),
        mock.patch.object(fluid.backward, "append_backward", lambda loss: append(loss, **given)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # some parameters get no gradient
        return build(fluid, recipe(seed))


def result_of(program, seed):
    scope, exe = fluid.Scope(), fluid.Executor()
    exe.run(program.startup, scope=scope)
    with interpreting():
        feed = batch(program, seed, 0)
        (loss,) = exe.run(program.main, feed=feed, fetch_list=[program.loss], scope=scope)
    names = [v.name for v in program.main.list_vars() if v.persistable]
    state = {n: np.array(scope.value(n)) for n in names if scope.value(n) is not None}
    return [loss], state


@pytest.mark.parametrize("seed", range(20, 20 + TRIALS // 2))
def test_random_programs_compute_the_same_within_a_budget(seed):
    plain = random_program(seed, None)
    limit = int(0.7 * planned(plain.main, 4))
    try:
        less = random_program(seed, limit)
    except BudgetError as error:
        limit = error.smallest
        less = random_program(seed, limit)
    assert planned(less.main, 4) <= limit
    less.main.verify()
    assert_same(result_of(less, seed), result_of(plain, seed))
