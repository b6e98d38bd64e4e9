"""Two threads that train two programs in two scopes do not meet."""

import threading

import numpy as np

import fluidlite as fluid


def train(kind, steps=30):
    """Build and train a net under guards of its own; the losses and the names of its parameters."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 4
    optimizers = {"sgd": fluid.optimizer.SGD, "adam": fluid.optimizer.Adam}
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 4], "float32")
        hidden = fluid.layers.fc(x, 3 if kind == "sgd" else 5, act="tanh")
        loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(hidden, 1)))
        optimizers[kind](0.05).minimize(loss)
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        exe.run(startup)
        feed = {"x": np.random.default_rng(0).normal(size=[8, 4]).astype("float32")}
        losses = [exe.run(main, feed, [loss])[0].item() for _ in range(steps)]
    return losses, [p.name for p in main.all_parameters()]


def test_two_threads_train_as_they_would_alone():
    alone = {kind: train(kind) for kind in ("sgd", "adam")}
    together, failed = {}, []
    begin = threading.Barrier(4)

    def work(number, kind):
        try:
            begin.wait()
            together[number] = (kind, train(kind))
        except Exception as error:  # shown by the assertion below
            failed.append(error)

    threads = [
        threading.Thread(target=work, args=(k, kind))
        for k, kind in enumerate(("sgd", "adam", "sgd", "adam"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for kind, found in together.values():
        assert found == alone[kind]
    assert not fluid.default_main_program().global_block().ops
    assert not list(fluid.global_scope())
