"""Runs one of the programs beside this file, and prints what its ``results`` gives.

    python run.py PROGRAM SENTENCES [CHANGE [NAME ...]]

It is written for Python 3.7, too, which paddlepaddle 1.8.5 needs.  Where ``fluidlite`` can be
imported it is ``paddle``; libraries are found by ``PYTHONPATH``.
"""

import importlib
import json
import sys
import time


def main(name, sentences, *change):
    try:
        from fluidlite import compat
    except ImportError:
        pass
    else:
        compat.install(force=True, dropped_names=True, paddle="1.8")
    with open(sentences, encoding="utf-8") as file:
        lines = file.read().splitlines()
    program = importlib.import_module(name)
    start = time.time()
    found = program.results(lines, *change)
    print(name, "took", time.time() - start, file=sys.stderr)
    print("RESULTS " + json.dumps(found, ensure_ascii=True))


if __name__ == "__main__":
    program, sentences, *more = sys.argv[1:]
    sys.argv = [program]  # some libraries read it
    main(program, sentences, *more)
