"""PaddleSlim searches architectures: by annealing over a local socket, by an LSTM, by gradients."""

import tempfile

import numpy as np
import paddle.fluid as fluid
from absent import stand_in
from outcomes import mark, outcome
from parameters import started

stand_in("tqdm", "sklearn", "sklearn.cluster", "matplotlib", "matplotlib.pyplot", "yaml")
stand_in("matplotlib.backends.backend_pdf")

from paddleslim import analysis, common, dist, nas  # noqa: E402

PLACE = fluid.CPUPlace()
BLOCK = {"input_size": 32, "output_size": 8, "block_num": 2}
MASKED = {"block_mask": [0, 1, 0]}
#: search spaces -> what they are told, and the widths of a picture
SPACES = {
    "MobileNetV1Space": (None, 64),
    "MobileNetV2Space": (None, 64),
    "ResNetSpace": (None, 64),
    "MobileNetV1BlockSpace": (MASKED, 32),
    "MobileNetV2BlockSpace": (BLOCK, 32),
    "ResNetBlockSpace": (MASKED, 32),
    "InceptionABlockSpace": (MASKED, 32),
    "InceptionCBlockSpace": (MASKED, 32),
}


def architecture(make, width, trains):
    """An architecture's program; with ``trains`` its losses, too."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        image = fluid.data("image", [None, 3, width, width], "float32")
        label = fluid.data("label", [None, 1], "int64")
        value = make(image)
        value = value[0] if isinstance(value, tuple) else value
        out = fluid.layers.fc(value, 10, act="softmax")
        loss = fluid.layers.mean(fluid.layers.cross_entropy(out, label))
        cost = [float(analysis.flops(main)), float(analysis.model_size(main))]
        if not trains:
            return [cost, mark([op.type for op in main.global_block().ops])]
        fluid.optimizer.SGD(0.001).minimize(loss)
    random = np.random.RandomState(4)
    feed = {
        "image": random.randn(8, 3, width, width).astype("float32"),
        "label": random.randint(0, 10, [8, 1]).astype("int64"),
    }
    executor = fluid.Executor(PLACE)
    with fluid.scope_guard(fluid.Scope()):
        executor.run(startup)
        started(main)
        return [cost, [float(executor.run(main, feed, [loss])[0].item()) for _ in range(2)]]


def decoded(space, tokens, width):
    return architecture(space.token2arch(tokens)[0], width, False)


def spaces():
    found = {}
    for name, (told, width) in SPACES.items():
        np.random.seed(5)
        space = nas.SearchSpaceFactory().get_search_space([(name, told) if told else name])
        tokens = space.init_tokens()
        found[name] = [tokens, space.range_table()]
        for given in (tokens, [0] * len(tokens)):
            found[name].append(outcome(decoded, space, given, width))
    return found


def annealed(folder):
    """SANAS asks its controller over a socket of this machine, as in the quick start."""
    np.random.seed(1)
    told = {"save_checkpoint": folder + "/nas", "search_steps": 4}
    spaces = [("MobileNetV2BlockSpace", MASKED)]
    searched = nas.SANAS(spaces, server_addr=("127.0.0.1", free_port()), **told)
    steps = []
    for _ in range(3):
        archs = searched.next_archs()
        cost, losses = architecture(archs[0], 32, True)
        rewarded = searched.reward(float(-losses[-1]))
        steps.append([searched._current_tokens, cost, losses, bool(rewarded)])
    return steps, searched.current_info() if hasattr(searched, "current_info") else None


def controller(folder):
    np.random.seed(2)
    told = {"range_table": ([0, 0, 1], [4, 3, 9]), "init_tokens": [1, 1, 5], "reduce_rate": 0.9}
    anneal = common.SAController(checkpoints=folder + "/sa", **told)
    steps = []
    for step in range(6):
        tokens = [int(each) for each in anneal.next_tokens()]
        anneal.update(tokens, float(sum(tokens) % 5) / 5, step + 1)
        steps.append(tokens)
    return [steps, [int(each) for each in anneal.best_tokens], anneal.max_reward]


def reinforced(folder):
    """The LSTM that proposes architectures, one step of its training, and its server and client."""
    from paddleslim.common.rl_controller.utils import RLCONTROLLER

    made = RLCONTROLLER.get("LSTM")(
        range_tables=[4, 3, 5],
        use_gpu=False,
        lstm_num_layers=1,
        hidden_size=10,
        temperature=1.0,
        tanh_constant=2.0,
        controller_batch_size=1,
        controller_lr=0.01,
        controller_decay_steps=8,
        controller_decay_rate=0.8,
        weight_entropy=0.1,
    )
    random = np.random.RandomState(0)
    parameters = {
        name: random.uniform(-0.5, 0.5, np.shape(value)).astype("float32")
        for name, value in sorted(made.param_dict.items())
    }
    tokens = made.next_tokens(2, parameters)
    made.init_tokens = [[1, 2, 3]]
    after = made.update(np.float32(0.7), parameters)
    return {
        "names": [[name, list(np.shape(value))] for name, value in sorted(made.param_dict.items())],
        "tokens": [
            list(np.shape(tokens)),
            all(0 <= n < m for each in tokens for n, m in zip(each, [4, 3, 5])),
        ],
        "programs": [
            mark([op.type for op in each.global_block().ops])
            for each in (made.pred_program, made.learn_program)
        ],
        "after": [[name, float(np.abs(value).sum())] for name, value in sorted(after.items())],
    }


def proposed(folder):
    """RLNAS proposes over a socket of this machine."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        return _proposed(folder)


