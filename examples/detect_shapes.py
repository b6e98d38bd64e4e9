"""Find circles, squares and triangles in noise: SSD, a single-shot detector.

python examples/detect_shapes.py               trains, prints, draws detect_shapes.png
python examples/detect_shapes.py --no-picture  does not draw
python examples/detect_shapes.py --quick       a few steps, for a first try
"""

import argparse

import numpy as np

import fluidlite as fluid
from fluidlite import layers

SIZE, BATCH = 48, 16
NAMES = ["background", "circle", "square", "triangle"]


def drawn(rng):
    """What the programs are fed: images, and the boxes and classes of the shapes in each."""
    images = rng.normal(0, 0.3, (BATCH, 1, SIZE, SIZE)).astype("float32")
    down, across = np.mgrid[:SIZE, :SIZE] + 0.5
    boxes, kinds, lengths = [], [], []
    for image in images[:, 0]:
        mine = []
        for kind in rng.integers(1, 4, rng.integers(1, 4)):
            size = rng.uniform(11, 22)
            left, top = rng.uniform(0, SIZE - size, 2)
            box = np.array([left, top, left + size, top + size]) / SIZE
            if any(max(*(box[:2] - b[2:]), *(b[:2] - box[2:])) < 0 for b in mine):
                continue  # it would cover another one
            x, y = (across - left) / size, (down - top) / size
            circle, square = np.hypot(x - 0.5, y - 0.5), np.maximum(abs(x - 0.5), abs(y - 0.5))
            triangle = np.maximum(abs(x - 0.5) + (1 - y) / 2, y - 0.5)
            image[[circle, square, triangle][kind - 1] < 0.5] += rng.uniform(0.8, 1.5)
            mine.append(box)
            kinds.append([kind])
        boxes += mine
        lengths.append(len(mine))
    box = fluid.create_lod_tensor(np.array(boxes, "float32"), [lengths])
    label = fluid.create_lod_tensor(np.array(kinds, "int32"), [lengths])
    return {"image": images, "box": box, "label": label}


def network(image):
    """Offsets, scores, prior boxes and their variances."""
    maps, hidden = [], image
    for filters in (12, 24, 32, 32):
        hidden = layers.conv2d(hidden, filters, 3, padding=1, bias_attr=False)
        maps.append(layers.batch_norm(hidden, act="relu"))
        hidden = layers.pool2d(maps[-1], 2, pool_stride=2)
    sizes: dict = dict(min_sizes=[12.0, 18.0], max_sizes=[15.0, 22.0], aspect_ratios=[[], []])
    return layers.multi_box_head(maps[2:], image, SIZE, len(NAMES), kernel_size=3, pad=1, **sizes)


def build():
    """The programs, the loss, what is found, and the metric."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 3
    with fluid.program_guard(main, startup):
        image = fluid.data("image", [None, 1, SIZE, SIZE])
        box = fluid.data("box", [None, 4], lod_level=1)  # those of an image are a sequence
        label = fluid.data("label", [None, 1], "int32", lod_level=1)
        head = network(image)
        loss = layers.reduce_sum(layers.ssd_loss(*head[:2], box, label, *head[2:]))
        test = main.clone(for_test=True)
        fluid.optimizer.Adam(learning_rate=0.01).minimize(loss)
    with fluid.program_guard(test, startup):
        found = layers.detection_output(*head, score_threshold=0.1, nms_threshold=0.45)
        score = fluid.metrics.DetectionMAP(found, label, box, class_num=len(NAMES))
    return main, startup, test, loss, found, score


def draw(images, found, path):
    """A picture of four images with the boxes that were found."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import patches, pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(10, 3), layout="constrained")
    starts, rows = found.lod()[0], np.array(found)
    for k, plot in enumerate(axes):
        plot.imshow(images[k, 0], cmap="gray")
        plot.set_axis_off()
        mine = rows[starts[k] : starts[k + 1]]
        for kind, sure, *box in mine[mine[:, 1] > 0.5]:
            left, top, right, bottom = np.array(box) * SIZE - 0.5
            edge: dict = dict(fill=False, edgecolor=f"C{int(kind)}", linewidth=2)
            plot.add_patch(patches.Rectangle((left, top), right - left, bottom - top, **edge))
            plot.text(left, top - 1, f"{NAMES[int(kind)]} {sure:.2f}", color=f"C{int(kind)}")
    figure.savefig(path)
    print("drew", path)


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="train for 5 steps, draw nothing")
    parser.add_argument("--no-picture", action="store_true", help="draw nothing")
    arguments = parser.parse_args()
    program, startup, test, loss, found, score = build()
    exe, rng = fluid.Executor(), np.random.default_rng(5)
    exe.run(startup)
    for step in range(5 if arguments.quick else 200):
        (value,) = exe.run(program, feed=drawn(rng), fetch_list=[loss])
        if step % 40 == 0:
            print(f"step {step}: loss {value.item():.2f}")
    score.reset(exe)
    wanted = [found, score.get_map_var()[1]]
    for _ in range(1 if arguments.quick else 6):
        feed = drawn(rng)
        boxes, mean = exe.run(test, feed=feed, fetch_list=wanted, return_numpy=False)
    print(f"mean average precision {np.array(mean).item():.2f} on images that it has not seen")
    if not (arguments.quick or arguments.no_picture):
        draw(feed["image"], boxes, "detect_shapes.png")


if __name__ == "__main__":
    main()
