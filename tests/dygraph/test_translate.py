"""Functions of tensors as programs: the same values and gradients as when they run at once."""

import traceback

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.dygraph.translate import TranslationError

POINTS = np.array([[1, 2, 3], [-0.5, 0.5, 1.5]], "float32")


def number(value, dtype="int64"):
    return layers.fill_constant([1], dtype, value)


def returns_in_a_loop(x):
    i = number(0)
    while i < 10:
        x = x + 1
        if layers.mean(x) > 3:
            return x * 2
        i += 1
    return x - 1


def returns_in_a_for(x):
    for row in x:
        if layers.mean(row) > 0.75:
            return row
    return x[0] * 0


def has_an_else_behind_a_loop(x):
    for row in x:
        if layers.mean(row) > 50:
            y = row
            break
    else:
        y = x[0] - 5
    return y


def nests_loops(x):
    total = number(0, "float32")
    for row in x:
        i = number(0)
        while i < 3:
            total = total + layers.reduce_sum(row)
            i += 1
    return total


def sums_from_a_number(x):
    total = 0
    for row in x:
        total = total + row
    return total


def joins_a_list(x):
    rows = []
    for row in x:
        rows.append(layers.unsqueeze(row * 2, [0]))
    return layers.concat(rows, axis=0)


def pops_from_a_list(x):
    rows = []
    for row in x:
        rows.append(row)
    last = rows.pop()
    return last + len(rows) + rows[0]


def pops_the_first(x):
    rows = []
    for row in x:
        rows.append(row * 3)
    return rows.pop(0) - rows[-1]


def counts_a_list(x):
    seen = []
    i = number(0)
    while i < 4:
        seen.append(x * 2)
        i += 1
    return seen[2] + seen[0]


def writes_to_a_list(x):
    rows = [x, x * 2]
    if layers.mean(x) > 0:
        rows[0] = x * 5
    return rows[0] + rows[1]


def nests_branches(x):
    m = layers.mean(x)
    if m > 0:
        if m > 5:
            y = x * 5
        elif m > 0.5:
            y = x * 3
        else:
            y = x
    else:
        y = -x
    return y


def returns_sometimes(x):
    m = layers.mean(x)
    if m > 0:
        x = x + 1
        if m > 5:
            return x * 10
        x = x + 2
    return x


def breaks_a_loop_of_python(x):
    for i in range(6):
        x = x + i
        if layers.mean(x) > 3:
            break
        x = x * 1.5
    return x


def loops_until_it_breaks(x):
    while True:
        x = x * 2
        if layers.reduce_sum(x) > 100:
            break
    return x


def keeps_what_a_loop_made(x):
    i = number(0)
    while i < 3:
        t = x * 2
        x = t - x + 1
        i += 1
    return x + t


def swaps(x):
    a, b = number(0, "float32"), number(1, "float32")
    i = number(0)
    while i < 6:
        a, b = b, a + b
        i += 1
    return x * a


def counts_with_steps(x):
    n = layers.cast(layers.reduce_sum(x), "int64")
    for i in range(1, n, 2):
        x = x + i
    return x


def counts_down(x):
    for i in range(layers.cast(layers.reduce_sum(x), "int64"), 0, -3):
        x = x + i
    return x


def numbers_rows(x):
    total = number(0, "float32")
    for i, row in enumerate(x, 1):
        total = total + layers.reduce_sum(row) * i
    return total


def zips_rows(x):
    total = number(0, "float32")
    for a, b in zip(x, x * 2):
        total = total + layers.reduce_sum(a * b)
    return total


def goes_on(x):
    i = number(0)
    while i < 6:
        i += 1
        if i == 3:
            continue
        x = x + layers.cast(i, "float32")
    return x


def goes_on_in_python(x):
    for i in range(5):
        if layers.mean(x) > 3:
            continue
        x = x + i
    return x


def chooses_in_expressions(x):
    m = layers.mean(x)
    k = 1.0 if m > 2 else (2.0 if m > 0 else 3.0)
    return x * k


def compares_in_chains(x):
    m = layers.mean(x)
    if (0 < m <= 1.5 and not m == 5) or m > 100:  # noqa: SIM201
        return x * 7
    return x


