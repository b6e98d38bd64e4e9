"""PaddleClas's backbones take three steps: losses, the first logits, norms of the first gradients.

With an argument, pictures are others by that part of themselves.  With more, these are the names of
the backbones, and what the process takes at most is given, too.
"""

import importlib
import importlib.util
import resource
import sys
import types
import zlib

import numpy as np
import paddle.fluid as fluid
from parameters import without_draws

BATCH, CLASSES = 4, 10
#: backbones, one of each file, that take small pictures
SMALL = """
AlexNet MobileNetV1_x0_25 MobileNetV2_x0_25 MobileNetV3_small_x0_35 GoogLeNet VGG11 RegNetX_200MF
ResNet18 ResNet50_vc ResNet18_vd ResNeXt50_32x4d ResNeXt50_vd_32x4d SE_ResNet18_vd Xception41
SE_ResNeXt50_32x4d SE_ResNeXt50_vd_32x4d Xception41_deeplab DenseNet121 SqueezeNet1_0 DarkNet53
EfficientNetB0_small EfficientNetLite0 Res2Net50_48w_2s Res2Net50_vd_48w_2s HRNet_W18_C DARTS_GS_4M
ResNet18_ACNet GhostNet_x0_5 ResNeSt50_fast_1s1x64d CSPResNet50_leaky
ResNet50_vd_distill_MobileNetV3_large_x1_0
"""
#: the names of backbones -> the sizes of pictures
BACKBONES = {
    **dict.fromkeys(SMALL.split(), 64),
    "InceptionV4": 139,
    "DPN68": 224,
    "ShuffleNetV2_x0_25": 224,
    "ShuffleNetV2_x0_5_swish": 224,
}


def architectures():
    """The module of the nets, without what else the package imports: OpenCV, tqdm, ..."""
    path = next(iter(importlib.util.find_spec("ppcls").submodule_search_locations))
    for name, folder in (("ppcls", path), ("ppcls.modeling", path + "/modeling")):
        package = types.ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
    return importlib.import_module("ppcls.modeling.architectures")


def started(startup, scope):
    """Give parameters numbers of their distributions that every system draws alike."""
    drawn = {
        "uniform_random": lambda random, op, size: random.uniform(
            op.attr("min"), op.attr("max"), size
        ),
        "gaussian_random": lambda random, op, size: random.normal(
            op.attr("mean"), op.attr("std"), size
        ),
    }
    for number, op in enumerate(startup.global_block().ops):
        if op.type in drawn:
            value = drawn[op.type](np.random.RandomState(number), op, op.attr("shape"))
            scope.find_var(op.output("Out")[0]).get_tensor().set(
                value.astype("float32"), fluid.CPUPlace()
            )


def steps(make, size, change):
    """What one backbone gives."""
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        picture = fluid.data("picture", [BATCH, 3, size, size], "float32")
        label = fluid.data("label", [BATCH, 1], "int64")
        logits = make().net(picture, class_dim=CLASSES)
        logits = list(logits) if isinstance(logits, (list, tuple)) else [logits]
        entropy = fluid.layers.softmax_with_cross_entropy
        loss = sum(fluid.layers.mean(entropy(each, label)) for each in logits)
        without_draws(main)
        _, pairs = fluid.optimizer.Momentum(0.001, 0.9).minimize(loss)
    random = np.random.RandomState(3)
    pictures = random.randn(BATCH, 3, size, size)
    pictures *= 1 + change * np.random.RandomState(4).choice([-1, 1], pictures.shape)
    feed = {
        "picture": pictures.astype("float32"),
        "label": random.randint(0, CLASSES, [BATCH, 1]).astype("int64"),
    }
    exe = fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(scope):
        exe.run(startup)
        started(startup, scope)
        shown = [loss, logits[0], *(gradient for _, gradient in pairs[:: len(pairs) // 5])]
        fetched = [np.array(each) for each in exe.run(main, feed, shown)]
        losses = [fetched[0], *(exe.run(main, feed, [loss])[0] for _ in range(3))]
    program = [(op.type, sorted(op.output_arg_names)) for op in main.global_block().ops]
    return {
        "program": zlib.crc32(repr(program).encode()),
        "losses": [float(np.ravel(each)[0]) for each in losses],
        "logits": fetched[1].ravel()[:40].tolist(),
        "norms of gradients": [
            float(np.linalg.norm(each.astype("float64"))) for each in fetched[2:]
        ],
    }


def size_of(name):
    """The size of pictures: the least that a backbone of that kind takes."""
    widest = [("DPN", 224), ("ShuffleNet", 224)]
    return BACKBONES.get(name) or next((n for start, n in widest if name.startswith(start)), 64)


def results(_, change=0.0, *names):
    """What each backbone gives: name -> a value of JSON."""
    nets = architectures()
    given = {
        name: steps(getattr(nets, name), size_of(name), float(change))
        for name in names or BACKBONES
    }
    if names:
        given["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return given
