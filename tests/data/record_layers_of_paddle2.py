"""Writes tests/data/layers_of_paddle2.json.gz: layers of Paddle 2 on inputs of our own, their results and
the gradients of the first input.

    python tests/data/record_layers_of_paddle2.py        where Paddle 2.6 is installed
"""

import gzip
import json
from pathlib import Path

import numpy as np
import paddle

random = np.random.RandomState(5)


def r(*shape):
    return random.uniform(-1, 1, shape).astype("float32").round(3)


S=r(2,4,7)
I=r(2,4,6,5)
V=r(1,2,4,5,3)
P=r(3,6)
Q=r(3,6)
Z=r(3,6)
SG=np.sign(r(3,6))
S1=np.sign(r(3))
S1[S1==0]=1
SG[SG==0]=1
CASES=[
 ["Conv1D",[4,2,3],{"stride":2,"padding":1},[S]],
 ["Conv1D",[4,4,3],{"padding":2,"padding_mode":"reflect","groups":2},[S]],
 ["Conv1D",[4,2,2],{"data_format":"NLC","dilation":2},[S.transpose(0,2,1).copy()]],
 ["Conv1DTranspose",[4,2,3],{"stride":2,"padding":1,"output_padding":1},[S]],
 ["Conv1DTranspose",[4,4,2],{"groups":2,"dilation":2},[S]],
 ["Conv3D",[2,4,2],{"stride":[2,1,1],"padding":1},[V]],
 ["Conv3D",[2,2,3],{"padding":1,"padding_mode":"replicate","bias_attr":False},[V]],
 ["Conv3D",[3,2,2],{"data_format":"NDHWC"},[V.transpose(0,2,3,4,1)[...,[0,1,0]].copy()]],
 ["Conv3DTranspose",[2,3,2],{"stride":2,"padding":[0,1,0],"output_padding":[1,0,1]},[V]],
 ["MaxPool1D",[3],{"stride":2,"padding":1},[S]], ["MaxPool1D",[2],{"ceil_mode":True},[S]],
 ["AvgPool1D",[3],{"stride":2,"padding":1},[S]], ["AvgPool1D",[3],{"padding":1,"exclusive":False},[S]],
 ["AdaptiveAvgPool1D",[3],{},[S]], ["AdaptiveMaxPool1D",[3],{},[S]],
 ["MaxPool3D",[2],{},[V]], ["MaxPool3D",[2],{"stride":1,"padding":1},[V]], ["AvgPool3D",[2],{"padding":1},[V]],
 ["AvgPool3D",[[2,2,1]],{"exclusive":False,"padding":[1,0,0]},[V]], ["AvgPool3D",[2],{"divisor_override":3},[V]],
 ["AdaptiveAvgPool3D",[[2,3,1]],{},[V]], ["AdaptiveMaxPool3D",[2],{},[V]],
 ["Pad1D",[[1,2]],{"mode":"reflect"},[S]], ["Pad1D",[[2,1]],{"mode":"replicate","data_format":"NLC"},[S]],
 ["Pad1D",[1],{"value":0.5},[S]],
 ["Pad3D",[[1,0,2,1,0,3]],{},[V]], ["Pad3D",[[1,0,2,1,0,2]],{"mode":"reflect"},[V]], ["Pad3D",[[1,2,0,1,3,1]],{"mode":"replicate"},[V]],
 ["Pad3D",[[1,0,2,1,0,1]],{"value":2.0,"data_format":"NDHWC"},[V]],
 ["ZeroPad2D",[[1,2,0,3]],{},[I]],
 ["Upsample",[],{"scale_factor":2},[I]], ["Upsample",[],{"size":[9,4],"mode":"bilinear"},[I]],
 ["Upsample",[],{"size":[9,7],"mode":"bilinear","align_corners":True},[I]], ["Upsample",[],{"size":[12,10],"mode":"bicubic"},[I]],
 ["Upsample",[],{"size":[12,10],"mode":"bilinear","align_mode":1},[I]],
 ["Upsample",[],{"scale_factor":2,"mode":"trilinear","data_format":"NCDHW"},[V]],
 ["UpsamplingNearest2D",[[3,8]],{},[I]], ["UpsamplingBilinear2D",[],{"scale_factor":2},[I]],
 ["PixelShuffle",[2],{},[I]], ["Unfold",[[2,3]],{"paddings":1,"strides":2},[I]], ["Unfold",[2],{"dilations":2,"paddings":[1,0,2,1]},[I]], ["Unfold",[2],{"paddings":[1,2]},[I]],
 ["InstanceNorm1D",[4],{},[S]], ["InstanceNorm3D",[2],{"epsilon":0.01},[V]],
 ["SoftMarginLoss",[],{},[P,SG]], ["HingeEmbeddingLoss",[],{"margin":0.5,"reduction":"sum"},[P,SG]],
 ["MarginRankingLoss",[],{"margin":0.3},[P,Q,SG]], ["CosineEmbeddingLoss",[],{"margin":0.1},[P,Q,S1]],
 ["TripletMarginLoss",[],{"reduction":"none"},[P,Q,Z]], ["TripletMarginLoss",[],{"swap":True,"margin":0.5,"p":3.0},[P,Q,Z]],
]


def recorded(name, args, options, inputs):
    layer = getattr(paddle.nn, name)(*args, **options)
    layer.eval()
    for p in layer.parameters():
        values = np.sin(np.arange(p.size) * 1.7 + p.ndim)
        p.set_value(values.reshape(p.shape).astype("float32"))
    tensors = [paddle.to_tensor(x, stop_gradient=False) for x in inputs]
    out = layer(*tensors)
    weights = np.cos(np.arange(out.size)).reshape(out.shape).astype("float32")
    (out * paddle.to_tensor(weights)).sum().backward()
    found = [out.numpy().round(4).tolist(), tensors[0].grad.numpy().round(4).tolist()]
    return [name, args, options, [x.tolist() for x in inputs], *found]


text = json.dumps([recorded(*case) for case in CASES], separators=(",", ":"))
path = Path(__file__).parent / "layers_of_paddle2.json.gz"
path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