def _proposed(folder):
    searched = nas.RLNAS(
        key="lstm",
        configs=[("MobileNetV2BlockSpace", MASKED)],
        is_sync=False,
        server_addr=("127.0.0.1", free_port()),
        controller_batch_size=1,
        controller_decay_steps=1000,
        controller_decay_rate=0.8,
        lstm_num_layers=1,
        hidden_size=10,
        temperature=1.0,
        save_controller=folder + "/rl",
    )
    found = []
    for _ in range(2):
        archs = searched.next_archs(1)[0]
        cost, _ = architecture(archs[0], 32, False)
        searched.reward(np.float32(0.5))
        found.append([len(searched.tokens), len(searched.tokens[0]), cost[0] > 0])
    return [found, outcome(lambda: len(searched.final_archs(1)))]


class Cell(fluid.dygraph.Layer):
    """Mixed operations with weights: as small as a network may be that DARTS searches."""

    def __init__(self, width):
        super().__init__()
        self.convs = fluid.dygraph.LayerList(
            [fluid.dygraph.Conv2D(width, width, size, padding=size // 2) for size in (1, 3)]
        )

    def forward(self, value, weights):
        one = self.convs[0](value) * weights[0]
        three = self.convs[1](value) * weights[1]
        return one + three + value * weights[2]


class Network(fluid.dygraph.Layer):
    _steps, _multiplier, _method = 1, 1, "DARTS"
    _primitives = ["conv_1", "conv_3", "skip", "none"]

    def __init__(self):
        super().__init__()
        self.stem = fluid.dygraph.Conv2D(3, 4, 3, padding=1)
        self.cells = fluid.dygraph.LayerList([Cell(4) for _ in range(2)])
        self.out = fluid.dygraph.Linear(4, 5)
        constant = fluid.initializer.ConstantInitializer
        self.alphas_normal = self.create_parameter(
            [2, 4], default_initializer=fluid.initializer.NumpyArrayInitializer(ALPHAS)
        )
        self.alphas_reduce = self.create_parameter([2, 4], default_initializer=constant(0.2))

    def forward(self, value):
        weights = [fluid.layers.softmax(each) for each in (self.alphas_normal, self.alphas_reduce)]
        value = self.stem(value)
        for cell, table in zip(self.cells, weights):
            row = fluid.layers.reshape(fluid.layers.reduce_sum(table, 0), [4])
            value = cell(value, [fluid.layers.slice(row, [0], [i], [i + 1]) for i in range(3)])
        return self.out(fluid.layers.reduce_mean(value, [2, 3]))

    def _loss(self, value, label):
        logits = self(value)
        return fluid.layers.reduce_mean(fluid.layers.softmax_with_cross_entropy(logits, label))

    def arch_parameters(self):
        return [self.alphas_normal, self.alphas_reduce]

    def new(self):
        made = Network()
        for one, other in zip(made.arch_parameters(), self.arch_parameters()):
            one.set_value(other.numpy())
        return made


ALPHAS = np.linspace(-0.1, 0.1, 8).reshape(2, 4).astype("float32")


def fixed(layer):
    """Give a layer's parameters numbers that their places decide."""
    for number, each in enumerate(layer.parameters()):
        if each.shape != [2, 4]:
            draw = np.random.RandomState(number).uniform(-0.5, 0.5, each.shape)
            each.set_value(draw.astype("float32"))
    return layer


def batches(seed):
    def reader():
        random = np.random.RandomState(seed)
        for _ in range(2):
            yield (
                random.randn(4, 3, 8, 8).astype("float32"),
                random.randint(0, 5, [4, 1]).astype("int64"),
            )

    return reader


def by_gradients(folder):
    with fluid.dygraph.guard(PLACE):
        network = fixed(Network())
        searched = nas.DARTSearch(
            network,
            batches(1),
            batches(2),
            PLACE,
            batchsize=4,
            num_imgs=16,
            num_epochs=2,
            save_dir=folder,
            arch_learning_rate=0.01,
        )
        searched.train()
        return [
            [float(np.abs(each.numpy()).sum()) for each in network.parameters()],
            [each.numpy().ravel().tolist() for each in network.arch_parameters()],
        ]


def unrolled():
    """What a search of second order computes, but for its last step: that multiplies a tensor by a
    ``np.float32`` below one, of which 1.8.5 makes the integer 0.
    """
    from paddleslim.nas.darts.architect import Architect

    with fluid.dygraph.guard(PLACE):
        network = fixed(Network())
        architect = Architect(network, 0.025, 0.01, True, False)
        taught, asked = [
            [fluid.dygraph.to_variable(each) for each in next(batches(seed)())] for seed in (1, 2)
        ]
        architect._compute_unrolled_model(*taught)
        architect.unrolled_model._loss(*asked).backward()
        vector = [
            fluid.dygraph.to_variable(each._grad_ivar().numpy())
            for each in architect.unrolled_model_params
        ]
        products = architect._hessian_vector_product(vector, *taught)
        lists = [architect.unrolled_model.parameters(), vector, products, network.parameters()]
        return [[float(np.abs(each.numpy()).sum()) for each in tensors] for tensors in lists]


def genotype():
    from paddleslim.nas.darts import get_genotype as module

    with fluid.dygraph.guard(PLACE):
        get = getattr(module, "get_genotype", module)
        return repr(get(fixed(Network())))


def mutual():
    """Two networks that learn from each other."""
    with fluid.dygraph.guard(PLACE):
        networks = [fixed(Network()), Network()]
        for number, each in enumerate(networks[1].parameters()):
            draw = np.random.RandomState(100 + number).uniform(-0.5, 0.5, each.shape)
            each.set_value(draw.astype("float32"))
        model = dist.DML(networks)
        optimizer = model.opt(
            [fluid.optimizer.Adam(0.01, parameter_list=each.parameters()) for each in networks]
        )
        model.train()
        found = []
        for image, label in list(batches(3)()) * 2:
            image, label = fluid.dygraph.to_variable(image), fluid.dygraph.to_variable(label)
            logits = model.forward(image)
            losses = model.loss(logits, label)
            found.append([float(each.numpy()[0]) for each in losses])
            found.append([float(each.numpy()[0]) for each in model.acc(logits, label, 2)])
            optimizer.minimize(losses)
        return found, [float(each) for each in optimizer.get_lr()]


def eager_models():
    from paddleslim.models import dygraph

    found = {}
    with fluid.dygraph.guard(PLACE):
        for name in ("MobileNetV1", "ResNet"):
            net = getattr(dygraph, name)(class_dim=5)
            for number, each in enumerate(net.parameters()):
                if each.trainable:
                    draw = np.random.RandomState(number).uniform(-0.1, 0.1, each.shape)
                    each.set_value(draw.astype("float32"))
            image = fluid.dygraph.to_variable(
                np.random.RandomState(1).randn(2, 3, 32, 32).astype("float32")
            )
            out = net(image)
            net.eval()
            answers = [each.numpy().ravel().tolist() for each in (out, net(image))]
            found[name] = [*answers, len(net.parameters())]
    return found


def stopped(folder):
    """A median tells which of the runs are not worth going on with."""
    from paddleslim.nas.early_stop import MedianStop

    np.random.seed(1)
    searched = nas.SANAS(
        [("MobileNetV2BlockSpace", MASKED)],
        server_addr=("127.0.0.1", free_port()),
        save_checkpoint=None,
        search_steps=8,
    )
    stop = MedianStop(searched, 2)
    return [
        [stop.get_status(step, result, 3) for result in results]
        for step, results in enumerate([[1.0, 2.0, 3.0], [0.5, 1.0, 1.5], [2.0, 3.0, 4.0]])
    ]


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def results(sentences):
    with tempfile.TemporaryDirectory() as folder:
        found = {"spaces": spaces(), "controller": outcome(controller, folder)}
        found["annealed"] = outcome(annealed, folder)
        if hasattr(nas, "RLNAS"):
            found["reinforced"] = outcome(reinforced, folder)
            found["stopped"] = outcome(stopped, folder)
        if hasattr(nas, "DARTSearch"):
            found["by gradients"] = outcome(by_gradients, folder)
            found["unrolled"] = outcome(unrolled)
            found["genotype"] = outcome(genotype)
        if hasattr(dist, "DML"):
            found["mutual"] = outcome(mutual)
            found["eager models"] = outcome(eager_models)
        if hasattr(nas, "RLNAS"):
            found["proposed"] = outcome(proposed, folder)
    return found
