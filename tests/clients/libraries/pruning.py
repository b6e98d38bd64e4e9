"""PaddleSlim prunes networks: what is left, what it costs, how it trains, what it depends on."""

import json
import os
import tempfile

import numpy as np
import paddle.fluid as fluid
from absent import stand_in
from outcomes import mark, outcome
from parameters import started

stand_in("zmq", "tqdm", "sklearn", "sklearn.cluster", "matplotlib", "matplotlib.pyplot")
stand_in("matplotlib.backends.backend_pdf", "yaml")

from paddleslim import analysis, common, core, models, prune  # noqa: E402
from paddleslim.prune import prune_io  # noqa: E402

PLACE = fluid.CPUPlace()
SIZE, CLASSES, BATCH = 64, 10, 4


def batch(step):
    random = np.random.RandomState(50 + step)
    return {
        "image": random.randn(BATCH, 3, SIZE, SIZE).astype("float32"),
        "label": random.randint(0, CLASSES, [BATCH, 1]).astype("int64"),
    }


def shapes(program):
    return {each.name: list(each.shape) for each in program.all_parameters()}


def held(names):
    """What is in the scope: shapes, and sums of absolute values."""
    scope = fluid.global_scope()
    arrays = [np.array(scope.find_var(name).get_tensor()) for name in sorted(names)]
    return [mark([each.shape for each in arrays]), [float(np.abs(each).sum()) for each in arrays]]


def losses(executor, program, name, steps=3):
    return [float(executor.run(program, batch(i), [name])[0].item()) for i in range(steps)]


def inside(part, *words):
    """Call a part with programs, names and a scope of its own."""
    with fluid.scope_guard(fluid.Scope()), fluid.unique_name.guard():
        return outcome(part, *words)


def classifier(name):
    """A model of PaddleSlim, with start values that depend on no system."""
    executor, train, test, _, (top1, _, loss) = models.image_classification(
        name, [3, SIZE, SIZE], CLASSES
    )
    for op in train.global_block().ops:
        if op.type == "momentum":
            fluid.global_scope().find_var(op.input("LearningRate")[0]).get_tensor().set(
                np.array([1e-4], "float32"), PLACE
            )
    started(train)
    return executor, train, test, top1, loss


def small(groups=1):
    """A network with a residual and two branches."""
    main, startup = fluid.Program(), fluid.Program()
    layers = fluid.layers
    with fluid.program_guard(main, startup):
        image = fluid.data("image", [None, 3, SIZE, SIZE], "float32")
        label = fluid.data("label", [None, 1], "int64")

        def conv(value, width, name, size=3, groups=1, act="relu"):
            value = layers.conv2d(
                value,
                width,
                size,
                padding=(size - 1) // 2,
                groups=groups,
                param_attr=name + "_weights",
                bias_attr=name + "_bias" if name == "conv6" else False,
            )
            return layers.batch_norm(value, act=act, name=name + "_bn")

        one = conv(image, 8, "conv1")
        two = conv(one, 8, "conv2")
        added = layers.elementwise_add(one, two)
        three = conv(added, 8, "conv3")
        four = conv(three, 8, "conv4", groups=groups)
        joined = layers.concat([conv(four, 6, "conv5"), conv(three, 6, "conv6", 1)], axis=1)
        scaled = layers.relu6(layers.pool2d(joined, 2, "avg", 2))
        seven = conv(scaled, 8, "conv7", act=None)
        out = layers.fc(layers.pool2d(seven, global_pooling=True, pool_type="avg"), CLASSES)
        loss = layers.mean(layers.softmax_with_cross_entropy(out, label))
        test = main.clone(for_test=True)
        fluid.optimizer.Momentum(0.01, 0.9).minimize(loss)
    executor = fluid.Executor(PLACE)
    executor.run(startup)
    started(main)
    return executor, main, test, out.name, loss.name


