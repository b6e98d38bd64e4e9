"""Data sets that are files of slots, which a command may make of other files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import IO, Any, NoReturn

from ..errors import ArgumentError, FileError, UnknownVariableError, UnsupportedError
from ..ground.arguments import integer, refused
from ..ground.callsite import caller, warn
from ..ground.files import usable_path
from ..ground.reprs import Described
from ..ground.seeding import shuffled
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .buffer import Ahead
from .dataset_runs import run_each
from .feed_desc import text_of
from .multislot import FileLine, FileSlot, Row, batch_of, parsed, without_zeros

_AHEAD = 64  # lines of a file that are parsed ahead


class DatasetBase(Described):
    """Files of slots, and the variables that their lines are fed to.

    Made by :class:`DatasetFactory`.
    """

    _shown = "batch_size=_batch_size filelist=filelist slots=_slots"
    _feed = "MultiSlotDataFeed"

    def __init__(self) -> None:
        self._site = caller()
        self._batch_size = 1
        self.thread_num: int = 1
        self._pipe_command = "cat"
        self.filelist: list[str] = []
        self._slots: list[FileSlot] = []

    def set_batch_size(self, batch_size: int) -> None:
        """Set how many lines a batch has.

        Args:
            batch_size: 1 or more.

        Raises:
            ArgumentError: it is something else.
        """
        self._batch_size = integer(self, "batch_size", batch_size)

    def set_thread(self, thread_num: int) -> None:
        """Set how many files are read at a time.  Lines come in the order of the files in any case.

        Args:
            thread_num: 1 or more.

        Raises:
            ArgumentError: it is something else.
        """
        self.thread_num = integer(self, "thread_num", thread_num)

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """Set which files are read, in order; what ends in ``.gz`` is decompressed.

        Args:
            filelist: their paths.

        Raises:
            ArgumentError: it is no list of paths.
        """
        if isinstance(filelist, (str, bytes)) or not isinstance(filelist, Sequence):
            raise refused(self, "filelist", "a list of paths", filelist)
        self.filelist = [os.fspath(path) for path in filelist]

    def set_pipe_command(self, pipe_command: str) -> None:
        """Set the command of a shell that gets each file as its input, and writes lines of slots.

        Args:
            pipe_command: the command; ``cat`` where files are as they should be.
        """
        self._pipe_command = str(pipe_command)

    def set_use_var(self, var_list: Sequence[Variable]) -> None:
        """Set the variables that lines are fed to: a slot each, in order.

        Args:
            var_list: variables of int64 or float32; with ``lod_level`` a slot is a sequence.

        Raises:
            ArgumentError: one is something else.
        """
        if isinstance(var_list, Variable) or not all(isinstance(v, Variable) for v in var_list):
            raise refused(self, "var_list", "a list of variables", var_list)
        self._slots = [FileSlot.of(variable) for variable in var_list]

    def set_hdfs_config(self, fs_name: str, fs_ugi: str) -> None:
        """Refused: files are local."""
        self._refuse("set_hdfs_config", "files are local; fetch them first, or by the pipe command")

    def set_download_cmd(self, download_cmd: str) -> None:
        """Refused: files are local."""
        self._refuse("set_download_cmd", "files are local; let the pipe command fetch them")

    def set_pv_batch_size(self, pv_batch_size: int) -> None:
        """Refused: there is no merging of page views."""
        self._refuse("set_pv_batch_size", _NO_VIEWS)

    def set_rank_offset(self, rank_offset: str) -> None:
        """Refused: there is no merging of page views."""
        self._refuse("set_rank_offset", _NO_VIEWS)

    def set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        """Refused where lines are not in memory."""
        self._refuse("set_fea_eval", "lines are not in memory; use an InMemoryDataset")

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Refused where lines are not in memory."""
        self._refuse("slots_shuffle", "lines are not in memory; use an InMemoryDataset")

    def _refuse(self, method: str, why: str) -> NoReturn:
        raise UnsupportedError(f"{type(self).__name__}.{method}: {why}")

    def desc(self) -> str:
        """What is read, as the text of a ``DataFeedDesc`` message."""
        return text_of(self._feed, self._batch_size, self._slots, self._pipe_command)

    @property
    def names(self) -> list[str]:
        """The names of the variables that are fed."""
        return [slot.name for slot in self._slots]

    def feeds(self) -> Iterator[dict[str, Any]]:
        """A pass over the batches: what is fed, by name.

        Raises:
            ArgumentError: there are no files, or no variables.
            FileError: a file cannot be read, or its command fails.
            FileFormatError: a line is not what it should be; says which.
        """
        self._check()
        return self._batches(self._rows)

    def run_each(self, run: Callable[..., list[Any]], *looked: Any) -> None:
        """Run a program on each batch: what an executor's ``train_from_dataset`` does."""
        run_each(run, self.feeds(), *looked)

    def _check(self) -> None:
        for given, method in ((self._slots, "set_use_var"), (self.filelist, "set_filelist")):
            if not given:
                raise ArgumentError(
                    f"{type(self).__name__} made at {self._site} has nothing to read: call its "
                    f"{method} first"
                )

    def _batches(self, rows: Callable[[], Iterator[Row]]) -> Iterator[dict[str, Any]]:
        batch: list[Row] = []
        with closing(rows()) as found:  # type: ignore[type-var]
            for row in found:
                batch.append(row)
                if len(batch) == self._batch_size:
                    yield batch_of(batch, self._slots)
                    batch = []
        if batch:
            yield batch_of(batch, self._slots)

    def _rows(self) -> Iterator[Row]:
        """The lines of all files; as many files are read at a time as there are threads."""
        remaining = deque(self.filelist)
        begun: deque[Ahead[Row]] = deque()
        try:
            while remaining or begun:
                while remaining and len(begun) < self.thread_num:
                    read = partial(_lines, remaining.popleft(), self._pipe_command, self._slots)
                    begun.append(Ahead(read, _AHEAD, type(self).__name__))
                yield from begun[0]
                begun.popleft().close()
        finally:
            for each in begun:
                each.close()


