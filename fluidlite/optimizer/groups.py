"""Eager parameters of an optimizer, in groups that may have options of their own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ArgumentError, ParameterListError
from ..ground.arguments import refused
from ..ground.brain_float import kind_of
from ..ground.callsite import warn
from ..ground.dtypes import as_dtype
from ..ground.state import in_dygraph_mode
from ..ir.variable import is_tensor

Pair = tuple[Any, Any]  #: a parameter and its gradient; None where it has none
Options = Callable[[Mapping[str, Any]], dict[str, Any]]  #: what takes the options of a group


class ParameterGroup(NamedTuple):
    """Parameters and what holds for them alone."""

    names: frozenset[str]  #: of the parameters
    options: dict[str, Any]  #: by the attributes of the optimizer that they stand for
    given: dict[str, Any]  #: as the user wrote it, with its parameters as a list


class ParameterGroups:
    """The parameters of an optimizer of eager ones.

    Args:
        parameters: all of them.
        groups: theirs, when the user made some; else there is one, without options.
    """

    def __init__(self, parameters: list[Any], groups: Sequence[ParameterGroup] = ()) -> None:
        self.parameters = parameters
        self._groups = list(groups)
        self._options = {name: each.options for each in groups for name in each.names}
        self._shown: list[dict[str, Any]] = []
        self._before: list[dict[str, Any]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ParameterGroups:
        parameters = copy.deepcopy(self.parameters, memo)
        names = {old.name: new.name for old, new in zip(self.parameters, parameters)}
        return ParameterGroups(
            parameters,
            [
                ParameterGroup(
                    frozenset(names.get(name, name) for name in each.names),
                    copy.deepcopy(each.options, memo),
                    copy.deepcopy(each.given, memo),
                )
                for each in self._groups
            ],
        )

    def shown(self, usual: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The groups as the user wrote them, always the same ones; none where the user made none.

        Args:
            usual: what holds for a group that does not say it.
        """
        for group in self._groups[len(self._shown) :]:
            for name, value in usual.items():
                group.given.setdefault(name, value)
            self._shown.append(group.given)
            self._before.append(dict(group.given))
        return self._shown

    def follow(self, names: Callable[[], Iterable[str]], options: Options) -> None:
        """Take over what was written to groups since they were shown.

        Args:
            names: gives those of the options that may be written.
            options: what takes the options of a group.
        """
        for group, before in zip(self._groups, self._before):
            written = {
                name: group.given[name]
                for name in names()
                if name in group.given and group.given[name] is not before.get(name)
            }
            if written:
                rate = group.options["_learning_rate"]  # which paddle 2 reads once
                group.options.update({**options(written), "_learning_rate": rate})
                before.update(written)  # behind what may refuse it, in the next step again

    def add(self, kind: str, group: Mapping[str, Any], options: Options) -> None:
        """Update the parameters of one more group, too.

        Args:
            kind: what the optimizer is called.
            group: a dictionary with ``params`` and options.
            options: what takes the options of a group.

        Raises:
            ArgumentError: the optimizer has no groups, or one of the parameters already.
        """
        if not self._groups:
            raise ArgumentError(
                f"{kind}: its parameters are no groups, so that none can be added; make it with "
                "parameters=[{'params': [...]}]"
            )
        members = _members(kind, group)
        _distinct(kind, [*self.parameters, *members])
        more = ParameterGroup(
            frozenset(p.name for p in members), options(group), {**group, "params": members}
        )
        _check_disjoint(kind, [*self._groups, more])
        self._groups.append(more)
        self._options.update(dict.fromkeys(more.names, more.options))
        self.parameters.extend(members)

    @property
    def has_options(self) -> bool:
        """Whether the user made groups."""
        return bool(self._groups)

    def options_of(self, param: Any) -> Mapping[str, Any] | None:
        """What holds for a parameter's group; None where the user made no groups."""
        return self._options.get(param.name)

    def clipped(
        self, pairs: list[Pair], clip: Callable[[list[Pair]], Iterable[Pair]]
    ) -> list[Pair]:
        """Pairs with clipped gradients; each group is clipped by itself.

        Args:
            pairs: parameters and their gradients.
            clip: for groups that do not say how.
        """
        if not self._groups:
            return list(clip(pairs))
        clipped: list[Pair] = []
        for group in self._groups:
            own = [pair for pair in pairs if pair[0].name in group.names]
            chosen = group.options.get("_grad_clip", clip)
            clipped += own if chosen is None else chosen(own)
        return clipped


