"""What scripts write, for type checkers; never run.  tests/test_types.py says what has no type."""

import numpy as np

import fluidlite as fluid
from fluidlite import layers
from fluidlite.initializer import Constant
from fluidlite.optimizer import Adam


def network(image: fluid.Variable) -> fluid.Variable:
    hidden = layers.conv2d(image, num_filters=8, filter_size=3, act="relu")
    pooled = layers.pool2d(hidden, pool_size=2)
    attr = fluid.ParamAttr(name="w", initializer=Constant(0.5))
    return layers.fc(pooled, size=10, param_attr=attr, act="softmax")


def static_programs() -> None:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        image = fluid.data("image", [None, 1, 28, 28], "float32")
        label = layers.data("label", shape=[1], dtype="int64")
        scores = network(image)
        loss = layers.mean(layers.cross_entropy(scores, label))
        scaled = (1.0 - loss * 2.0) / 3.0 + scores[0].sum() ** 2
        shorter = scores.reshape([-1]).exp().mean()
        right = scores > 0.5
        both = layers.logical_and(right, -scores <= shorter)
        total = layers.reduce_sum(layers.cast(both, "float32")) + scaled
        logits = layers.fc(image, 10)
        costs = layers.softmax_with_cross_entropy(logits, label)
        both_of = layers.softmax_with_cross_entropy(logits, label, return_softmax=True)
        loss = layers.mean(costs) + layers.mean(both_of[1])
        rate = layers.piecewise_decay([10], [0.1, 0.01])
        right = layers.accuracy(both_of[1], label)
        best, places = layers.topk(logits, 2)
        written = layers.array_write(rate, layers.zeros([1], "int64"))
        print(right, best, places, written)
        ops, pairs = Adam(learning_rate=layers.exponential_decay(0.1, 10, 0.5)).minimize(loss)
        found = fluid.gradients(total, image)
    exe = fluid.Executor(fluid.CPUPlace())
    compiled = fluid.CompiledProgram(main).with_data_parallel(loss_name=loss.name)
    scope = fluid.Scope()
    with fluid.scope_guard(scope):
        exe.run(startup)
        results = exe.run(compiled, feed={"image": np.zeros([2, 1, 28, 28])}, fetch_list=[loss])
    fluid.io.save_inference_model("model", ["image"], [scores], exe, main)
    loaded = fluid.io.load_inference_model("model", exe)
    costs = fluid.inspect.summary(main)
    print(results, loaded, costs.parameters, ops, pairs, found, main.global_block().ops)


def tensors() -> None:
    x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    y = fluid.matmul(x, x) + fluid.exp(x).sum() - 2.0 * x[0]
    y.backward()
    gradient = x.grad
    larger = fluid.greater_than(x, y)
    numbers = y.numpy()
    print(gradient, larger, numbers, fluid.grad(y, x))


def layers_at_once() -> None:
    net = fluid.nn.Sequential(fluid.nn.Linear(4, 8), fluid.nn.ReLU(), fluid.nn.Linear(8, 3))
    predicted = net(fluid.ones([2, 4]))
    criterion = fluid.nn.CrossEntropyLoss()
    loss = criterion(predicted, fluid.to_tensor([0, 1]))
    loss.backward()
    optimizer = fluid.optimizer.SGD(0.1, parameters=net.parameters())
    optimizer.step()
    optimizer.clear_grad()
    rectified = fluid.nn.functional.relu(predicted)
    appended = fluid.nn.Linear(4, 8)(fluid.data("x", [None, 4]))
    print(rectified, appended, net.state_dict())


def models() -> None:
    model = fluid.Model(fluid.nn.Linear(4, 3))
    model.prepare(fluid.optimizer.Adam(0.01), fluid.nn.CrossEntropyLoss(), fluid.metric.Accuracy())
    history = model.fit([(np.zeros(4), 1)], epochs=1, callbacks=[fluid.callbacks.EarlyStopping()])
    measured = model.evaluate([(np.zeros(4), 1)])
    print(history, measured, fluid.show_config())
