"""``paddle.autograd.backward``: several tensors at once, each with its weight.

fluidlite run examples/documents/autograd_backward.py
"""

import paddle

x = paddle.to_tensor([[1, 2], [3, 4]], dtype="float32", stop_gradient=False)
y = paddle.to_tensor([[2, 1], [1, 2]], dtype="float32")
weight_1 = paddle.to_tensor([[1, 0], [2, 1]], dtype="float32")
weight_2 = paddle.to_tensor([[0, 1], [1, 0]], dtype="float32")

z1 = paddle.matmul(x, y)
z2 = paddle.matmul(x, y)
paddle.autograd.backward([z1, z2], [weight_1, weight_2], True)
print(x.grad)

x.clear_grad()
paddle.autograd.backward([z1, z2], [weight_1, None], True)
print(x.grad)

x.clear_grad()
paddle.autograd.backward([z1, z2])
print(x.grad.numpy().tolist())
