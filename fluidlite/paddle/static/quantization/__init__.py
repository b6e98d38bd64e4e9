"""``paddle.static.quantization`` of paddle 2.6: roundings in programs, by passes over graphs."""

from __future__ import annotations

from ....ground.module_tables import Table, give_names, hold_modules

_PASSES = "quantization.static_passes"
_CALIBRATION = "quantization.static_calibration"
_NAMES = (
    "AddQuantDequantForInferencePass AddQuantDequantPass AddQuantDequantPassV2 ConvertToInt8Pass "
    "OutScaleForInferencePass OutScaleForTrainingPass QuantWeightPass QuantizationFreezePass "
    "QuantizationTransformPass QuantizationTransformPassV2 ReplaceFakeQuantDequantPass"
)
_MOBILE = {"quantization.passes": "TransformForMobilePass"}
_CALIBRATED = {
    _CALIBRATION: "PostTrainingQuantization PostTrainingQuantizationProgram",
    "quantization.stored_weights": "WeightQuantization",
}
_LEARNED = "AdaRoundLoss GAMMA ZETA compute_soft_rounding compute_soft_rounding_np run_adaround"
_DEVICES = (
    "ARMCPUQuantizer BaseQuantizer MKLDNNQuantizer TensorRTQuantizer "
    "SUPPORT_WEIGHT_QUANTIZATION_OP_DICT=WITH_WEIGHTS "
    "SUPPORT_ACT_QUANTIZATION_OP_DICT=WITHOUT_WEIGHTS"
)
_WEIGHTS = (
    "bias_correction_w calculate_quant_cos_error dequant_tensor l2_loss load_variable_data "
    "move_persistable_var_to_global_block quant_tensor set_variable_data stable_sigmoid"
)
_SUPPORTED = {"quantization.editions": "SUPPORT_QUANTIZATION_OP_DICT=SUPPORTED"}
_MODULES: Table = {
    "adaround": {"quantization.learned_rounding": _LEARNED},
    "cal_kl_threshold": {"quantization.thresholds": "cal_kl_threshold"},
    "post_training_quantization": _CALIBRATED,
    "quant2_int8_mkldnn_pass": {_PASSES: "Quant2Int8MkldnnPass"},
    "quant_config": {**_SUPPORTED, "quantization.devices": _DEVICES},
    "quant_int8_mkldnn_pass": {_PASSES: "QuantInt8MkldnnPass"},
    "quantization_pass": {_PASSES: _NAMES, **_MOBILE},
    "utils": {**_SUPPORTED, "quantization.weights": _WEIGHTS},
}
_below = hold_modules(globals(), _MODULES)
give_names(
    globals(),
    {
        _PASSES: f"{_NAMES} Quant2Int8MkldnnPass QuantInt8MkldnnPass",
        **_CALIBRATED,
        **_MOBILE,
        "paddle.static.quantization.quanter": "convert quant_aware",
    },
    [*_below, "quanter"],
)
