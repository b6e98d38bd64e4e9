"""``paddle.hub`` of paddle 2.6: models that the ``hubconf.py`` of a folder makes."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from ..errors import ArgumentError, FileError, UnknownVariableError, UnsupportedError
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries

__all__ = ["help", "list", "load"]

_SOURCES = ("github", "gitee", "local")


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    """The names of the models that a folder has.

    Args:
        repo_dir: the folder.
        source: ``"local"``.
        force_reload: accepted.

    Raises:
        UnsupportedError: another source: nothing is fetched.
        FileError: the folder has no ``hubconf.py``.
        ArgumentError: there is no such source.
    """
    known = _configuration(repo_dir, source)
    return [name for name in dir(known) if name[0] != "_" and callable(getattr(known, name))]


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str:
    """What the docstring of a model says.

    Args:
        repo_dir: the folder.
        model: the model's name.
        source: ``"local"``.
        force_reload: accepted.

    Raises:
        UnknownModelError: the folder has no such model.
    """
    return _model(repo_dir, model, source).__doc__ or ""


def load(
    repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any
) -> Any:
    """A model that the ``hubconf.py`` of a folder makes.

    Args:
        repo_dir: the folder.
        model: the name of a function, or of a class, of ``hubconf.py``.
        source: ``"local"``.
        force_reload: accepted.
        kwargs: what it is called with.

    Raises:
        UnsupportedError: another source: nothing is fetched.
        UnknownModelError: the folder has no such model, or it needs what is not installed.

    >>> import os, tempfile
    >>> from fluidlite import paddle
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "hubconf.py"), "w") as file:
    ...     _ = file.write("def pair(a, b=2):\\n    'Two numbers.'\\n    return a, b")
    >>> paddle.hub.list(folder, source="local")
    ['pair']
    >>> paddle.hub.load(folder, "pair", source="local", a=5)
    (5, 2)
    """
    return _model(repo_dir, model, source)(**kwargs)


class UnknownModelError(UnknownVariableError, RuntimeError):
    """A folder has no such model, or it needs what is not installed."""


def _configuration(repo_dir: str, source: str) -> ModuleType:
    if source not in _SOURCES:
        raise ArgumentError(f"expected source to be one of {', '.join(_SOURCES)}, got {source!r}")
    if source != "local":
        raise UnsupportedError(
            f"{repo_dir} of {source} is not fetched: fetch it, and say its folder with "
            f"source='local'"
        )
    path = os.path.join(repo_dir, "hubconf.py")
    spec = spec_from_file_location("hubconf", path) if os.path.isfile(path) else None
    if spec is None or spec.loader is None:
        raise FileError(f"{repo_dir}: expected a folder with a file hubconf.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _model(repo_dir: str, model: str, source: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ArgumentError(f"expected model to be the name of a function, got {model!r:.60}")
    known = _configuration(repo_dir, source)
    absent = [name for name in getattr(known, "dependencies", ()) if find_spec(name) is None]
    if absent:
        raise UnknownModelError(f"{model}: {', '.join(absent)} is needed and not installed")
    function = getattr(known, model, None)
    if not callable(function):
        raise UnknownModelError(f"hubconf.py of {repo_dir} has no function {model!r:.60}")
    return function


list_public_names(globals())
api_boundaries(globals())