_NO_VIEWS = "samples are not merged to page views here; merge them in the pipe command"


class QueueDataset(DatasetBase):
    """Files of slots that are read while a program trains.

    >>> words = fluid.data("words", [None, 1], "int64", lod_level=1)
    >>> label = fluid.data("label", [None, 1])
    >>> with open("part-0", "w") as file:
    ...     _ = file.write("2 3 4 1 0.5\\n1 5 1 1.0\\n")
    >>> dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    >>> dataset.set_use_var([words, label])
    >>> dataset.set_batch_size(2)
    >>> dataset.set_filelist(["part-0"])
    >>> for feed in dataset.feeds():
    ...     print(feed["words"].lod(), feed["label"].tolist())
    [[0, 2, 3]] [[0.5], [1.0]]
    """

    def local_shuffle(self) -> None:
        """Refused: lines are not in memory."""
        self._refuse("local_shuffle", "lines are not in memory; use an InMemoryDataset")

    def global_shuffle(self, fleet: Any = None) -> None:
        """Refused: lines are not in memory."""
        self._refuse("global_shuffle", "lines are not in memory; use an InMemoryDataset")


class FileInstantDataset(QueueDataset):
    """Another name of :class:`QueueDataset`, for old scripts."""


class InMemoryDataset(DatasetBase):
    """Files of slots that are read into memory, and shuffled there.

    Zeros in sequences are left out, as in fluid 1.8; a sequence of nothing else is one zero.
    """

    _feed = "MultiSlotInMemoryDataFeed"

    def __init__(self) -> None:
        super().__init__()
        self._loaded: list[Row] | None = None
        self._preloading: Ahead[list[Row]] | None = None
        self._evaluates = False

    def load_into_memory(self) -> None:
        """Read the files.

        Raises:
            FluidError: as :meth:`feeds` does.
        """
        self._check()
        self._loaded = list(self._stated())

    def _stated(self) -> Iterator[Row]:
        """The lines as they are kept."""
        return (without_zeros(row, self._slots) for row in self._rows())

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Begin to read the files, while something else is done.

        Args:
            thread_num: how many are read at a time; as ``set_thread`` says when None.
        """
        self._check()
        if thread_num is not None:
            self.set_thread(thread_num)
        self._preloading = Ahead(lambda: iter([list(self._stated())]), 1, type(self).__name__)

    def wait_preload_done(self) -> None:
        """Wait until the files are read.

        Raises:
            ArgumentError: nobody began to.
            FluidError: as :meth:`feeds` does.
        """
        if self._preloading is None:
            raise ArgumentError(
                "InMemoryDataset: expected preload_into_memory() before wait_preload_done()"
            )
        preloading, self._preloading = self._preloading, None
        self._loaded = next(preloading)

    def release_memory(self) -> None:
        """Forget the lines."""
        self._loaded = None

    def local_shuffle(self) -> None:
        """Put the lines into another order, drawn by NumPy's generator.

        Raises:
            ArgumentError: nothing has been read.
        """
        rows = self._in_memory("local_shuffle")
        self._loaded = shuffled(rows)

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Put the lines into another order; there is one process, so all lines are here.

        Args:
            fleet: must be None: it would be that of several processes.
            thread_num: accepted for old scripts.

        Raises:
            ArgumentError: nothing has been read.
        """
        if fleet is not None:
            self._refuse("global_shuffle", "there is one process; leave out fleet")
        self.local_shuffle()

    def set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        """Say whether slots will be shuffled, to see what each is good for.

        Args:
            record_candidate_size: accepted for old scripts; all lines are candidates.
            fea_eval: whether they will.
        """
        self._evaluates = bool(fea_eval)

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Put the values of some slots into another order among the lines.

        Args:
            slots: their names.

        Raises:
            ArgumentError: nothing has been read, or ``set_fea_eval`` was not called.
            UnknownVariableError: there is no slot of a name.
        """
        rows = self._in_memory("slots_shuffle")
        if not self._evaluates:
            raise ArgumentError("InMemoryDataset: expected set_fea_eval(...) before slots_shuffle")
        for name in slots:
            if name not in self.names:
                raise UnknownVariableError(
                    f"InMemoryDataset: there is no slot {name!r}, there are {self.names}"
                )
            at = self.names.index(name)
            for row, value in zip(rows, shuffled([row[at] for row in rows])):
                row[at] = value

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many lines are in memory.

        Args:
            fleet: accepted for old scripts; there is one process.
        """
        return len(self._loaded or ())

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """How many lines came from other processes: none, there is one.

        Args:
            fleet: accepted for old scripts.
        """
        return 0

    def feeds(self) -> Iterator[dict[str, Any]]:
        """A pass over the batches in memory: what is fed, by name."""
        self._check()
        if self._loaded is None:
            warn(
                "the InMemoryDataset holds nothing, and nothing is done: call its "
                "load_into_memory() first",
                None,
            )
        return self._batches(lambda: (row for row in self._loaded or ()))

    def _in_memory(self, method: str) -> list[Row]:
        if self._loaded is None:
            raise ArgumentError(
                f"InMemoryDataset: expected load_into_memory() before {method}(), nothing is in "
                f"memory"
            )
        return self._loaded

    def set_queue_num(self, queue_num: int) -> None:
        """Nothing: lines are in one list.

        Args:
            queue_num: accepted for old scripts.
        """

    def set_fleet_send_batch_size(self, fleet_send_batch_size: int = 1024) -> None:
        """Nothing: there is one process.

        Args:
            fleet_send_batch_size: accepted for old scripts.
        """

    def set_fleet_send_sleep_seconds(self, fleet_send_sleep_seconds: int = 0) -> None:
        """Nothing: there is one process.

        Args:
            fleet_send_sleep_seconds: accepted for old scripts.
        """


