"""Small models of ONNX for tests."""

import numpy as np
from exported.models import onnx

import fluidlite as fluid
from fluidlite.onnx.model import IR_VERSION

helper = onnx.helper
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float64": 11}


def node(type, ins, outs, **attrs):
    """A node; names with spaces between."""
    return helper.make_node(type, ins.split(), outs.split(), **attrs)


def ends(text):
    """Inputs or outputs from ``name:float32[2,n]`` with spaces between; of any shape without."""
    found = []
    for each in text.split():
        name, _, kind = each.partition(":")
        dtype, has_shape, shape = kind.rstrip("]").partition("[")
        sizes = [int(n) if n.isdigit() else n for n in shape.split(",") if n] if has_shape else None
        found.append(helper.make_tensor_value_info(name, TYPES[dtype or "float32"], sizes))
    return found


def graph(nodes, ins, outs, **arrays):
    """A graph with initializers."""
    held = [onnx.numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()]
    return helper.make_graph(nodes, "g", ends(ins), ends(outs), held)


def model(nodes, ins, outs, opset=21, functions=(), **arrays):
    """A model."""
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(f.domain, 1) for f in functions]
    made = graph(nodes, ins, outs, **arrays)
    return helper.make_model(made, opset_imports=opsets, functions=functions, ir_version=IR_VERSION)


def run(loaded, **feed):
    """What a loaded model computes."""
    feed = {name: np.asarray(value) for name, value in feed.items()}
    return fluid.Executor().run(loaded.program, feed=feed, fetch_list=loaded.fetches)
