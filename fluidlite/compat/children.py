"""Processes that a program starts anew have the alias, too.

Such a process (``multiprocessing`` with ``spawn`` or ``forkserver``) gets the import path of the
one that starts it, and imports the program again.  At the end of that path stands a folder whose
``paddle`` and ``oneflow`` install the alias and make room for it.  A command (of a data set's
files, say) gets the folder by ``PYTHONPATH``.

Where MPI has started several processes, programs find what Paddle's launcher would have told them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from ..ground import state
from ..ground.job_environment import as_variables, launched

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
_OPTIONS = "FLUIDLITE_ALIAS"
_ALLOW = "allow="
_PADDLE = "paddle="
#: variables of Paddle's launcher that were set, and what they were before
_trainers: state.StateSlot[dict[str, str | None]] = state.slot("trainers", dict)


def announce(allow: Sequence[str], **options: bool) -> None:
    """Let processes that are started from now on have the alias.

    Args:
        allow, options: of ``install``.
    """
    words = [name for name, value in options.items() if value]
    os.environ[_OPTIONS] = " ".join([*words, *(_ALLOW + kind for kind in allow)])
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    if FOLDER not in _python_path():
        os.environ["PYTHONPATH"] = os.pathsep.join([*_python_path(), FOLDER])
    found = launched()
    if found.by_mpi and found.size > 1 and not _trainers.get():
        said = as_variables(found)
        _trainers.switch({name: os.environ.get(name) for name in said})
        os.environ.update(said)


def tell_edition(edition: str) -> None:
    """Let those processes mean the paddle that this one means.

    Args:
        edition: the version.
    """
    if _OPTIONS in os.environ:
        words = [word for word in os.environ[_OPTIONS].split() if not word.startswith(_PADDLE)]
        os.environ[_OPTIONS] = " ".join([*words, f"{_PADDLE}{edition}"])


def withdraw() -> None:
    """Let them have it no more."""
    os.environ.pop(_OPTIONS, None)
    for name, before in _trainers.get().items():
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
    _trainers.switch({})
    if FOLDER in sys.path:
        sys.path.remove(FOLDER)
    if FOLDER in _python_path():
        os.environ["PYTHONPATH"] = os.pathsep.join(f for f in _python_path() if f != FOLDER)
        if not os.environ["PYTHONPATH"]:
            del os.environ["PYTHONPATH"]


def _python_path() -> list[str]:
    """The folders that processes which are started search first."""
    return [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]


def adopt(package: str) -> None:
    """Install the alias in this process as it is in the one that started it.

    Args:
        package: the one whose import has begun it; nothing is done where that is a module of
            this package, as a walk over its modules imports it.
    """
    if "." in package:
        return
    words = os.environ.get(_OPTIONS, "").split()
    allow = [word.removeprefix(_ALLOW) for word in words if word.startswith(_ALLOW)]
    editions = [word.removeprefix(_PADDLE) for word in words if word.startswith(_PADDLE)]
    options = dict.fromkeys((word for word in words if "=" not in word), True)
    compat = import_module(__package__ or "")
    sys.modules.pop(package, None)
    compat.install(**{**options, "allow": allow, "paddle": (*editions, None)[0]})
    import_module(package)
