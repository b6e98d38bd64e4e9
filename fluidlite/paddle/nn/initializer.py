"""``paddle.nn.initializer`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ...initializer import ConstantInitializer as ConstantInitializer
from ...initializer import Initializer as Initializer
from ...initializer import MSRAInitializer as MSRAInitializer
from ...initializer import NormalInitializer as NormalInitializer
from ...initializer import NumpyArrayInitializer as NumpyArrayInitializer
from ...initializer import TruncatedNormalInitializer as TruncatedNormalInitializer
from ...initializer import UniformInitializer as UniformInitializer
from ...initializer import XavierInitializer as XavierInitializer
from ...nn.initializer import Assign as Assign
from ...nn.initializer import Bilinear as Bilinear
from ...nn.initializer import Constant as Constant
from ...nn.initializer import Dirac as Dirac
from ...nn.initializer import KaimingNormal as KaimingNormal
from ...nn.initializer import KaimingUniform as KaimingUniform
from ...nn.initializer import Normal as Normal
from ...nn.initializer import Orthogonal as Orthogonal
from ...nn.initializer import TruncatedNormal as TruncatedNormal
from ...nn.initializer import Uniform as Uniform
from ...nn.initializer import XavierNormal as XavierNormal
from ...nn.initializer import XavierUniform as XavierUniform
from ...nn.initializer import calculate_gain as calculate_gain
from ...nn.initializer import set_global_initializer as set_global_initializer
from ..holders import hold

list_given_names(globals())
hold(globals())
