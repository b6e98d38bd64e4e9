"""Writes what paddlepaddle 2.6.2 has, where it is installed.

    python record_operators.py             ``operators.json``: what operators give for the samples
                                           of the tests; "error" where Paddle refuses them
    python record_operators.py TYPE ...    the same of these alone, which may be new there
    python record_operators.py --protos    ``op_protos.json.gz``: slots and attributes of all
                                           operators but gradients
"""

import gzip
import importlib
import json
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import paddle
from paddle.base import core, framework

FILE = Path(__file__).with_name("operators.json")
AIDS = Path(__file__).parents[2] / "aids"
#: attributes that every operator has
SHARED = {*"op_role op_role_var op_namescope op_callstack op_device with_quant_attr".split()}


def generators():
    """The samples by type, of the families that need no library but NumPy."""
    package = types.ModuleType("samples")
    package.__path__ = [str(AIDS / "samples")]
    sys.modules["samples"] = package
    for file in sorted((AIDS / "samples").glob("[a-z]*.py")):
        if "import fluidlite" not in file.read_text() and "from fluidlite" not in file.read_text():
            importlib.import_module(f"samples.{file.stem}")
    return sys.modules["samples.form"]


def listed(value):
    return value if isinstance(value, list) else [value]


def cotangent(shape):
    return np.cos(np.arange(int(np.prod(shape)))).reshape(shape)


def proto_of(type):
    return framework.OpProtoHolder.instance().get_op_proto(type)


def as_attribute(proto, name, value):
    wire = next(a.type for a in proto.attrs if a.name == name)
    if wire == 0 and isinstance(value, str):  # an element type
        return int(framework.convert_np_dtype_to_dtype_(value))
    return list(value) if isinstance(value, tuple) else value


def numbers(array):
    array = np.asarray(array)
    elements = array.ravel().tolist()
    if array.dtype.kind == "f":
        elements = [float(f"{x:.10g}") for x in elements]
    return [array.dtype.name, list(array.shape), elements]


def recorded(type, sample, widths):
    """The outputs of an operator by slot, and gradients of its inputs."""
    proto, main = proto_of(type), paddle.static.Program()
    feed, ins = {}, {}
    with paddle.static.program_guard(main, paddle.static.Program()):
        block = main.global_block()
        for slot, value in sample.inputs.items():
            for k, array in enumerate(listed(value)):
                if array is None:
                    continue
                name = f"{slot}{k}"
                variable = paddle.static.data(name, array.shape, array.dtype.name)
                variable.stop_gradient = array.dtype.kind != "f"
                feed[name] = array
                ins.setdefault(slot, []).append(variable)
        outs = {
            slot.name: [
                block.create_var(name=f"{slot.name}-{k}") for k in range(widths.get(slot.name, 1))
            ]
            for slot in proto.outputs
        }
        attrs = {name: as_attribute(proto, name, v) for name, v in sample.attrs.items()}
        block.append_op(type=type, inputs=ins, outputs=outs, attrs=attrs)
        flat = [v for each in outs.values() for v in each]
        exe = paddle.static.Executor()
        found = exe.run(main, feed, flat, return_numpy=False)
        held = [(v, np.array(t)) for v, t in zip(flat, found) if t._is_initialized()]
        given = [v for each in ins.values() for v in each if not v.stop_gradient]
        gradients = {}
        if given and sample.order:
            try:
                gradients = gradients_of(exe, main, feed, given, held)
            except Exception as error:
                gradients = {"error": error.__class__.__name__}
    values = {}
    shown = {slot.name for slot in proto.outputs if not slot.intermediate}
    for variable, array in held:
        slot = variable.name.split("-")[0]
        if slot in shown:
            values.setdefault(slot, []).append(numbers(array))
    return {"outputs": values, "gradients": gradients}


def gradients_of(exe, main, feed, given, held):
    """Gradients of inputs by their names, for the same flow into each output."""
    floats = [(v, a) for v, a in held if a.dtype.kind == "f"]
    feed = {**feed, **{f"{v.name}-": cotangent(a.shape).astype(a.dtype) for v, a in floats}}
    sides = [paddle.static.data(f"{v.name}-", a.shape, a.dtype.name) for v, a in floats]
    made = paddle.static.gradients([v for v, _ in floats], given, sides)
    there = [(v.name, g) for v, g in zip(given, made) if g is not None]
    arrays = exe.run(main, feed, [g for _, g in there]) if there else []
    return {name: numbers(a) for (name, _), a in zip(there, arrays)}


def described(type):
    """Slots and attributes of an operator; None of one that programs cannot hold."""
    try:
        proto = proto_of(type)
    except ValueError:
        return None
    defaults = core.get_op_attrs_default_value(type.encode())
    own = [a for a in proto.attrs if a.name not in SHARED]
    return {
        "inputs": [[s.name, s.duplicable, s.dispensable] for s in proto.inputs],
        "outputs": [[s.name, s.duplicable, s.dispensable] for s in proto.outputs],
        "attrs": {a.name: [a.type, plain(defaults.get(a.name))] for a in own},
    }


def plain(value):
    """A default as JSON holds it; None where there is none."""
    return value if isinstance(value, (bool, int, float, str, list)) else None


def write_protos():
    types = [t for t in core.get_all_op_names() if "_grad" not in t.removeprefix("grad_")]
    text = json.dumps({t: described(t) for t in sorted({*types, "grad_add"})})
    FILE.with_name("op_protos.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def in_any_precision(type, sample):
    """What is recorded of a sample, of single precision where there is no kernel of double."""
    widths = widths_of(type, sample)
    try:
        return recorded(type, sample, widths)
    except (NotImplementedError, RuntimeError):
        return recorded(type, in_single_precision(sample), widths)


def in_single_precision(sample):
    def single(value):
        if isinstance(value, list):
            return [single(each) for each in value]
        narrow = value is not None and value.dtype == np.float64
        return value.astype("float32") if narrow else value

    return replace(sample, inputs={slot: single(v) for slot, v in sample.inputs.items()})


def main():
    if "--protos" in sys.argv:
        return write_protos()
    paddle.enable_static()
    form = generators()
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for type in sys.argv[1:] or sorted(known):
        known[type] = {}
        for sample in form.samples_of(type):
            try:
                known[type][sample.name] = in_any_precision(type, sample)
            except Exception as error:
                print(type, sample.name, error.__class__.__name__, str(error)[-600:].strip())
                known[type][sample.name] = {"error": error.__class__.__name__}
        lines = [f"{json.dumps(t)}: {json.dumps(known[t])}" for t in sorted(known)]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def widths_of(type, sample):
    """How many variables outputs have, where that is not one, by slot."""
    if type == "broadcast_tensors":
        return {"Out": len(sample.inputs["X"])}
    if type == "einsum":
        return dict.fromkeys(("InnerCache", "XShape"), len(sample.inputs["Operands"]))
    return {}


if __name__ == "__main__":
    main()
