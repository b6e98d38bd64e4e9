"""The modules of ``paddle.base``, and which modules hold the names that they give."""

from __future__ import annotations

from ...ground.module_tables import Homes, Table

_OWN = "paddle.base.eager"
_PROGRAMS = "default_main_program default_startup_program program_guard"
_COMPILED = (
    "is_compiled_with_cinn is_compiled_with_distribute is_compiled_with_rocm is_compiled_with_xpu"
)
#: names that were written at the head of most modules
_MODES = {
    "paddle.modes": "in_dygraph_mode=in_dynamic_mode in_dynamic_or_pir_mode=in_dynamic_mode",
    _OWN: "in_pir_mode",
}
_CHECKS = "check_dtype check_type check_variable_and_dtype convert_dtype"
_HELPERS = {
    "paddle.param_attr": "ParamAttr",
    "framework": "Parameter dtype_is_floating",
    "paddle.base": "unique_name core",
    **_MODES,
}

#: what the package gives itself
NAMES: Homes = {
    "backward": "append_backward gradients",
    "compiler": "BuildStrategy CompiledProgram ExecutionStrategy",
    "compat.modules.feeding": "DataFeeder",
    "framework": "Program Variable cpu_places cuda_pinned_places cuda_places device_guard "
    f"is_compiled_with_cuda name_scope set_flags {_PROGRAMS}",
    "paddle.flags": "get_flags",
    "paddle.utils": "require_version",
    "lod_tensor": "create_lod_tensor create_random_int_lodtensor",
    "nn.initializer": "set_global_initializer",
    "paddle.base.core": "CPUPlace CUDAPinnedPlace CUDAPlace LoDTensor LoDTensorArray Scope Tensor",
    "paddle.device": _COMPILED.replace("is_compiled_with_distribute ", ""),
    "paddle.param_attr": "ParamAttr WeightNormParamAttr",
    "readers.feed_desc": "DataFeedDesc",
    "readers.files": "DatasetFactory InMemoryDataset",
    "runtime.executor": "Executor",
    "scope": "global_scope scope_guard",
    **_MODES,
    _OWN: "disable_dygraph disable_imperative enable_dygraph enable_imperative in_pir_mode",
}

