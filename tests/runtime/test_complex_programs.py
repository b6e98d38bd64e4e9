"""Programs with complex variables: what they compute in every way, and where they go."""

import importlib.util

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import DTypeError, FeedError, UnsupportedError

rng = np.random.default_rng(3)
Z = (rng.normal(size=[2, 3]) + 1j * rng.normal(size=[2, 3])).astype("complex64")
R = rng.normal(size=[2, 3]).astype("float32")


def loss_of(z, r, layers=fluid.layers):
    """The sum of |exp((z r + i r - z / 2 + 2 z) z^T / 10)|, of variables."""
    h = z * r + 1j * r - z / 2.0 + 2 * z
    return layers.reduce_sum(layers.abs(layers.exp(layers.matmul(h, z, transpose_y=True) * 0.1)))


def loss_of_arrays(z, r):
    return np.abs(np.exp(0.1 * ((z * r + 1j * r - z / 2 + 2 * z) @ z.T))).sum()


def slope_of_arrays():
    """dL/dRe + i dL/dIm, and dL/dr, by differences."""
    z, r, step = Z.astype("complex128"), R.astype("float64"), 1e-6
    by_z, by_r = np.zeros_like(z), np.zeros_like(r)
    for place in np.ndindex(z.shape):
        at = np.zeros(z.shape)
        at[place] = step

        def slope(dz, dr):
            return (loss_of_arrays(z + dz, r + dr) - loss_of_arrays(z - dz, r - dr)) / (2 * step)

        by_z[place] = slope(at, 0) + 1j * slope(1j * at, 0)
        by_r[place] = slope(0, at)
    return by_z, by_r


