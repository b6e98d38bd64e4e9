"""``paddle.static``: what stands around programs, in paddle 2.6's words."""

import numpy as np
import pytest

from fluidlite import errors, paddle

static = paddle.static


@pytest.fixture(autouse=True)
def in_static_mode():
    paddle.enable_static()


def trained():
    """A program with an optimizer that has been started, its output, and an executor."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        y = static.nn.fc(x, 2)
        paddle.optimizer.Adam().minimize(paddle.mean(y))
    executor = static.Executor("cpu")
    executor.run(startup)
    return main, y, executor


def test_the_state_of_a_program_is_its_values_by_kind():
    main, _, _ = trained()
    assert sorted(main.state_dict("param")) == ["fc_0.b_0", "fc_0.w_0"]
    kept = main.state_dict("opt")
    assert "fc_0.w_0" not in kept and any("moment1" in name for name in kept)
    assert set(main.state_dict()) == {*main.state_dict("param"), *kept}
    with pytest.raises(ValueError, match="expected mode to be one of"):
        main.state_dict("all of it")
    with pytest.raises(ValueError, match="no value"):
        main.state_dict("param", static.Scope())


def test_a_state_is_set_as_far_as_it_fits():
    main, _, _ = trained()
    tensor = main.state_dict()["fc_0.w_0"]
    bias = np.array(main.state_dict()["fc_0.b_0"])
    state = {"fc_0.w_0": np.ones([3, 2], "float32"), "fc_0.b_0": np.ones([5], "float32")}
    with pytest.warns(errors.FluidWarning, match=r"'fc_0.b_0' stays as it is"):
        main.set_state_dict(state)
    assert np.array(tensor).tolist() == [[1, 1]] * 3  # it shows what the scope holds
    np.testing.assert_array_equal(main.state_dict()["fc_0.b_0"], bias)
    with pytest.warns(errors.FluidWarning, match="no such variable"):
        main.set_state_dict({"q": bias})
    with pytest.raises(TypeError, match="expected a dictionary"):
        main.set_state_dict(3)
    with pytest.raises(ValueError, match="run the startup program"):
        main.set_state_dict({"fc_0.b_0": bias}, static.Scope())


def test_a_parameter_gives_and_takes_its_value():
    main, _, _ = trained()
    weight = main.global_block().var("fc_0.w_0")
    weight.set_value(np.zeros([3, 2]))
    assert np.array(weight.get_value()).dtype == np.float32
    assert not np.array(weight.get_value()).any()
    with pytest.raises(ValueError, match=r"expected shape \[3, 2\], got \[4, 2\]"):
        weight.set_value(np.zeros([4, 2]))
    with pytest.raises(ValueError, match="the scope has no value"):
        weight.get_value(static.Scope())


@pytest.mark.parametrize("reads", ["before it builds", "before it is started", "behind", "not"])
def test_the_startup_program_draws_the_parameters_of_layers(reads):
    paddle.seed(5)
    layer = paddle.nn.Linear(3, 2)
    value = layer.weight.numpy() if reads == "before it builds" else None
    y = layer(static.data("x", [3, 3]))
    if reads == "before it is started":
        value = layer.weight.numpy()
    executor, startup = static.Executor(), static.default_startup_program()
    executor.run(startup)
    value = layer.weight.numpy() if reads == "behind" else value
    (used,) = executor.run(feed={"x": np.eye(3, dtype="float32")}, fetch_list=[y])
    drawn = [0.9202923774719238, -0.1896657943725586, -0.3401765823364258]  # by paddle 2.6.2
    np.testing.assert_allclose(used[:, 0], drawn, rtol=1e-6)
    np.testing.assert_array_equal(used, used if value is None else value)
    types = {op.type for op in startup.global_block().ops}
    assert types == {"fill_constant", "assign_value" if "before" in reads else "uniform_random"}


def test_values_of_programs_are_saved(tmp_path):
    main, _, _ = trained()
    paddle.save(main.state_dict("param"), str(tmp_path / "net.pdparams"))
    loaded = paddle.load(str(tmp_path / "net.pdparams"), return_numpy=True)
    np.testing.assert_array_equal(loaded["fc_0.w_0"], main.state_dict()["fc_0.w_0"])
    static.save(main, str(tmp_path / "net"), protocol=2)
    before = np.array(main.state_dict()["fc_0.w_0"])
    main.global_block().var("fc_0.w_0").set_value(np.zeros([3, 2]))
    static.load(main, str(tmp_path / "net"))
    np.testing.assert_array_equal(main.state_dict()["fc_0.w_0"], before)
    with pytest.raises(ValueError, match="expected protocol"):
        static.save(main, str(tmp_path / "net"), protocol=9)


def test_variables_are_saved_one_by_one(tmp_path):
    main, _, executor = trained()
    parameters = main.all_parameters()
    static.io.save_vars(executor, str(tmp_path), main, parameters, filename="some")
    before = np.array(main.state_dict()["fc_0.w_0"])
    parameters[0].set_value(np.zeros([3, 2]))
    static.io.load_vars(executor, str(tmp_path), main, parameters, filename="some")
    np.testing.assert_array_equal(main.state_dict()["fc_0.w_0"], before)
    assert parameters[0] in static.io.get_program_persistable_vars(main)


def test_sums_of_clicks_are_those_of_paddle_2():
    """Paddle 2.6.2 gave these numbers."""
    rng = np.random.RandomState(0)
    batches = []
    for _ in range(3):
        rates = rng.rand(6, 2).astype("float32")
        rates /= rates.sum(1, keepdims=True)
        batches.append((rates[:, 1:], rng.randint(0, 2, (6, 1)).astype("float32")))
    for weights, last in (
        (None, [4.615877, 8.368837, 8.622601, 11.094501, 12, 18]),
        ([0, 1], [4.615877, 8.368837, 8.622601, 0, 12, 0]),
        ([0.5, 1], [4.615877, 8.368837, 8.622601, 5.547251, 12, 9]),
    ):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            rate, click = static.data("rate", [-1, 1]), static.data("click", [-1, 1])
            weight = None if weights is None else static.data("weight", [-1, 1])
            sums = static.ctr_metric_bundle(rate, click, weight)
        executor = static.Executor()
        executor.run(startup)
        for rates, clicks in batches:
            feed = {"rate": rates, "click": clicks}
            if weights:
                feed["weight"] = np.array(weights, "float32").reshape(-1, 1)
            got = executor.run(main, feed, list(sums))
        np.testing.assert_allclose([float(each.reshape(-1)[0]) for each in got], last, rtol=1e-5)


def test_the_area_under_a_curve_is_that_of_paddle_2():
    rng = np.random.RandomState(0)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        rates, label = static.data("rates", [-1, 2]), static.data("label", [-1, 1], "int64")
        total, lately, _ = static.auc(rates, label, ins_tag_weight=static.data("weight", [-1, 1]))
    executor = static.Executor()
    executor.run(startup)
    for expected in ([0.625, 0.625], [0.571429, 0.555556], [0.638889, 0.6]):
        both = rng.rand(6, 2).astype("float32")
        both /= both.sum(1, keepdims=True)
        feed = {"rates": both, "label": rng.randint(0, 2, (6, 1))}
        got = executor.run(main, {**feed, "weight": np.zeros([6, 1], "float32")}, [total, lately])
        np.testing.assert_allclose([float(each.reshape(-1)[0]) for each in got], expected, 1e-5)


def test_an_input_is_specified_in_several_ways():
    spec = static.InputSpec([None, 3], "float32", "x")
    assert repr(spec) == (
        "InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)"
    )
    assert static.InputSpec([3]).batch(4).shape == (4, 3)
    assert static.InputSpec([3]).batch([-1]).unbatch() == static.InputSpec([3])
    assert hash(static.InputSpec([3])) == hash(static.InputSpec((3,)))
    assert static.InputSpec([3], name="x") != static.InputSpec([3], name="y") != 3
    assert static.InputSpec.from_numpy(np.ones([2, 2])).dtype == paddle.float64
    paddle.disable_static()
    made = static.InputSpec.from_tensor(paddle.ones([2, 2]), "x")
    assert (made.shape, made.dtype, made.name) == ((2, 2), paddle.float32, "x")
    for kind, wrong in (
        (TypeError, lambda: static.InputSpec(3)),
        (ValueError, lambda: static.InputSpec([3.5])),
        (TypeError, lambda: static.InputSpec([3], "floatx")),
        (ValueError, lambda: static.InputSpec.from_tensor(np.ones(2))),
        (TypeError, lambda: static.InputSpec([3]).batch(3.5)),
        (ValueError, lambda: static.InputSpec([3]).batch([4, 3])),
        (ValueError, lambda: static.InputSpec([]).unbatch()),
    ):
        with pytest.raises(kind):
            wrong()


def test_strategies_have_the_switches_of_paddle_2():
    strategy = static.BuildStrategy()
    assert strategy.fuse_bn_add_act_ops and not strategy.fuse_gemm_epilogue
    strategy.build_cinn_pass = strategy.enable_addto = True
    with pytest.raises(AttributeError):
        strategy.fuse_everything = True
    main, y, executor = trained()
    compiled = static.CompiledProgram(main, strategy)
    (got,) = executor.run(compiled, {"x": np.ones([1, 3], "float32")}, [y])
    assert got.shape == (1, 2)


@pytest.mark.parametrize(
    "kind, use",
    [(AssertionError, lambda: static.xpu_places()), (AssertionError, lambda: static.cuda_places())],
)
def test_what_needs_another_machine_is_refused_by_name(kind, use):
    with pytest.raises(kind, match=r"paddle.static.\w+: there is no \w+ here"):
        use()


@pytest.mark.parametrize(
    "kind, use",
    [
        (ValueError, lambda x, y, exe: static.save_inference_model("net", "x", y, exe)),
        (ValueError, lambda x, y, exe: static.save_inference_model("net", x, "y", exe)),
        (ValueError, lambda x, y, exe: static.save_inference_model(3, x, y, exe)),
        (ValueError, lambda x, y, exe: static.load_inference_model("net", exe, folder="net")),
        (TypeError, lambda x, y, exe: static.normalize_program(x.program, ["x"], [y])),
        (ValueError, lambda x, y, exe: static.serialize_program("x", [y])),
        (ValueError, lambda x, y, exe: static.save_to_file("net", "content")),
        (ValueError, lambda x, y, exe: static.Executor("abacus")),
        (RuntimeError, lambda x, y, exe: exe.run(x.program, {"x": ROW}, ["none"])),
    ],
)
def test_an_error_has_the_class_of_paddle_2(kind, use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main, y, executor = trained()
    with static.program_guard(main), pytest.raises(kind) as error:
        use(main.global_block().var("x"), y, executor)
    assert isinstance(error.value, errors.FluidError)


ROW = np.ones([1, 3], "float32")


def test_a_variable_is_printed_without_its_layout(capsys):
    main = static.Program()
    with static.program_guard(main):
        shown = static.Print(
            paddle.full([2], 0.5), message="look", print_tensor_layout=False, print_phase="forward"
        )
    static.Executor().run(main, fetch_list=[shown])
    assert capsys.readouterr().out.startswith("look")


def test_devices_have_numbers():
    with static.program_guard(static.Program()), static.device_guard("gpu:1"):
        assert paddle.full([1], 1.0).op.attr("op_device") == "gpu:1"


def ran(build, times=1):
    """The shapes and the values of what a function makes of x, [[-2, -1, 0], [1, 2, 3]]."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2, 3])
        x.stop_gradient = False
        made = build(x)
    fetched = list(made) if isinstance(made, (list, tuple)) else [made]
    executor = static.Executor()
    if startup.global_block().ops:
        executor.run(startup)
    for _ in range(times):
        values = executor.run(main, {"x": ROWS}, fetched)
    for variable, value in zip(fetched, values):
        assert variable.shape == value.shape
    return [value.tolist() for value in values]