def holds_groups(given: Sequence[Any] | None) -> bool:
    """Whether a list of parameters has groups in it."""
    return any(isinstance(each, Mapping) for each in given or ())


def eager_groups(
    kind: str, given: Sequence[Any] | None, options: Options
) -> ParameterGroups | None:
    """The parameters of an optimizer, if it is one of eager ones; None if it is one of programs.

    Args:
        kind: what the optimizer is called.
        given: its parameters, or groups: dictionaries with ``params`` and options.
        options: what takes the options of a group.

    Raises:
        ParameterListError: layers run at once, and there is no list.
        ArgumentError: something in it is no eager parameter, or stands in two groups, or two have
            one name; a group lacks its parameters.
    """
    members = [_members(kind, each) for each in given or ()] if holds_groups(given) else None
    listed = given if members is None else [each for some in members for each in some]
    if not in_dygraph_mode() and not any(map(is_tensor, listed or ())):
        if members is not None:
            raise ArgumentError(f"{kind}: groups of parameters are for eager parameters")
        return None
    if listed is None:
        raise ParameterListError(
            f"{kind}: within dygraph.guard() an optimizer needs to know what to update: "
            f"parameter_list=net.parameters()"
        )
    distinct = _distinct(kind, listed)
    if members is None:
        if len(distinct) < len(listed):
            _warn_of_repeated(kind, [param.name for param in listed])
        return ParameterGroups(distinct)
    groups = [
        ParameterGroup(frozenset(p.name for p in some), options(each), {**each, "params": some})
        for some, each in zip(members, given or ())
    ]
    _check_disjoint(kind, groups)
    return ParameterGroups(distinct, groups)


def _warn_of_repeated(kind: str, names: Sequence[str]) -> None:
    twice = ", ".join(sorted({name for name in names if names.count(name) > 1}))
    warn(
        f"{kind}: listed more than once among the parameters: {twice}; a step updates each of them "
        f"once, where Paddle does so each time",
        None,
    )


def _members(kind: str, group: Any) -> list[Any]:
    """The parameters of a group."""
    if not isinstance(group, Mapping) or "params" not in group:
        wanted = "groups, dictionaries with params"
        raise refused(kind, "all of parameters", wanted, group)
    params = group["params"]
    if is_tensor(params):
        return [params]
    if isinstance(params, (str, bytes, set, frozenset)) or not isinstance(params, Iterable):
        raise refused(kind, "params of a group", "a list of eager parameters", params)
    return list(params)


def _distinct(kind: str, given: Sequence[Any]) -> list[Any]:
    """Parameters that are ones, param once."""
    for param in given:
        if not is_tensor(param):
            raise refused(kind, "all of parameter_list", "eager parameters", param)
        dtype = as_dtype(param.dtype).dtype
        if kind_of(dtype) != "f":
            raise ArgumentError(
                f"{kind}: expected parameters of floats, got {param.name!r} of {dtype}"
            )
    distinct = list({id(param): param for param in given}.values())
    names = [param.name for param in distinct]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"{kind}: two parameters are called {name!r}, so that their states cannot be told "
                f"apart; give one another name: parameter.name = ..."
            )
    return distinct


def _check_disjoint(kind: str, groups: Sequence[ParameterGroup]) -> None:
    seen: set[str] = set()
    for group in groups:
        twice = sorted(seen & group.names)
        if twice:
            raise ArgumentError(f"{kind}: {', '.join(twice)} stands in two groups")
        seen |= group.names