def negates(x):
    flag = True
    if not (layers.mean(x) > 3) and flag:
        return x + 1
    else:
        return x - 1


def assigns_in_place(x):
    if layers.mean(x) > 0:
        x += 10
    else:
        x -= 10
    return x


def writes_to_a_dictionary(x):
    kept = {"a": x}
    if layers.mean(x) < 0:
        kept["a"] = x + 1
    return kept["a"]


def has_inner_functions(x):
    def halved(y, k=2):
        if layers.mean(y) > 0:
            return y / k
        return y

    shifted = lambda z: halved(z) + 1
    return shifted(halved(x))


def recurs(x, n=3):
    if n == 0:
        return x
    return recurs(x * 2, n - 1)


class Scaler:
    def __init__(self):
        self.__factor = 3.0

    def scaled(self, x):
        return x * self.__factor if layers.mean(x) > 0 else x


def calls_a_method(x):
    return Scaler().scaled(x)


def converts(x):
    return x * float(layers.mean(x)) + len(x) + x.shape[1]


def keeps_margins_of_texts(x):
    text = """a
  b"""
    return x + len(text)


def annotates_locals(x):
    if layers.mean(x) > 3:
        return x * 2
    total: list[int] = x + 1
    scaled: int
    scaled = total * 3
    return scaled


FUNCTIONS = [
    returns_in_a_loop,
    returns_in_a_for,
    has_an_else_behind_a_loop,
    nests_loops,
    sums_from_a_number,
    joins_a_list,
    pops_from_a_list,
    pops_the_first,
    counts_a_list,
    writes_to_a_list,
    nests_branches,
    returns_sometimes,
    breaks_a_loop_of_python,
    loops_until_it_breaks,
    keeps_what_a_loop_made,
    swaps,
    counts_with_steps,
    counts_down,
    numbers_rows,
    zips_rows,
    goes_on,
    goes_on_in_python,
    chooses_in_expressions,
    compares_in_chains,
    negates,
    assigns_in_place,
    writes_to_a_dictionary,
    has_inner_functions,
    recurs,
    calls_a_method,
    converts,
    keeps_margins_of_texts,
    annotates_locals,
]


def value_and_gradient(function, array):
    with dygraph.guard():
        x = dygraph.to_variable(array.copy())
        x.stop_gradient = False
        out = function(x)
        layers.reduce_sum(out * out).backward()
        return out.numpy(), x.gradient()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_translated_function_gives_what_it_gives_at_once(function):
    translated = dygraph.declarative(function)
    for array in (POINTS, POINTS * 4 - 1, POINTS):  # the last one finds its program again
        value, gradient = value_and_gradient(function, array)
        found, slope = value_and_gradient(translated, array)
        assert_allclose(found, value, rtol=1e-5)
        assert_allclose(slope, gradient, rtol=1e-4)


def test_branches_and_loops_are_operators_of_the_program():
    def f(x):
        while layers.mean(x) < 4:
            if layers.mean(x) > 1:
                x = x * 2
            else:
                x = x + 1
        return x

    main, startup, inputs, outputs = dygraph.ProgramTranslator().get_program(f, POINTS)
    types = [[op.type for op in block.ops] for block in main.blocks]
    assert "while" in types[0]
    assert types[1].count("conditional_block") == 2
    assert [each.name for each in inputs] == ["feed_0"]
    (found,) = fluid.Executor().run(main, {"feed_0": POINTS}, fetch_list=outputs)
    x = POINTS
    while x.mean() < 4:
        x = x * 2 if x.mean() > 1 else x + 1
    assert_allclose(found, x)
    assert not startup.global_block().ops


class Net(dygraph.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = dygraph.Linear(4, 6, param_attr=weight(4, 6))
        self.norm = dygraph.BatchNorm(6)
        self.out = dygraph.Linear(6, 1, param_attr=weight(6, 1))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        y = self.norm(self.hidden(x))
        for _ in range(2):
            y = layers.tanh(y)
        if layers.mean(y) > 0:
            y = y * 2.0
        y = self.out(y)
        return y, layers.mean(layers.square(y - 1.0))


class TranslatedNet(Net):
    @dygraph.declarative
    def forward(self, x):
        return Net.forward(self, x)


def weight(*shape):
    start = np.random.default_rng(0).normal(size=shape).astype("float32")
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(start))


