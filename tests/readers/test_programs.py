"""Readers that are part of a program, which pulls batches itself."""

import gc
import threading
import traceback
import weakref
from pathlib import Path

import numpy as np
import pytest
from interpreters import frees_functions

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedError, NonFiniteError, NotInitializedError
from fluidlite.ground.dtypes import Kind
from fluidlite.ir.program import Program
from fluidlite.ir.verify import verify

DATA = Path(__file__).parents[1] / "data"


def batches(count=3):
    def generator():
        for k in range(count):
            yield np.full([2, 3], k, "float32"), np.full([2, 1], k, "int64")

    return generator


@pytest.fixture
def model():
    """A loader of a program, and what that computes."""
    x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 1], "int64")
    loader = fluid.io.DataLoader.from_generator([x, y], capacity=2, iterable=False)
    loader.set_batch_generator(batches())
    return loader, fluid.layers.reduce_sum(x)


def pass_over(loader, total, program=None):
    """What the runs of a program up to its end compute."""
    exe, found = fluid.Executor(), []
    loader.start()
    try:
        while True:
            found.append(exe.run(program, fetch_list=[total.name])[0].item())
    except fluid.core.EOFException:
        loader.reset()
    return found


def described(program):
    """Operators and variables, as fluid 1.8.5 lists them."""
    block = program.global_block()
    ops = [
        (op.type, *(op.input(slot) for slot in op.input_names), op.output("Out"))
        for op in block.ops
    ]
    kinds = {v.name: v.kind for v in block.vars.values()}
    return ops, [name for name, kind in kinds.items() if kind is Kind.READER]


def test_a_program_pulls_batches_to_their_end_pass_after_pass(model):
    assert pass_over(*model) == pass_over(*model) == [0, 6, 12]


@frees_functions
def test_a_scope_keeps_a_reader_and_neither_its_program_nor_its_loader():
    def read_by_a_program_of_its_own():
        main = fluid.Program()
        with fluid.program_guard(main, fluid.Program()):
            x = fluid.data("x", [None, 3])
            loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
            total = fluid.layers.reduce_sum(x)
        loader.set_batch_generator(lambda: ([np.full([2, 3], k, "float32")] for k in range(3)))
        assert pass_over(loader, total, main) == pass_over(loader, total, main) == [0, 6, 12]
        return weakref.ref(main), weakref.ref(loader)

    program, loader = read_by_a_program_of_its_own()
    gc.collect()
    assert program() is None and loader() is None
    assert fluid.global_scope().local_var_names()


def test_the_end_comes_at_every_run_until_the_reset(model):
    loader, total = model
    exe = fluid.Executor()
    pass_over(loader, total)
    loader.set_batch_generator(batches(1))
    loader.start()
    exe.run(fetch_list=[total])
    for _ in range(3):
        with pytest.raises(fluid.core.EOFException, match="reset"):
            exe.run(fetch_list=[total])


def test_the_end_is_no_error_of_the_engine():
    assert not issubclass(fluid.core.EOFException, fluid.core.EnforceNotMet)


def test_a_pass_may_be_ended_before_its_end(model):
    loader, total = model
    exe = fluid.Executor()
    for _ in range(2):
        loader.start()
        assert exe.run(fetch_list=[total])[0] == 0
        loader.reset()
    loader.reset()


def test_a_loader_makes_the_operators_and_names_of_fluid(model):
    ops, readers = described(fluid.default_main_program())
    assert ops[:3] == [
        ("create_py_reader", ["lod_tensor_blocking_queue_0"], ["create_py_reader_0"]),
        ("create_double_buffer_reader", ["create_py_reader_0"], ["double_buffer_0"]),
        ("read", ["double_buffer_0"], ["x", "y"]),
    ]
    assert readers == ["create_py_reader_0", "double_buffer_0"]
    assert not fluid.default_startup_program().global_block().ops
    made = fluid.default_main_program().global_block().ops[0]
    assert made.attr("shape_concat") == [-1, 3, -1, 1] and made.attr("ranks") == [2, 2]
    assert made.attr("dtypes") == [5, 3] and made.attr("need_check_feed") == [1, 1]
    assert made.attr("lod_levels") == [0, 0]


def test_names_of_loaders_go_on_under_another_name_generator():
    for number, twice in ((0, True), (1, False)):
        with fluid.unique_name.guard(), fluid.program_guard(fluid.Program()):
            x = fluid.data("x", [None, 3])
            fluid.io.PyReader([x], 2, iterable=False, use_double_buffer=twice)
            ops, _ = described(fluid.default_main_program())
            assert ops[0][1:] == (
                [f"lod_tensor_blocking_queue_{number}"],
                [f"create_py_reader_{number}"],
            )
            assert [op[0] for op in ops].count("create_double_buffer_reader") == twice


