"""What a file or a folder is, found out without a program; and the same in another format."""

import io
import pickle
import shutil
import struct

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, DTypeError, FileError, FileFormatError
from fluidlite.ground.files import Source
from fluidlite.ground.values import LoDTensor, SelectedRows
from fluidlite.io import arrays
from fluidlite.io.arrays import read_npy, read_safetensors, write_npy, write_npz, write_safetensors
from fluidlite.ir.compare import differences

import fuzzing
import saved_models
from networks import assert_same, regression, started, state

ARRAYS = {
    "w": np.arange(6, dtype="float32").reshape(2, 3),
    "b": np.arange(3),
    "flag": np.array([True, False]),
    "scalar": np.array(2.5),
    "none": np.zeros([0, 4], "int8"),
}


def written(write, value):
    file = io.BytesIO()
    write(file, value)
    return file.getvalue()


# -- what the real thing wrote ---------------------------------------------------------------------

KINDS = {
    "fc/inference": ("inference model", 2),
    "fc/inference_combined": ("inference model", 2),
    "fc/inference/__model__": ("inference model", 2),
    "fc/params": ("variables", 2),
    "fc/params_combined": ("combined tensors", 2),
    "fc/persistables": ("variables", 5),
    "fc/save": ("training state", 5),
    "fc/save/model": ("training state", 5),
    "fc/save/model.pdparams": ("state", 2),
    "fc/inference_combined/params": ("combined tensors", 2),
    "fc/inference/fc_0.w_0": ("tensor", 1),
    "dygraph/net.pdopt": ("state", 24),
    "tensors/combined": ("combined tensors", 2),
    "tensors/i64_lod1": ("tensor", 1),
    "tensors/selected_rows": ("rows", 1),
    "tensors/f32_empty_batch": ("tensor", 1),
}


@pytest.mark.parametrize("path, wanted", KINDS.items(), ids=KINDS)
def test_files_and_folders_of_the_real_thing_are_recognised(path, wanted, tmp_path):
    saved_models.unpack(tmp_path)
    found = fluid.io.read(tmp_path / path)
    assert (found.kind, len(found.variables)) == wanted
    with_program = ("inference model", "program", "training state")
    assert (found.program is not None) == (found.kind in with_program)


def test_values_are_those_that_were_saved(tmp_path):
    saved_models.unpack(tmp_path)
    saved = saved_models.arrays("fc/io.npz")
    for path in ("inference", "inference_combined", "save", "persistables"):
        for name, array in fluid.io.read(tmp_path / "fc" / path).variables.items():
            np.testing.assert_array_equal(array, saved[f"saved/{name}"])
    tensor = fluid.io.read(tmp_path / "tensors" / "i64_lod1").variables["i64_lod1"]
    assert isinstance(tensor, LoDTensor) and tensor.lod() == [[0, 2, 3, 6]]
    rows = fluid.io.read(tmp_path / "tensors" / "selected_rows").variables["selected_rows"]
    assert isinstance(rows, SelectedRows) and rows.rows() == [1, 7, 4]


