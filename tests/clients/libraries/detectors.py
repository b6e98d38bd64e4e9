"""PaddleDetection's detectors are built, take three steps and predict."""

import os
import tempfile

import absent
import numpy as np
import paddle.fluid as fluid
from backbones import started
from outcomes import mark, outcome
from parameters import without_draws

absent.stand_in("cv2", "PIL", "pycocotools", "pycocotools.mask", "tqdm", "shapely", "matplotlib")
if not hasattr(fluid.core, "get_cuda_device_count"):  # a 1.8.5 for the CPU has none
    fluid.core.get_cuda_device_count = lambda: 0

import ppdet.modeling  # noqa: E402, F401
from ppdet.core.workspace import create, load_config  # noqa: E402

IMAGES, BOXES, CLASSES = 2, 3, 5
#: parts that many detectors share
PARTS = """
ResNet: {depth: 18, norm_type: bn, freeze_at: 0, feature_maps: [2, 3, 4, 5]}
MobileNet: {norm_type: bn, conv_group_scale: 4}
FPN: {num_chan: 16, min_level: 2, max_level: 6}
TwoFCHead: {mlp_dim: 32}
FPNRPNHead:
  num_chan: 16
  rpn_target_assign: {rpn_batch_size_per_im: 32, use_random: false}
  train_proposal: {pre_nms_top_n: 60, post_nms_top_n: 30, min_size: 0.0, nms_thresh: 0.7}
  test_proposal: {pre_nms_top_n: 40, post_nms_top_n: 20, min_size: 0.0, nms_thresh: 0.7}
FPNRoIAlign: {box_resolution: 4, mask_resolution: 4}
BBoxAssigner: {batch_size_per_im: 16, num_classes: 6, shuffle_before_sample: false}
BBoxHead: {head: TwoFCHead, num_classes: 6}
"""
#: detector -> its description, the size of pictures
DETECTORS = {
    "YOLOv3": ("""
YOLOv3: {backbone: MobileNet, yolo_head: YOLOv3Head}
YOLOv3Head: {num_classes: 5, yolo_loss: YOLOv3Loss, norm_decay: 0.0}
YOLOv3Loss: {label_smooth: true, ignore_thresh: 0.7}
""", 64),
    "YOLOv4": ("""
YOLOv4: {backbone: CSPDarkNet, yolo_head: YOLOv4Head}
CSPDarkNet: {norm_type: bn, depth: 53}
YOLOv4Head: {num_classes: 5, yolo_loss: YOLOv3Loss}
YOLOv3Loss: {label_smooth: false, ignore_thresh: 0.7}
""", 64),
    "SSD": ("""
SSD: {backbone: MobileNet, multi_box_head: MultiBoxHead, num_classes: 6}
MobileNet: {norm_type: bn, conv_group_scale: 4, with_extra_blocks: true}
MultiBoxHead:
  aspect_ratios: [[2.], [2., 3.], [2., 3.], [2., 3.], [2., 3.], [2., 3.]]
  base_size: 300
  flip: true
  max_ratio: 90
  max_sizes: [[], 150.0, 195.0, 240.0, 285.0, 300.0]
  min_ratio: 20
  min_sizes: [60.0, 105.0, 150.0, 195.0, 240.0, 285.0]
  offset: 0.5
""", 160),
    "FasterRCNN": ("""
FasterRCNN:
  {backbone: ResNet, fpn: FPN, rpn_head: FPNRPNHead, roi_extractor: FPNRoIAlign}
""", 64),
    "MaskRCNN": ("""
MaskRCNN:
  {backbone: ResNet, fpn: FPN, rpn_head: FPNRPNHead, roi_extractor: FPNRoIAlign}
MaskHead: {dilation: 1, conv_dim: 16, num_convs: 2, resolution: 8, num_classes: 6}
MaskAssigner: {resolution: 8, num_classes: 6}
""", 64),
    "CascadeRCNN": ("""
CascadeRCNN: {backbone: ResNet, fpn: FPN, rpn_head: FPNRPNHead, roi_extractor: FPNRoIAlign}
CascadeBBoxAssigner: {batch_size_per_im: 16, num_classes: 6, shuffle_before_sample: false}
CascadeBBoxHead: {head: CascadeTwoFCHead, num_classes: 6}
CascadeTwoFCHead: {mlp_dim: 32}
""", 64),
    "RetinaNet": ("""
RetinaNet: {backbone: ResNet, fpn: FPN, retina_head: RetinaHead}
ResNet: {depth: 18, norm_type: bn, freeze_at: 0, feature_maps: [3, 4, 5]}
FPN: {num_chan: 16, min_level: 3, max_level: 7, has_extra_convs: true,
  spatial_scale: [0.03125, 0.0625, 0.125]}
RetinaHead: {num_chan: 16, num_convs_per_octave: 1, num_classes: 6,
  output_decoder: {score_thresh: 0.05, nms_thresh: 0.5}}
""", 128),
    "FCOS": ("""
FCOS: {backbone: ResNet, fpn: FPN, fcos_head: FCOSHead}
ResNet: {depth: 18, norm_type: bn, freeze_at: 0, feature_maps: [3, 4, 5]}
FPN: {num_chan: 32, min_level: 3, max_level: 7, has_extra_convs: true, use_c5: false,
  spatial_scale: [0.03125, 0.0625, 0.125]}
FCOSHead: {num_classes: 5, num_convs: 1, fcos_loss: FCOSLoss}
FCOSLoss: {iou_loss_type: giou}
""", 128),
    "BlazeFace": ("""
BlazeFace: {backbone: BlazeNet, num_classes: 2,
  output_decoder: {keep_top_k: 20, nms_top_k: 40}}
BlazeNet: {with_extra_blocks: true, lite_edition: false}
""", 128),
    "FaceBoxes": ("""
FaceBoxes: {backbone: FaceBoxNet, num_classes: 2, densities: [[4, 2, 1], [1], [1]],
  fixed_sizes: [[32., 64., 128.], [256.], [512.]]}
FaceBoxNet: {with_extra_blocks: true, lite_edition: false}
""", 128),
    "EfficientDet": ("""
EfficientDet: {backbone: EfficientNet, fpn: BiFPN, efficient_head: EfficientHead,
  anchor_grid: AnchorGrid, box_loss_weight: 50.}
EfficientNet: {norm_type: bn, scale: b0, use_se: true}
BiFPN: {num_chan: 16, repeat: 1, levels: 5}
EfficientHead: {repeat: 1, num_chan: 16, num_classes: 5,
  output_decoder: {score_thresh: 0.05, nms_thresh: 0.5}}
AnchorGrid: {image_size: 128}
""", 128),
    "CornerNetSqueeze": ("""
CornerNetSqueeze: {backbone: Hourglass, corner_head: CornerHead, num_classes: 5}
Hourglass: {stack: 1, dims: [16, 16, 24], modules: [1, 1, 1]}
CornerHead: {train_batch_size: 2, test_batch_size: 2, num_classes: 5, stack: 1,
  top_k: 10, num_dets: 20}
""", 64),
}  # fmt: skip
CORNERS = "image im_id tl_heatmaps br_heatmaps tl_regrs br_regrs tl_tags br_tags tag_masks"
FIELDS = {
    "YOLO": "image im_size im_id",
    "RCNN": "image im_info im_id im_shape",
    "Mask": "image im_info im_id im_shape",
    "Retina": "image im_info im_id",
    "FCOS": "image im_info im_id im_shape",
    "SSD": "image im_id",
    "Blaze": "image im_id",
    "FaceB": "image im_id",
    "Effici": "image im_info im_id",
    "Corner": "image im_id ratios borders",
}


