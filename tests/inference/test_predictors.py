"""Predictors of paddle 2 and of fluid 1.8: models that the real ones wrote, and their results."""

import inspect
import threading
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import core, errors, paddle
from fluidlite.kernels.threads import BlasThreads
from fluidlite.paddle import inference

DATA = Path(__file__).resolve().parents[1] / "data" / "served"
ROWS = np.arange(6, dtype="float32").reshape(2, 3)
#: what paddle 2.6.2 computes with dense.pdmodel where both inputs are ROWS
DENSE = np.array([[-2.3310359, -4.3556013], [-1.184025, -8.076201]], "float32")
#: what paddle 1.8.5 computes with sequences.model
LINEAR = np.array([[-2.7837367, 2.3079872], [-7.564118, 1.8681839]], "float32")
POOLED = np.array([[[0.7614963, 0.40336347, 0.12692907]]], "float32")
WORDS = np.array([[1], [2]], "int64")


def dense():
    return inference.Config(str(DATA / "dense.pdmodel"), str(DATA / "dense.pdiparams"))


def sequences():
    return core.AnalysisConfig(str(DATA / "sequences.model"), str(DATA / "sequences.params"))


def fed(predictor, **arrays):
    for name, array in arrays.items():
        predictor.get_input_handle(name).copy_from_cpu(array)
    return predictor


def first_output(predictor):
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


# -- paddle 2 --------------------------------------------------------------------------------------


def test_a_model_of_paddle_2_gives_what_paddle_2_gives():
    predictor = fed(inference.create_predictor(dense()), x=ROWS, z=ROWS)
    assert predictor.get_input_names() == ["x", "z"]
    for _ in range(4):  # interpreted, compiled, bound
        np.testing.assert_allclose(first_output(predictor), DENSE, rtol=1e-6)
    total = predictor.get_output_handle("save_infer_model/scale_1.tmp_0")
    np.testing.assert_allclose(total.copy_to_cpu(), DENSE.sum(), rtol=1e-6)
    assert (total.shape(), total.lod()) == ([], [])


def test_operators_of_paddle_2_are_taken_over():
    """The model flattens, multiplies matrices, takes the largest, tiles, resizes and sums up."""
    recorded = np.load(DATA / "newer.npz")
    config = inference.Config(str(DATA / "newer.pdmodel"), str(DATA / "newer.pdiparams"))
    predictor = fed(inference.create_predictor(config), x=recorded["arr_0"])
    predictor.run()
    for number, name in enumerate(predictor.get_output_names()):
        found, expected = predictor.get_output_handle(name).copy_to_cpu(), recorded[f"o{number}"]
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*does not know the attribute")
def test_dimensions_of_paddle_2_are_taken_over():
    """The model turns y round in one and in two dimensions, and rolls it along both."""
    program = fluid.Program.parse_from_string((DATA / "rolls.pdmodel").read_bytes())
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        loaded, feeds, fetches = fluid.io.load_inference_model(str(DATA / "rolls"), exe)
        y = next(op.input("X")[0] for op in loaded.global_block().ops if op.type == "flip")
        found = exe.run(loaded, {feeds[0]: ROWS}, [y, *fetches])
    rows = found[0]
    rolled = np.roll(np.roll(rows, 1, 0), 2, 1)
    for one, other in zip(found[1:], [rows[::-1], rows[::-1, ::-1], np.roll(rows, 1, 0), rolled]):
        np.testing.assert_array_equal(one, other)
    assert any(op.type == "matmul_v2" for op in program.global_block().ops)


def test_tensors_are_answered_with_tensors():
    predictor = inference.create_predictor(dense())
    outputs = predictor.run([paddle.to_tensor(ROWS), paddle.to_tensor(ROWS)])
    np.testing.assert_allclose(outputs[0].numpy(), DENSE, rtol=1e-6)
    with pytest.raises(ValueError, match="expected a tensor, got ndarray"):
        predictor.run([ROWS, ROWS])
    with pytest.raises(ValueError, match="expected 2 values, for 'x', 'z', got 1"):
        predictor.run([paddle.to_tensor(ROWS)])


