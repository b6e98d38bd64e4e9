"""What layers that normalise over batches are made with."""

from __future__ import annotations

from ..functions.arguments import DTypeLike
from ..ground.fields import from_fields
from ..param_attr import Attr


@from_fields
class BatchNormFields:
    """The options of fluid 1.8's layer, which paddle 2 has, too."""

    num_channels: int
    act: str | None = None
    is_test: bool = False
    momentum: float = 0.9
    epsilon: float = 1e-5
    param_attr: Attr = None
    bias_attr: Attr = None
    dtype: DTypeLike = "float32"
    data_layout: str = "NCHW"
    in_place: bool = False
    moving_mean_name: str | None = None
    moving_variance_name: str | None = None
    do_model_average_for_mean_and_var: bool = True
    use_global_stats: bool = False
    trainable_statistics: bool = False
