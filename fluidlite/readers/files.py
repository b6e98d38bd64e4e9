"""Data sets that are files of slots, which a command may make of other files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from typing import IO, Any, NoReturn

from ..errors import ArgumentError, FileError, UnknownVariableError, UnsupportedError
from ..ground.arguments import integer, refused
from ..ground.callsite import caller, warn
from ..ground.files import file_error, usable_path
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ground.seeding import shuffled
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .buffer import Ahead
from .dataset_runs import run_each
from .feed_desc import text_of
from .multislot import FileLine, FileSlot, Row, batch_of, parsed, without_zeros
from .page_views import MarkedRow, Marks, PageViews, rank_offsets

_AHEAD = 64  # lines of a file that are parsed ahead


@answers_protected
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
        self._marks = Marks()
        self._pv_batch_size = 32
        self._rank_offset: str | None = None

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
        """Nothing: files are local, and one of another file system is refused when it is read.

        Args:
            fs_name, fs_ugi: accepted for old scripts.
        """

    def set_download_cmd(self, download_cmd: str) -> None:
        """Nothing: files are local; a pipe command can fetch others.

        Args:
            download_cmd: accepted for old scripts.
        """

    def set_pv_batch_size(self, pv_batch_size: int) -> None:
        """Set how many pages a batch has, where an ``InMemoryDataset`` makes pages of its lines.

        Args:
            pv_batch_size: 1 or more.

        Raises:
            ArgumentError: it is something else.
        """
        self._pv_batch_size = integer(self, "pv_batch_size", pv_batch_size)

    def set_rank_offset(self, rank_offset: str) -> None:
        """Set the variable that gets, in batches of pages, the ranks of lines and their places.

        Args:
            rank_offset: the name of an int32 variable [lines, 7], as ``rank_attention`` reads it.
        """
        self._rank_offset = str(rank_offset)

    def set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        """Nothing: slots are shuffled where lines are in memory.

        Args:
            record_candidate_size, fea_eval: accepted for old scripts.
        """

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
            ArgumentError: there are no variables.
            FileError: a file cannot be read, or its command fails.
            FileFormatError: a line is not what it should be; says which.
        """
        self._check()
        return self._batches(self._rows)

    def run_each(self, run: Callable[..., list[Any]], *looked: Any) -> None:
        """Run a program on each batch: what an executor's ``train_from_dataset`` does."""
        run_each(run, self.feeds(), *looked)

    def _check(self) -> None:
        nothing = f"{type(self).__name__} made at {self._site} has nothing to read"
        if not self._slots:
            raise ArgumentError(f"{nothing}: call its set_use_var first")
        if not self.filelist:
            warn(f"{nothing}, and nothing is done: call its set_filelist first", None)

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
                    path, form = remaining.popleft(), (self._slots, self._marks)
                    read = partial(_lines, path, self._pipe_command, *form)
                    begun.append(Ahead(read, _AHEAD, type(self).__name__))
                yield from begun[0]
                begun.popleft().close()
        finally:
            for each in begun:
                each.close()


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

    def global_shuffle(self, fleet: object = None) -> None:
        """Refused: lines are not in memory."""
        self._refuse("global_shuffle", "lines are not in memory; use an InMemoryDataset")


class FileInstantDataset(QueueDataset):
    """Another name of :class:`QueueDataset`, for old scripts."""


