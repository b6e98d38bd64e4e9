"""``paddle.framework`` of paddle 2.6: what its own modules asked of the framework."""

from __future__ import annotations

from ..ground.module_tables import Table, give_names, hold_modules

_RANDOM = "get_cuda_rng_state get_rng_state set_cuda_rng_state set_rng_state"
_MODULES: Table = {
    "dtype": {
        "paddle": "bool dtype finfo float16 float32 float64 iinfo int16 int32 int64 int8 uint8"
    },
    "framework": {"paddle": "get_default_dtype set_default_dtype"},
    "io": {"paddle": "load save"},
    "random": {"paddle": f"seed {_RANDOM}"},
}
_below = hold_modules(globals(), _MODULES)
give_names(
    globals(),
    {
        "paddle": "CPUPlace CUDAPinnedPlace CUDAPlace ParamAttr disable_signal_handler "
        "disable_static enable_static get_default_dtype get_flags grad in_dynamic_mode load "
        "no_grad save seed set_default_dtype set_flags",
        "paddle.base": "core",
        "paddle.base.dygraph": "base to_variable",
        "paddle.base.framework": "Block EagerParamBase IrGraph OpProtoHolder Parameter Program "
        "Variable convert_np_dtype_to_dtype_ generate_control_dev_var_name in_dynamic_or_pir_mode "
        "in_pir_mode switch_main_program switch_startup_program use_pir_api "
        "_current_expected_place",
        "paddle.base.layer_helper": "LayerHelper",
    },
    _below,
)
