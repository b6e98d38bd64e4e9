"""``paddle.vision.datasets`` of paddle 2.6, over local files; nothing is downloaded."""

from __future__ import annotations

from ....ground.module_tables import give_names

__all__: list[str] = []
_HERE = "paddle.vision.datasets"
_HOMES = {
    "folder": "DatasetFolder ImageFolder",
    "mnist": "MNIST FashionMNIST",
    "flowers": "Flowers",
    "cifar": "Cifar10 Cifar100",
    "voc2012": "VOC2012",
}
give_names(globals(), {f"{_HERE}.{home}": names for home, names in _HOMES.items()}, _HOMES)
