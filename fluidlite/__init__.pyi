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
from . import paddle
from . import param_attr
from . import profiler
from . import reader
from . import regularizer
from . import transform
from . import transpiler
from . import unique_name
from .backward import append_backward
from .backward import calc_gradient
from .backward import gradients
from .command_line.config import show_config
from .compiler import BuildStrategy
from .compiler import CompiledProgram
from .compiler import ExecutionStrategy
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
from .dygraph.complex_variable import ComplexVariable
from .eager.engine import grad
from .eager.mode import enable_grad
from .eager.mode import is_grad_enabled
from .eager.mode import no_grad
from .eager.mode import set_grad_enabled
from .eager.parameter import Parameter
from .eager.printing import set_printoptions
from .eager.tensor import Tensor
from .errors import FluidError
from .framework import memory_optimize
from .framework import release_memory
from .framework import require_version
from .framework import reset_default_programs
from .functions.arithmetic import add
from .functions.arithmetic import allclose
from .functions.arithmetic import atan2
from .functions.arithmetic import bmm
from .functions.arithmetic import dot
from .functions.arithmetic import equal
from .functions.arithmetic import equal_all
from .functions.arithmetic import floor_divide
from .functions.arithmetic import remainder as floor_mod
from .functions.arithmetic import get_default_dtype
from .functions.arithmetic import greater_equal
from .functions.arithmetic import greater_than
from .functions.arithmetic import is_empty
from .functions.arithmetic import isclose
from .functions.arithmetic import lerp
from .functions.arithmetic import less_equal
from .functions.arithmetic import less_than
from .functions.arithmetic import logical_and
from .functions.arithmetic import logical_not
from .functions.arithmetic import logical_or
from .functions.arithmetic import logical_xor
from .functions.arithmetic import matmul
from .functions.arithmetic import maximum
from .functions.arithmetic import minimum
from .functions.arithmetic import mm
from .functions.arithmetic import remainder as mod
from .functions.arithmetic import multiply
from .functions.arithmetic import mv
from .functions.arithmetic import not_equal
from .functions.arithmetic import outer
from .functions.arithmetic import pow
from .functions.arithmetic import remainder
from .functions.arithmetic import set_default_dtype
from .functions.arithmetic import subtract
from .functions.complex_parts import angle
from .functions.complex_parts import as_complex
from .functions.complex_parts import as_real
from .functions.complex_parts import complex
from .functions.complex_parts import conj
from .functions.complex_parts import imag
from .functions.complex_parts import polar
from .functions.complex_parts import real
from .functions.composed import acosh
from .functions.composed import add_n
from .functions.composed import addmm
from .functions.composed import asinh
from .functions.composed import atanh
from .functions.composed import bitwise_and
from .functions.composed import bitwise_not
from .functions.composed import bitwise_or
from .functions.composed import bitwise_xor
from .functions.composed import cross
from .functions.composed import deg2rad
from .functions.composed import diff
from .functions.composed import fmax
from .functions.composed import fmin
from .functions.composed import frac
from .functions.composed import hypot
from .functions.composed import inner
from .functions.composed import kron
from .functions.composed import logaddexp
from .functions.composed import logit
from .functions.composed import nan_to_num
from .functions.composed import nanmean
from .functions.composed import nansum
from .functions.composed import rad2deg
from .functions.composed import sgn
from .functions.composed import stanh
from .functions.composed import tensordot
from .functions.counting import bincount
from .functions.counting import bucketize
from .functions.counting import cummax
from .functions.counting import cummin
from .functions.counting import histogram
from .functions.counting import index_add
from .functions.counting import index_fill
from .functions.counting import index_put
from .functions.counting import kthvalue
from .functions.counting import multinomial
from .functions.counting import quantile
from .functions.counting import searchsorted
from .functions.counting import take
from .functions.counting import unique_consecutive
from .functions.creation import arange
from .functions.creation import assign
from .functions.creation import bernoulli
from .functions.creation import bfloat16
from .functions.creation import complex128
from .functions.creation import complex64
from .functions.creation import empty
from .functions.creation import empty_like
from .functions.creation import eye
from .functions.creation import float16
from .functions.creation import float32
from .functions.creation import float64
from .functions.creation import full
from .functions.creation import full_like
from .functions.creation import int16
from .functions.creation import int32
from .functions.creation import int64
from .functions.creation import int8
from .functions.creation import is_tensor
from .functions.creation import linspace
from .functions.creation import logspace
from .functions.creation import normal
from .functions.creation import ones
from .functions.creation import ones_like
from .functions.creation import rand
from .functions.creation import randint
from .functions.creation import randn
from .functions.creation import randperm
from .functions.creation import seed
from .functions.creation import standard_normal
from .functions.creation import to_tensor
from .functions.creation import tril_indices
from .functions.creation import triu_indices
from .functions.creation import uint8
from .functions.creation import uniform
from .functions.creation import zeros
from .functions.creation import zeros_like
from .functions.diagonals import diag
from .functions.diagonals import diag_embed
from .functions.diagonals import diagflat
from .functions.diagonals import rot90
from .functions.diagonals import vsplit
from .functions.distances import cdist
from .functions.distances import renorm
from .functions.draws import poisson
from .functions.draws import randint_like
from .functions.einsum import einsum
from .functions.elementary import abs
from .functions.elementary import acos
from .functions.elementary import asin
from .functions.elementary import atan
from .functions.elementary import cast
from .functions.elementary import ceil
from .functions.elementary import clone
from .functions.elementary import cos
from .functions.elementary import cosh
from .functions.elementary import erf
from .functions.elementary import exp
from .functions.elementary import expm1
from .functions.elementary import floor
from .functions.elementary import increment
from .functions.elementary import isfinite
from .functions.elementary import isinf
from .functions.elementary import isnan
from .functions.elementary import log
from .functions.elementary import log10
from .functions.elementary import log1p
from .functions.elementary import log2
from .functions.elementary import neg
from .functions.elementary import reciprocal
from .functions.elementary import round
from .functions.elementary import rsqrt
from .functions.elementary import scale
from .functions.elementary import sigmoid
from .functions.elementary import sign
from .functions.elementary import sin
from .functions.elementary import sinh
from .functions.elementary import sqrt
from .functions.elementary import square
from .functions.elementary import tan
from .functions.elementary import tanh
from .functions.elementary import trunc
from .functions.numeric import combinations
from .functions.numeric import cumulative_trapezoid
from .functions.numeric import divide
from .functions.numeric import frexp
from .functions.numeric import gcd
from .functions.numeric import heaviside
from .functions.numeric import lcm
from .functions.numeric import ldexp
from .functions.numeric import logcumsumexp
from .functions.numeric import nextafter
from .functions.numeric import trapezoid
from .functions.numeric import vander
from .functions.quantiles import mode
from .functions.quantiles import nanmedian
from .functions.quantiles import nanquantile
from .functions.reduction import all
from .functions.reduction import amax
from .functions.reduction import amin
from .functions.reduction import any
from .functions.reduction import argmax
from .functions.reduction import argmin
from .functions.reduction import count_nonzero
from .functions.reduction import cumprod
from .functions.reduction import cumsum
from .functions.reduction import dist
from .functions.reduction import logsumexp
from .functions.reduction import max
from .functions.reduction import mean
from .functions.reduction import median
from .functions.reduction import min
from .functions.reduction import norm
from .functions.reduction import prod
from .functions.reduction import std
from .functions.reduction import sum
from .functions.reduction import var
from .functions.selection import argsort
from .functions.selection import gather
from .functions.selection import gather_nd
from .functions.selection import index_sample
from .functions.selection import index_select
from .functions.selection import masked_fill
from .functions.selection import masked_select
from .functions.selection import nonzero
from .functions.selection import put_along_axis
from .functions.selection import scatter
from .functions.selection import scatter_nd
from .functions.selection import scatter_nd_add
from .functions.selection import sort
from .functions.selection import take_along_axis
from .functions.selection import topk
from .functions.selection import unique
from .functions.selection import where
from .functions.shaping import broadcast_shape
from .functions.shaping import broadcast_tensors
from .functions.shaping import broadcast_to
from .functions.shaping import chunk
from .functions.shaping import concat
from .functions.shaping import expand
from .functions.shaping import expand_as
from .functions.shaping import flip
from .functions.shaping import meshgrid
from .functions.shaping import numel
from .functions.shaping import rank
from .functions.shaping import repeat_interleave
from .functions.shaping import roll
from .functions.shaping import split
from .functions.shaping import stack
from .functions.shaping import tile
from .functions.shaping import tril
from .functions.shaping import triu
from .functions.shaping import unstack
from .functions.slices import crop
from .functions.slices import diagonal_scatter
from .functions.slices import fill_diagonal_tensor
from .functions.slices import multiplex
from .functions.slices import reverse
from .functions.slices import select_scatter
from .functions.slices import shape
from .functions.slices import shard_index
from .functions.special import digamma
from .functions.special import erfinv
from .functions.special import i0
from .functions.special import i0e
from .functions.special import i1
from .functions.special import i1e
from .functions.special import lgamma
from .functions.special import multigammaln
from .functions.special import polygamma
from .functions.views import as_strided
from .functions.views import atleast_1d
from .functions.views import atleast_2d
from .functions.views import atleast_3d
from .functions.views import diagonal
from .functions.views import flatten
from .functions.views import moveaxis
from .functions.views import reshape
from .functions.views import slice
from .functions.views import squeeze
from .functions.views import strided_slice
from .functions.views import swapaxes
from .functions.views import t
from .functions.views import transpose
from .functions.views import unbind
from .functions.views import unflatten
from .functions.views import unfold
from .functions.views import unsqueeze
from .functions.views import view
from .functions.views import view_as
from .ground.place import CPUPlace
from .ground.place import CUDAPinnedPlace
from .ground.place import CUDAPlace
from .ground.place import cpu_places
from .ground.place import cuda_pinned_places
from .ground.place import cuda_places
from .ground.place import is_compiled_with_cuda
from .ground.state import get_flags
from .ground.state import in_dygraph_mode
from .ground.state import set_flags
from .ground.state import strict
from .ground.values import LoDTensor
from .ground.values import LoDTensorArray
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
from .readers.feed_desc import DataFeedDesc
from .readers.files import DatasetFactory
from .readers.files import InMemoryDataset
from .readers.files import QueueDataset
from .replaying import replay
from .runtime.executor import Executor
from .scope import Scope
from .scope import global_scope
from .scope import scope_guard
from .tracing import trace
from .transpiler import DistributeTranspiler
from .transpiler import DistributeTranspilerConfig

