"""Loaders of what generators give."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any
from weakref import ref

from ..errors import ArgumentError
from ..ground import state
from ..ground.callsite import caller, warn
from ..ground.place import Places
from ..ground.protected import answers, answers_protected
from ..ground.reprs import Described
from ..ground.spellings import Spelling
from ..ground.tracebacks import api_boundaries, api_boundary
from ..ir.program import default_main_program
from ..ir.variable import Variable
from ..layers.readers import append_reader, reader_variable
from ..opdef.sources import is_taken
from ..opdef.spec import Spec
from ..unique_name import NameGenerator
from .buffer import Ahead
from .delivery import Delivery, place_count
from .feeder import ProgramFeeder, capacity_of
from .processes import WorkerPool, streamed, why_not
from .slots import Batch, Batches, Slots
from .worker import Stream

#: names of the readers of loaders; ``unique_name.guard`` does not begin them anew, as in fluid 1.8
_names: state.StateSlot[NameGenerator] = state.slot("names of loaders", NameGenerator)
_ordered: state.StateSlot[list[bool]] = state.slot("keep order", lambda: [True])


def keep_data_loader_order(*given: bool) -> bool | None:
    """Whether loaders give batches in the order of their generator.  They always do; what is set is
    kept.

    Args:
        given: what to set; nothing to ask.
    """
    if not given:
        return _ordered.get()[0]
    _ordered.get()[0] = bool(given[0])
    return None


@answers_protected
@answers(_keep_order=lambda self: keep_data_loader_order())
class GeneratorLoader(Described):
    """Reads what a generator gives ahead of training, in a thread or a process.

    Made by :meth:`DataLoader.from_generator`.  One that is iterable is looped over; one that is not
    is part of the program, which pulls batches itself between ``start`` and
    ``fluid.core.EOFException``.

    Args:
        feed_list: the variables that are fed.
        capacity: how many batches are read ahead at most.
        use_double_buffer: put the operator of a double buffer into the program; batches are read
            ahead in any case.
        iterable: whether it is looped over.
        return_list: give lists in place of dictionaries.
        use_multiprocess: run the generator in a process.
        drop_last: with several places, whether to leave out a last round in which not each gets a
            batch.
        tensors: give lists of tensors, to no program.

    Raises:
        ArgumentError: the capacity is not positive, or there is no ``feed_list`` though the program
            needs one.
    """

    _called = "DataLoader"

    def __init__(
        self,
        feed_list: Sequence[Variable] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
        tensors: bool = False,
    ) -> None:
        self._site = caller()
        self._what = f"{self._called} made at {self._site}"
        self._capacity = capacity_of(self._called, capacity)
        tensors = tensors or self._gives_tensors()
        eager = tensors or state.in_dygraph_mode()
        if feed_list is None and not eager:
            raise ArgumentError(
                f"{self._called}: expected feed_list, the variables of the program that it feeds"
            )
        if eager and not iterable:
            warn(f"{self._called}: there is no program to be part of; it is iterable", None)
        self._iterable = iterable or eager
        self._use_multiprocess, self._drop_last = use_multiprocess, drop_last
        self._use_double_buffer, self._return_list = use_double_buffer, return_list
        self._feed_list = None if eager else _variables(self._called, feed_list)
        self._slots = Slots(self._feed_list, self._what)
        lists = return_list and not tensors
        self._delivery = Delivery(self._called, self._feed_list, lists, tensors)
        self._source: Batches | None = None
        self._places = 1
        self._turn, self._told = 0, False
        #: what ``next`` goes on with: a pass of its own, or the last one that was begun
        self._running: Iterator[Any] | None = None
        self._begun: ref[Iterator[Any]] | None = None
        self._feeder: ProgramFeeder | None = None
        if not self._iterable:
            self._feeder = self._into_program()

    def _gives_tensors(self) -> bool:
        """Whether it always gives lists of tensors, to no program."""
        return False

    def _into_program(self) -> ProgramFeeder:
        """Append the operators that read the variables, to the main program."""
        variables = self._feed_list or []
        block = default_main_program().current_block()
        queue, title, buffer = _fresh_names()
        specs = [Spec(v.shape, v.dtype, v.kind, v.lod_level) for v in variables]
        feeder = ProgramFeeder(queue, title, self._capacity, specs)
        reader = reader_variable(block, title, specs)
        append_reader(block, queue, reader, specs, [v.need_check_feed for v in variables])
        if self._use_double_buffer:
            underlying, reader = reader, reader_variable(block, buffer, specs)
            block.append_op(
                "create_double_buffer_reader",
                {"UnderlyingReader": [underlying]},
                {"Out": [reader]},
                {"place": "AUTO"},
            )
        declared = [(v, v.spec) for v in variables]
        block.append_op(
            "read", {"Reader": [reader]}, {"Out": variables}, {"drop_last": self._drop_last}
        )
        for variable, spec in declared:
            if spec is not None:
                variable.take_spec(spec)
        feeder.keep_with(reader)
        return feeder

    # -- what is read --------------------------------------------------------------------------

    def set_sample_generator(
        self,
        reader: Callable[[], Iterable[Any]],
        batch_size: int,
        drop_last: bool = True,
        places: Places = None,
    ) -> GeneratorLoader:
        """Read samples, and make batches of them.

        Args:
            reader: called for each pass; gives samples: a field for each variable.
            batch_size: how many samples a batch has.
            drop_last: whether to leave out a last batch that has fewer.
            places: the places that get a batch each; the CPU when None.

        Raises:
            ArgumentError: an argument is of another kind, or a pass of the program is under way.
        """
        try:
            size = int(batch_size)
        except (TypeError, ValueError):
            size = 0
        if size < 1:
            raise ArgumentError(
                f"{self._called}: expected batch_size of 1 or more, got {batch_size!r:.60}"
            )
        return self._take(reader, "sample", places, size, drop_last)

    def set_sample_list_generator(
        self, reader: Callable[[], Iterable[Any]], places: Places = None
    ) -> GeneratorLoader:
        """Read lists of samples, each of which is a batch; so ``fluid.io.batch`` gives them.

        Args:
            reader: called for each pass; gives the lists.
            places: the places that get a batch each; the CPU when None.

        Raises:
            ArgumentError: an argument is of another kind, or a pass of the program is under way.
        """
        return self._take(reader, "sample_list", places)

    def set_batch_generator(
        self, reader: Callable[[], Iterable[Any]], places: Places = None
    ) -> GeneratorLoader:
        """Read batches.

        Args:
            reader: called for each pass; gives batches: an array, or a LoDTensor, for each
                variable.
            places: the places that get a batch each; the CPU when None.

        Raises:
            ArgumentError: an argument is of another kind, or a pass of the program is under way.
        """
        return self._take(reader, "batch", places)

    def _take(
        self, reader: Any, form: str, places: Any, size: int = 1, drop_last: bool = True
    ) -> GeneratorLoader:
        if not callable(reader):
            raise ArgumentError(
                f"{self._called}: expected a function without arguments that gives a pass over the "
                f"data, got {reader!r:.60} of type {type(reader).__name__}; a generator is spent "
                f"after one pass: give the function that makes it"
            )
        count = place_count(self._called, places)
        source = Batches(reader, form, self._slots, str(caller()), size, drop_last)
        if self._feeder is not None:
            self._feeder.set_source(partial(self._pass_of_program, ref(self), source))
        self._source, self._places = source, count
        return self

    @staticmethod
    def _pass_of_program(loader: ref[GeneratorLoader], source: Batches) -> Iterator[Batch]:
        """A pass for a scope, which keeps a program's reader but neither loader nor program."""
        alive = loader()
        return source() if alive is None else alive._batches(source)

    def _batches(self, source: Batches) -> Iterator[Batch]:
        """A pass over the batches, made here or in a process."""
        job = Stream(source)
        if not self._use_multiprocess or self._falls_back(why_not(job)):
            return source()
        self._turn += 1
        pool = WorkerPool([job], self._what, turn=self._turn)
        return streamed(pool, self._capacity)

    def _falls_back(self, reason: str | None) -> bool:
        if reason is not None and not self._told:
            self._told = True
            warn(f"{self._called} reads in a thread, in place of a process: {reason}", self._site)
        return reason is not None

    # -- looping over it -----------------------------------------------------------------------

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if not self._iterable:
            raise ArgumentError(
                f"{self._what} is not iterable: its program pulls the batches, between start() and "
                f"fluid.core.EOFException; make it with iterable=True to loop over it"
            )
        if self._source is None:
            raise ArgumentError(
                f"{self._what} has nothing to read: give it a generator first, by "
                f"set_sample_generator, set_sample_list_generator or set_batch_generator"
            )
        begun = self._pass(self._source)
        self._running, self._begun = None, ref(begun)  # which ends when nobody goes on with it
        return begun

    @api_boundary
    def _pass(self, source: Batches) -> Iterator[Any]:
        with closing(Ahead(lambda: self._batches(source), self._capacity, self._what)) as ahead:
            yield from self._delivery.steps(ahead, self._places, self._drop_last)

    def __next__(self) -> Any:
        """The next step of the last loop that was begun."""
        begun = self._running or (self._begun() if self._begun is not None else None)
        if begun is None:
            begun = self._running = iter(self)
        return next(begun)

    next = __next__

    # -- as a part of a program ----------------------------------------------------------------

    @property
    def iterable(self) -> bool:
        """Whether it is looped over."""
        return self._iterable

    @property
    def queue(self) -> ProgramFeeder | None:
        """What its program reads from; None where it is looped over."""
        return self._feeder

    def start(self) -> None:
        """Begin a pass of the program.

        Raises:
            ArgumentError: it is iterable, has nothing to read, or was not reset behind a pass.
        """
        self._in_program("start").start()

    def reset(self) -> None:
        """End a pass of the program, be there more to read or not.

        Raises:
            ArgumentError: it is iterable.
        """
        self._in_program("reset").reset()

    def _reset(self) -> None:
        """End a pass, be there more to read or not."""
        begun = self._running or (self._begun() if self._begun is not None else None)
        self._running = self._begun = None
        if isinstance(begun, Generator):
            begun.close()
        if self._feeder is not None:
            self._feeder.reset()

    @property
    def _loader(self) -> GeneratorLoader:
        return self

    def _in_program(self, what: str) -> ProgramFeeder:
        if self._feeder is None:
            raise ArgumentError(
                f"{self._what} is iterable: loop over it; {what}() is for one that is made with "
                f"iterable=False"
            )
        return self._feeder