def test_a_handle_has_shape_type_and_values():
    predictor = inference.create_predictor(dense())
    handle = predictor.get_input_handle("x")
    assert (handle.shape(), handle.type(), handle.lod()) == ([0], inference.DataType.FLOAT32, [])
    given = ROWS.copy()
    handle.copy_from_cpu(given)
    given[:] = 0
    handle.reshape([3, 2])
    assert handle.shape() == [3, 2] and handle.copy_to_cpu()[2, 1] == 5
    handle.reshape([4, 2])  # for values to come
    with pytest.raises(RuntimeError, match="'x' holds no values"):
        handle.copy_to_cpu()
    handle.copy_from_cpu(ROWS.astype("int16"))
    assert handle.type() == inference.DataType.INT32
    tensor = paddle.to_tensor(ROWS)
    handle.share_external_data(tensor)
    assert np.shares_memory(handle.held(), tensor.array)


def test_what_an_output_gave_stays_when_the_model_runs_again():
    predictor = fed(inference.create_predictor(dense()), x=ROWS, z=ROWS)
    before = [first_output(predictor) for _ in range(3)][-1]
    first_output(fed(predictor, x=ROWS * 0, z=ROWS * 0))
    np.testing.assert_allclose(before, DENSE, rtol=1e-6)


@pytest.mark.parametrize(
    "fault, kind",
    [
        (lambda p: p.get_input_handle("q"), RuntimeError),
        (lambda p: p.get_output_handle("q"), RuntimeError),
        (lambda p: p.get_input_handle("x").copy_from_cpu([[1.0]]), TypeError),
        (lambda p: p.get_input_handle("x").copy_from_cpu(ROWS + 1j), TypeError),
        (lambda p: p.get_input_handle("x").copy_from_cpu(["a"]), errors.UnsupportedError),
        (lambda p: p.get_input_handle("x").share_external_data(ROWS), TypeError),
        (lambda p: p.get_input_handle("x").reshape("a"), TypeError),
        (lambda p: p.get_input_handle("x").set_lod(3), TypeError),
        (lambda p: p.run(), ValueError),
        (lambda p: fed(p, x=ROWS.astype("float64"), z=ROWS).run(), ValueError),
        (lambda p: inference.create_predictor("model"), TypeError),
        (lambda p: inference.create_predictor(inference.Config("none", "none")), RuntimeError),
        (lambda p: inference.create_predictor(inference.Config("none")), RuntimeError),
        (lambda p: inference.create_predictor(inference.Config()), ValueError),
        (lambda p: inference.Config(1), TypeError),
        (lambda p: inference.Config("a", 1), TypeError),
        (lambda p: inference.Config(None, "a"), TypeError),
        (lambda p: inference.Config().set_model_buffer("a", 1, "b", 1), TypeError),
        (lambda p: inference.Config().quantizer_config(), errors.UnsupportedError),
        (lambda p: inference.PredictorPool(dense(), 0), ValueError),
        (lambda p: inference.PredictorPool(dense(), 2).retrive(5), ValueError),
        (lambda p: inference.get_num_bytes_of_data_type("float32"), TypeError),
        (lambda p: inference.convert_to_mixed_precision(*"abcd", None, None), ValueError),
    ],
)
def test_an_error_has_the_class_of_paddle_2(fault, kind):
    with pytest.raises(kind) as error:
        fault(inference.create_predictor(dense()))
    assert isinstance(error.value, fluid.FluidError)


def test_a_shape_that_does_not_fit_is_named():
    predictor = fed(inference.create_predictor(dense()), x=np.ones([2, 4], "float32"), z=ROWS)
    with (
        pytest.warns(errors.FluidWarning, match="declared"),
        pytest.raises(ValueError, match="cannot broadcast"),
    ):
        predictor.run()
    np.testing.assert_allclose(first_output(fed(predictor, x=ROWS)), DENSE, rtol=1e-6)