def _refused(name: str, why: str) -> Callable[..., NoReturn]:
    def method(self: DatasetBase, *arguments: object, **named: object) -> NoReturn:
        raise UnsupportedError(f"{type(self).__name__}.{name}: {why}")

    method.__name__, method.__doc__ = name, f"Refused: {why}."
    return method


#: what is there for parameter servers and page views
_REFUSED = {
    _NO_VIEWS: "get_pv_data_size postprocess_instance preprocess_instance set_current_phase "
    "set_enable_pv_merge set_merge_by_lineid set_merge_by_sid set_parse_content set_parse_ins_id "
    "set_parse_logkey",
    "there are no parameter servers": "generate_local_tables_unlock set_feed_type "
    "set_generate_unique_feasigns",
}
for _why, _names in _REFUSED.items():
    for _name in _names.split():
        setattr(InMemoryDataset, _name, _refused(_name, _why))


class DatasetFactory(Described):
    """Makes data sets of files by the name of their class.

    >>> type(fluid.DatasetFactory().create_dataset("InMemoryDataset")).__name__
    'InMemoryDataset'
    """

    def create_dataset(self, datafeed_class: str = "QueueDataset") -> DatasetBase:
        """A data set.

        Args:
            datafeed_class: "QueueDataset", which reads while a program trains, or
                "InMemoryDataset".

        Raises:
            ArgumentError: there is none of that name.
        """
        kinds = {k.__name__: k for k in (QueueDataset, InMemoryDataset, FileInstantDataset)}
        if datafeed_class not in kinds:
            raise ArgumentError(
                f"DatasetFactory: expected one of {', '.join(kinds)}, got {datafeed_class!r:.60}"
            )
        return kinds[datafeed_class]()


# -- files -----------------------------------------------------------------------------------------


def _lines(path: str, command: str, slots: Sequence[FileSlot]) -> Iterator[Row]:
    """The lines of a file, behind its command.

    Raises:
        FileError: it cannot be read, or the command fails.
        FileFormatError: a line is not what it should be.
    """
    with closing(_texts(path, command)) as texts:  # type: ignore[type-var]
        for number, text in enumerate(texts, 1):
            yield parsed(text, slots, FileLine(path, number))


def _opened(path: str) -> IO[bytes]:
    path = usable_path("read", path)
    try:
        return open(path, "rb")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def _texts(path: str, command: str) -> Iterator[str]:
    packed = path.endswith(".gz")
    file = _opened(path)
    if command.strip() == "cat" and not packed:
        with file:
            yield from (line.decode("utf-8", "replace") for line in file)
        return
    whole = f"zcat | ( {command} )" if packed else command
    shell = shutil.which("bash") or "/bin/sh"
    with file, subprocess.Popen([shell, "-c", whole], stdin=file, stdout=subprocess.PIPE) as made:
        try:
            assert made.stdout is not None
            yield from (line.decode("utf-8", "replace") for line in made.stdout)
            status = made.wait()
        finally:
            if made.poll() is None:  # nobody reads on
                made.kill()
    if status:
        raise FileError(
            f"the pipe command of {path} ended with exit status {status}: {shlex.quote(command)}"
        )


__all__ = [
    "DatasetBase", "DatasetFactory", "FileInstantDataset", "InMemoryDataset", "QueueDataset",
]  # fmt: skip

api_boundaries(globals())