def _taken(loader: GeneratorLoader) -> None:
    """Nothing, which older methods of loaders give."""


@answers_protected
class PyReader(GeneratorLoader):
    """Reads what a generator gives ahead of training; an older name of the loader that
    :meth:`DataLoader.from_generator` makes.

    Args:
        feed_list: the variables that are fed.
        capacity: how many batches are read ahead at most.
        use_double_buffer: put the operator of a double buffer into the program.
        iterable: whether it is looped over; else it is part of the program.
        return_list: give lists in place of dictionaries.
        tensors: give lists of tensors, to no program.

    Raises:
        ArgumentError: the capacity is not positive, or there is no ``feed_list``.

    >>> x = fluid.data("x", [None, 2])
    >>> reader = fluid.io.PyReader([x], capacity=2)
    >>> reader.decorate_batch_generator(lambda: iter([[np.ones([3, 2], "float32")]]))
    >>> [np.array(step["x"]).shape for (step,) in reader()]
    [(3, 2)]
    """

    _called = "PyReader"

    __init__: Callable[..., None] = Spelling({})(
        GeneratorLoader.__init__, fixed={"use_multiprocess": False, "drop_last": True}
    )

    decorate_sample_generator: Callable[..., None] = Spelling({})(
        GeneratorLoader.set_sample_generator,
        "decorate_sample_generator",
        reader="sample_generator",
        then=_taken,
    )
    decorate_sample_list_generator: Callable[..., None] = Spelling({})(
        GeneratorLoader.set_sample_list_generator, "decorate_sample_list_generator", then=_taken
    )
    decorate_batch_generator: Callable[..., None] = Spelling({})(
        GeneratorLoader.set_batch_generator, "decorate_batch_generator", then=_taken
    )


def _variables(what: str, feed_list: Any) -> list[Variable]:
    """The variables of a list of them, or of their names."""
    if isinstance(feed_list, (str, Variable)) or not isinstance(feed_list, Sequence):
        raise ArgumentError(
            f"{what}: expected feed_list to be a list of variables, got {feed_list!r:.60}"
        )
    block = default_main_program().global_block()
    variables = [block.var(each) if isinstance(each, str) else each for each in feed_list]
    if not variables or not all(isinstance(each, Variable) for each in variables):
        raise ArgumentError(
            f"{what}: expected feed_list to be a list of variables, got {feed_list!r:.60}"
        )
    return variables


def _fresh_names() -> tuple[str, str, str]:
    """Names of a queue, its reader, and that reader's double buffer."""
    names = _names.get()
    queue = names("lod_tensor_blocking_queue")
    while is_taken(queue):
        queue = names("lod_tensor_blocking_queue")
    return queue, names("create_py_reader"), names("double_buffer")


__all__ = ["GeneratorLoader", "PyReader", "keep_data_loader_order"]


api_boundaries(globals())
