# Written by docs/stubs.py.
from . import autograd
from . import backward
from . import checkpoint
from . import clip
from . import compat
from . import compiler
from . import contrib
from . import core
from . import data_feeder
from . import dataset
from . import distributed
from . import dygraph
from . import errors
from . import export
from . import flow
from . import framework
from . import incubate
from . import initializer
from . import input
from . import inspect
from . import io
from . import jax
from . import layer_helper
from . import layers
from . import lod_tensor
from . import metrics
from . import model
from . import nets
from . import nn
from . import onnx
from . import optimizer
from . import param_attr
from . import profiler
from . import reader
from . import regularizer
from . import transpiler
from . import unique_name
from .backward import append_backward
from .backward import calc_gradient
from .backward import gradients
from .compiler import BuildStrategy
from .compiler import CompiledProgram
from .compiler import ExecutionStrategy
from .config import show_config
from .custom import custom_op
from .data_feeder import DataFeeder
from .dygraph import BCELoss
from .dygraph import BatchNorm
from .dygraph import BilinearTensorProduct
from .dygraph import Conv2D
from .dygraph import Conv2DTranspose
from .dygraph import Conv3D
from .dygraph import Conv3DTranspose
from .dygraph import Dropout
from .dygraph import Embedding
from .dygraph import GRUUnit
from .dygraph import GroupNorm
from .dygraph import InstanceNorm
from .dygraph import L1Loss
from .dygraph import Layer
from .dygraph import LayerNorm
from .dygraph import Linear
from .dygraph import MSELoss
from .dygraph import NCE
from .dygraph import NLLLoss
from .dygraph import PRelu
from .dygraph import Pool2D
from .dygraph import SpectralNorm
from .dygraph import TreeConv
from .dygraph import disable_dygraph
from .dygraph import disable_imperative
from .dygraph import enable_dygraph
from .dygraph import enable_imperative
from .dygraph.checkpoint import load_dygraph
from .dygraph.checkpoint import save_dygraph
from .errors import FluidError
from .framework import memory_optimize
from .framework import release_memory
from .framework import require_version
from .framework import reset_default_programs
from .imperative.arithmetic import add
from .imperative.arithmetic import allclose
from .imperative.arithmetic import atan2
from .imperative.arithmetic import matmul as bmm
from .imperative.arithmetic import divide
from .imperative.arithmetic import dot
from .imperative.arithmetic import equal
from .imperative.arithmetic import equal_all
from .imperative.arithmetic import floor_divide
from .imperative.arithmetic import remainder as floor_mod
from .imperative.arithmetic import get_default_dtype
from .imperative.arithmetic import greater_equal
from .imperative.arithmetic import greater_than
from .imperative.arithmetic import isclose
from .imperative.arithmetic import lerp
from .imperative.arithmetic import less_equal
from .imperative.arithmetic import less_than
from .imperative.arithmetic import logical_and
from .imperative.arithmetic import logical_not
from .imperative.arithmetic import logical_or
from .imperative.arithmetic import logical_xor
from .imperative.arithmetic import matmul
from .imperative.arithmetic import maximum
from .imperative.arithmetic import minimum
from .imperative.arithmetic import matmul as mm
from .imperative.arithmetic import remainder as mod
from .imperative.arithmetic import multiply
from .imperative.arithmetic import matmul as mv
from .imperative.arithmetic import not_equal
from .imperative.arithmetic import outer
from .imperative.arithmetic import pow
from .imperative.arithmetic import remainder
from .imperative.arithmetic import set_default_dtype
from .imperative.arithmetic import subtract
from .imperative.composed import acosh
from .imperative.composed import add_n
from .imperative.composed import addmm
from .imperative.composed import asinh
from .imperative.composed import atanh
from .imperative.composed import bitwise_and
from .imperative.composed import bitwise_not
from .imperative.composed import bitwise_or
from .imperative.composed import bitwise_xor
from .imperative.composed import cross
from .imperative.composed import deg2rad
from .imperative.composed import diff
from .imperative.composed import fmax
from .imperative.composed import fmin
from .imperative.composed import frac
from .imperative.composed import hypot
from .imperative.composed import inner
from .imperative.composed import kron
from .imperative.composed import logaddexp
from .imperative.composed import logit
from .imperative.composed import nan_to_num
from .imperative.composed import nanmean
from .imperative.composed import nansum
from .imperative.composed import rad2deg
from .imperative.composed import sgn
from .imperative.composed import stanh
from .imperative.composed import tensordot
from .imperative.counting import bincount
from .imperative.counting import bucketize
from .imperative.counting import cummax
from .imperative.counting import cummin
from .imperative.counting import histogram
from .imperative.counting import index_add
from .imperative.counting import index_fill
from .imperative.counting import index_put
from .imperative.counting import kthvalue
from .imperative.counting import multinomial
from .imperative.counting import quantile
from .imperative.counting import searchsorted
from .imperative.counting import take
from .imperative.counting import unique_consecutive
from .imperative.creation import arange
from .imperative.creation import assign
from .imperative.creation import bernoulli
from .imperative.creation import diag
from .imperative.creation import empty
from .imperative.creation import empty_like
from .imperative.creation import eye
from .imperative.creation import float16
from .imperative.creation import float32
from .imperative.creation import float64
from .imperative.creation import full
from .imperative.creation import full_like
from .imperative.creation import int16
from .imperative.creation import int32
from .imperative.creation import int64
from .imperative.creation import int8
from .imperative.creation import is_tensor
from .imperative.creation import linspace
from .imperative.creation import logspace
from .imperative.creation import normal
from .imperative.creation import ones
from .imperative.creation import ones_like
from .imperative.creation import rand
from .imperative.creation import randint
from .imperative.creation import randn
from .imperative.creation import randperm
from .imperative.creation import seed
from .imperative.creation import standard_normal
from .imperative.creation import to_tensor
from .imperative.creation import tril_indices
from .imperative.creation import triu_indices
from .imperative.creation import uint8
from .imperative.creation import uniform
from .imperative.creation import zeros
from .imperative.creation import zeros_like
from .imperative.diagonals import atleast_1d
from .imperative.diagonals import atleast_2d
from .imperative.diagonals import atleast_3d
from .imperative.diagonals import diag_embed
from .imperative.diagonals import diagflat
from .imperative.diagonals import diagonal
from .imperative.diagonals import rot90
from .imperative.diagonals import unflatten
from .imperative.diagonals import view
from .imperative.diagonals import view_as
from .imperative.diagonals import vsplit
from .imperative.einsum import einsum
from .imperative.elementary import abs
from .imperative.elementary import acos
from .imperative.elementary import asin
from .imperative.elementary import atan
from .imperative.elementary import cast
from .imperative.elementary import ceil
from .imperative.elementary import clone
from .imperative.elementary import cos
from .imperative.elementary import cosh
from .imperative.elementary import erf
from .imperative.elementary import exp
from .imperative.elementary import expm1
from .imperative.elementary import floor
from .imperative.elementary import increment
from .imperative.elementary import isfinite
from .imperative.elementary import isinf
from .imperative.elementary import isnan
from .imperative.elementary import log
from .imperative.elementary import log10
from .imperative.elementary import log1p
from .imperative.elementary import log2
from .imperative.elementary import neg
from .imperative.elementary import reciprocal
from .imperative.elementary import round
from .imperative.elementary import rsqrt
from .imperative.elementary import scale
from .imperative.elementary import sigmoid
from .imperative.elementary import sign
from .imperative.elementary import sin
from .imperative.elementary import sinh
from .imperative.elementary import sqrt
from .imperative.elementary import square
from .imperative.elementary import tan
from .imperative.elementary import tanh
from .imperative.elementary import trunc
from .imperative.engine import grad
from .imperative.mode import enable_grad
from .imperative.mode import is_grad_enabled
from .imperative.mode import no_grad
from .imperative.mode import set_grad_enabled
from .imperative.parameter import Parameter
from .imperative.printing import set_printoptions
from .imperative.reduction import all
from .imperative.reduction import amax
from .imperative.reduction import amin
from .imperative.reduction import any
from .imperative.reduction import argmax
from .imperative.reduction import argmin
from .imperative.reduction import count_nonzero
from .imperative.reduction import cumprod
from .imperative.reduction import cumsum
from .imperative.reduction import dist
from .imperative.reduction import logsumexp
from .imperative.reduction import max
from .imperative.reduction import mean
from .imperative.reduction import median
from .imperative.reduction import min
from .imperative.reduction import norm
from .imperative.reduction import prod
from .imperative.reduction import std
from .imperative.reduction import sum
from .imperative.reduction import var
from .imperative.selection import argsort
from .imperative.selection import gather
from .imperative.selection import gather_nd
from .imperative.selection import index_sample
from .imperative.selection import index_select
from .imperative.selection import masked_fill
from .imperative.selection import masked_select
from .imperative.selection import nonzero
from .imperative.selection import put_along_axis
from .imperative.selection import scatter
from .imperative.selection import scatter_nd
from .imperative.selection import scatter_nd_add
from .imperative.selection import sort
from .imperative.selection import take_along_axis
from .imperative.selection import topk
from .imperative.selection import unique
from .imperative.selection import where
from .imperative.shaping import broadcast_shape
from .imperative.shaping import broadcast_tensors
from .imperative.shaping import broadcast_to
from .imperative.shaping import chunk
from .imperative.shaping import concat
from .imperative.shaping import expand
from .imperative.shaping import expand_as
from .imperative.shaping import flatten
from .imperative.shaping import flip
from .imperative.shaping import meshgrid
from .imperative.shaping import moveaxis
from .imperative.shaping import numel
from .imperative.shaping import rank
from .imperative.shaping import repeat_interleave
from .imperative.shaping import reshape
from .imperative.shaping import roll
from .imperative.shaping import split
from .imperative.shaping import squeeze
from .imperative.shaping import stack
from .imperative.shaping import swapaxes
from .imperative.shaping import t
from .imperative.shaping import tile
from .imperative.shaping import transpose
from .imperative.shaping import tril
from .imperative.shaping import triu
from .imperative.shaping import unbind
from .imperative.shaping import unsqueeze
from .imperative.shaping import unstack
from .imperative.tensor import Tensor
from .input import data
from .input import embedding
from .input import one_hot
from .inspect import explain_gradient
from .inspect import gradcheck
from .inspect.layers import summary
from .io import load
from .io import load_program_state
from .io import save
from .io import set_program_state
from .ir.device import device_guard
from .ir.name_scope import name_scope
from .ir.program import Program
from .ir.program import default_main_program
from .ir.program import default_startup_program
from .ir.program import program_guard
from .ir.variable import Variable
from .lod_tensor import create_lod_tensor
from .lod_tensor import create_random_int_lodtensor
from .model import FitHistory
from .model import InputSpec
from .model import Model
from .model import callbacks
from .model import metric
from .nn.parameter import create_parameter
from .parallel_executor import ParallelExecutor
from .param_attr import ParamAttr
from .param_attr import WeightNormParamAttr
from .place import CPUPlace
from .place import CUDAPinnedPlace
from .place import CUDAPlace
from .place import cpu_places
from .place import cuda_pinned_places
from .place import cuda_places
from .place import is_compiled_with_cuda
from .readers.feed_desc import DataFeedDesc
from .readers.files import DatasetFactory
from .readers.files import InMemoryDataset
from .readers.files import QueueDataset
from .runtime.executor import Executor
from .scope import Scope
from .scope import global_scope
from .scope import scope_guard
from .state import get_flags
from .state import in_dygraph_mode
from .state import set_flags
from .state import strict
from .tracing import trace
from .transpiler import DistributeTranspiler
from .transpiler import DistributeTranspilerConfig
from .values import LoDTensor
from .values import LoDTensorArray

