"""Reading files within their length, and writing them whole or not at all."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite.ground.files
from fluidlite.errors import FileError, FileFormatError
from fluidlite.ground.files import STALE, Source, Transaction, inside, open_source, read_bytes

ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False


def files_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# -- reading ---------------------------------------------------------------------------------------


def test_a_source_gives_what_there_is_and_no_more():
    source = Source.of(b"abcdef", "file")
    assert source.take(2, "two letters") == b"ab"
    assert (source.position, source.left) == (2, 4)
    with pytest.raises(FileFormatError, match=r"file: expected letters \(7 bytes\) at byte 2"):
        source.take(7, "letters")
    assert source.rest("the rest") == b"cdef"


def test_an_array_is_not_made_before_its_size_is_compared():
    source = Source.of(bytes(16), "file")
    with pytest.raises(FileFormatError, match="found the end of the file after 16 bytes"):
        source.array(np.dtype("f8"), (2**50,), "an array")
    assert source.array(np.dtype("f8"), (2,), "an array").tolist() == [0.0, 0.0]


def test_sizes_beside_a_zero_are_bounded_too():
    with pytest.raises(FileFormatError, match="the sizes of an array"):
        Source.of(b"", "file").array(np.dtype("f8"), (0, 2**61, 2**61), "an array")


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    with open_source(path) as source:
        os.truncate(path, 10)
        with pytest.raises(FileFormatError, match="the file is being changed"):
            source.array(np.dtype("u1"), (100,), "an array")


def test_a_missing_file_is_named_with_what_to_do(tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*nothing: there is no such file .*; check"):
        read_bytes(tmp_path / "nothing")
    with pytest.raises(OSError) as caught:
        read_bytes(tmp_path / "nothing")
    assert caught.value.errno == errno.ENOENT


@pytest.mark.parametrize("name", ["folder", "pipe", "zero\0byte"])
def test_what_is_no_ordinary_file_is_refused(name, tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="cannot read"):
        if name == "pipe":
            read = os.open(tmp_path / name, os.O_RDWR)  # so that opening does not wait
        try:
            read_bytes(str(tmp_path / name))
        finally:
            if name == "pipe":
                os.close(read)


@pytest.mark.skipif(ROOT, reason="root may read everything")
def test_a_file_without_rights_is_named_with_what_to_do(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    path.chmod(0)
    with pytest.raises(FileError, match="the rights do not allow it; change them"):
        read_bytes(path)


# -- names -----------------------------------------------------------------------------------------


def test_names_of_programs_lie_inside_the_folder():
    assert inside("folder", "fc_0.w_0") == os.path.join("folder", "fc_0.w_0")
    assert inside("folder", "block/w") == os.path.join("folder", "block", "w")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../w", "a/../../w", "/etc/w", "a//w", "a/.", "a\0"]
)
def test_names_that_lead_out_of_the_folder_are_refused(name):
    with pytest.raises(FileFormatError, match="the name of a file inside folder"):
        inside("folder", name)


# -- writing ---------------------------------------------------------------------------------------


def test_files_appear_together_at_the_end(tmp_path):
    with Transaction() as files:
        files.write(tmp_path / "a", b"1")
        files.write(tmp_path / "new" / "b", b"2")
        assert [name for name in files_in(tmp_path) if not name.startswith(".")] == ["new"]
    assert (tmp_path / "a").read_bytes() == b"1"
    assert (tmp_path / "new" / "b").read_bytes() == b"2"
    assert files_in(tmp_path) == ["a", "new"] and files_in(tmp_path / "new") == ["b"]


def test_a_failure_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(RuntimeError), Transaction() as files:
        files.write(tmp_path / "a", b"new")
        files.write(tmp_path / "folder" / "b", b"new")
        raise RuntimeError
    assert files_in(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"


def test_a_failure_while_a_file_is_written_removes_it(tmp_path):
    with pytest.raises(RuntimeError), Transaction() as files, files.open(tmp_path / "a") as file:
        file.write(b"half")
        raise RuntimeError
    assert files_in(tmp_path) == []


def test_rights_of_a_file_that_is_replaced_are_kept(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with Transaction() as files:
        files.write(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with Transaction() as files:
        files.write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path):
    old, young = tmp_path / ".w.0123.partial", tmp_path / ".w.4567.partial"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, os.stat(old).st_mtime - 2 * STALE))
    with Transaction() as files:
        files.write(tmp_path / "w", b"whole")
    assert files_in(tmp_path) == [young.name, "w"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_no_file_takes_the_place_of_a_device_or_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    end = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    with Transaction() as files:
        files.write(tmp_path / "pipe", b"hello")
    assert (tmp_path / "pipe").is_fifo() and os.read(end, 9) == b"hello"
    os.close(end)
    assert files_in(tmp_path) == ["pipe"]


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(FileError, match="cannot write .*a: it is a folder"), Transaction() as files:
        files.write(tmp_path / "a", b"")


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(FileError, match="cannot write"), Transaction() as files:
        files.write(tmp_path / "a" / "b", b"")
    assert files_in(tmp_path) == ["a"]


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_a_folder_without_rights_is_named_with_what_to_do(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    with pytest.raises(FileError, match="the rights do not allow it; change them"):
        with Transaction() as files:
            files.write(folder / "a", b"")


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO]
)
@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_whatever_the_system_refuses_leaves_the_old_file(number, call, tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    true = getattr(os, call)

    def fail(*args, **kwargs):
        if call == "open" and args[0] == str(tmp_path):  # the folder, at the end
            return true(*args, **kwargs)
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(FileError, match=r"cannot write .*a: .") as caught:
            with Transaction() as files:
                files.write(path, b"new")
    assert caught.value.errno == number
    assert files_in(tmp_path) == ["a"] and path.read_bytes() == b"old"


FULL = """
import resource, signal, sys
import numpy as np
from fluidlite.errors import FileError
from fluidlite.ground.files import Transaction

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with Transaction() as files, files.open(sys.argv[1]) as file:
        for _ in range(100):
            file.write(np.zeros(100_000))
except FileError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        cwd=Path(fluidlite.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot write" in done.stdout and "larger than is allowed" in done.stdout
    assert files_in(tmp_path) == ["a"] and path.read_bytes() == b"old"


def test_a_device_that_is_full_is_named():
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "wb", buffering=0) as file, pytest.raises(OSError) as caught:
        file.write(b"x")
    assert "the disk is full" in str(fluidlite.ground.files.file_error("write", "a", caught.value))


def test_a_source_in_memory_reads_arrays_too():
    data = np.arange(5, dtype="int16")
    assert Source(io.BytesIO(data.tobytes()), 10, "m").array(data.dtype, (5,), "x").tolist() == [
        *range(5)
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="no ordinary file"), open_source(tmp_path / "pipe"):
        pass
