"""Train in two goes, save the model, and serve it from another process.

python examples/save_and_serve.py          trains, saves, serves, draws save_and_serve.svg
python examples/save_and_serve.py --quick  fewer steps, no picture
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import fluidlite as fluid
from fluidlite.dataset import digits

BATCH = 50


def network():
    """A small net of digits: its scores and its loss, in the default programs."""
    image = fluid.data("image", [None, 64], "float32")
    label = fluid.data("label", [None, 1], "int64")
    hidden = fluid.layers.dropout(fluid.layers.fc(image, size=64, act="relu"), 0.2)
    scores = fluid.layers.fc(hidden, size=10, act="softmax")
    return scores, fluid.layers.mean(fluid.layers.cross_entropy(scores, label))


def train(folder, steps, until):
    """Train from the newest checkpoint in a folder, or from the start; leave another one."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        scores, loss = network()
        test = main.clone(for_test=True)
        fluid.optimizer.Adam(learning_rate=0.005).minimize(loss)
    exe, step = fluid.Executor(), 0
    with fluid.scope_guard(fluid.Scope()):
        if folder.exists() and fluid.checkpoint.latest(folder):
            step = fluid.checkpoint.load(folder, main, executor=exe).step
            print(f"going on from step {step}")
        else:
            exe.run(startup)
        images, labels = (array for array in digits.arrays("train"))
        images = images.reshape(-1, 64)
        for number in range(step, min(steps, until)):
            rows = np.random.default_rng(number).integers(0, len(images), BATCH)
            feed = {"image": images[rows], "label": labels[rows]}
            (value,) = exe.run(main, feed=feed, fetch_list=[loss])
        print(f"step {min(steps, until)}  loss {value.item():.4f}")
        fluid.checkpoint.save(folder, main, step=min(steps, until), executor=exe)
        model = folder.parent / "model"
        fluid.io.save_inference_model(model, ["image"], [scores], exe, main_program=test)
    return model


def serve(model, arrays):
    """Answer with the digits that a saved model sees; this needs none of the code above."""
    exe = fluid.Executor()
    program, (name,), targets = fluid.io.load_inference_model(model, exe)
    with np.load(arrays) as packed:
        images, labels = packed["images"], packed["labels"]
    (scores,) = exe.run(program, feed={name: images}, fetch_list=targets)
    print("looks like", *scores[:8].argmax(1), "and is", *labels[:8, 0])
    print(f"test accuracy {np.mean(scores.argmax(1) == labels[:, 0]):.1%}")
    return images, scores


def draw(images, scores):
    """A picture of ten digits and what is seen in them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.3), layout="constrained")
    for axes, image, row in zip(figure.subplots(1, 10), images, scores):
        axes.imshow(image.reshape(8, 8), cmap="gray_r")
        axes.set(title=f"{row.argmax()}: {row.max():.0%}", xticks=[], yticks=[])
    figure.savefig("save_and_serve.svg")


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    parser.add_argument("--serve", nargs=2, metavar=("MODEL", "ARRAYS"), help="only serve")
    arguments = parser.parse_args()
    if arguments.serve:
        images, scores = serve(*arguments.serve)
        if not arguments.quick:
            draw(images, scores)
        return
    steps = 40 if arguments.quick else 400
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(folder / "checkpoints", steps, until=steps // 2)
        model = train(folder / "checkpoints", steps, until=steps)
        images, labels = digits.arrays("test")
        np.savez(folder / "test.npz", images=images.reshape(-1, 64), labels=labels)
        for found in sorted(fluid.io.read(model).variables.items()):
            print(f"{found[0]:<12}{found[1].dtype}{list(found[1].shape)}")
        command = [sys.executable, __file__, "--serve", str(model), str(folder / "test.npz")]
        subprocess.run(command + ["--quick"] * arguments.quick, check=True)


if __name__ == "__main__":
    main()
