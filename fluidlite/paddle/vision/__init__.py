"""``paddle.vision`` of paddle 2.6: models, transforms of images, data sets and detection."""

from __future__ import annotations

from ...ground.module_tables import give_names

__all__: list[str] = []
_MODELS = """
    AlexNet DenseNet GoogLeNet InceptionV3 LeNet MobileNetV1 MobileNetV2 MobileNetV3Large
    MobileNetV3Small ResNet ShuffleNetV2 SqueezeNet VGG alexnet densenet121 densenet161 densenet169
    densenet201 densenet264 googlenet inception_v3 mobilenet_v1 mobilenet_v2 mobilenet_v3_large
    mobilenet_v3_small resnet101 resnet152 resnet18 resnet34 resnet50 resnext101_32x4d
    resnext101_64x4d resnext152_32x4d resnext152_64x4d resnext50_32x4d resnext50_64x4d
    shufflenet_v2_swish shufflenet_v2_x0_25 shufflenet_v2_x0_33 shufflenet_v2_x0_5
    shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0 squeezenet1_0 squeezenet1_1 vgg11
    vgg13 vgg16 vgg19 wide_resnet101_2 wide_resnet50_2
"""
_TRANSFORMS = """
    BaseTransform BrightnessTransform CenterCrop ColorJitter Compose ContrastTransform Grayscale
    HueTransform Normalize Pad RandomCrop RandomHorizontalFlip RandomResizedCrop RandomRotation
    RandomVerticalFlip Resize SaturationTransform ToTensor Transpose adjust_brightness
    adjust_contrast adjust_hue center_crop crop hflip normalize pad resize rotate to_grayscale
    to_tensor vflip
"""
_SETS = "Cifar10 Cifar100 DatasetFolder FashionMNIST Flowers ImageFolder MNIST VOC2012"


def _unlisted(names: str) -> str:
    """Names that are given to who asks for them."""
    return " ".join(f"~{name}" for name in names.split())


_HERE = "paddle.vision"
give_names(
    globals(),
    {
        f"{_HERE}.image": "set_image_backend get_image_backend image_load",
        f"{_HERE}.models": _unlisted(_MODELS),
        f"{_HERE}.transforms": _unlisted(_TRANSFORMS),
        f"{_HERE}.datasets": _unlisted(_SETS),
    },
    ("datasets", "image", "models", "ops", "transforms"),
)
