"""What all that sets the learning rates of an optimizer keeps."""

from __future__ import annotations

from collections.abc import Mapping
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
        """What has to be kept so that training can go on: numbers, texts and lists of them."""
        return {name: value for name, value in vars(self).items() if _is_kept(value)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state.

        Args:
            state_dict: what :meth:`state_dict` gave.

        Raises:
            StateDictError: it has other names, as of another kind; nothing is changed then.
        """
        missing = sorted(self.state_dict().keys() - state_dict.keys())
        unknown = sorted(state_dict.keys() - self.state_dict().keys())
        if missing or unknown:
            raise located(
                StateDictError,
                f"expected a state of {type(self).__name__}: missing names {missing}, "
                f"unknown names {unknown}",
            )
        vars(self).update(state_dict)


def _is_kept(value: Any) -> bool:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return all(each is None or isinstance(each, (bool, int, float, str)) for each in listed)