def trained(kind):
    x = np.random.default_rng(1).normal(size=[8, 4]).astype("float32")
    losses = []
    with dygraph.guard():
        net = kind()
        sgd = fluid.optimizer.SGD(0.05, parameter_list=net.parameters())
        for step in range(6):
            _, loss = net(dygraph.to_variable(x * (1 + step % 2)))
            loss.backward()
            sgd.minimize(loss)
            net.clear_gradients()
            losses.append(float(loss.numpy()))
        net.eval()
        losses.append(float(net(dygraph.to_variable(x))[1].numpy()))
        return losses, net


def test_a_translated_layer_trains_as_one_that_runs_at_once():
    losses, net = trained(Net)
    found, translated = trained(TranslatedNet)
    assert_allclose(found, losses, rtol=1e-5)
    assert_allclose(translated.norm._mean.numpy(), net.norm._mean.numpy(), rtol=1e-4)
    assert (net.calls, translated.calls) == (7, 2)  # built for training and for testing


def test_a_translated_layer_is_saved_for_inference(tmp_path):
    x = POINTS[:, :2].repeat(2, axis=1)
    with dygraph.guard():
        net = TranslatedNet()
        net.eval()
        y, _ = net(dygraph.to_variable(x))
        dygraph.ProgramTranslator().save_inference_model(str(tmp_path), [0], [0])
    exe = fluid.Executor()
    program, feeds, fetches = fluid.io.load_inference_model(str(tmp_path), exe)
    (found,) = exe.run(program, {feeds[0]: x}, fetches)
    assert_allclose(found, y.numpy(), rtol=1e-5)


def test_tensors_that_a_function_reads_from_around_get_gradients():
    with dygraph.guard():
        scale = dygraph.to_variable(np.array([2.0, 3.0, 4.0], "float32"))
        scale.stop_gradient = False

        @dygraph.declarative
        def scaled(x):
            return x * scale

        layers.reduce_sum(scaled(dygraph.to_variable(POINTS))).backward()
        assert_allclose(scale.gradient(), POINTS.sum(0))
        scale.set_value(np.ones([3], "float32"))
        assert_allclose(scaled(dygraph.to_variable(POINTS)).numpy(), POINTS)


def test_without_gradients_nothing_is_remembered():
    with dygraph.guard(), dygraph.no_grad():
        assert TranslatedNet()(dygraph.to_variable(POINTS[:, [0, 1, 2, 0]]))[1].stop_gradient


def test_what_a_function_gives_keeps_its_structure():
    @dygraph.declarative
    def f(x, k):
        rows = []
        for row in x:
            rows.append(row * k)
        return {"rows": rows, "k": (k, x)}

    with dygraph.guard():
        found = f(dygraph.to_variable(POINTS), k=2)
    assert found["k"][0] == 2
    assert_allclose([row.numpy() for row in found["rows"]], POINTS * 2)


def test_random_operators_draw_anew_and_gradients_see_what_was_drawn():
    @dygraph.declarative
    def dropped(x):
        return layers.dropout(x, 0.5)

    with dygraph.guard():
        fluid.default_main_program().random_seed = 3
        x = dygraph.to_variable(np.ones([200], "float32"))
        x.stop_gradient = False
        first, second = dropped(x), dropped(x)
        layers.reduce_sum(first).backward()
        assert (first.numpy() != second.numpy()).any()
        assert_allclose(x.gradient() != 0, first.numpy() != 0)


def test_print_and_assert_are_operators(capfd):
    @dygraph.declarative
    def f(x):
        print("the mean is", layers.mean(x))
        assert layers.mean(x) > 0, "must be positive"
        return x

    with dygraph.guard():
        f(dygraph.to_variable(POINTS))
        f(dygraph.to_variable(POINTS))
        with pytest.raises(fluid.errors.OpError, match=r"test_translate\.py"):
            f(dygraph.to_variable(-POINTS))
    assert capfd.readouterr()[0].count("the mean is") == 3


