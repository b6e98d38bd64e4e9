"""A training in which the last process fails in the way that the first argument names."""

import atexit
import os
import signal
import sys
import time

import numpy as np

import fluidlite as fluid
from fluidlite.ground.job_environment import launched


def main(fault):
    if fault == "is killed behind its end" and launched().rank == launched().size - 1:
        atexit.register(os.kill, os.getpid(), signal.SIGKILL)  # runs when all have left
    group = fluid.distributed.join()
    is_faulty = group.rank == group.size - 1
    x = fluid.data("x", [None, 3], "float32")
    width = 5 if fault == "another program" and is_faulty else 4
    loss = fluid.layers.mean(fluid.layers.fc(x, width, act="relu"))
    fluid.optimizer.Adam(0.1).minimize(loss)
    main = fluid.distributed.data_parallel(fluid.default_main_program())
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for step in range(12):
        if step == 5 and is_faulty:
            if fault == "raises":
                raise ValueError("a mistake of the user's")
            if fault == "is killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "hangs":
                time.sleep(1000)
            if fault == "ends":
                sys.exit(3)
        if fault == "is slow at first" and step == 0 and is_faulty:
            time.sleep(3)
        exe.run(main, feed={"x": np.ones([4, 3], "float32")}, fetch_list=[loss])
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