ROWS = np.arange(6, dtype="float32").reshape(2, 3) - 2


def test_whole_sums_have_no_dimensions_in_programs():
    assert ran(lambda x: [x.sum(), x.mean(), x[0, 1], x.max(), x.argmax()]) == [3, 0.5, -1, 3, 5]
    assert ran(lambda x: [paddle.numel(x), paddle.to_tensor(2.0), paddle.full([], 3.0)]) == [
        6,
        2,
        3,
    ]
    total = ran(lambda x: [each(x.sum()) for each in (lambda s: s**2, lambda s: s > 1, abs)])
    assert total == [9, True, 3]
    assert ran(lambda x: [x.sum().reshape([1]), x.sum().unsqueeze(0)]) == [[3], [3]]


def test_losses_without_dimensions_have_gradients():
    def gradient(x):
        return static.gradients([(x * x).sum() * x.max()], [x])

    np.testing.assert_allclose(ran(gradient)[0], [[-12, -6, 0], [6, 12, 18 + 19]])

    def trained_weight(x):
        start = paddle.nn.initializer.Constant(0.5)
        weight = static.create_parameter([3, 1], "float32", default_initializer=start)
        loss = ((x @ weight) ** 2).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss, weight

    expected = np.full([3, 1], 0.5)
    for _ in range(2):
        found = ROWS @ expected
        expected = expected - 0.1 * ROWS.T @ found
    loss, weight = ran(trained_weight, 2)
    np.testing.assert_allclose(loss, (found**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(weight, expected, rtol=1e-5)


def test_branches_and_loops_carry_values_without_dimensions():
    assert ran(lambda x: static.nn.cond(x.sum() > 0, lambda: x.sum(), lambda: x.mean())) == [3]

    def loop(x):
        start = [paddle.full([], 0, "int64"), paddle.full([], 0.0)]
        return static.nn.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s + x.sum()], start)

    assert ran(loop) == [3, 9]