def test_drop_last_stands_in_the_operator():
    x = fluid.data("x", [None, 3])
    fluid.io.DataLoader.from_generator([x], 2, iterable=False, drop_last=False)
    assert fluid.default_main_program().global_block().ops[-1].attr("drop_last") is False


def test_py_reader_makes_the_operators_and_names_of_fluid():
    reader = fluid.layers.py_reader(4, [[-1, 3], [-1, 1]], ["float32", "int64"], [1, 0], "my")
    x, y = fluid.layers.read_file(reader)
    assert (x.name, x.shape, x.lod_level) == ("read_file_0.tmp_0", (-1, 3), 1)
    assert (y.name, y.shape, y.lod_level) == ("read_file_0.tmp_1", (-1, 1), 0)
    assert described(fluid.default_main_program()) == (
        [
            ("create_double_buffer_reader", ["my_reader"], ["my_double_buffer"]),
            ("read", ["my_double_buffer"], [x.name, y.name]),
        ],
        ["my_reader", "my_double_buffer"],
    )
    startup, readers = described(fluid.default_startup_program())
    assert startup == [("create_py_reader", ["my_queue"], ["my_reader"])]
    assert readers == ["my_reader"]


def test_py_reader_without_a_name_counts():
    fluid.layers.py_reader(4, [[-1, 3]], ["float32"])
    reader = fluid.layers.py_reader(4, [[-1, 3]], ["float32"])
    assert reader.name == "double_buffer_1"
    ops, _ = described(fluid.default_startup_program())
    assert [op[1:] for op in ops] == [
        ([f"lod_tensor_blocking_queue_{k}"], [f"create_py_reader_{k}"]) for k in (0, 1)
    ]


def test_readers_of_the_same_name_under_another_generator_do_not_share_a_queue():
    made = []
    for _ in range(2):
        with fluid.unique_name.guard(), fluid.program_guard(fluid.Program()):
            made.append(fluid.layers.py_reader(4, [[-1, 3]], ["float32"]))
    ops, _ = described(fluid.default_startup_program())
    assert len({op[1][0] for op in ops}) == len(ops) == 2


def test_a_py_reader_reads_lists_of_samples_and_batches():
    reader = fluid.layers.py_reader(4, [[-1, 3], [-1, 1]], ["float32", "int64"])
    x, y = fluid.layers.read_file(reader)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for decorate in (reader.decorate_paddle_reader, reader.decorate_sample_list_generator):
        decorate(lambda: iter([[([1, 2, 3], [4])]]))
        reader.start()
        assert exe.run(fetch_list=[x, y])[1].tolist() == [[4]]
        reader.reset()
    for decorate in (reader.decorate_tensor_provider, reader.decorate_batch_generator):
        decorate(batches(1))
        reader.start()
        assert exe.run(fetch_list=[x])[0].shape == (2, 3)
        with pytest.raises(fluid.core.EOFException):
            exe.run(fetch_list=[x])
        reader.reset()


def test_a_reader_by_data_has_the_variables_of_a_list():
    x = fluid.data("x", [None, 3])
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    reader = fluid.layers.create_py_reader_by_data(4, [x, words], "my", use_double_buffer=False)
    found = fluid.layers.read_file(reader)
    assert [(v.shape, v.lod_level) for v in found] == [((-1, 3), 0), ((-1, 1), 1)]
    made = fluid.default_startup_program().global_block().ops[0]
    assert made.attr("need_check_feed") == [1, 0] and reader.name == "my_reader"
    reader.decorate_paddle_reader(lambda: iter([[([1, 2, 3], [7, 8]), ([4, 5, 6], [9])]]))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    reader.start()
    (read,) = exe.run(fetch_list=[found[1]], return_numpy=False)
    assert read.lod() == [[0, 2, 3]] and np.array(read).tolist() == [[7], [8], [9]]


def test_a_double_buffer_can_be_put_behind_a_reader():
    reader = fluid.layers.py_reader(4, [[-1, 3]], ["float32"], use_double_buffer=False)
    twice = fluid.layers.double_buffer(reader, fluid.CPUPlace())
    x = fluid.layers.read_file(twice)
    reader.decorate_batch_generator(lambda: iter([np.ones([1, 3], "float32")]))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    reader.start()
    assert twice.name == "double_buffer_0" and exe.run(fetch_list=[x])[0].sum() == 3


def test_programs_that_are_copied_read_from_the_same_queue(model):
    loader, total = model
    main = fluid.default_main_program()
    for copy in (
        main.clone(),
        main.clone(for_test=True),
        Program.parse_from_string(main.to_bytes()),
    ):
        assert described(copy) == described(main)
        verify(copy)
        assert pass_over(loader, total, copy) == [0, 6, 12]


