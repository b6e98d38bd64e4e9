"""Switches of configurations, as tables: a method that sets, a method that answers.

Programs are planned and run in one way here, so that a switch changes nothing but the answers, but
for whole numbers of 8 bits (``int8.py``); a switch for a missing device answers that the device is
not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from ..ground.fields import maker_of

T = TypeVar("T", bound=type)

#: question -> what it answers at first, in paddle 2.6
QUESTIONS: dict[str, Any] = {
    "cpu_math_library_num_threads": 1,
    "fraction_of_gpu_memory_for_pool": 0.0,
    "glog_info_disabled": False,
    "gpu_device_id": 0,
    "ir_optim": True,
    "lite_engine_enabled": False,
    "memory_pool_init_size_mb": 100,
    "mkldnn_enabled": True,
    "mkldnn_int8_enabled": False,
    "onnxruntime_enabled": False,
    "shape_range_info_collected": False,
    "shape_range_info_path": "",
    "specify_input_name": False,
    "tensorrt_dla_enabled": False,
    "tensorrt_dynamic_shape_enabled": False,
    "tensorrt_engine_enabled": False,
    "tensorrt_explicit_quantization_enabled": False,
    "tensorrt_inspector_enabled": False,
    "tensorrt_optimization_level": 3,
    "tensorrt_varseqlen_enabled": False,
    "trt_allow_build_at_runtime": False,
    "tuned_tensorrt_dynamic_shape": False,
    "use_feed_fetch_ops_enabled": False,
    "use_gpu": False,
    "use_opencl": False,
    "use_xpu": False,
    "xpu_device_id": 0,
}
#: reason -> a line for each switch: its name, its arguments, and what it sets
SWITCHES: dict[str, str] = {
    "programs are planned and run in one way": """
        delete_pass(name)
        disable_mkldnn_fc_passes()
        enable_memory_optim(x=True)
        enable_new_executor(x=True)
        enable_profile()
        enable_save_optim_model(save_optimized_model=False)
        exp_disable_mixed_precision_ops(ops)
        exp_enable_mixed_precision_ops(ops)
        set_mkldnn_cache_capacity(capacity=0)
        set_mkldnn_op(ops)
        set_optim_cache_dir(path)
        switch_ir_debug(x=True)
        collect_shape_range_info(path) shape_range_info_collected=True shape_range_info_path=path
        disable_glog_info() glog_info_disabled=True
        disable_mkldnn() mkldnn_enabled=False
        enable_mkldnn() mkldnn_enabled=True
        enable_quantizer()
        switch_ir_optim(x=True) ir_optim=bool(x)
        switch_specify_input_names(x=True) specify_input_name=bool(x)
        switch_use_feed_fetch_ops(x=True)
        """,
    "products are computed in bfloat16, where the processor gains from it, all of them or those of \
some types of operators; a warning says where they are not": """
        enable_mkldnn_bfloat16() mkldnn_enabled=True mkldnn_bfloat16_enabled=True
        set_bfloat16_op(ops) bfloat16_types=ops
        """,
    "products that a quantized model rounds are computed in whole numbers, all of them or those of \
some types of operators": """
        enable_mkldnn_int8(mkldnn_int8_enabled_op_types=()) mkldnn_enabled=True \
