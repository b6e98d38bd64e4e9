"""Runs in paddle 2.6: what it computes with the models of a folder.

    PADDLE26_PYTHON served_by_paddle2.py FOLDER

``NAME.feeds.npz`` has the inputs of ``NAME.pdmodel``; the results are written to
``NAME.results.npz``.
"""

import glob
import sys

import numpy as np
import paddle

paddle.enable_static()
for path in glob.glob(sys.argv[1] + "/*.feeds.npz"):
    stem = path[: -len(".feeds.npz")]
    feeds = np.load(path)
    with paddle.static.scope_guard(paddle.static.Scope()):
        executor = paddle.static.Executor(paddle.CPUPlace())
        try:
            program, names, targets = paddle.static.load_inference_model(stem, executor)
            values = {name: feeds[key] for name, key in zip(names, feeds.files)}
            results = executor.run(program, feed=values, fetch_list=targets)
        except Exception as error:
            print(f"{stem}: {type(error).__name__}: {str(error).strip()[-300:]}", flush=True)
            continue
        np.savez(stem + ".results.npz", *results)
