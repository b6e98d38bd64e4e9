"""``paddle.vision.transforms`` of paddle 2.6."""

from __future__ import annotations

from ....ground.module_tables import give_names

__all__: list[str] = []
_FUNCTIONS = (
    "to_tensor hflip vflip resize pad affine rotate perspective to_grayscale crop center_crop "
    "adjust_brightness adjust_contrast adjust_hue normalize erase"
)
_CLASSES = (
    "BaseTransform Compose Resize RandomResizedCrop CenterCrop RandomHorizontalFlip "
    "RandomVerticalFlip Transpose Normalize BrightnessTransform SaturationTransform "
    "ContrastTransform HueTransform ColorJitter RandomCrop Pad RandomAffine RandomRotation "
    "RandomPerspective Grayscale ToTensor RandomErasing"
)
_HERE = "paddle.vision.transforms"
give_names(
    globals(),
    {f"{_HERE}.transforms": _CLASSES, f"{_HERE}.functional": _FUNCTIONS},
    ("functional", "transforms"),
)
