"""Objects of fluid 1.8's public classes, made alike by fluid 1.8.5 and by this package.

``python tests/aids/fluid_instances.py FILE`` with paddlepaddle 1.8.5 writes which attributes they
have, and the plain ones' values.
"""

import gzip
import json
import sys

import numpy as np

OPTIMIZERS = {
    **dict.fromkeys(("SGD", "Adam", "Adamax", "Adagrad", "DecayedAdagrad", "Adadelta"), ()),
    **dict.fromkeys(("RMSProp", "Ftrl", "Lamb"), ()),
    "Momentum": (0.9,),
    "LarsMomentum": (0.9,),
}
METRICS = {
    **dict.fromkeys(("Accuracy", "Precision", "Recall", "ChunkEvaluator"), ()),
    **dict.fromkeys(("Auc", "EditDistance", "CompositeMetric"), ("m",)),
}
LAYERS = {
    **dict.fromkeys(("Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"), (3, 4, 3)),
    **dict.fromkeys(("BatchNorm", "LayerNorm", "InstanceNorm", "Dropout"), (3,)),
    **dict.fromkeys(("BilinearTensorProduct", "TreeConv"), (3, 4, 5)),
    "Linear": (3, 2),
    "Pool2D": (2,),
    "GroupNorm": (4, 2),
    "SpectralNorm": ([3, 4],),
    "Embedding": ([4, 3],),
    "GRUUnit": (6,),
    "PRelu": ("all",),
    "NCE": (10, 3),
    "LayerList": (),
    "ParameterList": (),
    "Dropout": (0.5,),
}
DECAYS = {
    **dict.fromkeys(("NaturalExpDecay", "ExponentialDecay"), (0.1, 10, 0.5)),
    "InverseTimeDecay": (0.1, 10, 0.5),
    "NoamDecay": (4, 10),
    "PiecewiseDecay": ([3], [0.1, 0.2], 0),
    "PolynomialDecay": (0.1, 10),
    "CosineDecay": (0.1, 10, 5),
    "LinearLrWarmup": (0.1, 5, 0.0, 0.1),
    "ReduceLROnPlateau": (0.1,),
    "StepDecay": (0.1, 3),
    "MultiStepDecay": (0.1, [1, 2]),
}


