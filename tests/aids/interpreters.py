"""What tests need of the interpreter."""

import sys

import pytest

has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()

#: CPython 3.13 without its lock frees no function once a thread has run, nor what functions hold
frees_functions = pytest.mark.skipif(not has_lock, reason="CPython 3.13t frees no functions")
#: without the lock other threads could read an array that is half written
updates_in_place = pytest.mark.skipif(not has_lock, reason="without the lock nothing is in place")
