"""The rules of the form of graphs."""

from __future__ import annotations

from .graph import Graph
from .value import GraphError


def verify(graph: Graph) -> None:
    """Check the form of a graph, and of the bodies in it.

    Raises:
        GraphError: a value is read before it is made, made twice, or given back and not made; users
            are not up to date; or what is started is not waited for once.
    """
    known = set() if graph.around is None else {v.number for v in graph.captured}
    known.update(v.number for v in graph.inputs.values())
    for instruction in graph:
        for value in instruction.inputs:
            if value.constant is None and value.number not in known:
                raise GraphError(f"{instruction!r} reads {value!r}, which is not made before")
            if instruction not in value.users:
                raise GraphError(f"{value!r} does not know that {instruction!r} reads it")
        for body in instruction.bodies:
            verify(body)
        for value in instruction.results:
            if value.number in known or value.producer is not instruction:
                raise GraphError(f"{value!r} is made twice")
            known.add(value.number)
    for instruction in graph:
        for value in instruction.results:
            for user in value.users:
                if all(each is not value for each in user.inputs):
                    raise GraphError(f"{value!r} has a user that does not read it: {user!r}")
            if instruction.phase == "start" and [u.phase for u in value.users] != ["wait"]:
                raise GraphError(f"{instruction!r} is not waited for once")
    for name, value in graph.outputs.items():
        if value.constant is None and value.number not in known:
            raise GraphError(f"{name!r} is given back as {value!r}, which nothing makes")
