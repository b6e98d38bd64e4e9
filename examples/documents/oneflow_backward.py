"""OneFlow's ``Tensor.backward``: with a gradient, kept graphs, and graphs of gradients.

fluidlite run examples/documents/oneflow_backward.py
"""

import oneflow as flow

x = flow.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
y = (x * x).sum()
y.backward(retain_graph=True)
y.backward()
print(x.grad)

x.grad = None
z = x * x * x
z.backward(gradient=flow.ones(2, 2), create_graph=True)
print(x.grad.detach())

(second,) = flow.autograd.grad((x * x * x).sum(), x, create_graph=True)
second.sum().backward()
print(x.grad.numpy().tolist())
