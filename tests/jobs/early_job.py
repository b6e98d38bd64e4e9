"""A script in which the second process fails before it has joined the others, in the way that the
first argument names.
"""

import sys
import time

from fluidlite.ground.job_environment import launched

if launched().rank == 1:
    if sys.argv[1] == "raises":
        raise ValueError("a mistake of the user's")
    if sys.argv[1] == "ends well":
        sys.exit(0)
    if sys.argv[1] == "ends":
        sys.exit(7)
    if sys.argv[1] == "hangs":
        time.sleep(1000)

import fluidlite as fluid

if __name__ == "__main__":
    fluid.distributed.join()