def test_shapes_without_dimensions_are_saved(tmp_path):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2, 3])
        scale = static.create_global_var([1], 1.0, "float32", persistable=True)
        made = [(x * scale).sum(), x[0, 1]]
    executor = static.Executor()
    executor.run(startup)
    static.save_inference_model(str(tmp_path / "net"), x, made, executor, program=main)
    program, _, outputs = static.load_inference_model(str(tmp_path / "net"), executor)
    values = executor.run(program, {"x": ROWS}, outputs)
    assert [(each.shape, float(each)) for each in values] == [((), 3), ((), -1)]


def test_items_are_written_by_a_function():
    def written(x):
        y = static.setitem(x, 0, 5.0)
        return static.setitem(y, (1, 2), 7), x

    assert ran(written) == [[[5, 5, 5], [1, 2, 7]], ROWS.tolist()]


@pytest.mark.parametrize("stop", [-1, None])
def test_slices_that_run_backwards_to_minus_one_end_with_the_first_element(stop):
    part = slice(2, stop, -1)
    made = ran(lambda x: (x.flatten()[part], static.setitem(x.flatten(), part, 7.0)))
    assert made == [[0, -1, -2], [7, 7, 7, 1, 2, 3]]
    paddle.disable_static()
    numbers = paddle.arange(6)
    assert numbers[part].tolist() == [2, 1, 0]
    numbers[part] = paddle.to_tensor([7, 8, 9])
    assert numbers.tolist() == [9, 8, 7, 3, 4, 5]


