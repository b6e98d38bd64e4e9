"""x2paddle converts nets of Caffe."""

import os
import tempfile

import numpy as np
from converted import converted
from google.protobuf import text_format
from outcomes import outcome
from x2paddle.convert import caffe2paddle
from x2paddle.decoder import caffe_pb2

#: the nets of Caffe: layers as ``name type bottoms : settings``
CLASSIFIER = """
conv1 Convolution data : convolution_param { num_output: 6 kernel_size: 3 pad: 1 }
bn1 BatchNorm conv1 : batch_norm_param { eps: 1e-4 }
scale1 Scale bn1 : scale_param { bias_term: true }
relu1 ReLU scale1 :
pool1 Pooling relu1 : pooling_param { pool: MAX kernel_size: 3 stride: 2 }
lrn1 LRN pool1 : lrn_param { local_size: 3 alpha: 0.01 beta: 0.75 }
conv2 Convolution lrn1 : convolution_param { num_output: 8 kernel_size: 3 pad: 1 group: 2 }
prelu2 PReLU conv2 :
conv3 Convolution prelu2 : convolution_param { num_output: 8 kernel_size: 1 bias_term: false }
sum3 Eltwise conv3 prelu2 : eltwise_param { operation: SUM coeff: 0.5 coeff: -2 }
joined Concat sum3 lrn1 : concat_param { axis: 1 }
pool4 Pooling joined : pooling_param { pool: AVE global_pooling: true }
fc5 InnerProduct pool4 : inner_product_param { num_output: 7 }
tanh5 TanH fc5 :
drop5 Dropout tanh5 : dropout_param { dropout_ratio: 0.4 }
fc6 InnerProduct drop5 : inner_product_param { num_output: 4 }
prob Softmax fc6 :
"""
DECODER = """
deep1 ConvolutionDepthwise data : convolution_param { num_output: 3 kernel_size: 3 pad: 1 }
leaky1 ReLU deep1 : relu_param { negative_slope: 0.1 }
wide2 Convolution leaky1 : convolution_param { num_output: 8 kernel_size: 3 stride: 2 dilation: 1 }
sigmoid2 Sigmoid wide2 :
mixed2 ShuffleChannel sigmoid2 : shuffle_channel_param { group: 2 }
up3 Deconvolution mixed2 : convolution_param { num_output: 3 kernel_size: 2 stride: 2 }
power3 Power up3 : power_param { power: 2 scale: 0.5 shift: 1 }
crop3 Crop leaky1 power3 : crop_param { axis: 2 offset: 1 offset: 0 }
"""
BOXES = """
conv1 Convolution data : convolution_param { num_output: 8 kernel_size: 3 stride: 2 }
norm1 Normalize conv1 : norm_param { across_spatial: false channel_shared: false }
turned1 Permute norm1 : permute_param { order: 0 order: 2 order: 3 order: 1 }
flat1 Flatten turned1 : flatten_param { axis: 1 }
box1 PriorBox norm1 data : prior_box_param { min_size: 4 aspect_ratio: 2 variance: [1, 1, 2, 2] }
max1 Eltwise conv1 norm1 : eltwise_param { operation: MAX }
abs1 AbsVal max1 :
row1 Reshape abs1 : reshape_param { shape { dim: 0 dim: -1 } }
"""


def blobs(layer, random):
    """The arrays of a layer that Caffe would have learned."""
    widths = {"conv2": (8, 3, 3, 3), "conv3": (8, 8, 1, 1), "deep1": (3, 1, 3, 3)}
    convolution = layer.convolution_param
    size = convolution.kernel_size[0] if convolution.kernel_size else 1
    shapes = {
        "Convolution": [widths.get(layer.name, (convolution.num_output, 3, size, size))],
        "ConvolutionDepthwise": [widths.get(layer.name)],
        "Deconvolution": [(8, 3, 2, 2)],
        "InnerProduct": [(7, 14) if layer.name == "fc5" else (4, 7)],
        "BatchNorm": [(6,), (6,), (1,)],
        "Scale": [(6,), (6,)],
        "PReLU": [(8,)],
        "Normalize": [(8,)],
    }.get(layer.type, [])
    if layer.type == "Deconvolution":
        shapes.append(shapes[0][1:2])
    elif layer.type == "InnerProduct" or ("Conv" in layer.type and convolution.bias_term):
        shapes.append(shapes[0][:1])
    return [random.uniform(0.1, 0.6, shape) for shape in shapes]


def written(layers, random):
    """A net's description and its weights, as files."""
    net = caffe_pb2.NetParameter(name="net")
    net.layer.add(name="data", type="Input", top=["data"])
    net.layer[0].input_param.shape.add(dim=[2, 3, 10, 10])
    for line in layers.strip().splitlines():
        head, settings = line.split(" :")
        name, kind, *bottoms = head.split()
        layer = net.layer.add(name=name, type=kind, bottom=bottoms, top=[name])
        text_format.Merge(settings, layer)
    with open("net.prototxt", "w") as file:
        file.write(text_format.MessageToString(net))
    for layer in net.layer:
        for array in blobs(layer, random):
            blob = layer.blobs.add(data=array.ravel().astype("float32").tolist())
            blob.shape.dim.extend(array.shape)
    with open("net.caffemodel", "wb") as file:
        file.write(net.SerializeToString())


def of_caffe(layers, merged):
    """What the code for a net of Caffe gives, and its model."""
    os.chdir(tempfile.mkdtemp())
    random = np.random.RandomState(2)
    written(layers, random)
    value = random.uniform(-1, 1, [2, 3, 10, 10]).astype("float32")

    def call(folder):
        caffe2paddle("net.prototxt", "net.caffemodel", folder, None, merged)

    return converted(call, {"data": value}, merged)


def results(_):
    """What each net gives."""
    return {
        "classifier": outcome(of_caffe, CLASSIFIER, False),
        "decoder": outcome(of_caffe, DECODER, True),
        "boxes": outcome(of_caffe, BOXES, False),
    }