__all__ = [
    "BCELoss",
    "BatchNorm",
    "BilinearTensorProduct",
    "BuildStrategy",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CompiledProgram",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "DataFeedDesc",
    "DataFeeder",
    "DatasetFactory",
    "DistributeTranspiler",
    "DistributeTranspilerConfig",
    "Dropout",
    "Embedding",
    "ExecutionStrategy",
    "Executor",
    "FitHistory",
    "FluidError",
    "GRUUnit",
    "GroupNorm",
    "InMemoryDataset",
    "InputSpec",
    "InstanceNorm",
    "L1Loss",
    "Layer",
    "LayerNorm",
    "Linear",
    "LoDTensor",
    "LoDTensorArray",
    "MSELoss",
    "Model",
    "NCE",
    "NLLLoss",
    "PRelu",
    "ParallelExecutor",
    "ParamAttr",
    "Parameter",
    "Pool2D",
    "Program",
    "QueueDataset",
    "Scope",
    "SpectralNorm",
    "Tensor",
    "TreeConv",
    "Variable",
    "WeightNormParamAttr",
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "addmm",
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "append_backward",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asin",
    "asinh",
    "assign",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autograd",
    "backward",
    "bernoulli",
    "bincount",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "broadcast_shape",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "calc_gradient",
    "callbacks",
    "cast",
    "ceil",
    "checkpoint",
    "chunk",
    "clip",
    "clone",
    "compat",
    "compiler",
    "concat",
    "contrib",
    "core",
    "cos",
    "cosh",
    "count_nonzero",
    "cpu_places",
    "create_lod_tensor",
    "create_parameter",
    "create_random_int_lodtensor",
    "cross",
    "cuda_pinned_places",
    "cuda_places",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "custom_op",
    "data",
    "data_feeder",
    "dataset",
    "default_main_program",
    "default_startup_program",
    "deg2rad",
    "device_guard",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diff",
    "disable_dygraph",
    "disable_imperative",
    "dist",
    "distributed",
    "divide",
    "dot",
    "dygraph",
    "einsum",
    "embedding",
    "empty",
    "empty_like",
    "enable_dygraph",
    "enable_grad",
    "enable_imperative",
    "equal",
    "equal_all",
    "erf",
    "errors",
    "exp",
    "expand",
    "expand_as",
    "explain_gradient",
    "expm1",
    "export",
    "eye",
    "flatten",
    "flip",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "floor_mod",
    "flow",
    "fmax",
    "fmin",
    "frac",
    "framework",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "get_default_dtype",
    "get_flags",
    "global_scope",
    "grad",
    "gradcheck",
    "gradients",
    "greater_equal",
    "greater_than",
    "histogram",
    "hypot",
    "in_dygraph_mode",
    "increment",
    "incubate",
    "index_add",
    "index_fill",
    "index_put",
    "index_sample",
    "index_select",
    "initializer",
    "inner",
    "input",
    "inspect",
    "int16",
    "int32",
    "int64",
    "int8",
    "io",
    "is_compiled_with_cuda",
    "is_grad_enabled",
    "is_tensor",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "jax",
    "kron",
    "kthvalue",
    "layer_helper",
    "layers",
    "lerp",
    "less_equal",
    "less_than",
    "linspace",
    "load",
    "load_dygraph",
    "load_program_state",
    "lod_tensor",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logspace",
    "logsumexp",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "maximum",
    "mean",
    "median",
    "memory_optimize",
    "meshgrid",
    "metric",
    "metrics",
    "min",
    "minimum",
    "mm",
    "mod",
    "model",
    "moveaxis",
    "multinomial",
    "multiply",
    "mv",
    "name_scope",
    "nan_to_num",
    "nanmean",
    "nansum",
    "neg",
    "nets",
    "nn",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "one_hot",
    "ones",
    "ones_like",
    "onnx",
    "optimizer",
    "outer",
    "param_attr",
    "pow",
    "prod",
    "profiler",
    "program_guard",
    "put_along_axis",
    "quantile",
    "rad2deg",
    "rand",
    "randint",
    "randn",
    "randperm",
    "rank",
    "reader",
    "reciprocal",
    "regularizer",
    "release_memory",
    "remainder",
    "repeat_interleave",
    "require_version",
    "reset_default_programs",
    "reshape",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "save",
    "save_dygraph",
    "scale",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "scope_guard",
    "searchsorted",
    "seed",
    "set_default_dtype",
    "set_flags",
    "set_grad_enabled",
    "set_printoptions",
    "set_program_state",
    "sgn",
    "show_config",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "standard_normal",
    "stanh",
    "std",
    "strict",
    "subtract",
    "sum",
    "summary",
    "swapaxes",
    "t",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "to_tensor",
    "topk",
    "trace",
    "transpiler",
    "transpose",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "trunc",
    "uint8",
    "unbind",
    "unflatten",
    "uniform",
    "unique",
    "unique_consecutive",
    "unique_name",
    "unsqueeze",
    "unstack",
    "var",
    "view",
    "view_as",
    "vsplit",
    "where",
    "zeros",
    "zeros_like",
]

__version__: str
