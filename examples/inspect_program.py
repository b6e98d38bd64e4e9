"""Look into a program: a page to click, differences, costs, and the operator that makes a NaN.

python examples/inspect_program.py            writes inspect_program.html and .svg beside you
python examples/inspect_program.py --quick    the same
"""

import argparse

import numpy as np

import fluidlite as fluid


def network(image, label):
    """Mean loss of a net that takes a logarithm too many."""
    hidden = fluid.nets.simple_img_conv_pool(
        image, num_filters=6, filter_size=3, pool_size=2, pool_stride=2, act="relu"
    )
    hidden = fluid.layers.log(hidden)  # of 0, and of what relu made 0
    scores = fluid.layers.fc(hidden, size=10, act="softmax")
    return fluid.layers.mean(fluid.layers.cross_entropy(scores, label))


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="accepted, as by every example")
    parser.parse_args()

    program, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup):
        image = fluid.data("image", [None, 1, 8, 8], "float32")
        label = fluid.data("label", [None, 1], "int64")
        loss = network(image, label)
        forward = program.clone()
        fluid.optimizer.SGD(0.1).minimize(loss)

    print("minimize:", forward.diff(program).headline)
    print("for tests:", program.clone(for_test=True).dropped)
    print(program.summary(batch_size=32))
    print(fluid.inspect.memory_timeline(program, batch_size=32))

    exe = fluid.Executor()
    exe.run(startup)
    rng = np.random.default_rng(0)
    feed = {
        "image": rng.normal(size=[32, 1, 8, 8]).astype("float32"),
        "label": rng.integers(0, 10, [32, 1]),
    }
    trace = exe.trace(program, feed)
    culprit = trace.first(fluid.inspect.is_infinite)
    print("\nthe first value that is infinite:")
    print(culprit)
    print(fluid.inspect.explain(culprit.op))

    with fluid.inspect.Debugger(exe, program, feed) as debugger:
        debugger.stop_at(fluid.inspect.is_nan)
        print("\nthe first NaN,", debugger.go())
        print(debugger.listing())

    fluid.inspect.draw(program, "inspect_program.svg")
    fluid.inspect.to_html(program, "inspect_program.html", trace=trace)
    print("\nopen inspect_program.html in a browser")


if __name__ == "__main__":
    main()