@pytest.mark.parametrize("name", ["py_reader", "data_loader"])
def test_programs_of_fluid_with_readers_are_written_as_they_were_read(name):
    data = (DATA / f"{name}.program").read_bytes()
    program = Program.parse_from_string(data)
    assert program.to_bytes() == data
    readers = [v for v in program.list_vars() if v.kind is Kind.READER]
    assert [s.shape for s in readers[0].elements] == [(-1, 3), (-1, 1)]
    block = program.global_block()
    del block.vars[readers[0].name]
    again = block.create_var(
        readers[0].name, type=Kind.READER, persistable=True, stop_gradient=True
    )
    again.elements = readers[0].elements
    written = Program.parse_from_string(program.to_bytes()).global_block().var(again.name)
    assert written.elements == readers[0].elements


def test_an_inference_model_has_no_readers(model, tmp_path):
    _, total = model
    exe = fluid.Executor()
    with pytest.warns(UserWarning, match="no variables"):
        fluid.io.save_inference_model(str(tmp_path / "m"), ["x"], [total], exe)
    program, _, fetches = fluid.io.load_inference_model(str(tmp_path / "m"), exe)
    assert not {"read", "create_py_reader"} & {op.type for op in program.global_block().ops}
    assert exe.run(program, {"x": np.ones([1, 3], "float32")}, fetches)[0] == 3


def test_what_is_read_goes_before_what_is_fed(model):
    loader, total = model
    loader.start()
    fed = {"x": np.full([2, 3], 9, "float32")}
    assert fluid.Executor().run(feed=fed, fetch_list=[total])[0] == 0


def test_training_on_a_reader_is_training_on_what_it_gives():
    def losses(reads):
        with fluid.scope_guard(fluid.Scope()), fluid.unique_name.guard():
            main, startup = fluid.Program(), fluid.Program()
            with fluid.program_guard(main, startup):
                x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 1], "int64")
                loader = fluid.io.DataLoader.from_generator([x, y], 2, iterable=not reads)
                loader.set_batch_generator(batches(6))
                loss = fluid.layers.mean(
                    fluid.layers.fc(
                        x,
                        2,
                        param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.5)),
                    )
                )
                fluid.optimizer.SGD(0.1).minimize(loss)
            exe = fluid.Executor()
            exe.run(startup)
            if not reads:
                return [exe.run(main, step, [loss])[0].item() for step in loader()]
            loader.start()
            found = [exe.run(main, fetch_list=[loss])[0].item() for _ in range(6)]
            with pytest.raises(fluid.core.EOFException):
                exe.run(main, fetch_list=[loss])
            return found

    assert losses(reads=True) == losses(reads=False)


