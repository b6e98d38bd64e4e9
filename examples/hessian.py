"""Curvature: the Hessian of a function, products with it, and Newton's method.

python examples/hessian.py          computes, prints, draws hessian.svg
python examples/hessian.py --quick  fewer dimensions, no picture
"""

import argparse

import numpy as np

import fluidlite as fluid


def rosenbrock(x):
    """A valley that bends; its minimum, 0, is where every element is 1."""
    head, tail = x[:-1], x[1:]
    return fluid.sum((tail - head * head) ** 2 * 100.0 + (1.0 - head) ** 2)


def conjugate_gradient(product, right, steps):
    """The solution of ``H v = right``, where only products with H are known."""
    found = np.zeros_like(right)
    rest, direction = right.copy(), right.copy()
    for _ in range(steps):
        if rest @ rest < 1e-20:
            break
        turned = product(direction)
        length = rest @ rest / (direction @ turned)
        found += length * direction
        left = rest - length * turned
        direction = left + (left @ left) / (rest @ rest) * direction
        rest = left
    return found


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer dimensions")
    quick = parser.parse_args().quick
    size = 4 if quick else 12

    # the whole matrix, and its eigenvalues: how stretched the valley is
    x: fluid.Tensor = fluid.to_tensor(np.full(size, 0.9), stop_gradient=False)
    matrix = fluid.autograd.hessian(rosenbrock, x).numpy()
    values = np.linalg.eigvalsh(matrix)
    print(f"at 0.9 the curvature goes from {values[0]:.2f} to {values[-1]:.2f}")
    assert np.allclose(matrix, matrix.T)
    if not quick:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4, 3), layout="constrained")
        axes = figure.subplots()
        figure.colorbar(axes.imshow(matrix, cmap="RdBu", vmin=-1400, vmax=1400))
        figure.savefig("hessian.svg")

    # Newton's method needs products with the matrix only: the gradient of a gradient
    for step in range(8):
        x = fluid.to_tensor(x.numpy(), stop_gradient=False)
        value = rosenbrock(x)
        (slope,) = fluid.grad(value, x, create_graph=True)
        print(f"step {step}  f {value.item():.3e}  slope {np.linalg.norm(slope.numpy()):.3e}")

        def times_hessian(direction, slope=slope, x=x):
            seed = fluid.to_tensor(direction)
            return fluid.grad(slope, x, grad_outputs=seed, retain_graph=True)[0].numpy()

        step_back = conjugate_gradient(times_hessian, slope.numpy(), 2 * size)
        x = x - fluid.to_tensor(step_back)
    assert np.allclose(x.numpy(), 1, atol=1e-6)
    print("minimum at", x.numpy().round(4))


if __name__ == "__main__":
    main()