def test_clones_run_in_threads_of_their_own():
    first = inference.create_predictor(dense())
    pool = inference.PredictorPool(dense(), 2)
    predictors = [first, first.clone(), pool.retrive(0), pool.retrive(1)]
    wrong = []

    def work(number, predictor):
        for count in range(40):
            rows = ROWS[: 1 + count % 2] * (number + 1) + count
            got = first_output(fed(predictor, x=rows, z=rows))
            if not np.allclose(got, expected[number, count], rtol=1e-5):
                wrong.append((number, count))

    alone = first.clone()
    expected = {
        (n, c): first_output(fed(alone, x=rows, z=rows))
        for n in range(4)
        for c in range(40)
        for rows in [ROWS[: 1 + c % 2] * (n + 1) + c]
    }
    threads = [threading.Thread(target=work, args=each) for each in enumerate(predictors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_model_is_given_as_bytes_or_as_files_of_two_folders(tmp_path):
    program, parameters = ((DATA / f"dense.{end}").read_bytes() for end in ("pdmodel", "pdiparams"))
    config = inference.Config()
    config.set_model_buffer(program, len(program), parameters, len(parameters))
    assert config.model_from_memory() and config.prog_file() == program
    (tmp_path / "weights").write_bytes(parameters)
    apart = inference.Config(str(DATA / "dense.pdmodel"), str(tmp_path / "weights"))
    for each in (config, apart, inference.Config(apart)):
        predictor = fed(inference.create_predictor(each), x=ROWS, z=ROWS)
        np.testing.assert_allclose(first_output(predictor), DENSE, rtol=1e-6)


def test_hooks_see_what_operators_compute():
    predictor = fed(inference.create_predictor(dense()), x=ROWS, z=ROWS)
    seen = {}
    predictor.register_output_hook(lambda op, name, value: seen.update({op: value.numpy()}))
    predictor.run()
    assert {"mul", "reduce_sum"} <= set(seen)
    np.testing.assert_allclose(seen["elementwise_add"], DENSE, rtol=1e-6)
    np.testing.assert_allclose(first_output(predictor), DENSE, rtol=1e-6)


def test_switches_are_accepted_and_questions_are_answered():
    config = dense()
    config.enable_use_gpu(100, 0)
    config.enable_tensorrt_engine(1 << 20, 1, 3, inference.PrecisionType.Half)
    config.enable_xpu()
    assert not (config.use_gpu() or config.tensorrt_engine_enabled() or config.use_xpu())
    assert config.mkldnn_enabled() and config.ir_optim() and not config.glog_info_disabled()
    config.disable_mkldnn()
    config.switch_ir_optim(False)
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(4)
    assert not (config.mkldnn_enabled() or config.ir_optim()) and config.glog_info_disabled()
    assert config.cpu_math_library_num_threads() == 4
    assert "| ir_optim" in config.summary()
    assert inference.Config(config).cpu_math_library_num_threads() == 4
    assert dense().cpu_math_library_num_threads() == 1
    with pytest.raises(TypeError):
        config.enable_use_gpu()
    assert list(inspect.signature(config.enable_use_gpu).parameters) == [
        "memory_pool_init_size_mb", "device_id", "precision_mode",
    ]  # fmt: skip


def test_types_and_versions_are_those_of_paddle_2():
    sizes = {t.name: inference.get_num_bytes_of_data_type(t) for t in inference.DataType}
    assert {n for n, size in sizes.items() if size == -1} == {"FLOAT64", "FLOAT16", "INT8", "BOOL"}
    assert (sizes["FLOAT32"], sizes["INT64"], sizes["UINT8"]) == (4, 8, 1)
    assert str(inference.DataType.FLOAT16) == "PaddleDType.FLOAT16"
    assert f"{inference.PlaceType.CPU}" == "PaddlePlace.CPU"
    assert [int(each) for each in inference.PrecisionType] == [0, 1, 2, 3]
    assert inference.get_version().startswith("version: 2.6.2\n")
    assert inference.get_trt_runtime_version() == (0, 0, 0)


# -- fluid 1.8 -------------------------------------------------------------------------------------


def tensors(rows=ROWS):
    return [
        core.PaddleTensor(rows, "x"),
        core.PaddleTensor(rows, "z", [[0, 1, 2]]),
        core.PaddleTensor(WORDS, "i", [[0, 2]]),
    ]


def check_sequences(results):
    linear, pooled, softmax = results
    assert linear.name == "save_infer_model/scale_0.tmp_0" and linear.shape == [2, 2]
    np.testing.assert_allclose(linear.as_ndarray(), LINEAR, rtol=1e-6)
    np.testing.assert_allclose(pooled.as_ndarray(), POOLED, rtol=1e-6)
    np.testing.assert_allclose(softmax.as_ndarray(), [[1], [1]], rtol=1e-6)
    assert (softmax.lod, softmax.dtype) == ([[0, 1, 2]], core.PaddleDType.FLOAT32)


def test_a_model_of_fluid_gives_what_fluid_gives():
    predictor = core.create_paddle_predictor(sequences())
    assert predictor.get_input_tensor_shape() == {"x": [-1, 3], "z": [-1, 3], "i": [-1, 1]}
    check_sequences(predictor.run(tensors()))
    check_sequences(predictor.clone().run(tensors()))


def test_inputs_are_found_by_name_where_the_configuration_says_so():
    config = sequences()
    config.switch_specify_input_names(True)
    native = core.NativeConfig()
    native.prog_file, native.param_file = config.prog_file(), config.params_file()
    native.specify_input_name = True
    for each in (config, native, config.to_native_config()):
        predictor = core.create_paddle_predictor(each)
        check_sequences(predictor.run(tensors()[::-1]))
        with pytest.raises(core.EnforceNotMet, match="no input or output 'y'"):
            predictor.run([core.PaddleTensor(ROWS, "y"), *tensors()[1:]])
        with pytest.raises(core.EnforceNotMet, match="an input of the name 'x'"):
            predictor.run([*tensors()[1:], tensors()[1]])


def test_products_of_sequences_get_the_threads_that_the_configuration_says(monkeypatch):
    native, more = sequences().to_native_config(), sequences()
    more.set_cpu_math_library_num_threads(4)
    native.set_cpu_math_library_num_threads(2)
    counts = []
    within = BlasThreads.within
    monkeypatch.setattr(
        BlasThreads, "within", lambda *words: counts.append(words[1]) or within(*words)
    )
    for each in (sequences(), more, native, more.to_native_config()):
        check_sequences(core.create_paddle_predictor(each).run(tensors()))
    assert counts == [1, 4, 2, 4]


def test_a_list_of_whole_numbers_is_int64_where_the_tensor_says_so():
    tensor = core.PaddleTensor()
    tensor.data, tensor.shape = core.PaddleBuf([1, 2**40]), [2, 1]
    tensor.dtype = core.PaddleDType.INT64
    assert tensor.as_ndarray().tolist() == [[1], [2**40]]
    assert tensor.data.float_data()[0] == 1.0
    tensor.data.reset([0.5, 1.0, 2.0, 3.0])
    tensor.dtype = core.PaddleDType.FLOAT32
    assert tensor.as_ndarray().tolist() == [[0.5], [1.0]]


def test_a_tensor_without_rows_goes_in_and_comes_out(tmp_path):
    exe = fluid.Executor()
    rows = fluid.data("rows", [None, 3], "float32")
    out = fluid.layers.fc(rows, 2)
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["rows"], [out], exe)
    predictor = core.create_paddle_predictor(core.AnalysisConfig(str(tmp_path)))
    empty = core.PaddleTensor(np.zeros([0, 3], "float32"), "rows")
    assert empty.as_ndarray().shape == (0, 3)
    (found,) = predictor.run([empty])
    assert found.as_ndarray().shape == (0, 2)


def test_an_analysis_config_has_the_precisions_as_the_real_one_does():
    config = core.AnalysisConfig
    for name in ("Float32", "Int8", "Half"):
        assert getattr(config, name) is getattr(config.Precision, name)


def test_inputs_and_outputs_go_without_copies_of_tensors():
    config = sequences()
    config.switch_use_feed_fetch_ops(False)
    predictor = core.create_paddle_predictor(config)
    for tensor in tensors():
        handle = predictor.get_input_tensor(tensor.name)
        handle.copy_from_cpu(tensor.as_ndarray())
        handle.set_lod(tensor.lod)
    assert predictor.zero_copy_run()
    first, pooled, softmax = map(predictor.get_output_tensor, predictor.get_output_names())
    np.testing.assert_allclose(first.copy_to_cpu(), LINEAR, rtol=1e-6)
    np.testing.assert_allclose(pooled.copy_to_cpu(), POOLED, rtol=1e-6)
    assert softmax.lod() == [[0, 1, 2]] and softmax.type() == core.PaddleDType.FLOAT32
    with pytest.raises(core.EnforceNotMet, match="holds no values"):
        predictor.clone().zero_copy_run()


@pytest.mark.parametrize(
    "fault",
    [
        lambda: core.create_paddle_predictor("model"),
        lambda: core.create_paddle_predictor(core.AnalysisConfig()),
        lambda: core.create_paddle_predictor(core.AnalysisConfig("nowhere")),
        lambda: core.create_paddle_predictor(sequences()).run([ROWS, ROWS, WORDS]),
        lambda: core.create_paddle_predictor(sequences()).run(tensors()[:2]),
        lambda: core.create_paddle_predictor(sequences()).get_input_tensor("q"),
        lambda: core.create_paddle_predictor(sequences()).get_input_tensor("x").type(),
        lambda: core.PaddleTensor().as_ndarray(),
        lambda: core.PaddleBuf("a"),
        lambda: core.PaddleBuf(8).tolist("float64"),
    ],
)
def test_an_error_of_a_predictor_is_one_of_fluid(fault):
    with pytest.raises(core.EnforceNotMet):
        fault()


def test_a_buffer_holds_bytes():
    buffer = core.PaddleBuf(8)
    buffer.resize(16)
    buffer.reset([3.0, 4.0])
    assert (buffer.length(), buffer.float_data()) == (16, [3, 4, 0, 0])
    buffer.reset(np.array([1, 2, 3]))
    assert (buffer.length(), buffer.int64_data()) == (24, [1, 2, 3])
    assert core.PaddleBuf([1.0]).int32_data() == [1065353216]
    assert core.PaddleBuf(0).empty() and not buffer.empty()


def test_a_tensor_shares_what_it_was_not_to_copy():
    rows = ROWS.copy()
    shared = core.PaddleTensor(rows, "x", [], False)
    rows[0, 0] = 9
    assert shared.as_ndarray()[0, 0] == shared.data.float_data()[0] == 9
    assert core.PaddleTensor(rows.astype("float64")).dtype == core.PaddleDType.INT32


def test_a_tensor_is_written_as_fluid_writes_it():
    tensor = core.PaddleTensor()
    tensor.name, tensor.shape, tensor.lod = "x", [1, 3], [[0, 1]]
    tensor.data, tensor.dtype = core.PaddleBuf([1.0, 2.0, 3.0]), core.PaddleDType.FLOAT32
    assert core.paddle_tensor_to_bytes(tensor).hex() == (
        "00000000" "0100000000000000" "78" "0100000000000000" "1000000000000000"
        "00000000000000000100000000000000" "0200000000000000" "0100000003000000"
        "00000000" "0c00000000000000" "0000803f0000004000004040"
    )  # fmt: skip
    assert core.paddle_dtype_size(core.PaddleDType.INT64) == 8


def test_a_loaded_model_is_written_again(tmp_path):
    predictor = core.create_paddle_predictor(sequences())
    predictor.SaveOptimModel(str(tmp_path))
    again = core.AnalysisConfig(str(tmp_path / "model"), str(tmp_path / "params"))
    check_sequences(core.create_paddle_predictor(again).run(tensors()))
    assert predictor.program().to_bytes() == predictor.get_serialized_program()
    assert predictor.scope().find_var("fc_0.w_0") is not None


def test_names_of_passes_are_a_list():
    passes = core.PaddlePassBuilder(["a", "b"])
    passes.append_pass("c")
    passes.delete_pass("a")
    passes.insert_pass(0, "z")
    assert passes.all_passes() == ["z", "b", "c"] and "z" in passes.debug_string()
    passes.set_passes([])
    assert passes.all_passes() == passes.analysis_passes() == []