NETWORKS = {
    "MobileNet": lambda: classifier("MobileNet"),
    "ResNet50": lambda: classifier("ResNet50"),
    "small": small,
    "grouped": lambda: small(8),
}
PRUNED = {
    "MobileNet": (["conv2_1_sep_weights", "conv3_1_sep_weights"], [0.3, 0.5]),
    "ResNet50": (["res2a_branch2a_weights", "res3b_branch2b_weights"], [0.25, 0.4]),
    "grouped": (["conv1_weights", "conv3_weights"], [0.5, 0.5]),
    "small": (["conv1_weights", "conv3_weights", "conv5_weights"], [0.25, 0.5, 0.5]),
}


def cut(name, told):
    """Prune, then train what is left."""
    executor, train, test, _, loss = NETWORKS[name]()
    params, ratios = PRUNED[name]
    before = [analysis.flops(test), analysis.model_size(test)]
    criterion, options = told
    pruner = prune.Pruner(criterion) if criterion else prune.Pruner()
    scope = fluid.global_scope()
    tested, _, _ = pruner.prune(test, scope, params, ratios, place=PLACE, only_graph=True)
    pruner = prune.Pruner(criterion) if criterion else prune.Pruner()
    trained, backup, shape_backup = pruner.prune(
        train,
        scope,
        params,
        ratios,
        place=PLACE,
        param_backup=True,
        param_shape_backup=True,
        **options,
    )
    return {
        "before": [float(each) for each in before],
        "after": [float(analysis.flops(tested)), float(analysis.model_size(tested))],
        "of the trained": [float(analysis.flops(trained)), float(analysis.model_size(trained))],
        "shapes": mark(sorted([each.name, list(each.shape)] for each in trained.list_vars())),
        "backup": [[key, float(np.abs(value).sum())] for key, value in sorted(backup.items())],
        "shape backup": sorted([key, list(value)] for key, value in shape_backup.items()),
        "held": held(shapes(trained)),
        "losses": losses(executor, trained, loss),
        "test losses": losses(executor, tested, loss, 2) if not options else [],
    }


def sensitive(folder):
    executor, train, test, _, loss = small()

    def evaluate(program):
        return float(sum(losses(executor, program, loss)))

    names = ["conv1_weights", "conv4_weights", "conv6_weights"]
    scope = fluid.global_scope()
    start = held(shapes(train))
    first = prune.sensitivity(test, PLACE, names, evaluate, folder + "/s.data", [0.25, 0.5])
    second = prune.sensitivity(test, PLACE, names, evaluate, folder + "/s.data", [0.5, 0.75])
    loaded = prune.load_sensitivities(folder + "/s.data")
    merged = prune.merge_sensitive([first, {"other": {0.1: 0.2}}])
    found = {
        "sensitivities": [[key, sorted(value.items())] for key, value in sorted(second.items())],
        "read": loaded == second,
        "merged": sorted(merged),
        "ratios": sorted(prune.get_ratios_by_loss(second, 0.01).items()),
        "as before": start == held(shapes(train)),
    }
    found["by flops"] = outcome(
        lambda: [
            [key, sorted(value.items())]
            for key, value in sorted(
                prune.flops_sensitivity(
                    test, PLACE, names, evaluate, folder + "/f.data", pruned_flops_rate=0.05
                ).items()
            )
        ]
    )
    ratios = prune.get_ratios_by_loss(second, 0.01)
    pruned, _, _ = prune.Pruner().prune(
        train, scope, list(ratios), list(ratios.values()), place=PLACE
    )
    found["flops"] = float(analysis.flops(pruned))
    found["losses"] = losses(executor, pruned, loss)
    return found