def test_each_device_pulls_a_batch(model, monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    loader, total = model
    both = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    loader.start()
    exe = fluid.Executor()
    assert exe.run(both, fetch_list=[total])[0].tolist() == [0, 6]
    with pytest.raises(fluid.core.EOFException):  # one batch is left, for two devices
        exe.run(both, fetch_list=[total])


def test_a_run_that_looks_closer_at_what_is_not_finite_sees_the_same_batch():
    x = fluid.data("x", [None, 1])
    loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
    root = fluid.layers.log(x)
    loader.set_batch_generator(lambda: (np.full([1, 1], k, "float32") for k in (0, 1, 2)))
    loader.start()
    exe = fluid.Executor()
    with pytest.raises(NonFiniteError, match="log"):
        exe.run(fetch_list=[root], check_nan_inf=True)
    assert exe.run(fetch_list=[root], check_nan_inf=True)[0] == 0


def test_a_trace_leaves_the_next_batch_where_it_is(model):
    loader, total = model
    loader.start()
    exe = fluid.Executor()
    exe.run(fetch_list=[total])
    assert exe.trace()[total] == exe.trace()[total] == exe.run(fetch_list=[total])[0] == 6


def test_the_exception_of_a_generator_reaches_the_run(model):
    def generator():
        raise LookupError("mine")
        yield

    loader, total = model
    loader.set_batch_generator(generator)
    loader.start()
    with pytest.raises(LookupError, match="mine") as caught:
        fluid.Executor().run(fetch_list=[total])
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert 'raise LookupError("mine")' in lines


def test_parameters_stay_when_a_batch_is_refused():
    x = fluid.data("x", [None, 3])
    loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
    counter = fluid.layers.autoincreased_step_counter()
    wrong = np.ones([2, 4], "float32")
    loader.set_batch_generator(lambda: iter([np.ones([2, 3], "float32"), wrong]))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    loader.start()
    assert exe.run(fetch_list=[counter])[0] == 1
    with pytest.raises(FeedError, match=r"'x' is declared with shape \[-1, 3\]"):
        exe.run(fetch_list=[counter])
    loader.reset()
    loader.start()
    assert exe.run(fetch_list=[counter])[0] == 2


@pytest.mark.parametrize(
    "batch, message",
    [
        ([np.ones([2, 4], "float32"), np.ones([2, 1], "int64")], r"gives shape \[2, 4\]"),
        ([np.ones([2, 3]), np.ones([2, 1], "int64")], "declared float32, its reader gives float64"),
        ([np.ones([2, 3], "float32")], r"a batch of 2 values \(x, y\), got 1"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused_by_name(model, batch, message):
    loader, total = model
    loader.set_batch_generator(lambda: iter([batch]))
    loader.start()
    with pytest.raises(FeedError, match=message) as caught:
        fluid.Executor().run(fetch_list=[total])
    assert "test_programs.py" in str(caught.value)


def test_a_run_before_the_start_says_so(model):
    _, total = model
    with pytest.raises(NotInitializedError, match=r"'create_py_reader_0' .*call its start\(\)"):
        fluid.Executor().run(fetch_list=[total])


def test_a_start_without_a_generator_says_so():
    x = fluid.data("x", [None, 3])
    loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
    with pytest.raises(ArgumentError, match="create_py_reader_0 has nothing to read"):
        loader.start()


def test_a_second_start_says_where_the_first_one_was(model):
    loader, total = model
    loader.start()
    with pytest.raises(ArgumentError, match=r"is being read: it was started at .*test_programs"):
        loader.start()
    with pytest.raises(ArgumentError, match="is being read"):
        loader.set_batch_generator(batches())
    exe = fluid.Executor()
    for _ in range(3):
        exe.run(fetch_list=[total])
    with pytest.raises(fluid.core.EOFException):
        exe.run(fetch_list=[total])
    with pytest.raises(ArgumentError, match="has come to its end"):
        loader.start()


def test_a_loader_of_a_program_is_not_looped_over(model):
    with pytest.raises(ArgumentError, match="is not iterable: its program pulls"):
        iter(model[0])


def test_a_program_whose_reader_is_gone_says_so():
    program = Program.parse_from_string((DATA / "data_loader.program").read_bytes())
    with pytest.raises(
        NotInitializedError, match="reader that fills 'lod_tensor_blocking_queue_0'"
    ):
        fluid.Executor().run(program)


def test_a_py_reader_needs_its_startup_program():
    reader = fluid.layers.py_reader(4, [[-1, 3]], ["float32"])
    x = fluid.layers.read_file(reader)
    with pytest.raises(NotInitializedError, match="run the startup program first"):
        fluid.Executor().run(fetch_list=[x])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: fluid.layers.py_reader(0, [[1]], ["float32"]), "capacity"),
        (lambda: fluid.layers.py_reader(2, [[1]], ["float32", "int64"]), "1 shapes, 2 types"),
        (lambda: fluid.layers.create_py_reader_by_data(2, []), "a list of variables"),
        (lambda: fluid.layers.read_file(fluid.data("x", [1])), "expected a reader"),
        (lambda: fluid.layers.double_buffer(fluid.data("x", [1])), "expected a reader"),
        (lambda: fluid.layers.load("x", "file"), "expected a variable to read into"),
        (
            lambda: fluid.layers.py_reader(2, [[1]], ["float32"]).decorate_paddle_reader(3),
            "expected a function without arguments",
        ),
    ],
)
def test_what_makes_readers_says_what_it_was_given_wrongly(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_run_waits_for_a_batch_that_takes_its_time(model):
    loader, total = model
    go = threading.Event()

    def generator():
        go.wait(20)
        yield from batches(1)()

    loader.set_batch_generator(generator)
    loader.start()
    threading.Timer(0.02, go.set).start()
    assert fluid.Executor().run(fetch_list=[total])[0] == 0


def test_variables_are_empty_at_the_end_where_the_operator_says_so(model):
    loader, _ = model
    main = fluid.default_main_program()
    read = main.global_block().ops[2]
    read._set_attr("throw_eof_exp", False)
    loader.set_batch_generator(batches(0))
    loader.start()
    assert fluid.Executor().run(fetch_list=["x"])[0].shape == (0, 3)


def test_a_variable_is_loaded_whenever_the_program_runs(tmp_path):
    weight = fluid.layers.create_tensor("float32", name="weight", persistable=True)
    path = str(tmp_path / "weight")
    fluid.layers.load(weight, path)
    exe = fluid.Executor()
    fluid.global_scope().var("weight").get_tensor().set(np.full([2], 3, "float32"))
    fluid.io.save_vars(exe, str(tmp_path), vars=[weight])
    fluid.global_scope().var("weight").get_tensor().set(np.zeros(2, "float32"))
    exe.run()
    assert np.array(fluid.global_scope().find_var("weight").get_tensor()).tolist() == [3, 3]
