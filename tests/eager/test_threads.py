"""Threads record and differentiate side by side."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import fluidlite as fluid


def leaf(values):
    return fluid.to_tensor(np.array(values, "float64"), stop_gradient=False)


def test_recording_is_switched_for_one_thread():
    x, seen = leaf([1.0]), []
    with fluid.no_grad():
        thread = threading.Thread(target=lambda: seen.append((x * x).stop_gradient))
        thread.start()
        thread.join()
        seen.append((x * x).stop_gradient)
    assert seen == [False, True]


def test_gradients_of_a_common_leaf_all_count():
    w = leaf(np.ones(4))

    def work(k):
        for _ in range(50):
            fluid.sum(fluid.tanh(w * float(k)) * 0.0 + w).backward()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    np.testing.assert_array_equal(w.grad, np.full(4, 400.0))


def test_a_common_graph_can_be_differentiated_by_several_threads():
    x = leaf(np.arange(1.0, 4.0))
    m = fluid.exp(x)
    for _ in range(20):
        m = m * 0.9 + fluid.sin(m)
    y = fluid.sum(m)
    (expected,) = fluid.grad(y, x, retain_graph=True)

    def work(_):
        return fluid.grad(y, x, retain_graph=True)[0].numpy()

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(64)):
            np.testing.assert_array_equal(found, expected)


def test_threads_work_on_graphs_of_their_own():
    def work(k):
        x = leaf([float(k)])
        (slope,) = fluid.grad(x * x * x, x, create_graph=True)
        (second,) = fluid.grad(slope, x)
        return float(slope), float(second)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(100)))
    assert found == [(3.0 * k * k, 6.0 * k) for k in range(100)]


def test_new_operators_can_be_prepared_by_several_threads_at_once():
    def work(k):
        x = leaf(np.ones([1 + k % 5, 2 + k % 3]))
        y = fluid.sum(fluid.nn.functional.softmax(x * 2.0, axis=k % 2) * x, axis=k % 2)
        fluid.sum(y * y).backward()
        return x.grad.shape == x.shape

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))
