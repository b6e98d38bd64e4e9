"""A plugin of pytest for systems like a browser: no threads, no processes, no foreign libraries.

python -m pytest -p confined tests/backward
"""

import _posixsubprocess
import ctypes
import multiprocessing.connection  # noqa: F401  while its module is there
import os
import subprocess
import sys
import threading


def _no_thread(self):
    raise RuntimeError("can't start new thread")


def _no_process(*args, **more):
    raise BlockingIOError("processes are refused")


class _NoLibrary:
    def __init__(self, *args, **more):
        raise OSError("libraries are refused")


threading.Thread.start = _no_thread
os.fork = _posixsubprocess.fork_exec = subprocess._fork_exec = _no_process
ctypes.CDLL = ctypes.PyDLL = _NoLibrary
sys.modules["_multiprocessing"] = None
