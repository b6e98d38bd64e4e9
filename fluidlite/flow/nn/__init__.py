"""Neural networks, in the spelling of OneFlow."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_given_names
from ...ground.tracebacks import api_boundaries
from . import functional as functional
from . import init as init
from . import utils as utils
from .activation import CELU as CELU
from .activation import ELU as ELU
from .activation import GELU as GELU
from .activation import GLU as GLU
from .activation import SELU as SELU
from .activation import Hardshrink as Hardshrink
from .activation import Hardsigmoid as Hardsigmoid
from .activation import Hardswish as Hardswish
from .activation import Hardtanh as Hardtanh
from .activation import LeakyReLU as LeakyReLU
from .activation import LogSigmoid as LogSigmoid
from .activation import LogSoftmax as LogSoftmax
from .activation import Mish as Mish
from .activation import PReLU as PReLU
from .activation import ReLU as ReLU
from .activation import ReLU6 as ReLU6
from .activation import Sigmoid as Sigmoid
from .activation import SiLU as SiLU
from .activation import Softmax as Softmax
from .activation import Softplus as Softplus
from .activation import Softshrink as Softshrink
from .activation import Softsign as Softsign
from .activation import Tanh as Tanh
from .activation import Threshold as Threshold
from .containers import ModuleDict as ModuleDict
from .containers import ModuleList as ModuleList
from .containers import ParameterDict as ParameterDict
from .containers import ParameterList as ParameterList
from .containers import Sequential as Sequential
from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .conv import Conv3d as Conv3d
from .conv import ConvTranspose1d as ConvTranspose1d
from .conv import ConvTranspose2d as ConvTranspose2d
from .conv import ConvTranspose3d as ConvTranspose3d
from .dense import Bilinear as Bilinear
from .dense import CosineSimilarity as CosineSimilarity
from .dense import Dropout as Dropout
from .dense import Dropout1d as Dropout1d
from .dense import Dropout2d as Dropout2d
from .dense import Dropout3d as Dropout3d
from .dense import Embedding as Embedding
from .dense import Flatten as Flatten
from .dense import Identity as Identity
from .dense import Linear as Linear
from .loss import BCELoss as BCELoss
from .loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from .loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from .loss import CrossEntropyLoss as CrossEntropyLoss
from .loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from .loss import HuberLoss as HuberLoss
from .loss import KLDivLoss as KLDivLoss
from .loss import L1Loss as L1Loss
from .loss import MarginRankingLoss as MarginRankingLoss
from .loss import MSELoss as MSELoss
from .loss import NLLLoss as NLLLoss
from .loss import SmoothL1Loss as SmoothL1Loss
from .loss import SoftMarginLoss as SoftMarginLoss
from .loss import TripletMarginLoss as TripletMarginLoss
from .module import Module as Module
from .module import Parameter as Parameter
from .norm import BatchNorm1d as BatchNorm1d
from .norm import BatchNorm2d as BatchNorm2d
from .norm import BatchNorm3d as BatchNorm3d
from .norm import GroupNorm as GroupNorm
from .norm import InstanceNorm1d as InstanceNorm1d
from .norm import InstanceNorm2d as InstanceNorm2d
from .norm import InstanceNorm3d as InstanceNorm3d
from .norm import LayerNorm as LayerNorm
from .pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from .pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from .pooling import AvgPool1d as AvgPool1d
from .pooling import AvgPool2d as AvgPool2d
from .pooling import AvgPool3d as AvgPool3d
from .pooling import MaxPool1d as MaxPool1d
from .pooling import MaxPool2d as MaxPool2d
from .pooling import MaxPool3d as MaxPool3d
from .recurrent import GRU as GRU
from .recurrent import LSTM as LSTM
from .recurrent import RNN as RNN
from .recurrent import GRUCell as GRUCell
from .recurrent import LSTMCell as LSTMCell
from .recurrent import RNNCell as RNNCell
from .resampling import ConstantPad1d as ConstantPad1d
from .resampling import ConstantPad2d as ConstantPad2d
from .resampling import ConstantPad3d as ConstantPad3d
from .resampling import Fold as Fold
from .resampling import MaxUnpool1d as MaxUnpool1d
from .resampling import MaxUnpool2d as MaxUnpool2d
from .resampling import MaxUnpool3d as MaxUnpool3d
from .resampling import PixelShuffle as PixelShuffle
from .resampling import ReflectionPad1d as ReflectionPad1d
from .resampling import ReflectionPad2d as ReflectionPad2d
from .resampling import ReplicationPad1d as ReplicationPad1d
from .resampling import ReplicationPad2d as ReplicationPad2d
from .resampling import Unfold as Unfold
from .resampling import Upsample as Upsample
from .resampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from .resampling import UpsamplingNearest2d as UpsamplingNearest2d
from .resampling import ZeroPad2d as ZeroPad2d

list_given_names(globals(), "functional", "init", "utils")
api_boundaries(globals())
answer(globals())