def test_a_folder_of_models_is_refused_with_their_paths(tmp_path):
    fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    data = fluid.default_main_program().to_bytes()
    for path in ("a/net.pdmodel", "a/other.pdmodel", "b/one/__model__", "b/two/__model__"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    for folder, names in (("a", ("net", "other")), ("b", ("one", "two"))):
        with pytest.raises(fluid.errors.FileFormatError, match="a folder of 2 models") as refused:
            fluid.io.read(tmp_path / folder)
        listed = ", ".join(str(tmp_path / folder / name) for name in names)
        assert str(refused.value).endswith(f"give the path of one: {listed}")


KINDS_2 = {
    "dense": ("inference model", ["fc_1.b_0", "fc_1.w_0"]),
    "dense.pdmodel": ("inference model", ["fc_1.b_0", "fc_1.w_0"]),
    "dense.pdiparams": ("combined tensors", ["fc_1.b_0", "fc_1.w_0"]),
    "train": ("training state", ["fc_1.w_0", "fc_1.b_0"]),
    "net4.pdparams": ("state", ["0.weight", "0.bias", "2.weight", "2.bias"]),
    "nested.pdparams": ("state", ["a.0", "a.1.b"]),
    "tensor.pdtensor": ("state", ["tensor"]),
}


@pytest.mark.parametrize("path, wanted", KINDS_2.items(), ids=KINDS_2)
def test_files_of_paddle_2_are_recognised(path, wanted, tmp_path):
    saved_models.unpack(tmp_path, "", saved_models.PADDLE2)
    found = fluid.io.read(tmp_path / path)
    assert (found.kind, list(found.variables)) == wanted


# -- other libraries -------------------------------------------------------------------------------


def test_files_of_numpy_are_read(tmp_path):
    np.savez(tmp_path / "a.npz", **ARRAYS)
    found = fluid.io.read(tmp_path / "a.npz")
    assert found.kind == "npz"
    assert_same(found.variables, ARRAYS)
    np.savez_compressed(tmp_path / "packed.npz", **ARRAYS)
    assert_same(fluid.io.read(tmp_path / "packed.npz").variables, ARRAYS)
    np.save(tmp_path / "w.npy", np.asfortranarray(ARRAYS["w"]).astype(">f4"))
    found = fluid.io.read(tmp_path / "w.npy")
    assert found.kind == "npy"
    assert_same(found.variables, {"w": ARRAYS["w"]})


def test_numpy_reads_what_is_written(tmp_path):
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(np.load(io.BytesIO(written(write_npy, array))), array)
        with np.load(io.BytesIO(written(write_npz, ARRAYS))) as packed:
            np.testing.assert_array_equal(packed[name], array)
    with pytest.raises(DTypeError, match="an array of numbers"):
        written(write_npy, np.array(["text"]))


def test_a_safetensors_file_is_a_header_and_numbers():
    data = written(write_safetensors, {"w": ARRAYS["w"], "b": ARRAYS["b"]})
    head = (
        b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},'
        b'"b":{"dtype":"I64","shape":[3],"data_offsets":[24,48]}}'
    )
    head += b" " * (-len(head) % 8)
    head = struct.pack("<Q", len(head)) + head
    assert data == head + ARRAYS["w"].tobytes() + ARRAYS["b"].tobytes()
    assert_same(read_safetensors(Source.of(data, "file")), {"w": ARRAYS["w"], "b": ARRAYS["b"]})
    with pytest.raises(DTypeError, match="no room for"):
        written(write_safetensors, {"c": np.zeros(1, "complex64")})


def test_bfloat16_of_safetensors_is_read():
    head = b'{"__metadata__":{"a":"b"},"x":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
    data = struct.pack("<Q", len(head)) + head + b"\xc0\x3f"
    found = read_safetensors(Source.of(data, "file"))
    assert found["x"].tolist() == [1.5] and found["x"].dtype.name in ("bfloat16", "float32")


def test_safetensors_agrees_with_its_own_library(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    library.save_file(ARRAYS, tmp_path / "theirs.safetensors")
    found = fluid.io.read(tmp_path / "theirs.safetensors").variables
    assert_same(dict(sorted(found.items())), dict(sorted(ARRAYS.items())))
    (tmp_path / "ours.safetensors").write_bytes(written(write_safetensors, ARRAYS))
    found = library.load_file(tmp_path / "ours.safetensors")
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)


# -- other files -----------------------------------------------------------------------------------


def test_programs_in_both_formats_are_read(tmp_path):
    program = fuzzing.program()
    (tmp_path / "net.txt").write_text(str(program))
    (tmp_path / "net.pdmodel").write_bytes(program.to_bytes())
    text, data = (fluid.io.read(tmp_path / f"net.{ending}") for ending in ("txt", "pdmodel"))
    assert (text.kind, data.kind) == ("program text", "program")
    assert not differences(text.program, program)
    assert data.program.to_bytes() == program.to_bytes()


def test_a_checkpoint_is_read(tmp_path):
    regression()
    started()
    fluid.checkpoint.save(tmp_path, step=3)
    for path in (tmp_path, fluid.checkpoint.latest(tmp_path)):
        found = fluid.io.read(path)
        assert (found.kind, found.others) == ("checkpoint", {"step": 3})
        assert_same(found.variables, state())
        assert found.program is not None


def test_a_folder_with_one_file_is_that_file(tmp_path):
    np.savez(tmp_path / "a.npz", **ARRAYS)
    assert fluid.io.read(tmp_path).kind == "npz"


def test_unfinished_files_in_a_folder_are_passed_over(tmp_path):
    fluid.io.convert(_npz(tmp_path), tmp_path / "folder", "separate")
    (tmp_path / "folder" / ".w.0123.partial").write_bytes(b"half")
    assert set(fluid.io.read(tmp_path / "folder").variables) == set(ARRAYS)


