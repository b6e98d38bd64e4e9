"""Advice in error messages, in the words of the reader: a program, a shell, or a graph."""

from __future__ import annotations

from dataclasses import dataclass

from . import state


@dataclass(frozen=True)
class Advice:
    """What to do about an error; its text is that for the reader of now (``state.reader``).

    Args:
        python: for programs.
        shell: for commands; the words for programs if it is empty.
        graph: for ``build`` of a ``flow.nn.Graph``, likewise.
        paddle: for programs of paddle 2, likewise.
    """

    python: str
    shell: str = ""
    graph: str = ""
    paddle: str = ""

    def __str__(self) -> str:
        words = state.reader.get()(self) or (state.builds.get() and self.paddle)
        return words or self.python

    def about(self, name: str) -> str:
        """The text, with the name of a variable."""
        return str(self).format(name)


SHAPES = Advice("feeds={name: shape}", shell="--shape NAME=2,3")
SEQUENCES = Advice(
    "feed a LoDTensor (create_lod_tensor(array, lengths))",
    shell="give the lengths of sequences (--sequences NAME=2,3)",
)

#: of variables, by their names: how to have a value
FETCHED = Advice(
    "fetch it: Executor.run(program, feed=..., fetch_list=[{0}])",
    graph="return it from build(), and read it in what the graph returns",
)
CHOSEN = Advice(
    "for a choice when the program runs use fluid.layers.cond or logical_and, for its value fetch "
    "it",
    graph="for a choice of elements use flow.where or flow.logical_and, for its value return it",
    paddle="for a choice when the program runs use paddle.static.nn.cond or paddle.logical_and, "
    "for its value fetch it",
)
SIZED = Advice(
    "layers.shape({0}) gives it when the program runs",
    graph="a graph is built for one shape",
    paddle="paddle.shape({0}) gives it when the program runs",
)
ROWS = Advice(
    "{0}[0] is a row, layers.unstack({0}) a list of all",
    graph="{0}[0] is a row, flow.unbind({0}) a list of all",
    paddle="{0}[0] is a row, paddle.unstack({0}) a list of all",
)
FUNCTIONS = Advice(
    "use a function of fluid.layers",
    graph="use a function of flow",
    paddle="use a function of paddle",
)
GRADIENTS = Advice(
    "fluid.gradients(loss, {0}) gives the variable that holds it",
    graph="a graph gives gradients to optimizers; flow.autograd.grad outside of it returns them",
    paddle="paddle.static.gradients(loss, {0}) gives the variable that holds it",
)

#: what tensors have that have their values -> what does it in programs
IN_PROGRAMS = {
    "backward": Advice(
        "fluid.append_backward({0}), or minimize({0}) of an optimizer, differentiates it",
        paddle="paddle.static.append_backward({0}), or minimize({0}) of an optimizer, "
        "differentiates it",
    ),
    "clear_gradient": Advice("gradients of programs are computed anew in each run"),
    "grad": GRADIENTS,
    "gradient": GRADIENTS,
    "item": FETCHED,
    "tolist": FETCHED,
}