class InMemoryDataset(PageViews, DatasetBase):
    """Files of slots that are read into memory, and shuffled there.

    Zeros in sequences are left out, as in fluid 1.8; a sequence of nothing else is one zero.

    >>> dataset = fluid.DatasetFactory().create_dataset("InMemoryDataset")
    >>> dataset.set_batch_size(4)
    """

    _feed = "MultiSlotInMemoryDataFeed"

    def __init__(self) -> None:
        super().__init__()
        self._loaded: list[Row] | None = None
        self._preloading: Ahead[list[Row]] | None = None
        self._evaluates = False
        self._pass = 0

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read the files.

        Args:
            is_shuffle: put the lines in another order, too.

        Raises:
            FluidError: as :meth:`feeds` does.
        """
        self._check()
        self._loaded = list(self._stated())
        if is_shuffle:
            self.local_shuffle()

    def _stated(self) -> Iterator[Row]:
        """The lines as they are kept."""
        for row in self._rows():
            kept = without_zeros(row, self._slots)
            yield MarkedRow(kept, row.key) if isinstance(row, MarkedRow) else kept

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
        self._loaded = self._pages = None

    def local_shuffle(self) -> None:
        """Put the lines into another order, drawn by NumPy's generator; there is a warning where
        nothing has been read.
        """
        if self._loaded is None:
            self._warn_of_nothing()
        else:
            self._loaded = shuffled(self._loaded)

    def global_shuffle(self, fleet: object = None, thread_num: int = 12) -> None:
        """Put the lines into another order; there is one process, so all lines are here.

        Args:
            fleet: must be None: it would be that of several processes.
            thread_num: accepted for old scripts.

        Raises:
            UnsupportedError: ``fleet`` is given.
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

    def get_memory_data_size(self, fleet: object = None) -> int:
        """How many lines are in memory.

        Args:
            fleet: accepted for old scripts; there is one process.
        """
        return len(self._loaded or ())

    def get_shuffle_data_size(self, fleet: object = None) -> int:
        """How many lines came from other processes: none, there is one.

        Args:
            fleet: accepted for old scripts.
        """
        return 0

    def feeds(self) -> Iterator[dict[str, Any]]:
        """A pass over the batches in memory: what is fed, by name."""
        self._check()
        if self.has_pages:
            return self._batches_of_pages()
        if self._loaded is None:
            self._warn_of_nothing()
        return self._batches(lambda: (row for row in self._loaded or ()))

    def _batches_of_pages(self) -> Iterator[dict[str, Any]]:
        for rows in self.page_batches():
            offsets = {self._rank_offset: rank_offsets(rows)} if self._rank_offset else {}
            yield batch_of(rows, self._slots) | offsets

    def _warn_of_nothing(self) -> None:
        warn(
            "the InMemoryDataset holds nothing, and nothing is done: call its load_into_memory() "
            "first",
            None,
        )

    def _in_memory(self, method: str) -> list[Row]:
        if self._loaded is None:
            raise ArgumentError(
                f"InMemoryDataset: expected load_into_memory() before {method}(), nothing is in "
                f"memory"
            )
        return self._loaded

    def set_date(self, date: str) -> None:
        """Nothing: no process keeps parameters by the days of their training.

        Args:
            date: a day, as in ``"20261126"``.

        Raises:
            ArgumentError: it is none.
        """
        try:
            datetime.strptime(date, "%Y%m%d")
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{type(self).__name__}: expected date to be a day such as '20261126', got "
                f"{date!r:.60}"
            ) from None

    def set_pass_id(self, pass_id: int) -> None:
        """Number the pass over the data.

        Args:
            pass_id: the number.
        """
        self._pass = pass_id

    def get_pass_id(self) -> int:
        """The number of the pass over the data; 0 where none was given."""
        return self._pass

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


def _lines(path: str, command: str, slots: Sequence[FileSlot], marks: Marks) -> Iterator[Row]:
    """The lines of a file, behind its command.

    Raises:
        FileError: it cannot be read, or the command fails.
        FileFormatError: a line is not what it should be.
    """
    with closing(_texts(path, command)) as texts:  # type: ignore[type-var]
        for number, text in enumerate(texts, 1):
            line = FileLine(path, number)
            if not any(marks):
                yield parsed(text, slots, line)
            else:
                text, key = marks.taken_off(text, line)
                yield MarkedRow(parsed(text, slots, line), key)


def _opened(path: str) -> IO[bytes]:
    path = usable_path("read", path)
    if path.startswith(("hdfs:", "afs:")):
        raise FileError(f"cannot read {path}: files are local; fetch it first")
    try:
        return open(path, "rb")
    except OSError as error:
        raise file_error("read", path, error) from error


def _texts(path: str, command: str) -> Iterator[str]:
    packed = path.endswith(".gz")
    file = _opened(path)
    if command.strip() == "cat" and not packed:
        with file:
            yield from (line.decode("utf-8", "replace") for line in file)
        return
    whole = f"zcat | ( {command} )" if packed else command
    shell = shutil.which("bash") or "/bin/sh"
    with (
        file,
        subprocess.Popen([shell, "-c", whole], stdin=file, stdout=subprocess.PIPE) as process,
    ):
        try:
            assert process.stdout is not None
            yield from (line.decode("utf-8", "replace") for line in process.stdout)
            status = process.wait()
        finally:
            if process.poll() is None:  # nobody reads on
                process.kill()
    if status:
        raise FileError(
            f"the pipe command of {path} ended with exit status {status}: {shlex.quote(command)}"
        )


__all__ = [
    "DatasetBase", "DatasetFactory", "FileInstantDataset", "InMemoryDataset", "QueueDataset",
]  # fmt: skip

api_boundaries(globals())
