"""How a program or a layer is trained in several processes: switches, and their settings."""

from __future__ import annotations

from typing import Any

from ....compiler import BuildStrategy, ExecutionStrategy
from ....errors import ArgumentError, FileFormatError, UnsupportedError
from ....ground.callsite import warn
from ....ground.files import Path
from ....ground.missing_names import PARAMETER_SERVERS
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....proto.prototext import ToldSettings, parsed
from .switches import SETTINGS, SWITCHES

__all__ = ["DistributedStrategy"]

#: a switch -> its name in files, where that is another
_KEPT_AS = {"is_with_coordinator": "with_coordinator"}
_DEFAULTS: dict[str, Any] = {**SWITCHES, **SETTINGS}
#: objects with settings -> their classes
_OBJECTS: dict[str, Any] = {
    "build_strategy": BuildStrategy, "execution_strategy": ExecutionStrategy,
}  # fmt: skip


class DistributedStrategy:
    """How a program or a layer is trained in several processes.

    Each switch is an attribute, and its settings are a dictionary that is said in parts.  What no
    program here can do is refused when it is used, by ``distributed_optimizer``.

    >>> from fluidlite import paddle
    >>> strategy = paddle.distributed.fleet.DistributedStrategy()
    >>> strategy.gradient_merge = True
    >>> strategy.gradient_merge_configs = {"k_steps": 4}
    >>> strategy.gradient_merge_configs
    {'k_steps': 4, 'avg': True}
    """

    def __init__(self) -> None:
        self._told = ToldSettings(_DEFAULTS)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise ArgumentError(f"DistributedStrategy has no switch {name!r}")
        super().__setattr__(name, value)

    def save_to_prototxt(self, output: Path) -> None:
        """Write what is not as by default, as a text.

        Args:
            output: the file.
        """
        with open(output, "w", encoding="utf-8") as file:
            file.write(str(self))

    def load_from_prototxt(self, pb_file: Path) -> None:
        """Read what ``save_to_prototxt`` has written.

        Args:
            pb_file: the file.

        Raises:
            FileFormatError: it is no such text.
        """
        with open(pb_file, encoding="utf-8") as file:
            text = file.read()
        try:
            self._told = parsed(text, _DEFAULTS)
        except ValueError as error:
            raise FileFormatError(f"{pb_file} is no strategy: {error}") from None

    def __str__(self) -> str:
        return str(self._told)

    def __repr__(self) -> str:
        told = ", ".join(self._told.told())
        return f"<DistributedStrategy: {told or 'as by default'}>"


def _tables(name: str) -> property:
    """Settings of tables of parameters."""

    def get(self: DistributedStrategy) -> list[Any]:
        return []

    def put(self: DistributedStrategy, configs: object) -> None:
        raise UnsupportedError(f"{name}: no process keeps parameters; use {PARAMETER_SERVERS}")

    return property(
        get, put, doc="Nothing: tables are those of servers of parameters, which there are not."
    )


def _switch(name: str, default: Any) -> property:
    """A switch or a number."""
    written = _KEPT_AS.get(name, name)
    kinds = (int, float) if type(default) is float else type(default)

    def get(self: DistributedStrategy) -> Any:
        return self._told.get(written)

    def put(self: DistributedStrategy, value: Any) -> None:
        if not isinstance(value, kinds) or (
            isinstance(value, bool) is not isinstance(default, bool)
        ):
            if name == "a_sync":
                raise ArgumentError(f"expected a_sync to be True or False, got {value!r:.60}")
            warn(
                f"DistributedStrategy.{name}: expected {type(default).__name__}, got "
                f"{value!r:.60}; it stays {get(self)}",
                None,
            )
            return
        if name == "last_comm_group_size_MB" and value <= 0:
            raise ArgumentError(f"expected {name} to be more than 0, got {value}")
        self._told.put(written, value)
        if name == "a_sync":
            self.a_sync_configs = {"k_steps": 0}

    return property(get, put, doc=f"{default!r} by default.")


def _plain(settings: ToldSettings) -> dict[str, Any]:
    """Settings as a dictionary."""
    plain: dict[str, Any] = {}
    for name in settings.defaults:
        value = settings.get(name)
        if isinstance(value, ToldSettings):
            value = _plain(value)
        plain[name] = list(value) if isinstance(value, list) else value
    return plain


def _tell(settings: ToldSettings, configs: dict[str, Any], what: str) -> None:
    """Take what a dictionary says; lists are added to those that are there, as in paddle 2."""
    defaults = settings.defaults
    for name, value in configs.items():
        if name not in defaults:
            raise ArgumentError(f"{what}: there is no {name!r}, there are {', '.join(defaults)}")
        try:
            if isinstance(defaults[name], dict):
                _tell(settings.get(name), value, f"{what}[{name!r}]")
            elif isinstance(defaults[name], list):
                settings.extend(name, value)
            else:
                settings.put(name, value)
        except (TypeError, ValueError) as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(f"{what}[{name!r}]: {error}") from None


def _settings(name: str) -> property:
    """The settings of a switch, as a dictionary."""

    def get(self: DistributedStrategy) -> dict[str, Any]:
        return _plain(self._told.get(name))

    def put(self: DistributedStrategy, configs: Any) -> None:
        if not isinstance(configs, dict):
            raise ArgumentError(f"expected {name} to be a dictionary, got {configs!r:.60}")
        changed = self._told.copy()
        _tell(changed.get(name), configs, name)
        self._told = changed

    return property(get, put, doc="A dictionary; what it is given is said anew, the rest stays.")


def _object(name: str) -> property:
    """An object that has settings as attributes; what it has besides is not kept in files."""
    kind = _OBJECTS[name]

    def get(self: DistributedStrategy) -> Any:
        strategy = kind()
        for attribute, default in SETTINGS[name].items():
            if isinstance(getattr(strategy, attribute, None), type(default)):
                setattr(strategy, attribute, self._told.get(name).get(attribute))
        return strategy

    def put(self: DistributedStrategy, strategy: Any) -> None:
        if not isinstance(strategy, kind):
            raise ArgumentError(f"expected a {kind.__name__}, got {strategy!r:.60}")
        for attribute, default in SETTINGS[name].items():
            value = getattr(strategy, attribute, None)
            if isinstance(value, type(default)):
                self._told.get(name).put(attribute, value)

    return property(get, put, doc=f"A ``{kind.__name__}``.")


for _name, _default in SWITCHES.items():
    _shown = {kept: shown for shown, kept in _KEPT_AS.items()}.get(_name, _name)
    setattr(DistributedStrategy, _shown, _switch(_shown, _default))
for _name in SETTINGS:
    setattr(DistributedStrategy, _name, (_object if _name in _OBJECTS else _settings)(_name))

for _name in ("sparse_table_configs", "fleet_desc_configs"):
    setattr(DistributedStrategy, _name, _tables(_name))

list_public_names(globals())
api_boundaries(globals())
