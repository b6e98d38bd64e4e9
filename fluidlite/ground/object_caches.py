"""Caches that an object holds itself, so that both are freed together."""

from __future__ import annotations

from typing import Any
from weakref import ref

_ATTRIBUTE = "_fluidlite_cache"


class ObjectCache(dict[Any, Any]):
    """What was made for an object, by its makers.  Only the object holds it, so what is in it may
    hold the object.  Copies of the object, and files, have None in its place.

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


def cache_of(owner: Any) -> dict[Any, Any]:
    """The cache of an object; of one that takes no attributes, an empty one, which is not kept.

    Args:
        owner: the object.

    >>> import copy
    >>> class Net:
    ...     pass
    >>> net = Net()
    >>> cache_of(net)["maker"] = net
    >>> cache_of(net) == {"maker": net}, cache_of(copy.copy(net))
    (True, {})
    """
    attributes = getattr(owner, "__dict__", None)
    if not isinstance(attributes, dict):
        return {}
    cache = attributes.get(_ATTRIBUTE)
    if cache is None or cache.owner() is not owner:  # a shallow copy has the cache of another one
        cache = attributes[_ATTRIBUTE] = ObjectCache(owner)
    return cache
