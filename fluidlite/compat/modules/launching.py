"""``paddle.distributed.launch``: a script in one process for each device, here by fluidlite's
launcher.

    fluidlite run -m paddle.distributed.launch --selected_gpus=0,1 train.py
"""

from __future__ import annotations

import argparse
import sys

from ...distributed import launch as launcher
from ...errors import UnsupportedError
from ..served import synthetic_data

#: options that say how machines find each other, and what is printed: MPI does that
_NOT_READ = ("--node_ip", "--started_port", "--log_level", "--log_dir")
_HERE = ("", "127.0.0.1", "localhost")


def _parse_args(words: list[str] | None = None) -> argparse.Namespace:
    argument_parser = argparse.ArgumentParser(
        prog="paddle.distributed.launch",
        description="Run a script in several processes of this machine, by MPI.",
    )
    argument_parser.add_argument(
        "--selected_gpus", help="numbers with commas: one process for each"
    )
    argument_parser.add_argument("--nproc_per_node", type=int, help="how many processes")
    argument_parser.add_argument("--cluster_node_ips", default="", help="this machine")
    for name in _NOT_READ:
        argument_parser.add_argument(name, help="not read")
    for name in ("--use_paddlecloud", "--print_config"):
        argument_parser.add_argument(name, nargs="?", const=True, help="not read")
    argument_parser.add_argument("training_script")
    argument_parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return argument_parser.parse_args(words)


def launch(words: list[str] | None = None) -> None:
    """Run a script in several processes, and end with their exit status.

    Args:
        words: what stands behind the launcher's name; that of this process when None.

    Raises:
        UnsupportedError: there are to be several machines; says what to write instead.
    """
    options = _parse_args(words)
    if options.cluster_node_ips not in _HERE:
        raise UnsupportedError(
            f"--cluster_node_ips {options.cluster_node_ips}: on several machines MPI starts "
            "processes: mpiexec -hosts HOST,HOST -n N fluidlite run SCRIPT"
        )
    own = ["-m", "fluidlite", "run", *(["--synthetic-data"] if synthetic_data.get() else [])]
    count = options.nproc_per_node or len((options.selected_gpus or "").split(","))
    asked = options.nproc_per_node or options.selected_gpus
    number = ["--nproc", str(count)] if asked else []
    script = [options.training_script, *options.training_script_args]
    sys.exit(launcher.main([*number, *own, *script]))


__all__ = ["launch"]
