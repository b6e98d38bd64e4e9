"""What a process runs that :func:`spawn` started: the function that a file names."""

from __future__ import annotations

import pickle
import sys
from multiprocessing import spawn


def main(path: str) -> None:
    """Call the function; the module of the program is read first, as another than a script.

    Args:
        path: the file.
    """
    with open(path, "rb") as file:
        spawn.prepare(pickle.load(file))
        function, arguments = pickle.load(file)
    function(*arguments)


if __name__ == "__main__":
    main(sys.argv[1])