MODULES: Table = {
    "backward": {
        "backward": "append_backward gradients",
        "framework": "program_guard",
        "fluid.data_feeder": "check_type",
        "paddle.base": "core framework unique_name",
        _OWN: "calc_gradient gradients_with_optimizer",
    },
    "compiler": {
        "compiler": "BuildStrategy CompiledProgram ExecutionStrategy",
        "framework": "cpu_places cuda_places",
        "paddle.base": "core framework",
    },
    "core": {
        "fluid.core": "AttrType BlockDesc CPUPlace CUDAPinnedPlace CUDAPlace EOFException "
        "EnforceNotMet LoDTensor LoDTensorArray OpDesc Place ProgramDesc ProfilerState Scope "
        "SelectedRows Tensor TracerOption VarDesc Variable disable_profiler enable_profiler "
        "get_cuda_device_count get_op_attrs_default_value get_variable_tensor globals "
        "has_grad_op_maker has_infer_inplace init_devices init_gflags init_glog "
        "is_compiled_with_brpc is_compiled_with_cuda is_compiled_with_dist "
        "is_compiled_with_mkldnn is_profiler_enabled kAutoParallelSuffix=kNewGradSuffix "
        "kControlDepVarName kEmptyVarName kGradVarSuffix kNewGradSuffix kTempVarName "
        "kZeroVarSuffix op_proto_and_checker_maker op_support_gpu reset_profiler "
        "set_feed_variable set_num_threads size_of_dtype",
        "quantization.graphs": "Graph Node",
        "paddle.random_states": "Generator=DefaultGenerator",
        "paddle.device": "get_all_custom_device_type get_all_device_type "
        "get_available_custom_device get_available_device is_compiled_with_custom_device "
        f"is_compiled_with_ipu {_COMPILED}",
    },
    "core.eager": {"eager.tensor": "Tensor"},
    "data_feed_desc": {"readers.feed_desc": "DataFeedDesc"},
    "data_feeder": {
        "compat.modules.feeding": "DataFeeder",
        "framework": "Variable default_main_program",
        "fluid.data_feeder": _CHECKS,
        "paddle.shapes": "check_shape",
        "paddle.base": "core",
        **_MODES,
    },
    "dataset": {
        "readers.files": "DatasetFactory FileInstantDataset InMemoryDataset QueueDataset "
        "DatasetBase",
        "paddle.base": "core",
        "paddle.utils": "deprecated",
    },
    "dygraph": {
        "eager.engine": "grad",
        "eager.mode": "no_grad no_grad_=no_grad",
        "paddle.modes": "enabled=in_dynamic_mode",
        _OWN: "disable_dygraph enable_dygraph guard to_variable",
    },
    "dygraph.base": {
        "eager.engine": "grad",
        "eager.mode": "enable_grad is_grad_enabled no_grad no_grad_=no_grad set_grad_enabled",
        "paddle.modes": "enabled=in_dynamic_mode",
        _OWN: "disable_dygraph enable_dygraph guard to_variable",
        "fluid.dygraph.base": "param_guard program_desc_tracing_guard switch_to_static_graph "
        "_switch_to_static_graph_",
        "fluid.data_feeder": "convert_dtype",
        "paddle.base": "core framework",
    },
    "executor": {
        "fluid.executor": "Executor as_numpy dimension_is_compatible_with "
        "dtype_is_compatible_with global_scope g_scope has_feed_operators has_fetch_operators "
        "scope_guard _fetch_var _as_lodtensor _to_name_str _switch_scope",
        "readers.dataset_runs": "~FetchHandler",
        "framework": "Operator Program Variable default_main_program set_flags "
        "convert_np_dtype_to_dtype_",
        "paddle.flags": "get_flags",
        "fluid.data_feeder": "convert_dtype",
        "paddle.base": "core compiler framework unique_name",
        _OWN: "in_pir_mode",
    },
    "framework": {
        "framework": "Block Operator Parameter Program Variable CONTROL_DEP_VAR_PREFIX "
        "EMPTY_VAR_NAME GRAD_VAR_SUFFIX TEMP_VAR_NAME ZERO_VAR_SUFFIX "
        "convert_np_dtype_to_dtype_ cpu_places cuda_pinned_places cuda_places device_guard "
        "dtype_is_floating grad_var_name is_compiled_with_cuda name_scope "
        "set_flags switch_main_program switch_startup_program "
        f"_current_expected_place _full_name_scope _get_var {_PROGRAMS}",
        "paddle.flags": "get_flags",
        "fluid.framework": "~NameScope OpProtoHolder generate_control_dev_var_name "
        "switch_device _cpu_num _cuda_ids _main_program_ _startup_program_",
        "fluid.wrapped_decorator": "~signature_safe_contextmanager wrap_decorator",
        "paddle.utils.checks": "disable_signal_handler require_version",
        "eager.parameter": "EagerParamBase=Parameter",
        "paddle.device": _COMPILED,
        "quantization.graph_views": "IrGraph IrNode IrOpNode IrVarNode",
        "paddle.modes": "in_dygraph_mode=in_dynamic_mode in_dynamic_or_pir_mode=in_dynamic_mode",
        _OWN: "in_pir_mode use_pir_api=in_pir_mode",
        "paddle.base": "core unique_name",
    },
    "initializer": {"nn.initializer": "set_global_initializer"},
    "io": {
        "paddle.io": "DataLoader",
        "paddle.base.loading": "PyReader",
        "fluid.log_helper": "get_logger",
    },
    "layer_helper": {
        "layer_helper": "LayerHelper",
        "fluid.layer_helper_base": "LayerHelperBase",
        **_HELPERS,
    },
    "layer_helper_base": {"fluid.layer_helper_base": "LayerHelperBase", **_HELPERS},
    "layers": {},
    "layers.io": {
        "framework": "default_main_program default_startup_program",
        "scope": "global_scope",
        "paddle.base": "core unique_name",
    },
    "layers.math_op_patch": {"fluid.layers.math_op_patch": "monkey_patch_variable"},
    "lod_tensor": {
        "lod_tensor": "create_lod_tensor create_random_int_lodtensor",
        "paddle.base": "core",
    },
    "log_helper": {"fluid.log_helper": "get_logger"},
    "param_attr": {"paddle.param_attr": "ParamAttr WeightNormParamAttr"},
    "proto": {},
    "proto.framework_pb2": {
        "fluid.proto.framework_pb2": "AttrType BLOCK BLOCKS BOOLEAN BOOLEANS BlockDesc "
        "DESCRIPTOR FLOAT FLOATS INT INTS LONG LONGS OpDesc OpProto ProgramDesc STRING STRINGS "
        "VarDesc VarType Version",
        "compat.modules.protos": "Complex FLOAT64 FLOAT64S OpVersion OpVersionMap SCALAR SCALARS "
        "Scalar VAR VARS",
    },
    "reader": {
        "paddle.base.io": "DataLoader PyReader",
        "fluid.reader": "keep_data_loader_order",
        "compat.modules.feeding": "DataFeeder",
        "framework": f"Program {_PROGRAMS}",
        "scope": "global_scope",
        "paddle.base": "core",
    },
    "unique_name": {
        "fluid.unique_name": "DygraphParameterNameChecker UniqueNameGenerator "
        "generate generate_with_ignorable_key generator guard "
        "switch"
    },
    "wrapped_decorator": {
        "fluid.wrapped_decorator": "~signature_safe_contextmanager wrap_decorator"
    },
}