def raises_in_a_branch(x):
    if layers.mean(x) > 0:
        raise ValueError("no")
    return x


def leaves_a_try(x):
    try:
        if layers.mean(x) > 0:
            return x
    finally:
        pass
    return x + 1


def gives_none_in_one_branch(x):
    found = None
    if layers.mean(x) > 0:
        found = x
    return found


def carries_a_text(x):
    text = ""
    while layers.mean(x) < 3:
        x = x + 1
        text = text + "."
    return x, text


@pytest.mark.parametrize(
    "function, line, said",
    [
        (raises_in_a_branch, 2, "use assert"),
        (leaves_a_try, 2, "return it behind"),
        (gives_none_in_one_branch, 2, "'found' has"),
        (carries_a_text, 4, "'text' is"),
    ],
)
def test_what_cannot_be_translated_says_its_line_and_why(function, line, said):
    with dygraph.guard(), pytest.raises(TranslationError, match=said) as caught:
        dygraph.declarative(function)(dygraph.to_variable(POINTS))
    first = function.__code__.co_firstlineno
    place = str(caught.value).rpartition(":")
    assert place[0].endswith("test_translate.py")
    assert abs(int(place[2]) - first - line) <= 1


def test_a_name_of_one_branch_only_is_an_error_where_it_is_read():
    def f(x):
        if layers.mean(x) > 0:
            y = x + 1
        return y

    with dygraph.guard(), pytest.raises(UnboundLocalError, match="'y', which gets a value in one"):
        dygraph.declarative(f)(dygraph.to_variable(POINTS))


def test_an_error_within_translated_code_shows_the_users_line():
    def f(x):
        if layers.mean(x) > 0:
            x = layers.matmul(x, x)
        return x

    with dygraph.guard(), pytest.raises(fluid.errors.ShapeError) as caught:
        dygraph.declarative(f)(dygraph.to_variable(POINTS))
    lines = [
        frame.lineno for frame in traceback.extract_tb(caught.tb) if "test_tr" in frame.filename
    ]
    assert f.__code__.co_firstlineno + 2 in lines


def test_a_function_without_source_is_called_as_it_is_with_a_warning():
    names = {}
    exec("def f(x):\n    return x + 1", names)
    with dygraph.guard():
        x = dygraph.to_variable(POINTS)
        with pytest.warns(UserWarning, match="the source of f cannot be read"):
            assert_allclose(dygraph.declarative(names["f"])(x).numpy(), POINTS + 1)


def test_translation_can_be_switched_off():
    calls = []

    @dygraph.declarative
    def f(x):
        calls.append(1)
        return x + 1

    translator = dygraph.ProgramTranslator.get_instance()
    assert translator is dygraph.ProgramTranslator()
    with dygraph.guard():
        x = dygraph.to_variable(POINTS)
        f(x), f(x)
        assert len(calls) == 1
        translator.enable(False)
        try:
            f(x), f(x)
            assert translator.get_func(returns_sometimes) is returns_sometimes
        finally:
            translator.enable(True)
    assert len(calls) == 3


def test_a_translated_function_appends_to_a_program_of_the_users():
    x = fluid.data("x", [2, 3], "float32")
    out = dygraph.ProgramTranslator().get_func(returns_sometimes)(x)
    (found,) = fluid.Executor().run(feed={"x": -POINTS}, fetch_list=[out])
    assert_allclose(found, -POINTS)


def test_the_code_of_a_translated_function_can_be_read():
    code = dygraph.ProgramTranslator().get_code(returns_sometimes)
    compile(code, "code", "exec")
    assert "_translated.choose(" in code


def test_arrays_are_taken_outside_of_a_guard():
    found = dygraph.declarative(nests_branches)(POINTS)
    assert_allclose(found.numpy(), POINTS * 3)


def test_second_gradients_of_a_program_are_refused():
    with dygraph.guard():
        x = dygraph.to_variable(POINTS)
        x.stop_gradient = False
        out = dygraph.declarative(nests_branches)(x)
        with pytest.raises(fluid.errors.ArgumentError, match="enable"):
            dygraph.grad(out, x, create_graph=True)


