"""``paddle.nn.utils`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ...nn.utils import clip_grad_norm_ as clip_grad_norm_
from ...nn.utils import clip_grad_value_ as clip_grad_value_
from ...nn.utils import parameters_to_vector as parameters_to_vector
from ...nn.utils import remove_weight_norm as remove_weight_norm
from ...nn.utils import spectral_norm as spectral_norm
from ...nn.utils import vector_to_parameters as vector_to_parameters
from ...nn.utils import weight_norm as weight_norm
from ..holders import hold

list_given_names(globals())
hold(globals())