def sensitive_pruner(folder):
    executor, train, test, _, loss = small()
    here = os.getcwd()
    os.chdir(folder)
    try:
        pruner = prune.SensitivePruner(
            PLACE,
            lambda program: float(sum(losses(executor, program, loss))),
            checkpoints=folder + "/c",
        )
        os.makedirs(folder + "/c")
        found = {
            "restored": outcome(
                lambda: [
                    each if isinstance(each, int) else each is None for each in pruner.restore()
                ]
            )
        }
        found["greedy"] = outcome(
            lambda: len(pruner.greedy_prune(train, test, ["conv1_weights", "conv3_weights"], 0.04))
        )
        found["pruned"] = outcome(lambda: len(pruner.prune(train, test, ["conv1_weights"], 0.1)))
        cut_train, _, _ = prune.Pruner().prune(
            train, fluid.global_scope(), ["conv3_weights"], [0.5], place=PLACE
        )
        cut_test, _, _ = prune.Pruner().prune(
            test, fluid.global_scope(), ["conv3_weights"], [0.5], place=PLACE, only_graph=True
        )
        wanted = losses(executor, cut_test, loss)
        pruner._iter = 1
        pruner.save_checkpoint(cut_train, cut_test)
        main, evaluated, number = pruner.restore()
        found["kept"] = [
            number,
            float(analysis.flops(main)),
            float(analysis.flops(evaluated)),
            losses(executor, evaluated, loss) == wanted,
            losses(executor, main, loss),
        ]
        return found
    finally:
        os.chdir(here)


def auto(folder):
    executor, train, test, _, loss = small()
    names = ["conv1_weights", "conv3_weights"]
    np.random.seed(3)
    pruner = prune.AutoPruner(
        test,
        fluid.global_scope(),
        PLACE,
        params=names,
        init_ratios=[0.3, 0.3],
        pruned_flops=0.1,
        server_addr=("127.0.0.1", 0),
        search_steps=3,
        max_ratios=[0.7, 0.7],
        min_ratios=[0.1, 0.1],
        key="auto",
    )
    trained, tested = pruner.prune(train, test)
    found = [float(analysis.flops(each)) for each in (trained, tested)]
    return [*found, losses(executor, tested, loss)]  # its reward ends the process, there, too


def kept(folder):
    """Save what is left of a network, and read it into a whole one."""
    executor, _, test, out, _ = small()
    pruned, _, _ = prune.Pruner().prune(test, fluid.global_scope(), *PRUNED["small"], place=PLACE)
    prune_io.save_model(executor, pruned, folder + "/m")
    image = pruned.global_block().var("image")
    fluid.io.save_inference_model(
        folder + "/i", ["image"], [pruned.global_block().var(out)], executor, pruned
    )
    wanted = executor.run(pruned, batch(0), [out])[0]
    with open(folder + "/m/__shapes__") as file:
        written = sorted(json.load(file).items())
    with fluid.scope_guard(fluid.Scope()), fluid.unique_name.guard():
        executor, _, test, out, _ = small()
        prune_io.load_model(executor, test, folder + "/m")
        read = executor.run(test, batch(0), [out])[0]
        program, feeds, fetched = fluid.io.load_inference_model(folder + "/i", executor)
        served = executor.run(program, {feeds[0]: batch(0)["image"]}, fetched)[0]
    return {
        "written": mark(written),
        "answers": wanted.ravel().tolist(),
        "same": [bool((read == wanted).all()), bool((served == wanted).all())],
        "image": list(image.shape),
        "flops": float(analysis.flops(program)),
    }


def walked():
    """What the wrapper of a graph tells."""
    _, train, test, _, loss = small()
    graph = core.GraphWrapper(train, {"image": "image"}, {"loss": loss})
    copied = graph.clone(for_test=True)
    conv = [op for op in graph.ops() if op.type() == "conv2d"][2]
    groups = outcome(
        lambda: [
            [[name, axis, list(index)] for name, axis, index in group]
            for group in prune.collect_convs(["conv1_weights", "conv5_weights"], graph)
        ]
    )
    return {
        "operators": mark([[op.type(), op.is_bwd_op(), op.is_opt_op()] for op in graph.ops()]),
        "before": sorted(op.type() for op in graph.pre_ops(conv)),
        "behind": sorted(op.type() for op in graph.next_ops(conv)),
        "inputs": [op.type() for op in graph.var("conv1_weights").inputs()],
        "outputs": [op.type() for op in graph.var("conv1_weights").outputs()],
        "parameters of it": [each.name() for each in graph.get_param_by_op(conv)],
        "numbers": float(graph.numel_params()),
        "attributes": [list(conv.attr("strides")), conv.attr("groups"), conv.idx()],
        "persistable": mark(sorted(graph.persistables)),
        "variables": len(graph.vars()),
        "of the copy": mark([op.type() for op in copied.ops()]),
        "groups": groups,
        "text": repr(conv),
        "flops": outcome(lambda: float(analysis.flops(train, only_conv=False))),
        "details": outcome(lambda: sorted(analysis.flops(test, detail=True)[1].items())),
    }