@pytest.mark.parametrize("method", ["get_output", "get_func", "get_program", "get_code"])
def test_what_cannot_be_called_is_refused(method):
    with pytest.raises(AssertionError, match="expected a function"):
        getattr(dygraph.ProgramTranslator(), method)(3)


def test_only_functions_can_be_declared():
    with pytest.raises(TypeError, match="expected a function"):
        dygraph.declarative(3)


def test_a_convolution_over_trees_has_a_bias_where_one_is_asked_for():
    with dygraph.guard():
        nodes = dygraph.to_variable(np.ones([1, 4, 2], "float32"))
        edges = dygraph.to_variable(np.array([[[1, 2], [1, 3]]], "int32"))
        one = dygraph.TreeConv(2, 3, act=None, param_attr=weight(2, 3, 3, 1))
        start = fluid.initializer.Constant(0.5)
        two = dygraph.TreeConv(2, 3, act=None, param_attr=weight(2, 3, 3, 1), bias_attr=start)
        assert [p.shape for p in two.parameters()] == [[1], [2, 3, 3, 1]]
        assert_allclose(two(nodes, edges).numpy(), one(nodes, edges).numpy() + 0.5, rtol=1e-6)


def test_a_loop_that_reads_an_array_adds_nothing_of_a_later_value_to_its_gradient():
    x = fluid.data("x", [3], "float32")
    x.stop_gradient = False
    array = layers.array_write(x * 3.0, number(0))
    layers.array_write(x * 5.0, number(1), array)
    other, i, limit = layers.create_array("float32"), number(1), number(2)
    condition = layers.less_than(i, limit)
    with layers.While(condition).block():
        layers.array_write(layers.array_read(array, i), layers.array_length(other), other)
        layers.increment(i)
        layers.less_than(i, limit, cond=condition)
    layers.assign(other, array)
    (slope,) = fluid.gradients(layers.reduce_sum(layers.array_read(array, number(0))), x)
    (found,) = fluid.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[slope])
    assert found.tolist() == [5, 5, 5]


def test_an_array_has_no_elements_before_it_is_written():
    length = layers.array_length(layers.create_array("float32"))
    assert fluid.Executor().run(fetch_list=[length])[0].tolist() == [0]


class Branching(fluid.nn.Layer):
    """A layer of paddle 2's kind whose forward pass depends on values."""

    def __init__(self):
        super().__init__()
        self.linear = fluid.nn.Linear(4, 3)
        self.norm = fluid.nn.LayerNorm(3)

    def forward(self, x):
        y = self.linear(x)
        if fluid.mean(y) > 0:
            y = y * 2
        return self.norm(y)


def test_layers_of_paddle_2_are_translated():
    assert dygraph.to_static is dygraph.declarative
    net = Branching()
    x = fluid.to_tensor(np.random.default_rng(0).normal(size=(5, 4)).astype("float32"))
    plain = net(x)
    plain.sum().backward()
    expected = [p.grad.numpy() for p in net.parameters()]
    net.clear_gradients()
    translated = dygraph.to_static(net.forward)(x)
    np.testing.assert_allclose(translated.numpy(), plain.numpy(), rtol=1e-5, atol=1e-6)
    translated.sum().backward()
    for parameter, gradient in zip(net.parameters(), expected, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), gradient, rtol=1e-4, atol=1e-5)


def test_an_array_is_put_into_the_program_that_is_built():
    class Net(fluid.dygraph.Layer):
        def __init__(self):
            super().__init__()
            self.inner = fluid.dygraph.Linear(2, 3)

        @fluid.dygraph.dygraph_to_static_func
        def forward(self, x):
            x = fluid.dygraph.to_variable(x)
            if fluid.layers.mean(x) > 5:
                x = x - 1.0
            return self.inner(x)

    @fluid.dygraph.dygraph_to_static_func
    def same(x):
        return fluid.dygraph.to_variable(x)

    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        out = Net()(np.ones([1, 2], "float32"))
        again = same(out)
    exe = fluid.Executor()
    exe.run(startup)
    found, copied = exe.run(main, fetch_list=[out, again])
    assert found.shape == (1, 3) and (found == copied).all()