__all__ = [
    "BCELoss",
    "BatchNorm",
    "BilinearTensorProduct",
    "BuildStrategy",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CompiledProgram",
    "ComplexVariable",
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
    "angle",
    "any",
    "append_backward",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "as_complex",
    "as_real",
    "as_strided",
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
    "bfloat16",
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
    "cdist",
    "ceil",
    "checkpoint",
    "chunk",
    "clip",
    "clone",
    "combinations",
    "compat",
    "compiler",
    "complex",
    "complex128",
    "complex64",
    "concat",
    "conj",
    "contrib",
    "core",
    "cos",
    "cosh",
    "count_nonzero",
    "cpu_places",
    "create_lod_tensor",
    "create_parameter",
    "create_random_int_lodtensor",
    "crop",
    "cross",
    "cuda_pinned_places",
    "cuda_places",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
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
    "diagonal_scatter",
    "diff",
    "digamma",
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
    "erfinv",
    "errors",
    "exp",
    "expand",
    "expand_as",
    "explain_gradient",
    "expm1",
    "export",
    "eye",
    "fill_diagonal_tensor",
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
    "frexp",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "gcd",
    "get_default_dtype",
    "get_flags",
    "global_scope",
    "grad",
    "gradcheck",
    "gradients",
    "greater_equal",
    "greater_than",
    "heaviside",
    "histogram",
    "hypot",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "imag",
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
    "is_empty",
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
    "lcm",
    "ldexp",
    "lerp",
    "less_equal",
    "less_than",
    "lgamma",
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
    "logcumsumexp",
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
    "mode",
    "model",
    "moveaxis",
    "multigammaln",
    "multinomial",
    "multiplex",
    "multiply",
    "mv",
    "name_scope",
    "nan_to_num",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "neg",
    "nets",
    "nextafter",
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
    "paddle",
    "param_attr",
    "poisson",
    "polar",
    "polygamma",
    "pow",
    "prod",
    "profiler",
    "program_guard",
    "put_along_axis",
    "quantile",
    "rad2deg",
    "rand",
    "randint",
    "randint_like",
    "randn",
    "randperm",
    "rank",
    "reader",
    "real",
    "reciprocal",
    "regularizer",
    "release_memory",
    "remainder",
    "renorm",
    "repeat_interleave",
    "replay",
    "require_version",
    "reset_default_programs",
    "reshape",
    "reverse",
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
    "select_scatter",
    "set_default_dtype",
    "set_flags",
    "set_grad_enabled",
    "set_printoptions",
    "set_program_state",
    "sgn",
    "shape",
    "shard_index",
    "show_config",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "slice",
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
    "strided_slice",
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
    "transform",
    "transpiler",
    "transpose",
    "trapezoid",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "trunc",
    "uint8",
    "unbind",
    "unflatten",
    "unfold",
    "uniform",
    "unique",
    "unique_consecutive",
    "unique_name",
    "unsqueeze",
    "unstack",
    "vander",
    "var",
    "view",
    "view_as",
    "vsplit",
    "where",
    "zeros",
    "zeros_like",
]

__version__: str
