"""Start values of parameters, written in place, in OneFlow's spelling."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ...ground.tracebacks import api_boundaries
from ..filling import calc_fan as calc_fan
from ..filling import calculate_gain as calculate_gain
from ..filling import constant_ as constant_
from ..filling import eye_ as eye_
from ..filling import get_data_format as get_data_format
from ..filling import kaiming_normal_ as kaiming_normal_
from ..filling import kaiming_uniform_ as kaiming_uniform_
from ..filling import normal_ as normal_
from ..filling import ones_ as ones_
from ..filling import orthogonal_ as orthogonal_
from ..filling import trunc_normal_ as trunc_normal_
from ..filling import uniform_ as uniform_
from ..filling import xavier_normal_ as xavier_normal_
from ..filling import xavier_uniform_ as xavier_uniform_
from ..filling import zeros_ as zeros_

list_given_names(globals())
api_boundaries(globals(), imported=True)
