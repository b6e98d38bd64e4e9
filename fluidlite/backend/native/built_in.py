"""Kernels as Python's built-in functions: a call of one takes 0.1 microseconds, and one of what
``ctypes`` makes 0.4.

A kernel of a file in C has two further functions for it.  ``NAME_begin`` takes the objects that
stand for statuses, and what notes one more reference to an object; ``NAME_called`` is a method as
Python calls it, of a tuple of arrays.  No header of Python is needed: what notes the reference is
one of its own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import (
    PYFUNCTYPE,
    Structure,
    addressof,
    c_char_p,
    c_int,
    c_void_p,
    cast,
    py_object,
    pythonapi,
)
from functools import cache
from typing import Any

_OF_ONE_ARGUMENT = 8  # METH_O, as methodobject.h has it
#: what statuses of several blocks may be together
_STATUSES: Any = (py_object * 8)()
_STATUSES[:] = range(8)


class _Definition(Structure):
    """PyMethodDef."""

    _fields_ = (("name", c_char_p), ("function", c_void_p), ("flags", c_int), ("doc", c_char_p))


def lines_of_call() -> Iterator[str]:
    """The C of the functions of a kernel that these here use."""
    yield "static PyObject **NAME_statuses;"
    yield "static void (*NAME_hold)(PyObject *);"
    yield "void NAME_begin(PyObject **statuses, void (*hold)(PyObject *)) {"
    yield "  NAME_statuses = statuses;"
    yield "  NAME_hold = hold;"
    yield "}"
    yield "PyObject *NAME_called(PyObject *self, PyObject *args) {"
    yield "  PyObject *status = NAME_statuses[NAME(args)];"
    yield "  NAME_hold(status);"
    yield "  return status;"
    yield "}"


def built_in(library: Any, name: str) -> Callable[[tuple[Any, ...]], int]:
    """A kernel as a built-in function, which holds Python's lock.

    Args:
        library: that has it.
        name: of the kernel.
    """
    function: Callable[[tuple[Any, ...]], int] = _made(library, name)[0]
    return function


@cache
def _made(library: Any, name: str) -> tuple[Any, _Definition]:
    """The function, and its definition, which has to stay as long as that."""
    begin, called = library[f"{name}_begin"], library[f"{name}_called"]
    begin.argtypes, begin.restype = [c_void_p, c_void_p], None
    begin(addressof(_STATUSES), cast(pythonapi.Py_IncRef, c_void_p))
    make = PYFUNCTYPE(py_object, c_void_p, c_void_p, c_void_p)(("PyCFunction_NewEx", pythonapi))
    definition = _Definition(b"kernel", cast(called, c_void_p), _OF_ONE_ARGUMENT, None)
    return make(addressof(definition), None, None), definition
