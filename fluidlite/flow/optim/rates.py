"""What all that sets the learning rates of an optimizer keeps."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isroutine
from typing import Any

from ...eager.engine import located
from ...errors import StateDictError
from ...ground.reprs import Described


class SetsRates(Described):
    """The rates that were set last, and a state with which training can go on."""

    _last_lr: list[float]

    def get_last_lr(self) -> list[float]:
        """The rates that were set last, one for each group."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """What has to be kept so that training can go on: numbers, texts and lists of them, also of
        the states of schedulers that this one uses, and of the attributes of objects that it calls.
        """
        return {name: _kept(value) for name, value in vars(self).items() if _is_kept(value)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state.

        Args:
            state_dict: what :meth:`state_dict` gave.

        Raises:
            StateDictError: it has other names, as of another kind; nothing is changed then.
        """
        self._need_fitting(state_dict)
        for name, value in state_dict.items():
            own = vars(self)[name]
            if _has_objects(own):
                for used, state in zip(own, value):
                    if isinstance(used, SetsRates):
                        used.load_state_dict(state)
                    elif state is not None:
                        vars(used).update(state)
            else:
                vars(self)[name] = value

    def _need_fitting(self, state: Mapping[str, Any]) -> None:
        own = self.state_dict()
        missing, unknown = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
        if missing or unknown:
            raise located(
                StateDictError,
                f"expected a state of {type(self).__name__}: missing names {missing}, "
                f"unknown names {unknown}",
            )
        for name, value in vars(self).items():
            if name not in own or not _has_objects(value):
                continue
            if len(state[name]) != len(value):
                raise located(
                    StateDictError, f"expected {len(value)} {name}, got {len(state[name])}"
                )
            for used, inner in zip(value, state[name]):
                if isinstance(used, SetsRates):
                    used._need_fitting(inner)


def _has_objects(value: Any) -> bool:
    """Whether this is a list of schedulers or functions, whose states are kept."""
    return isinstance(value, list) and any(isinstance(v, SetsRates) or callable(v) for v in value)


def _is_kept(value: Any) -> bool:
    listed = value if isinstance(value, (list, tuple)) else [value]
    plain = (bool, int, float, str)
    return _has_objects(value) or all(each is None or isinstance(each, plain) for each in listed)


def _kept(value: Any) -> Any:
    return [_state_of(each) for each in value] if _has_objects(value) else value


def _state_of(used: Any) -> Any:
    """The state of a scheduler, the attributes of an object; None for a function."""
    if isinstance(used, SetsRates):
        return used.state_dict()
    return None if isroutine(used) else dict(vars(used))