def data(size, change):
    """What pictures say, by the names of inputs."""
    random = np.random.RandomState(3)
    pictures = random.randn(IMAGES, 3, size, size)
    pictures *= 1 + change * np.random.RandomState(4).choice([-1, 1], pictures.shape)
    corners = random.uniform(0.05, 0.45, [IMAGES * BOXES, 2])
    boxes = np.concatenate([corners, corners + random.uniform(0.2, 0.5, corners.shape)], 1)
    classes = random.randint(1, CLASSES, [IMAGES * BOXES, 1])
    polygons = [[x, y, X, y, X, Y, x, Y] for x, y, X, Y in boxes * size]
    return {
        "image": pictures,
        "im_info": [[size, size, 1.0]] * IMAGES,
        "im_shape": [[size, size, 1.0]] * IMAGES,
        "im_size": [[size, size]] * IMAGES,
        "im_id": np.arange(IMAGES)[:, None],
        "ratios": np.ones([IMAGES, 2]),
        "borders": [[0.0, size, 0.0, size]] * IMAGES,
        "boxes": boxes,
        "classes": classes,
        "gt_mask": np.reshape(polygons, [-1, 2]),
        "size": size,
        "random": random,
    }


def targets(variable, values, kind):
    """What a training is told, drawn by the form of the variable where nothing else says it."""
    random, size, name = values["random"], values["size"], variable.name
    relative = any(each in kind for each in ("SSD", "Face"))
    boxes = values["boxes"] if relative else values["boxes"] * size
    if kind.startswith("YOLO"):
        x, y, X, Y = np.split(values["boxes"].reshape(IMAGES, BOXES, 4), 4, 2)
        given = {
            "gt_bbox": np.concatenate([(x + X) / 2, (y + Y) / 2, X - x, Y - y], 2),
            "gt_class": values["classes"].reshape(IMAGES, BOXES),
            "gt_score": np.ones([IMAGES, BOXES]),
        }
    else:
        classes = values["classes"] * 0 + 1 if "Face" in kind else values["classes"]
        given = {"gt_bbox": boxes, "gt_class": classes, "is_crowd": classes * 0}
    if name in given:
        return given[name]
    shape = [each if each > 0 else IMAGES for each in variable.shape]
    if name == "fg_num":
        return [[BOXES]] * IMAGES
    if name == "gt_label":
        drawn = random.randint(-1, CLASSES, [IMAGES, values["anchors"], 1])
        return np.where(random.rand(*drawn.shape) < 0.9, -1, drawn)
    if name == "gt_target":
        return random.randn(IMAGES, values["anchors"], 4)
    if name[:-1] in ("labels", "reg_target", "centerness"):
        side = size // (8, 16, 32, 64, 128)[int(name[-1])]
        shape = [IMAGES, side, side, shape[3]]
        if name[:-1] == "labels":
            return random.randint(0, 3, shape)
        return random.uniform(0.1, 1, shape) * (9 if shape[3] == 4 else 1)
    if name.endswith("_tags"):
        return random.randint(0, (size // 8) ** 2, shape)
    if name == "tag_masks":
        return random.randint(0, 2, shape)
    return random.uniform(0, 1, shape)


def operators(program):
    """A number for the operators, but for gradients of whole numbers, which nothing reads."""
    ops = program.global_block().ops
    read = {name for op in ops for name in op.input_arg_names}
    written = [(op.type, sorted(op.output_arg_names)) for op in ops]
    return mark([each for each in written if each[0] != "cast" or read & set(each[1])])


def fed(variables, values, kind):
    """The feed of some variables."""
    feed = {}
    for variable in variables:
        given = values.get(variable.name)
        given = targets(variable, values, kind) if given is None else given
        array = np.array(given).astype(core_name(variable))
        if variable.lod_level:
            lengths = [[BOXES] * IMAGES, [1] * (IMAGES * BOXES), [4] * (IMAGES * BOXES)]
            array = fluid.create_lod_tensor(array, lengths[: variable.lod_level], fluid.CPUPlace())
        feed[variable.name] = array
    return feed


def core_name(variable):
    """The name of an element type for NumPy."""
    types = fluid.core.VarDesc.VarType
    return {types.FP32: "float32", types.INT32: "int32", types.INT64: "int64"}[variable.dtype]


def ran(kind, change=0.0):
    """What one detector gives."""
    text, size = DETECTORS[kind]
    own = text.strip().splitlines()
    tops = {line.split(":")[0] for line in own if not line.startswith(" ")}
    parts, kept = PARTS.strip().splitlines(), True
    for line in parts:
        kept = line.split(":")[0] not in tops if not line.startswith(" ") else kept
        own += [line] if kept else []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "detector.yml")
        with open(path, "w") as file:
            file.write("\n".join([f"architecture: {kind}", "use_gpu: false", *own]) + "\n")
        load_config(path)
    main, startup, test = fluid.Program(), fluid.Program(), fluid.Program()
    image = {"image_shape": [3, size, size], "use_dataloader": False}
    if kind.startswith("YOLO"):
        image["num_max_boxes"] = BOXES
    if kind == "FCOS":
        image["image_shape"] = [3, None, None]
        image["fields"] = ["image", "im_info", "fcos_target"]
    if kind == "CornerNetSqueeze":
        image.update(output_size=size // 8, max_tag_len=BOXES, fields=CORNERS.split())
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        variables, _ = create(kind).build_inputs(**image)
        loss = create(kind).train(variables)["loss"]
        without_draws(main)
        _, pairs = fluid.optimizer.Momentum(0.0005, 0.9).minimize(loss)
    values = data(size, change)
    values["anchors"] = sum(9 * (size // s) ** 2 for s in (8, 16, 32, 64, 128))
    feed = fed(variables.values(), values, kind)
    exe, scope = fluid.Executor(fluid.CPUPlace()), fluid.Scope()
    with fluid.scope_guard(scope):
        exe.run(startup)
        started(startup, scope)
        shown = [loss, *(gradient for _, gradient in pairs[:: len(pairs) // 5])]
        first = [np.array(each).astype("float64") for each in exe.run(main, feed, shown)]
        losses = [first[0], *(exe.run(main, feed, [loss])[0] for _ in range(2))]
    return {
        "program": operators(main),
        "losses": [float(np.ravel(each)[0]) for each in losses],
        "norms of gradients": [float(np.linalg.norm(each)) for each in first[1:]],
        "prediction": outcome(predicted, kind, image, values, test),
    }


def there(answer):
    """Boxes that are there: others have scores of -1, and stand in no certain order."""
    boxes = answer.reshape(-1, answer.shape[-1])
    return boxes[boxes[:, 1] > 0] if boxes.shape[1] == 6 else answer


def predicted(kind, image, values, test):
    """What a detector answers with its start values."""
    startup = fluid.Program()
    fields = next(text for part, text in FIELDS.items() if part in kind).split()
    with fluid.unique_name.guard(), fluid.program_guard(test, startup):
        model = create(kind)
        inputs = {**image, "fields": fields}
        variables, _ = model.build_inputs(**inputs)
        fetched = model.test(variables)
    exe, scope = fluid.Executor(fluid.CPUPlace()), fluid.Scope()
    with fluid.scope_guard(scope):
        exe.run(startup)
        started(startup, scope)
        feed = fed(variables.values(), values, kind)
        answers = exe.run(test, feed, list(fetched.values()), return_numpy=False)
    return {
        "program": operators(test),
        "answers": {
            name: there(np.array(answer).astype("float64")).ravel()[:30].tolist()
            for name, answer in zip(fetched, answers)
        },
    }


def results(_, change=0.0, *names):
    """What each detector gives: name -> a value of JSON."""
    return {kind: outcome(ran, kind, float(change)) for kind in names or DETECTORS}