def test_numbers_and_texts_of_a_state_stand_apart(tmp_path):
    data = {"w": ARRAYS["w"], "LR_Scheduler": {"step_num": 1}, "name": "text"}
    (tmp_path / "net.pdopt").write_bytes(pickle.dumps(data, 2))
    found = fluid.io.read(tmp_path / "net.pdopt")
    assert list(found.variables) == ["w"]
    assert found.others == {"LR_Scheduler.step_num": 1, "name": "text"}


def test_tensors_without_names_are_numbered(tmp_path):
    fluid.io.convert(_npz(tmp_path), tmp_path / "all", "combined")
    assert list(fluid.io.read(tmp_path / "all").variables) == [f"tensor_{k}" for k in range(5)]


# -- what is wrong ---------------------------------------------------------------------------------

WRONG = {
    "empty": (b"", "expected a file of a known kind at byte 0, found nothing"),
    "foreign": (b"\x7fELF" + bytes(60), "expected a program, tensors, .* found 7f 45 4c 46"),
    "zip": (b"PK\x03\x04" + bytes(60), "a zip file at byte 0"),
    "text": (b"program (seed=0) {\n  blocc 0 {\n", "expected a program, found line 2, column 3"),
    "latin": (b"program \xff", "expected UTF-8 at byte 8, found 0xff"),
    "npy": (b"\x93NUMPY\x01\x00\xff\xff", "a header of at most 10000 bytes at byte 8"),
    "npy objects": (
        b"\x93NUMPY\x01\x00\x3a\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }  ",
        "a header with the element type and shape of numbers at byte 10",
    ),
    "safetensors": (struct.pack("<Q", 2) + b"{]", "a header of JSON at byte 8"),
}


@pytest.mark.parametrize("data, message", WRONG.values(), ids=WRONG)
def test_files_of_no_known_kind_are_refused_at_their_place(data, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=f"{path}: .*{message}"):
        fluid.io.read(path)


def test_folders_of_no_known_kind_are_refused(tmp_path):
    with pytest.raises(FileError, match="it holds no files"):
        fluid.io.read(tmp_path)
    np.save(tmp_path / "a.npy", ARRAYS["w"])
    np.save(tmp_path / "b.npy", ARRAYS["b"])
    with pytest.raises(FileFormatError, match="one in each file, found a.npy: npy; give the path"):
        fluid.io.read(tmp_path)
    (tmp_path / "a.npy").write_bytes(b"nonsense")
    with pytest.raises(FileFormatError, match="a folder of variables, a model, .*a.npy: expected"):
        fluid.io.read(tmp_path)


HEADS = {
    "list": (b"[]", "a header with tensors by name"),
    "type": (b'{"a":{"dtype":"Q","shape":[],"data_offsets":[0,0]}}', "element type, shape and"),
    "size": (b'{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,4]}}', "element type, shape and"),
    "end": (b'{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}', r"tensor 'a' \(9 bytes\)"),
    "gap": (b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}', "behind the one before"),
    "nest": (b"[" * 100_000, "a header of JSON"),
}


@pytest.mark.parametrize("head, message", HEADS.values(), ids=HEADS)
def test_headers_of_safetensors_that_are_wrong_are_refused(head, message):
    data = struct.pack("<Q", len(head)) + head + bytes(4)
    with pytest.raises(FileFormatError, match=message):
        read_safetensors(Source.of(data, "file"))


def test_sizes_that_a_file_does_not_have_are_refused_before_anything_is_allocated(tmp_path):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
    with pytest.raises(FileFormatError, match="8000000000000 bytes"):
        read_npy(Source.of(data, "file"))


# -- conversion ------------------------------------------------------------------------------------


def _npz(folder):
    path = folder / "arrays.npz"
    np.savez(path, **ARRAYS)
    return path


@pytest.mark.parametrize("target", ["a.npz", "a.safetensors", "a.pdparams", "folder/"])
def test_arrays_survive_every_format(target, tmp_path):
    target = f"{tmp_path}/{target}"
    assert fluid.io.convert(_npz(tmp_path), target).kind == "npz"
    found = fluid.io.read(target).variables
    assert_same(dict(sorted(found.items())), dict(sorted(ARRAYS.items())))


def test_a_combined_file_is_in_order_of_the_names(tmp_path):
    fluid.io.convert(_npz(tmp_path), tmp_path / "all.pdiparams")
    found = fluid.io.read(tmp_path / "all.pdiparams").variables.values()
    assert_same(dict(zip(sorted(ARRAYS), found)), {n: ARRAYS[n] for n in sorted(ARRAYS)})


