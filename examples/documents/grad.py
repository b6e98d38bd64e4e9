"""``paddle.grad``: derivatives of derivatives, and weights of outputs.

fluidlite run examples/documents/grad.py
"""

import paddle


def second_order(create_graph):
    x = paddle.ones(shape=[1], dtype="float32")
    x.stop_gradient = False
    y = x * x * x
    # what is computed for dx can be differentiated only where a graph is made
    dx = paddle.grad(outputs=[y], inputs=[x], create_graph=create_graph, retain_graph=True)[0]
    z = y + dx
    # without a graph, z = x * x * x + 3 is differentiated as x * x * x alone
    z.backward()
    return x.gradient()


print(second_order(create_graph=False))
print(second_order(create_graph=True))


def weighted(grad_outputs=None):
    x = paddle.to_tensor(3.0)
    x.stop_gradient = False
    y1 = x * x
    y2 = x * 5
    dx = paddle.grad(outputs=[y1, y2], inputs=[x], grad_outputs=grad_outputs)[0]
    return dx.numpy()


weight = paddle.to_tensor(4.0)
print(weighted())
print(weighted([None, weight]))
print(weighted([weight, None]))
print(weighted([paddle.to_tensor(1.5), weight]))
