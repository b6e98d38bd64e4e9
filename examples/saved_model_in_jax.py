"""A saved model becomes a function of JAX in two lines: jit, vmap and grad work on it.

python examples/saved_model_in_jax.py          computes, prints, draws saved_model_in_jax.svg
python examples/saved_model_in_jax.py --quick  fewer steps, no picture
"""

import argparse
import tempfile
from pathlib import Path

import jax
import numpy as np

import fluidlite as fluid


def save_a_model(folder, steps):
    """What somebody trained and saved long ago: a small net that has learned the sign of a sum."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [None, 4], "float32")
        y = fluid.data("y", [None, 1], "float32")
        p = fluid.layers.fc(fluid.layers.fc(x, 8, act="tanh"), 1, act="sigmoid")
        loss = fluid.layers.mean(fluid.layers.log_loss(p, y))
        fluid.optimizer.Adam(0.02).minimize(loss)
    exe, rng = fluid.Executor(), np.random.default_rng(0)
    with fluid.scope_guard(fluid.Scope()):
        exe.run(startup)
        for _ in range(steps):
            given = rng.normal(size=[64, 4]).astype("float32")
            truth = (given.sum(axis=1, keepdims=True) > 0).astype("float32")
            exe.run(main, feed={"x": given, "y": truth}, fetch_list=[loss])
        fluid.io.save_inference_model(folder, ["x"], [p], exe, main_program=main)


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    quick = parser.parse_args().quick
    steps = 50 if quick else 500
    with tempfile.TemporaryDirectory() as name:
        save_a_model(Path(name) / "model", steps)

        # these are the two lines
        program, feeds, fetches = fluid.io.load_inference_model(
            Path(name) / "model", fluid.Executor()
        )
        function, parameters = fluid.jax.function(program, feeds, fetches)

        given = np.random.default_rng(1).normal(size=[5, 4]).astype("float32")
        (right,) = fluid.Executor().run(program, feed={"x": given}, fetch_list=fetches)

    chance = jax.jit(lambda parameters, x: function(parameters, {"x": x})[0])
    found = chance(parameters, given)
    print("as the program has it:", np.allclose(found, right, atol=1e-6))

    one = jax.grad(lambda x: chance(parameters, x[None])[0, 0])
    slopes = jax.vmap(one)(given)
    print("slope of each input:", *np.round(np.mean(slopes, axis=0), 3))
    if not quick:
        from matplotlib.figure import Figure

        points = np.random.default_rng(2).normal(0, 0.3, [100, 4]).astype("float32")
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        axes.plot(points.sum(axis=1), chance(parameters, points), ".", label="chance")
        axes.plot(points.sum(axis=1), jax.vmap(one)(points)[:, 0], ".", label="slope")
        axes.set(xlabel="sum of the inputs")
        axes.legend()
        figure.savefig("saved_model_in_jax.svg")

    data = fluid.export.stablehlo(program, {"x": given}, fetches)
    again = jax.export.deserialize(bytearray(data)).call({"x": given})[0]
    print(f"{len(data)} bytes of StableHLO compute the same:", np.allclose(again, right, atol=1e-6))


if __name__ == "__main__":
    main()
