"""``paddle.distribution`` of paddle 2.6: probability distributions, transforms, divergences."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from . import constraint as constraint
from . import variable as variable
from .bernoulli import Bernoulli as Bernoulli
from .beta import Beta as Beta
from .categorical import Categorical as Categorical
from .cauchy import Cauchy as Cauchy
from .dirichlet import Dirichlet as Dirichlet
from .distribution import Distribution as Distribution
from .exponential_family import ExponentialFamily as ExponentialFamily
from .geometric import Geometric as Geometric
from .gumbel import Gumbel as Gumbel
from .independent import Independent as Independent
from .kl import kl_divergence as kl_divergence
from .kl import register_kl as register_kl
from .laplace import Laplace as Laplace
from .lognormal import LogNormal as LogNormal
from .multinomial import Multinomial as Multinomial
from .normal import Normal as Normal
from .transform import AbsTransform as AbsTransform
from .transform import AffineTransform as AffineTransform
from .transform import ChainTransform as ChainTransform
from .transform import ExpTransform as ExpTransform
from .transform import IndependentTransform as IndependentTransform
from .transform import PowerTransform as PowerTransform
from .transform import ReshapeTransform as ReshapeTransform
from .transform import SigmoidTransform as SigmoidTransform
from .transform import SoftmaxTransform as SoftmaxTransform
from .transform import StackTransform as StackTransform
from .transform import StickBreakingTransform as StickBreakingTransform
from .transform import TanhTransform as TanhTransform
from .transform import Transform as Transform
from .transformed_distribution import TransformedDistribution as TransformedDistribution
from .uniform import Uniform as Uniform

list_given_names(
    globals(),
    *("bernoulli", "beta", "categorical", "cauchy", "constraint", "dirichlet", "distribution"),
    *("exponential_family", "geometric", "gumbel", "independent", "kl", "laplace", "lognormal"),
    *("multinomial", "normal", "transform", "transformed_distribution", "uniform", "variable"),
)