def test_slices_have_bounds_that_a_run_knows():
    with static.program_guard(static.Program()):
        x = static.data("x", [2, 3])
        x.stop_gradient = False
        one, two = paddle.full([], 1, "int64"), paddle.full([1], 2, "int64")
        cut = x[:one, None, two:]
        again = static.setitem(x, (slice(None), slice(one, two)), 7.0)
        (slope,) = static.gradients([(cut * cut).sum() + (again * again).sum()], [x])
        fetched = [cut, again, slope, x[:, two:one:-1], x[one - 1 : two, [0, 2]], x[two - 1]]
        values = static.Executor().run(feed={"x": ROWS}, fetch_list=fetched)
    assert [each.tolist() for each in values] == [
        [[[0]]],
        [[-2, 7, 0], [1, 7, 3]],
        [[-4, 0, 0], [2, 0, 6]],
        [[0], [3]],
        [[-2, 0], [1, 3]],
        [[1, 2, 3]],
    ]


def test_programs_take_parts_without_elements():
    def parts(x):
        x.stop_gradient = False
        y = paddle.concat([x[2:2], x[1:], paddle.strided_slice(x, [0], [1], [1], [2])])
        (slope,) = static.gradients([(y * y).sum()], [x])
        return x[:, 9:], y, slope

    assert ran(parts) == [[[], []], [[1, 2, 3]], [[0, 0, 0], [2, 4, 6]]]


