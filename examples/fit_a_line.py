"""Linear regression: find the weights behind noisy points.

python examples/fit_a_line.py          trains, prints, draws fit_a_line.svg
python examples/fit_a_line.py --quick  fewer steps, no picture
"""

import argparse

import numpy as np

import fluidlite as fluid

WEIGHTS = np.array([[2.0], [-3.4], [0.5]], "float32")
BIAS = 4.2


def points(count, seed):
    """Inputs [count, 3] and noisy answers [count, 1] of the line that is to be found."""
    random = np.random.default_rng(seed)
    x = random.normal(size=[count, 3]).astype("float32")
    noise = 0.01 * random.normal(size=[count, 1])
    return x, (x @ WEIGHTS + BIAS + noise).astype("float32")


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    quick = parser.parse_args().quick
    steps = 20 if quick else 100

    x = fluid.data("x", [None, 3], "float32")
    y = fluid.data("y", [None, 1], "float32")
    guess = fluid.layers.fc(x, size=1)
    loss = fluid.layers.mean(fluid.layers.square_error_cost(guess, y))
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    print(fluid.default_main_program())

    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    data, answers = points(100, seed=1)
    for step in range(steps):
        (value,) = exe.run(feed={"x": data, "y": answers}, fetch_list=[loss])
        if step % 20 == 0:
            print(f"step {step:3d}  loss {value.item():.5f}")

    scope = fluid.global_scope()
    weights = np.array(scope.find_var("fc_0.w_0").get_tensor())
    bias = np.array(scope.find_var("fc_0.b_0").get_tensor())
    print("weights", weights.ravel().round(2), "bias", bias.round(2), f"loss {value.item():.5f}")
    if not quick:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4, 3), layout="constrained")
        axes = figure.subplots()
        axes.plot(answers, data @ weights + bias, ".", markersize=3)
        axes.set(xlabel="noisy answer", ylabel="guess")
        figure.savefig("fit_a_line.svg")


if __name__ == "__main__":
    main()