def test_models_of_the_real_thing_are_converted_back_and_forth(tmp_path):
    saved_models.unpack(tmp_path, "fc/")
    fluid.io.convert(tmp_path / "fc" / "inference", tmp_path / "a.npz")
    fluid.io.convert(tmp_path / "a.npz", tmp_path / "all", "combined")
    wanted = saved_models.file("fc/inference_combined/params")
    assert (tmp_path / "all").read_bytes() == wanted
    fluid.io.convert(tmp_path / "fc" / "inference_combined", tmp_path / "folder", "separate")
    weight = tmp_path / "folder" / "fc_0.w_0"
    assert weight.read_bytes() == saved_models.file("fc/params/fc_0.w_0")


def test_programs_are_converted_to_text_and_back(tmp_path):
    program = fuzzing.program()
    (tmp_path / "net.pdmodel").write_bytes(program.to_bytes(call_sites=True))
    fluid.io.convert(tmp_path / "net.pdmodel", tmp_path / "net.txt")
    assert "# fuzzing.py" in (tmp_path / "net.txt").read_text()
    fluid.io.convert(tmp_path / "net.pdmodel", tmp_path / "bare.txt", call_sites=False)
    assert "#" not in (tmp_path / "bare.txt").read_text()
    fluid.io.convert(tmp_path / "net.txt", tmp_path / "__model__")
    found = fluid.io.read(tmp_path / "__model__").program
    assert [str(op) for op in found.global_block().ops] == [
        str(op) for op in program.global_block().ops
    ]
    fluid.io.convert(tmp_path / "net.pdmodel", tmp_path / "bare.pdmodel", call_sites=False)
    assert b"fuzzing.py" not in (tmp_path / "bare.pdmodel").read_bytes()


def test_sequences_and_rows_survive_in_formats_that_have_room_for_them(tmp_path):
    saved_models.unpack(tmp_path, "tensors/")
    path = tmp_path / "tensors" / "i64_lod1"
    fluid.io.convert(path, tmp_path / "folder", "separate")
    assert (tmp_path / "folder" / "i64_lod1").read_bytes() == path.read_bytes()
    with pytest.raises(ArgumentError, match="variable 'i64_lod1' holds LoDTensor"):
        fluid.io.convert(path, tmp_path / "a.npz")
    fluid.io.convert(tmp_path / "tensors" / "selected_rows", tmp_path / "rows.npz")
    assert fluid.io.read(tmp_path / "rows.npz").variables["selected_rows"].shape == (9, 2)


def test_what_a_format_has_no_room_for_is_refused(tmp_path):
    path = _npz(tmp_path)
    for target, format, message in (
        ("a.xyz", None, "does not follow from its ending; name the format"),
        ("a", "npzz", "expected one of the formats .*; did you mean 'npz'"),
        ("a.npy", None, "has room for one array, got 5"),
        ("a.txt", None, "holds no program"),
    ):
        with pytest.raises(ArgumentError, match=message):
            fluid.io.convert(path, tmp_path / target, format)
    (tmp_path / "net.txt").write_text(str(fuzzing.program()))
    with pytest.raises(ArgumentError, match=r"net.txt \(program text\) holds no variables"):
        fluid.io.convert(tmp_path / "net.txt", tmp_path / "a.npz")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["arrays.npz", "net.txt"]


def test_a_packed_file_may_not_become_much_larger_than_it_is_unless_that_is_said(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(arrays, "_UNPACKED", 1000)
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros(100_000, "float32"))
    with pytest.raises(FileFormatError, match=r"400128 bytes; .* unpacked=400128"):
        fluid.io.read(tmp_path / "zeros.npz")
    found = fluid.io.read(tmp_path / "zeros.npz", unpacked=400_128)
    assert found.variables["a"].shape == (100_000,)


def test_a_quarter_of_a_gigabyte_is_unpacked_from_any_file(tmp_path):
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros(1_000_000, "float32"))
    assert fluid.io.read(tmp_path / "zeros.npz").variables["a"].shape == (1_000_000,)


def test_values_of_another_model_beside_a_program_are_refused(tmp_path):
    for name, size in (("one", 3), ("other", 5)):
        net = fluid.paddle.nn.Linear(4, size)
        spec = [fluid.paddle.static.InputSpec([None, 4])]
        fluid.paddle.jit.save(net, str(tmp_path / name), input_spec=spec)
    shutil.copy(tmp_path / "other.pdiparams", tmp_path / "one.pdiparams")
    with pytest.raises(FileFormatError, match=r"expected float32\[3\], as the program declares"):
        fluid.io.convert(tmp_path / "one.pdmodel", tmp_path / "new.pdmodel")
    assert not (tmp_path / "new.pdmodel").exists()
