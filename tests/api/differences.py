"""Where parameters differ from those of fluid 1.8 on purpose: ``MODULE.NAME`` -> why."""

DIFFERENCES = {
    "io.load": "a path alone reads what save made of a dictionary, as in paddle 2",
    "param_attr.ParamAttr": "takes gradient_clip too, behind the rest, as fluid 1.7 did",
    "param_attr.WeightNormParamAttr": "takes need_clip too, by keyword, as paddle 2 does",
    "io.PyReader": "takes tensors too, behind the rest: whether it gives tensors, as paddle.base",
    "io.compose": "the one keyword that is read is named",
    **{
        f"optimizer.{name}{ending}": "needs no rate (Momentum: no momentum) in paddle 2's words"
        for name in ("SGD", "Momentum", "Adadelta")
        for ending in ("", "Optimizer")
    },
}
