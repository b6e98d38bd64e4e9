"""Gradients add up from one ``Tensor.backward`` to the next, as Paddle 2's documents show it.

fluidlite run examples/documents/tensor_backward.py
"""

import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
for step in range(3):
    y = paddle.pow(x, 3.0)
    y.backward()
    print(f"{step}: {x.grad}")

x.clear_grad()
print(x.grad)

weight = paddle.to_tensor(0.5)
for step in range(3):
    y = paddle.pow(x, 3.0)
    y.backward(weight)
    print(f"{step}: {float(x.grad)}")