def made(fluid):
    """The objects, by what they are."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        yield from _of_programs(fluid, main, startup)
    with fluid.dygraph.guard(), fluid.unique_name.guard():
        yield from _of_tensors(fluid)


def _of_programs(fluid, main, startup):
    layers, io = fluid.layers, fluid.io
    x = fluid.data("x", [None, 3], "float32")
    loss = layers.mean(layers.fc(x, 1))
    for name, args in OPTIMIZERS.items():
        yield name, getattr(fluid.optimizer, name)(0.1, *args)
        optimizer = getattr(fluid.optimizer, name)(0.1, *args)
        optimizer.minimize(loss)
        yield name + " after a step", optimizer
    yield "Dpsgd", fluid.optimizer.Dpsgd(0.1)
    block = main.global_block()
    parts = {"Program": main, "Block": block, "Operator": block.ops[0], "Variable": x}
    yield from dict(parts, Parameter=main.all_parameters()[0]).items()
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(startup)
    yield "Executor", executor
    yield "CompiledProgram", fluid.CompiledProgram(main)
    parallel = fluid.CompiledProgram(fluid.Program()).with_data_parallel(places=fluid.cpu_places(1))
    yield "CompiledProgram of parts", parallel
    yield "DataFeeder", fluid.DataFeeder([x], fluid.CPUPlace())
    yield "ParamAttr", fluid.ParamAttr("a")
    yield "WeightNormParamAttr", fluid.WeightNormParamAttr(dim=0)
    for name in ("L1Decay", "L2Decay"):
        yield name, getattr(fluid.regularizer, name)(0.1)
    for name in ("ByValue", "ByNorm", "ByGlobalNorm"):
        yield name, getattr(fluid.clip, "GradientClip" + name)(1.0)
    for name in ("Constant", "Uniform", "Normal", "TruncatedNormal", "Xavier", "MSRA", "Bilinear"):
        yield "initializer." + name, getattr(fluid.initializer, name)()
    for name, args in METRICS.items():
        yield name, getattr(fluid.metrics, name)(*args)
    yield "GeneratorLoader", io.DataLoader.from_generator([x], capacity=2)
    yield "GeneratorLoader of a program", io.DataLoader.from_generator([x], 2, iterable=False)
    yield "PyReader", io.PyReader([x], capacity=2)

    class Rows(io.Dataset):
        def __getitem__(self, number):
            return np.ones(3, "float32")

        def __len__(self):
            return 4

    rows = Rows()
    yield "DataLoader", io.DataLoader(rows, [x], fluid.CPUPlace(), batch_size=2)
    yield "BatchSampler", io.BatchSampler(rows, batch_size=2)
    for name in ("InMemoryDataset", "QueueDataset"):
        yield name, fluid.DatasetFactory().create_dataset(name)
    optimizer = fluid.optimizer
    yield "ExponentialMovingAverage", optimizer.ExponentialMovingAverage(0.9)
    yield "ModelAverage", optimizer.ModelAverage(0.1)
    yield "LookaheadOptimizer", optimizer.LookaheadOptimizer(optimizer.SGD(0.1), 0.5, 2)
    yield "RecomputeOptimizer", optimizer.RecomputeOptimizer(optimizer.SGD(0.1))
    yield "mixed precision", fluid.contrib.mixed_precision.decorate(optimizer.SGD(0.1))
    condition = layers.fill_constant([1, 1], "bool", 1)
    yield "While", layers.While(layers.fill_constant([1], "bool", 1))
    yield "IfElse", layers.IfElse(condition)
    for name in ("Switch", "StaticRNN", "DynamicRNN"):
        yield name, getattr(layers, name)()
    for name in ("GRUCell", "LSTMCell"):
        yield name, getattr(layers, name)(4)
    for name in ("Normal", "Uniform"):
        yield name, getattr(layers, name)(0.0, 1.0)
    for name in ("ExecutionStrategy", "BuildStrategy", "DistributeTranspiler"):
        yield name, getattr(fluid, name)()


def _of_tensors(fluid):
    dygraph = fluid.dygraph
    x = dygraph.to_variable(np.ones((2, 3), "float32"))
    linear = dygraph.Linear(3, 2)
    for name, args in OPTIMIZERS.items():
        optimizer = getattr(fluid.optimizer, name)(0.1, *args, parameter_list=linear.parameters())
        yield "eager " + name, optimizer
        loss = fluid.layers.mean(linear(x))
        loss.backward()
        optimizer.minimize(loss)
        yield "eager " + name + " after a step", optimizer
    for name, args in LAYERS.items():
        yield "layer " + name, getattr(dygraph, name)(*args)
    for name, args in DECAYS.items():
        yield name, getattr(dygraph, name)(*args)
    yield "VarBase", x
    yield "ParamBase", linear.weight
    strategy = dygraph.parallel.ParallelStrategy()
    yield "DataParallel", dygraph.DataParallel(linear, strategy)
    yield "ParallelEnv", dygraph.ParallelEnv()
    yield "ProgramTranslator", dygraph.ProgramTranslator()
    yield "TracedLayer", dygraph.TracedLayer.trace(linear, [x])[1]


def is_plain(value):
    """Whether a value is compared: it means the same everywhere."""
    return value is None or isinstance(value, (bool, int, float, str))


if __name__ == "__main__":
    import paddle.fluid

    said = {
        what: {k: [v] if is_plain(v) else [] for k, v in vars(each).items()}
        for what, each in made(paddle.fluid)
        if hasattr(each, "__dict__")
    }
    with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as file:
        file.write(json.dumps(said, sort_keys=True).encode())