mkldnn_int8_enabled=True mkldnn_int8_types=mkldnn_int8_enabled_op_types
        """,
    "1 is one thread of the BLAS where values have sequences, more are all that it has": """
        set_cpu_math_library_num_threads(count) cpu_math_library_num_threads=int(count)
        """,
    "there is no GPU": """
        disable_gpu()
        enable_low_precision_io(x=True)
        enable_use_gpu(memory_pool_init_size_mb, device_id=0, precision_mode=None)
        exp_enable_use_cutlass()
        """,
    "there is no TensorRT": """
        enable_tensorrt_dla(dla_core=0) tensorrt_dla_enabled=True
        enable_tensorrt_engine(workspace_size=1<<30, max_batch_size=1, min_subgraph_size=3, \
precision_mode=None, use_static=False, use_calib_mode=True, use_cuda_graph=False)
        enable_tensorrt_explicit_quantization() tensorrt_explicit_quantization_enabled=True
        enable_tensorrt_inspector(inspector_serialize=False) tensorrt_inspector_enabled=True
        enable_tensorrt_memory_optim(engine_memory_sharing=True, sharing_identifier=0)
        enable_tensorrt_varseqlen() tensorrt_varseqlen_enabled=True
        enable_tuned_tensorrt_dynamic_shape(shape_range_info_path='', \
allow_build_at_runtime=True) tuned_tensorrt_dynamic_shape=True \
trt_allow_build_at_runtime=allow_build_at_runtime
        exp_disable_tensorrt_ops(ops)
        mark_trt_engine_outputs(output_tensor_names=())
        set_tensorrt_optimization_level(level) tensorrt_optimization_level=int(level)
        set_trt_dynamic_shape_info(min_input_shape=None, max_input_shape=None, \
optim_input_shape=None, disable_trt_plugin_fp16=False)
        """,
    "there is no such machine": """
        enable_custom_device(device_type, device_id=0, precision=None)
        enable_dlnne(min_subgraph_size=3, max_batch_size=1, use_static_batch=False, \
weight_share_mode='0', disable_nodes_by_outputs=(), input_shape_dict=None, use_calib_mode=False, \
precision_mode=None)
        enable_ipu(ipu_device_num=1, ipu_micro_batch_size=1, ipu_enable_pipelining=False, \
ipu_batches_per_step=1)
        enable_lite_engine(precision_mode=None, zero_copy=False, passes_filter=(), \
ops_filter=()) lite_engine_enabled=True
        enable_opencl() use_opencl=True
        enable_xpu(l3_size=16777216, l3_locked=False, conv_autotune=False, \
conv_autotune_file='', transformer_encoder_precision='int16', \
transformer_encoder_adaptive_seqlen=False, enable_multi_stream=False)
        load_ipu_config(config_path)
        set_dist_config(config)
        set_ipu_config(ipu_enable_fp16=False, ipu_replica_num=1, \
ipu_available_memory_proportion=1.0, ipu_enable_half_partial=False, \
ipu_enable_model_runtime_executor=False)
        set_ipu_custom_info(ipu_custom_ops_info=(), ipu_custom_patterns=None)
        set_xpu_config(config)
        set_xpu_device_id(device_id=0)
        """,
    "models are not run by ONNX Runtime": """
        disable_onnxruntime()
        enable_onnxruntime()
        enable_ort_optimization()
        """,
}
_LINE = re.compile(r"(\w+)\((.*?)\)((?: \w+=\S+)*)$")


def with_switches(cls: T) -> T:
    """Give a class a method for each question, and for each switch.

    Args:
        cls: its ``questions`` are as :data:`QUESTIONS`; the answers of an object are in its
            ``settings``.
    """
    questions: Mapping[str, Any] = cls.questions  # type: ignore[attr-defined]
    for name, first in questions.items():
        _put(cls, name, "", f"return self.settings[{name!r}]", f"{first!r} at first.")
    for reason, lines in SWITCHES.items():
        for line in filter(None, map(str.strip, lines.splitlines())):
            match = _LINE.fullmatch(line)
            if match is None:
                raise ValueError(line)
            name, arguments, sets = match.groups()
            _put(cls, name, arguments, _setting(sets), f"Accepted: {reason}.")
    return cls


def _setting(sets: str) -> str:
    """The body of a switch."""
    pairs = (each.split("=", 1) for each in sets.split())
    told = ", ".join(f"{name!r}: {value}" for name, value in pairs)
    return f"self.settings.update({{{told}}})"


def _put(cls: type, name: str, arguments: str, body: str, doc: str) -> None:
    """A method of a class, unless it has one of that name."""
    if name in vars(cls):
        return
    head = f"self, {arguments}" if arguments else "self"
    text = f"def make():\n    def {name}({head}):\n        {body}\n    return {name}\n"
    method: Any = maker_of(text, __file__)()
    method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
    method.__doc__ = doc
    setattr(cls, name, method)
