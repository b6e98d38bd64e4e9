"""tb-paddle makes graphs of programs: names, operators and edges of their nodes."""

import absent
import paddle.fluid as fluid

absent.stand_in("PIL", "PIL.Image", "moviepy", "soundfile", "matplotlib")

from tb_paddle.paddle_graph import paddle_graph  # noqa: E402


def networks():
    """Programs to show, by name."""
    layers = fluid.layers

    def images():
        image, label = fluid.data("x", [-1, 3, 16, 16]), fluid.data("y", [-1, 1], "int64")
        with fluid.name_scope("block"):
            maps = layers.batch_norm(layers.conv2d(image, 4, 3, act="relu"))
        with fluid.name_scope("head"):
            shares = layers.fc(layers.pool2d(maps, 2, "max", 2), 10, act="softmax")
        return layers.mean(layers.cross_entropy(shares, label))

    def words():
        word = layers.data("w", [1], dtype="int64", lod_level=1)
        label = layers.data("y", [1], dtype="int64")
        hidden, _ = layers.dynamic_lstm(layers.fc(layers.embedding(word, [100, 8]), 32), 32)
        shares = layers.fc(layers.sequence_pool(hidden, "max"), 2, act="softmax")
        return layers.mean(layers.cross_entropy(shares, label))

    for make in (images, words):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.unique_name.guard(), fluid.program_guard(main, startup):
            loss = make()
            test = main.clone(for_test=True)
            fluid.optimizer.Adam(0.01).minimize(loss)
        for kind, program in (("main", main), ("startup", startup), ("test", test)):
            yield make.__name__ + " " + kind, program


def results(_):
    """The nodes of each graph by name: 1.8.5 has variables of a clone in an order of its own."""
    found = {}
    for name, program in networks():
        nodes = found[name] = {}
        for line in map(str.strip, str(paddle_graph(program, True)).splitlines()):
            if line.startswith("name:"):
                node = nodes[line] = []
            elif line.startswith(("op:", "input:")):
                node.append(line)
    return found
