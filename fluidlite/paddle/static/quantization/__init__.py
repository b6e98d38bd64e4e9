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
_MODULES: Table = {
    "cal_kl_threshold": {"quantization.thresholds": "cal_kl_threshold"},
    "post_training_quantization": _CALIBRATED,
    "quant2_int8_mkldnn_pass": {_PASSES: "Quant2Int8MkldnnPass"},
    "quant_config": {"quantization.editions": "SUPPORT_QUANTIZATION_OP_DICT=SUPPORTED"},
    "quant_int8_mkldnn_pass": {_PASSES: "QuantInt8MkldnnPass"},
    "quantization_pass": {_PASSES: _NAMES, **_MOBILE},
    "utils": {"quantization.editions": "SUPPORT_QUANTIZATION_OP_DICT=SUPPORTED"},
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
