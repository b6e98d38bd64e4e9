"""Runs in the real system, a Python that has paddlepaddle 1.8.5 or 2.6.2: serves models.

    REAL_PYTHON serve_in_real.py FOLDER

Below ``FOLDER`` each model is a folder with ``net.pdmodel``, or with ``__model__``, and what it is
fed, ``input.npy``.  Its first output goes to ``output.npy`` there.
"""

import os
import sys

import numpy as np
import paddle


def load_of_1_8(folder, exe):
    import paddle.fluid as fluid

    files = ["net.pdmodel", "net.pdiparams"] if is_of_2(folder) else []
    return fluid.io.load_inference_model(folder, exe, *files)


def load_of_2(folder, exe):
    if is_of_2(folder):
        return paddle.static.load_inference_model(os.path.join(folder, "net"), exe)
    files = dict(model_filename="__model__", params_filename=None)
    return paddle.static.load_inference_model(folder, exe, **files)


def is_of_2(folder):
    return os.path.exists(os.path.join(folder, "net.pdmodel"))


def main(above):
    if paddle.__version__.startswith("1."):
        from paddle.fluid import CPUPlace, Executor, Scope, scope_guard

        load = load_of_1_8
    else:
        from paddle import CPUPlace
        from paddle.base.core import Scope
        from paddle.static import Executor, scope_guard

        paddle.enable_static()
        load = load_of_2
    for name in sorted(os.listdir(above)):
        folder = os.path.join(above, name)
        exe = Executor(CPUPlace())
        with scope_guard(Scope()):
            program, feeds, fetches = load(folder, exe)
            feed = {feeds[0]: np.load(os.path.join(folder, "input.npy"))}
            (output,) = exe.run(program, feed=feed, fetch_list=fetches[:1])
        np.save(os.path.join(folder, "output.npy"), output)


if __name__ == "__main__":
    main(sys.argv[1])