def latency(folder):
    _, _, test, _, _ = classifier("MobileNet")
    graph = core.GraphWrapper(test)
    rows = analysis.LatencyEvaluator()._get_ops_from_graph(graph, False)
    texts = sorted({",".join(str(word) for word in row) for row in rows})
    with open(folder + "/table", "w") as file:
        file.write("engine\tdevice\ttoday\n")
        for number, text in enumerate(texts):
            file.write(text + "\t" + str(1.5 + number) + "\n")
    evaluator = analysis.TableLatencyEvaluator(folder + "/table")
    return [texts, evaluator.latency(test, False), evaluator.latency(test)]


def cached(folder):
    reader = common.cached_reader(
        lambda: (np.full([2], i) for i in range(10)), 0.5, folder + "/cached", 1
    )
    return [[np.asarray(each).tolist() for each in reader()] for _ in range(2)]


def shown(folder):
    executor, _, test, out, _ = small()
    image = test.global_block().var("image")
    label = test.global_block().var("label")
    found = common.pdf(
        test,
        ["conv1_weights", "conv3_bn.tmp_2", "conv7_weights"],
        executor,
        lambda: iter([[batch(0)["image"], batch(0)["label"]]]),
        feed_vars=[image, label],
        fetch_list=[out],
        pdf_save_dir=None,
    )
    return {
        key: [list(value.shape), float(np.abs(value).sum())] for key, value in sorted(found.items())
    }


def sizes():
    """Every model of PaddleSlim."""
    found = {}
    for name in sorted(models.util.model_list):
        try:
            with fluid.unique_name.guard():
                main = fluid.Program()
                with fluid.program_guard(main, fluid.Program()):
                    image = fluid.data("image", [None, 3, 64, 64], "float32")
                    getattr(models.classification_models, name)().net(image, class_dim=CLASSES)
                found[name] = [float(analysis.flops(main)), float(analysis.model_size(main))]
        except Exception as error:
            found[name] = type(error).__name__
    for name in sorted(vars(models)):
        if name.startswith("Slim"):

            def build(name=name):
                main = fluid.Program()
                with fluid.program_guard(main, fluid.Program()):
                    side = 112
                    image = fluid.data("image", [None, 3, side, side], "float32")
                    label = fluid.data("label", [None, 1], "int64")
                    made = getattr(models, name)
                    if "Face" in name:
                        made(class_dim=CLASSES).net(image, label)
                    else:
                        made(None).net(image, class_dim=CLASSES)
                return [
                    float(analysis.flops(main)),
                    float(analysis.model_size(main)),
                    len(main.global_block().ops),
                ]

            with fluid.unique_name.guard():
                found[name] = outcome(build)
    return found


TOLD = {
    "plain": (None, {}),
    "lazily": (None, {"lazy": True}),
    "geometry_median": ("geometry_median", {}),
    "bn_scale": ("bn_scale", {}),
}


def results(sentences):
    with tempfile.TemporaryDirectory() as folder:
        found = {"sizes": sizes()}
        for name in NETWORKS:
            for told, words in TOLD.items():
                if name == "small" or told in ("plain",):
                    found[name + " " + told] = inside(cut, name, words)
        for part in (sensitive, sensitive_pruner, auto, kept, latency, cached, shown):
            if part is shown and not hasattr(common, "pdf"):
                continue
            found[part.__name__] = inside(part, folder)
        found["walked"] = inside(walked)
        meter = getattr(common, "AvgrageMeter", None)
        if meter:
            meter = meter()
            meter.update(2.0, 3)
            meter.update(5.0)
            found["meter"] = [meter.avg, meter.sum, meter.cnt]
    return found
