"""What owns parameters, buffers and further owners: it remembers what its attributes are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..eager.engine import located
from ..errors import ArgumentError, FluidError, suggestion
from ..ground.protected import raise_refused
from ..ground.tracebacks import cut, is_boundary

_PACKAGE = __name__.partition(".")[0]


class Kept(NamedTuple):
    """One kind of things that are remembered."""

    kinds: Any  #: their classes
    said: str  #: one of them in messages
    assigned: bool = True  #: whether any attribute that is given one becomes one of them


class Owner:
    """The base of layers and modules in all spellings; :func:`remembers` says what a class does."""

    _keeps: ClassVar[Mapping[str, Kept]] = {}  #: attribute with the dictionary -> of what
    _within: ClassVar[str]  #: that of further owners
    #: whether ``repr`` says what it is on the line of the class, and not on one of its own
    _continues: ClassVar[bool] = False

    def __init__(self) -> None:
        self.__dict__.update((place, {}) for place in self._keeps)

    if TYPE_CHECKING:  # which :func:`remembers` gives a class

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __delattr__(self, name: str) -> None:
        for place in self._keeps:
            if name in self.__dict__[place]:
                del self.__dict__[place][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        kept = (self.__dict__.get(place, ()) for place in self._keeps)
        return sorted({*object.__dir__(self), *(name for names in kept for name in names)})

    def _keep(self, place: str, name: str, value: Any) -> None:
        if place not in self.__dict__:
            raise located(
                ArgumentError,
                f"call super().__init__() of {type(self).__name__} before assigning {name!r}: "
                f"it is where {self._keeps[place].said} is remembered",
            )
        self.__dict__.pop(name, None)
        for other in self._keeps:
            if other != place:
                self.__dict__[other].pop(name, None)
        self.__dict__[place][name] = value

    def _has(self, name: str) -> bool:
        """Whether there is an attribute, as ``hasattr`` says, which has a message made for none."""
        if any(name in self.__dict__.get(place, ()) for place in self._keeps):
            return True
        try:
            object.__getattribute__(self, name)
        except AttributeError:
            is_users = type(self).__getattr__.__module__.partition(".")[0] != _PACKAGE
            return is_users and hasattr(self, name)
        return True

    def _unfit(self, place: str, name: str, value: Any) -> FluidError:
        return located(
            ArgumentError,
            f"attribute {name!r} of {type(self).__name__} holds {self._keeps[place].said}: "
            f"expected another one or None, got {value!r:.60} of type {type(value).__name__}; "
            f"delete it first, or use another name",
        )

    def extra_repr(self) -> str:
        """What ``repr`` says besides the class and what lies within."""
        return ""

    def __repr__(self) -> str:
        within = self.__dict__[self._within].items()
        shown = [f"({n}): {each!r}".replace("\n", "\n  ") for n, each in within if each is not None]
        body = self.extra_repr().replace("\n", "\n  ")
        if shown:
            before = body if self._continues else f"\n  {body}" if body else ""
            body = before + "\n  " + "\n  ".join(shown) + "\n"
        elif "\n" in body:
            body = f"\n  {body}\n"
        return f"{type(self).__name__}({body})"


def remembers(owner: Any, keeps: Mapping[str, Kept], read_out: Callable[[Any], Any]) -> None:
    """Let a class remember what its attributes are given.

    Args:
        owner: the class, an :class:`Owner`.
        keeps: what, by the attribute that has the dictionary of it.
        read_out: what an attribute gives for what is remembered.
    """
    keep(owner, keeps)
    owner.__getattr__ = _reading(tuple(keeps), read_out)


def keep(owner: Any, keeps: Mapping[str, Kept]) -> None:
    """Say what a class remembers of what its attributes are given; see :func:`remembers`."""
    owner._keeps = keeps
    owner.__setattr__ = is_boundary(_assigning(keeps))


def _reading(places: tuple[str, ...], read_out: Callable[[Any], Any]) -> Any:
    def __getattr__(self: Any, name: str) -> Any:
        for place in places:
            found = self.__dict__.get(place)
            if found is not None and name in found:
                return read_out(found[name])
        if name[:1] == "_":
            raise_refused(type(self), name)
        known = dir(self) if name.isidentifier() and name[0] != "_" else []
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}{suggestion(name, known)}"
        )

    return __getattr__


def _assigning(keeps: Mapping[str, Kept]) -> Any:
    assigned = tuple((place, kept.kinds) for place, kept in keeps.items() if kept.assigned)
    kinds_kept = tuple(kinds for _, kinds in assigned)
    places = tuple(keeps)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        try:
            if isinstance(value, kinds_kept):
                for place, kinds in assigned:
                    if isinstance(value, kinds):
                        self._keep(place, name, value)
                        return
            own = self.__dict__
            for place in places:
                if place in own and name in own[place]:
                    if value is not None and not isinstance(value, keeps[place].kinds):
                        raise self._unfit(place, name, value)
                    own[place][name] = value
                    return
            object.__setattr__(self, name, value)
        except Exception as error:
            cut(error)
            raise

    return __setattr__
