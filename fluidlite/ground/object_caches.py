"""What is made for an object and lives as long as it does."""

from __future__ import annotations

from typing import Any
from weakref import ref

_PLACE = "_belongings"


class Belongings(dict[Any, Any]):
    """Things by who made them for an object, which alone holds them: they may hold it, too, and are
    freed with it.  Copies of the object, and files, have None in their place.

    Args:
        owner: the object.
    """

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.owner = ref(owner)

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        return None

    def __reduce__(self) -> Any:
        return type(None), ()


def belongings(owner: Any) -> dict[Any, Any]:
    """What belongs to an object; of one that takes no attributes, nothing, which is not kept.

    Args:
        owner: the object.

    >>> import copy
    >>> class Net:
    ...     pass
    >>> net = Net()
    >>> belongings(net)["maker"] = net
    >>> belongings(net) == {"maker": net}, belongings(copy.copy(net))
    (True, {})
    """
    attributes = getattr(owner, "__dict__", None)
    if not isinstance(attributes, dict):
        return {}
    held = attributes.get(_PLACE)
    if held is None or held.owner() is not owner:  # a copy has what the object has
        held = attributes[_PLACE] = Belongings(owner)
    return held