@pytest.mark.parametrize(
    "combine",
    [
        lambda n, x, b: n / 2,
        lambda n, x, b: 2.5 - n,
        lambda n, x, b: n * 1.5,
        lambda n, x, b: n**0.5,
        lambda n, x, b: n // -3,
        lambda n, x, b: n % -3,
        lambda n, x, b: x // 0.75,
        lambda n, x, b: x + n,
        lambda n, x, b: ~b & (b | b) ^ b,
        lambda n, x, b: n & n,
    ],
)
def test_operators_of_variables_are_those_of_tensors(combine):
    fed = {
        "n": np.array([[1, 2, 7]]),
        "x": np.array([[1.5, -2.0, 3.25]], "float32"),
        "b": np.array([[True, False, True]]),
    }
    paddle.disable_static()
    expected = combine(*map(paddle.to_tensor, fed.values())).numpy()
    paddle.enable_static()
    program = static.Program()
    with static.program_guard(program):
        made = combine(*(static.data(k, [None, 3], str(v.dtype)) for k, v in fed.items()))
    (found,) = static.Executor().run(program, fed, [made])
    assert found.dtype == expected.dtype == made.dtype
    np.testing.assert_array_equal(found, expected)


def test_sizes_that_are_known_in_a_run_make_no_dimensions():
    rows = np.log(np.full([4, 3], 0.25, "float32"))
    program = static.Program()
    with static.program_guard(program):
        x, y = (static.data(name, [None, 3]) for name in "xy")
        made = [paddle.nn.functional.kl_div(x, y, "batchmean"), paddle.einsum("ij,kj->ik", x, y)]
    loss, products = static.Executor().run(program, {"x": rows, "y": np.exp(rows)}, made)
    assert made[0].shape == loss.shape == ()
    assert products.shape == (4, 4)


def test_variables_of_unknown_sizes_meet_at_their_last_dimensions():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [-1, -1, 3], "float32")
        y = paddle.static.data("y", [-1, 3], "float32")
        product = x * y
        assert product.shape == (-1, -1, 3)
        rows = np.arange(6, dtype="float32").reshape(2, 3)
        feed = {"x": np.ones([4, 2, 3], "float32"), "y": rows}
        (found,) = paddle.static.Executor().run(feed=feed, fetch_list=[product])
    np.testing.assert_array_equal(found, np.tile(rows, [4, 1, 1]))


def test_names_of_data_are_not_taken_for_results():
    with static.program_guard(static.Program()), paddle.utils.unique_name.guard():
        x = static.data("take_item_0.tmp_0", [2, 3])
        made = x[[1, 0]], x + 1.0
    found = static.Executor().run(made[0].block.program, {x.name: ROWS}, made)
    assert [each.tolist() for each in found] == [ROWS[::-1].tolist(), (ROWS + 1).tolist()]


def test_an_input_spec_may_name_sizes(tmp_path):
    spec = paddle.static.InputSpec(["batch", 4], "float32", "x")
    assert spec.shape == (-1, 4) and spec.unbatch().shape == (4,)
    spec = paddle.static.InputSpec(["batch", 4], "float32", "x")
    assert spec == paddle.static.InputSpec(["batch", 4], "float32", "x")
    assert spec != paddle.static.InputSpec([None, 4], "float32", "x")
    with pytest.raises(errors.ArgumentError, match="holds 'a b'"):
        paddle.static.InputSpec(["a b", 4])
    paddle.jit.save(paddle.nn.Linear(4, 3), str(tmp_path / "model"), [spec])
    loaded = paddle.jit.load(str(tmp_path / "model"))
    names = {v.name: v.size_names for v in loaded.program().list_vars() if v.size_names}
    assert names["x"] == ("batch", None) and len(names) > 2


def test_numbers_between_bounds_that_are_known_have_a_known_size():
    some = [paddle.arange(1, 10, 3), paddle.linspace(0, 1, 5), paddle.logspace(0, 3, 4)]
    assert [tuple(one.shape) for one in some] == [(3,), (5,), (4,)]
    start = paddle.static.data("start", [1], "float32")
    wide = paddle.linspace(start, 4, 3, dtype="float64")
    (found,) = paddle.static.Executor().run(feed={"start": ROW[0, :1]}, fetch_list=[wide])
    assert found.dtype == "float64" and found.tolist() == [1.0, 2.5, 4.0]


def test_errors_of_variables_advise_in_words_of_paddle_2():
    x = static.data("x", [None, 3])
    with pytest.raises(errors.DTypeError, match=r"paddle.shape\(x\) gives it"):
        len(x)
    with pytest.raises(AttributeError, match=r"paddle.static.gradients\(loss, x\) gives"):
        print(x.grad)
    with pytest.warns(errors.FluidWarning, match="use paddle.static.nn.cond or paddle.logical_and"):
        bool(x)
    with pytest.raises(errors.ArgumentError, match="or use a function of paddle$"):
        range(x.array.shape[0] * 2)
