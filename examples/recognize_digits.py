"""Recognise handwritten digits: a convolutional net, declared, then trained.

python examples/recognize_digits.py               trains, prints, draws recognize_digits.png
python examples/recognize_digits.py --no-picture  does not draw
python examples/recognize_digits.py --quick       one epoch, for a first try
"""

import argparse

import numpy as np
from tqdm import tqdm

import fluidlite as fluid
from fluidlite.dataset import digits

BATCH = 50


def network(image, label):
    """Scores of the ten digits, mean loss and accuracy."""
    hidden = fluid.nets.simple_img_conv_pool(
        image, num_filters=12, filter_size=3, conv_padding=1, pool_size=2, pool_stride=2, act="relu"
    )
    hidden = fluid.nets.simple_img_conv_pool(
        hidden,
        num_filters=24,
        filter_size=3,
        conv_padding=1,
        pool_size=2,
        pool_stride=2,
        act="relu",
    )
    scores = fluid.layers.fc(hidden, size=10, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(scores, label))
    return scores, loss, fluid.layers.accuracy(scores, label)


def train(epochs):
    """Build, train and test; returns the test accuracy after every epoch and the test program."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 7
    with fluid.program_guard(main, startup):
        image = fluid.data("image", [None, 1, 8, 8], "float32")
        label = fluid.data("label", [None, 1], "int64")
        scores, loss, accuracy = network(image, label)
        test = main.clone(for_test=True)  # before minimize: it shares the parameters by name
        fluid.optimizer.Adam(learning_rate=0.005).minimize(loss)
    print(main)

    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(startup)
    images, labels = digits.arrays("train")
    images = images.reshape(-1, 1, 8, 8)
    shown, answers = digits.arrays("test")
    shown = shown.reshape(-1, 1, 8, 8)
    order = np.random.default_rng(7)
    curve = []
    with tqdm(total=epochs * len(images) // BATCH, unit="step") as bar:
        for _ in range(epochs):
            shuffled = order.permutation(len(images))
            for start in range(0, len(images), BATCH):
                rows = shuffled[start : start + BATCH]
                feed = {"image": images[rows], "label": labels[rows]}
                (value,) = exe.run(main, feed=feed, fetch_list=[loss])
                bar.set_postfix(loss=f"{value.item():.3f}", refresh=False)
                bar.update()
            feed = {"image": shown, "label": answers}
            curve.append(exe.run(test, feed=feed, fetch_list=[accuracy])[0].item())
    guesses = exe.run(test, feed={"image": shown[:8], "label": answers[:8]}, fetch_list=[scores])[0]
    print("looks like", *guesses.argmax(1), "and is", *answers[:8, 0])
    return curve


def draw(curve, path):
    """A picture of the learning curve."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3), layout="constrained")
    axes.plot(range(1, len(curve) + 1), curve, marker="o")
    axes.set(xlabel="epoch", ylabel="test accuracy", title="UCI handwritten digits")
    figure.savefig(path)
    print("drew", path)


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="train for one epoch, draw nothing")
    parser.add_argument("--no-picture", action="store_true", help="draw nothing")
    parser.add_argument("--picture", default="recognize_digits.png", help="where to draw")
    arguments = parser.parse_args()
    curve = train(epochs=1 if arguments.quick else 6)
    print(f"test accuracy {curve[-1]:.1%}")
    if not (arguments.quick or arguments.no_picture):
        draw(curve, arguments.picture)


if __name__ == "__main__":
    main()
