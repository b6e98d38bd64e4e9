"""float16: stored in 16 bits, computed in 32; conversions to the bit."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.kernels.half import SMALLEST, narrowed, widened

RNG = np.random.default_rng(0)
ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def same_bits(found, wanted):
    nan = np.isnan(wanted)
    assert found.dtype == wanted.dtype
    assert np.array_equal(np.isnan(found), nan)
    kind = f"u{found.itemsize}"
    assert np.array_equal(found.view(kind)[~nan], wanted.view(kind)[~nan])


@pytest.mark.parametrize("values", [ALL, ALL[np.isfinite(ALL)]], ids=["all", "finite"])
def test_every_float16_is_widened(values):
    with np.errstate(all="ignore"):
        same_bits(widened(values), values.astype("float32"))


def test_float32_is_rounded_to_the_nearest():
    finite = ALL[np.isfinite(ALL)].astype("float32")
    ties = (finite[1:] + finite[:-1]) / 2
    near = [np.nextafter(ties, np.float32(s)) for s in (-9, 9)]
    bits = RNG.integers(0, 1 << 32, 1 << 20, dtype=np.uint64).astype(np.uint32).view(np.float32)
    small = bits[(np.abs(bits) > 1e-9) & (np.abs(bits) < 1.0)]
    with np.errstate(all="ignore"):
        for values in (finite, ties, *near, bits, small):
            assert values.size >= SMALLEST
            same_bits(narrowed(np.ascontiguousarray(values)), values.astype("float16"))


def test_other_layouts_and_results_that_are_given():
    wide = RNG.normal(size=[120, 90]).astype("float32")
    half, back = np.empty([90, 120], "float16"), np.empty([120, 90], "float32")
    assert narrowed(wide.T, half) is half
    np.testing.assert_array_equal(half, wide.T.astype("float16"))
    assert widened(half.T, back) is back
    np.testing.assert_array_equal(back, wide.astype("float16").astype("float32"))


def run(build, **feed):
    """What a program gives, run by run: operator by operator, and then specialised."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        given = {k: fluid.data(k, list(v.shape), "float16") for k, v in feed.items()}
        for variable in given.values():
            variable.stop_gradient = False
        out = build(*given.values())
        seed = fluid.layers.fill_constant(list(out.shape), "float16", 0.5)
        fetched = [out, *fluid.gradients(out, list(given.values()), [seed])]
    exe = fluid.Executor()
    return [exe.run(main, feed=feed, fetch_list=fetched) for _ in range(4)]


def wide(values):
    return values.astype("float32")


BUILDS = {
    "mul": lambda x, y: fluid.layers.mul(x, y),
    "matmul": lambda x, y: fluid.layers.matmul(x, y),
    "matmul, batched": lambda x, y: fluid.layers.matmul(
        fluid.layers.reshape(x, [2, -1, 3000]), fluid.layers.reshape(y, [1, 3000, -1])
    ),
}


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_products_are_summed_in_32_bits(build):
    x = RNG.normal(size=[4, 3000]).astype("float16")
    y = RNG.normal(size=[3000, 5]).astype("float16")
    runs = run(build, x=x, y=y)
    g = np.full([4, 5], 0.5, "float32")
    wanted = [wide(x) @ wide(y), g @ wide(y).T, wide(x).T @ g]
    for found in runs:
        for value, right in zip(found, wanted, strict=True):
            assert value.dtype == "float16"
            np.testing.assert_allclose(
                wide(value).reshape(right.shape), right, rtol=1e-3, atol=2e-3
            )


def test_sums_do_not_lose_small_numbers():
    x = np.full([8000, 2], 0.5, "float16")
    for found in run(lambda x: fluid.layers.reduce_sum(x, dim=0), x=x):
        assert found[0].tolist() == [4000.0, 4000.0]


def test_convolutions_are_summed_in_32_bits():
    x = np.full([2, 64, 6, 6], 1.0, "float16")
    w = np.full([3, 64, 5, 5], 1.0, "float16")
    w[:, :, 0, 0] += 0.25  # 1616 = 1600 + 64 / 4; sums in float16 stop at 2048 steps of 1

    def build(x, w):
        block = x.block
        out = block.create_var(name="out")
        block.append_op("conv2d", {"Input": x, "Filter": w}, {"Output": out})
        return out

    for out, dx, dw in run(build, x=x, w=w):
        assert {v.dtype.name for v in (out, dx, dw)} == {"float16"}
        assert set(out.ravel().tolist()) == {1616.0}
        assert set(dw.ravel().tolist()) == {4.0}
        assert dx[0, 0, 0, 0] == 3 * 1.25 * 0.5


@pytest.mark.parametrize("layer", ["relu", "leaky_relu"])
def test_ramps(layer):
    x = RNG.normal(size=[130, 70]).astype("float16")
    slope = 0.0 if layer == "relu" else np.float16(0.02)
    for out, dx in run(getattr(fluid.layers, layer), x=x):
        np.testing.assert_allclose(
            out, np.where(x > 0, x, x * np.float16(slope)), rtol=1e-3, atol=1e-4
        )
        np.testing.assert_allclose(dx, np.where(x > 0, 0.5, 0.5 * slope), rtol=2e-3)