@pytest.fixture(scope="module")
def built():
    """A program with its gradients, and what is fetched."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        z = fluid.data("z", [-1, 3], "complex64")
        r = fluid.data("r", [-1, 3], "float32")
        z.stop_gradient = r.stop_gradient = False
        loss = loss_of(z, r)
        slopes = fluid.gradients(loss, [z, r])
    return main, [loss.name, *(v.name for v in slopes)]


def test_every_tier_and_backend_gives_the_gradients_of_differences(built):
    main, names = built
    backends = ["numpy", *(["jax"] if importlib.util.find_spec("jax") else [])]
    by_z, by_r = slope_of_arrays()
    for backend in backends:
        exe = fluid.Executor(backend=backend)
        for _ in range(4):  # interpreted, compiled, bound
            loss, dz, dr = exe.run(main, feed={"z": Z, "r": R}, fetch_list=names)
            assert (loss.dtype, dz.dtype, dr.dtype) == ("float32", "complex64", "float32")
            np.testing.assert_allclose(loss, [loss_of_arrays(Z, R)], rtol=1e-5)
            np.testing.assert_allclose(dz, by_z, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(dr, by_r, rtol=1e-3, atol=1e-3)


def test_text_and_bytes_have_the_complex_variables(built):
    main, names = built
    assert main.global_block().var("z").desc.dtype() == 23
    copies = [
        fluid.Program.parse(str(main)),
        fluid.Program.parse_from_string(main.desc.serialize_to_string()),
    ]
    for copy in copies:
        assert copy.global_block().var("z").dtype == fluid.complex64
        (found,) = fluid.Executor().run(copy, feed={"z": Z, "r": R}, fetch_list=names[:1])
        np.testing.assert_allclose(found, [loss_of_arrays(Z, R)], rtol=1e-5)


def test_feeds_of_another_type_are_refused(built):
    main, names = built
    with pytest.raises(FeedError, match="declared complex64 and was fed float32"):
        fluid.Executor().run(main, feed={"z": R, "r": R}, fetch_list=names[:1])


def test_files_keep_complex_parameters(tmp_path):
    main, startup, exe = fluid.Program(), fluid.Program(), fluid.Executor()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [-1, 3], "complex64")
        constant = fluid.initializer.Constant(1.5)
        w = fluid.layers.create_parameter([3, 2], "complex64", default_initializer=constant)
        y = fluid.layers.matmul(x, w) + fluid.layers.fill_constant([1], "complex64", 1 + 2j)
    exe.run(startup)
    tensor = fluid.global_scope().find_var(w.name).get_tensor()
    value = (rng.normal(size=[3, 2]) + 1j).astype("complex64")
    tensor.set(value, fluid.CPUPlace())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], exe, main)
    tensor.set(np.zeros_like(value), fluid.CPUPlace())
    loaded, _, fetched = fluid.io.load_inference_model(str(tmp_path), exe)
    (found,) = exe.run(loaded, feed={"x": Z}, fetch_list=fetched)
    np.testing.assert_allclose(found, Z @ value + 1 + 2j, rtol=1e-5)


def test_loops_carry_complex_numbers_and_their_gradients():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        a = fluid.data("a", [3], "complex64")
        a.stop_gradient = False
        count, end = (fluid.layers.fill_constant([1], "int64", n) for n in (0, 3))
        _, power = fluid.layers.while_loop(
            lambda i, power: fluid.layers.less_than(i, end),
            lambda i, power: [i + 1, power * a],
            [count, fluid.layers.assign(a)],
        )
        (slope,) = fluid.gradients(fluid.layers.reduce_sum(fluid.layers.abs(power)), a)
    found = fluid.Executor().run(main, feed={"a": Z[0]}, fetch_list=[power, slope])
    np.testing.assert_allclose(found[0], Z[0] ** 4, rtol=1e-4)
    np.testing.assert_allclose(found[1], 4 * abs(Z[0]) ** 2 * Z[0], rtol=1e-4)


def test_tangents_and_batches_of_complex_numbers():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        a = fluid.data("a", [3], "complex64")
        a.stop_gradient = False
        y = fluid.layers.exp(a * (1 + 2j))
        size = fluid.layers.abs(y)
        (slope,) = fluid.gradients(size, a)
    program, (tangent,), changes = transform.jvp(main, [y, size], [a])
    feed = {"a": Z[0], tangent.name: Z[1]}
    change, of_size = fluid.Executor().run(program, feed=feed, fetch_list=list(changes))
    right = np.exp(Z[0] * (1 + 2j))
    moved = right * (1 + 2j) * Z[1]
    np.testing.assert_allclose(change, moved, rtol=1e-4)
    np.testing.assert_allclose(of_size, (right.conj() * moved).real / abs(right), rtol=1e-3)

    batch, *_, outputs = transform.vmap(main, ["a"], [slope])
    (found,) = fluid.Executor().run(batch, feed={"a": Z}, fetch_list=list(outputs))
    for row, each in zip(found, Z):
        (alone,) = fluid.Executor().run(main, feed={"a": each}, fetch_list=[slope])
        np.testing.assert_allclose(row, alone, rtol=1e-4)


def test_source_for_numpy_computes_complex_numbers(built, tmp_path):
    main, names = built
    path = tmp_path / "net.py"
    fluid.export.numpy_source(main, path, fetches=names, updates=True)
    spec = importlib.util.spec_from_file_location("net", path)
    net = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(net)
    found = net.predict(net.load(), z=Z, r=R)
    np.testing.assert_allclose(found[names[0]], [loss_of_arrays(Z, R)], rtol=1e-5)
    np.testing.assert_allclose(found[names[1]], slope_of_arrays()[0], rtol=1e-3, atol=1e-3)


def test_complex_numbers_have_no_form_in_onnx(built, tmp_path):
    pytest.importorskip("onnx")
    main, names = built
    with pytest.raises(UnsupportedError, match="complex64 has no form in ONNX"):
        fluid.onnx.export(main, tmp_path / "net.onnx", fetches=names[:1])


def test_what_has_no_complex_numbers_refuses_them_by_name(built):
    main, _ = built
    with pytest.raises(UnsupportedError, match="certificates are of real numbers, and '"):
        transform.certify(main)
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        z = fluid.data("z", [2], "complex64")
        with pytest.raises(DTypeError, match="less_than takes no complex ones"):
            fluid.layers.less_than(z, z)
        with pytest.raises(DTypeError, match="expected a real ScaleTensor"):
            fluid.layers.scale(fluid.data("r", [2], "float32"), z[:1])
