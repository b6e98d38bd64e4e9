"""``fluid.core`` and ``fluid.framework``: enums, places, flags, operators as functions."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from fluidlite.ground import state


@pytest.fixture
def core(alias):
    return importlib.import_module("paddle.fluid.core")


@pytest.fixture
def framework(alias):
    return importlib.import_module("paddle.fluid.framework")


def test_the_enums_are_there(core):
    assert core.VarDesc.VarType.FP32 == 5
    assert core.VarDesc.VarType.LOD_TENSOR == 7
    assert core.AttrType.INT.name == "INT"
    assert (
        int(core.AttrType.INT) == core.AttrType.INT == 0 and core.AttrType(3) is core.AttrType.INTS
    )
    assert core.AttrType.FLOAT == 1 and core.AttrType.FLOAT != core.AttrType.FLOATS
    with pytest.raises(ValueError, match="99"):
        core.AttrType(99)
    assert core.op_proto_and_checker_maker.OpRole.Backward == 1
    assert core.op_proto_and_checker_maker.kOpRoleVarAttrName() == "op_role_var"
    assert core.ProfilerState.kAll == 3 and core.EventSortingKey.kTotal == 2


def test_the_names_of_markers_are_those_of_then(core):
    assert core.kTempVarName() == "@TEMP@"
    assert core.kZeroVarSuffix() == "@ZERO"
    assert core.kNewGradSuffix() == "@NEWGRAD@"
    assert core.kControlDepVarName() == "__control_var"
    assert core.empty_var_name() == core.kEmptyVarName() == "@EMPTY@"
    assert core.grad_var_suffix() == core.kGradVarSuffix() == "@GRAD"
    assert core.loaded_var_suffix() == "@LOADED"


def test_flags_are_read_and_set_like_a_dictionary(core):
    flags = core.globals()
    assert "FLAGS_check_nan_inf" in flags and len(flags.keys()) > 0
    flags["FLAGS_check_nan_inf"] = True
    assert state.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": True}
    assert core.init_gflags(["--use_mkldnn=1", "-x"])
    assert flags.get("FLAGS_use_mkldnn") == "1" and flags.get("FLAGS_none", 2) == 2


def test_scopes_hold_variables(core):
    scope = core.Scope()
    scope.var("x").get_tensor().set(np.ones([2], "float32"), core.CPUPlace())
    assert isinstance(scope, core._Scope)
    assert np.array(core.get_variable_tensor(scope, "x")).tolist() == [1.0, 1.0]
    core.set_feed_variable(scope, core.LoDTensor(np.zeros(1)), "feed", 1)
    assert len(scope.var("feed").get_lod_tensor_array()) == 2


def test_a_place_says_which_one_it_is(core):
    place = core.Place()
    place.set_place(core.CPUPlace())
    assert place.is_cpu_place() and not place.is_gpu_place()
    with pytest.warns(UserWarning, match="CUDAPlace"):
        place.set_place(core.CUDAPlace(2))
    assert place.is_gpu_place() and place.gpu_device_id() == 2


def test_sizes_and_defaults_of_operators_are_told(core):
    assert core.size_of_dtype(core.VarDesc.VarType.FP64) == 8
    assert core.get_op_attrs_default_value(b"scale")["scale"] == 1.0
    assert not core.op_support_gpu("relu")
    assert core.has_grad_op_maker("relu")


def test_operators_are_functions_of_tensors(core):
    dygraph = importlib.import_module("paddle.fluid.dygraph")
    with dygraph.guard():
        x = dygraph.to_variable(np.array([[1.0, -2.0]], "float32"))
        assert core.ops.relu(x).numpy().tolist() == [[1.0, 0.0]]
        assert core.ops.scale(x, "scale", 2.0).numpy().tolist() == [[2.0, -4.0]]
        assert core.ops.concat([x, x], "axis", 0).shape == [2, 2]
        assert core.ops.elementwise_add(x, x, "axis", -1).numpy().tolist() == [[2.0, -4.0]]
        best, place = core.ops.top_k(x, "k", 1)
        assert best.numpy().tolist() == [[1.0]] and place.numpy().tolist() == [[0]]
        assert len(core.ops.split(x, "num", 2, "axis", 1)) == 2


def test_functions_may_be_kept_to_one_mode(framework):
    dygraph = importlib.import_module("paddle.fluid.dygraph")

    @framework.dygraph_only
    def at_once():
        return 1

    @framework.dygraph_not_support
    def in_programs():
        return 2

    with pytest.raises(AssertionError, match="within"):
        at_once()
    assert in_programs() == 2
    with dygraph.guard():
        assert at_once() == 1
        with pytest.raises(AssertionError, match="outside"):
            in_programs()


def test_definitions_of_operators_are_held(framework):
    holder = framework.OpProtoHolder.instance()
    assert holder.has_op_proto("relu") and not holder.has_op_proto("none")
    assert holder.get_op_proto("relu").type == "relu"


def test_names_lie_within_names(framework):
    scope = framework.NameScope()
    assert [scope.child("a").name(), scope.child("a").name()] == ["a", "a_1"]
    assert scope.child("b").parent() is scope


def test_types_have_the_numbers_that_they_have_in_files(alias):
    pb2 = importlib.import_module("paddle.fluid.proto.framework_pb2")
    assert pb2.VarType.FP32 == 5 and pb2.AttrType.LONGS == 11


def test_messages_of_program_files_are_those_of_protobuf(alias):
    pytest.importorskip("google.protobuf")
    pb2 = importlib.import_module("paddle.fluid.proto.framework_pb2")
    fluid = importlib.import_module("paddle.fluid")
    y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
    fluid.layers.cast(y, pb2.VarType.INT64)
    data = fluid.default_main_program().desc.serialize_to_string()
    program = pb2.ProgramDesc.FromString(data)
    assert [op.type for op in program.blocks[0].ops] == ["mul", "elementwise_add", "cast"]
    assert {attr.name: attr for attr in program.blocks[0].ops[-1].attrs}["out_dtype"].i == 3
    assert program.SerializeToString() == data
    assert pb2.VarType.Type.Name(7) == "LOD_TENSOR" and pb2.AttrType.Name(pb2.INTS) == "INTS"
    assert isinstance(program.blocks[0].vars[0].type.lod_tensor.tensor, pb2.VarType.TensorDesc)
    assert pb2.BlockDesc().forward_block_idx == -1
    assert not pb2.OpDesc().IsInitialized() and pb2.DESCRIPTOR.package == "paddle.framework.proto"


FIELDS = json.loads((Path(__file__).parents[1] / "data" / "framework_pb2.json").read_text())


@pytest.mark.parametrize("name", FIELDS)
def test_messages_of_program_files_have_the_fields_of_paddle(alias, name):
    pytest.importorskip("google.protobuf")
    pb2 = importlib.import_module("paddle.fluid.proto.framework_pb2")
    outer, _, inner = name.partition(".")
    message = getattr(getattr(pb2, outer), inner) if inner else getattr(pb2, outer)
    served = {}
    for field in message.DESCRIPTOR.fields:
        within = getattr(field.message_type or field.enum_type, "full_name", "")
        if hasattr(field, "is_required"):
            label = 3 if field.is_repeated else 2 if field.is_required else 1
        else:
            label = field.label  # in versions before 6
        served[field.name] = [field.number, field.type, label, within.rpartition("proto.")[2]]
    assert served.items() >= FIELDS[name].items()


def test_versions_of_operators_are_messages_of_program_files():
    pytest.importorskip("google.protobuf")
    base = importlib.import_module("fluidlite.paddle.base.proto.framework_pb2")
    versions = base.OpVersionMap()
    versions.pair.add(op_name="a").op_version.version = 2
    program = base.ProgramDesc(op_version_map=versions)
    assert program.SerializeToString() == b"*\t\n\x07\n\x01a\x12\x02\x08\x02"
    assert (base.SCALAR, base.Scalar.LONG, base.VarType.SPARSE_CSR) == (16, 2, 31)


def test_numbers_of_types_are_there_without_protobuf(alias, monkeypatch):
    protos = importlib.import_module("fluidlite.compat.modules.protos")
    protos._served.cache_clear()
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    assert protos.VarType.FP32 == 5 and protos.AttrType.LONGS == 11
    pb2 = importlib.import_module("paddle.fluid.proto.framework_pb2")
    with pytest.raises(NotImplementedError, match="the package protobuf, with which it is there"):
        pb2.ProgramDesc()
    assert pb2.VarType.FP64 == 6


def test_every_loader_is_an_instance_of_their_class(alias):
    fluid = importlib.import_module("paddle.fluid")
    x = fluid.data("x", [None, 2], "float32")
    loader = fluid.io.DataLoader.from_generator(feed_list=[x], capacity=2)
    assert isinstance(loader, fluid.reader.DataLoaderBase)
    assert isinstance(loader, fluid.reader.DygraphGeneratorLoader)
    assert not isinstance(x, fluid.reader.DataLoaderBase)
