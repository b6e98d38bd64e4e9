"""Meshes of processes, tensors on them, and calls of functions in processes, in one process."""

import copy

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import UnsupportedError
from fluidlite.paddle import distributed as dist
from fluidlite.paddle.distributed import communicator, rpc


def mesh():
    return dist.ProcessMesh([[2, 4, 5], [0, 1, 3]], dim_names=["x", "y"])


def test_a_mesh_knows_its_processes():
    of = mesh()
    assert (of.shape, of.ndim, of.size) == ([2, 3], 2, 6)
    assert of.process_ids == [2, 4, 5, 0, 1, 3] and of.dim_names == ["x", "y"]
    assert str(of) == "shape [2, 3], process_ids [2, 4, 5, 0, 1, 3], dim_nams ['x', 'y']"
    assert of.contains(2) and not of.contains(9) and not of.empty()
    assert of.dim_size("x") == 2 and of.get_dim_size("y") == 3
    turned = of.get_mesh_with_dim("y")
    assert (turned.shape, turned.process_ids) == ([3, 2], [2, 0, 4, 1, 5, 3])
    assert (of[0].process_ids, of[0].dim_names) == ([2, 4, 5], ["y"])
    assert (of[:, 0].process_ids, of[0, 1].dim_names) == ([2, 0], ["d0"])
    assert of == mesh() == copy.deepcopy(of) and hash(of) == hash(mesh()) and of != 3
    assert dist.ProcessMesh(shape=[2, 2], process_ids=[0, 1, 2, 3]).dim_names == ["d0", "d1"]


@pytest.mark.parametrize(
    "given",
    [{}, {"mesh": "a"}, {"mesh": [0, 0]}, {"mesh": [-1, 0]}, {"mesh": [0.5, 1]}]
    + [{"mesh": [0, 1], "dim_names": names} for names in (["x", "y"], "x", [1])]
    + [{"mesh": [[0, 1]], "dim_names": ["x", "x"]}],
)
def test_a_mesh_is_of_different_processes_with_different_names(given):
    with pytest.raises(AssertionError, match="expected"):
        dist.ProcessMesh(**given)


def test_placements_say_what_a_process_has():
    parts = [dist.Shard(1), dist.Replicate(), dist.Partial(), dist.Partial(dist.ReduceType.kRedMax)]
    assert [str(each) for each in parts] == [
        "Shard(dim=1)", "Replicate()", "Partial(reduce_type=SUM)", "Partial(reduce_type=MAX)",
    ]  # fmt: skip
    assert [each.is_shard() for each in parts] == [True, False, False, False]
    assert [each.is_replicated() for each in parts] == [False, True, False, False]
    assert [each.is_partial() for each in parts] == [False, False, True, True]
    assert dist.Shard(1).is_shard(1) and not dist.Shard(1).is_shard(0)
    assert dist.Shard(1) == dist.Shard(1) != dist.Shard(0) != dist.Replicate()
    assert len({dist.Partial(), dist.Partial(), dist.Shard(0)}) == 2
    with pytest.raises(TypeError, match="whole number"):
        dist.Shard("a")


def test_the_names_of_axes_say_where_parts_are():
    given = dist.DistAttr(mesh(), ["x", "y"])
    assert str(given) == (
        "{process_mesh: {shape: [2,3], process_ids: [2,4,5,0,1,3], dim_names: [x,y]}, "
        "dims_mappings: [0,1], batch_dim: 0, chunk_id: 0, dynamic_dims: [0,0], "
        "annotated: [dims_mapping: 1,process_mesh: 1], partial: [].}"
    )
    other = dist.DistAttr(mesh(), [None, None])
    assert other.dims_mapping == [-1, -1]
    other.parse_from_string(given.serialize_to_string())
    assert str(other) == str(given)
    given.mark_annotated("batch_dim")
    assert given.is_annotated("batch_dim") and next(iter(given.annotated)) == "batch_dim"
    given.reset()
    assert given.process_mesh is None and given.annotated == {}
    assert given.verify([4, 4]) and not given.verify([4])
    for wrong in (
        lambda: dist.DistAttr(mesh(), ["z"]),
        lambda: dist.DistAttr(3, ["x"]),
        lambda: dist.DistAttr(mesh(), "x"),
        lambda: other.parse_from_string(b"{}"),
    ):
        with pytest.raises(ValueError, match="expected"):
            wrong()


def test_a_tensor_on_a_mesh_is_whole_in_each_process():
    one = dist.ProcessMesh([0], dim_names=["x"])
    tensor = dist.shard_tensor([1.0, 2.0], one, [dist.Replicate()], dtype="float64")
    assert tensor.is_dist() and tensor.process_mesh is one
    assert tensor.placements == [dist.Replicate()] and tensor.tolist() == [1.0, 2.0]
    assert str(tensor) == (
        "Tensor(shape=[2], dtype=float64, place=Place(cpu), stop_gradient=True, "
        "process_mesh={shape: [1], process_ids: [0], dim_names: [x]}, placements=[Replicate()], "
        "GlobalDenseTensor=\n       [1., 2.])"
    )
    again = dist.reshard(tensor, mesh(), [dist.Shard(0), dist.Replicate()])
    assert again.placements[0] == dist.Shard(0) and again.tolist() == [1.0, 2.0]
    ones = dist.dtensor_from_fn(paddle.ones, one, [dist.Replicate()], shape=[2])
    assert ones.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="that shard_tensor gave"):
        dist.reshard(paddle.ones([2]), one, [dist.Replicate()])
    with pytest.raises(ValueError, match="expected mesh to be a ProcessMesh"):
        dist.shard_tensor([1.0], 3, [])
    with pytest.raises(ValueError, match="expected placements such as"):
        dist.shard_tensor([1.0], one, [3])


def test_gradients_pass_tensors_on_meshes():
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    on = dist.shard_tensor(x * x, mesh(), [dist.Shard(0)])
    (on * on).sum().backward()
    assert x.grad.tolist() == [32.0, 108.0]


def test_the_parameters_of_a_layer_are_put_on_a_mesh():
    net = dist.shard_layer(
        paddle.nn.Sequential(paddle.nn.Linear(2, 2)),
        mesh(),
        input_fn=lambda given, mesh: (given[0] * 2,),
        output_fn=lambda out, mesh: out + 1,
    )
    weight = net[0].weight
    assert weight.is_dist() and weight.trainable and len(net.parameters()) == 2
    x = paddle.ones([1, 2])
    wanted = 2 * x.numpy() @ weight.numpy() + net[0].bias.numpy() + 1
    np.testing.assert_allclose(net(x).numpy(), wanted, 1e-6)
    optimizer = dist.shard_optimizer(paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    before = weight.numpy()
    net(x).sum().backward()
    optimizer.step()
    assert (weight.numpy() != before).all()
    seen = []
    dist.shard_layer(net, mesh(), lambda name, layer, mesh: seen.append(name))
    assert seen == ["", "0"]
    with pytest.raises(AttributeError, match="expected a layer"):
        dist.shard_layer(3, mesh())
    with pytest.raises(ValueError, match="expected a ProcessMesh"):
        dist.shard_layer(net, None)
    with pytest.raises(AssertionError, match="expected an optimizer"):
        dist.shard_optimizer(3)


def test_states_are_written_and_read_as_a_folder(tmp_path):
    path = str(tmp_path / "state")
    w = dist.shard_tensor(paddle.arange(4, dtype="float32"), mesh(), [dist.Replicate()])
    dist.save_state_dict({"w": w, "n": {"b": w + 1}}, path)
    state = {"w": paddle.zeros([4]), "n": {"b": paddle.zeros([4], "float64")}}
    dist.load_state_dict(state, path)
    assert state["w"].tolist() == [0, 1, 2, 3] and state["n"]["b"].tolist() == [1, 2, 3, 4]
    with pytest.raises(AssertionError, match=r"expected zz of shape \[2\] in .*, got none"):
        dist.load_state_dict({"w": paddle.ones([4]), "zz": paddle.zeros([2])}, path)
    with pytest.raises(AssertionError, match=r"expected w of shape \[2\] in .*, got \[4\]"):
        dist.load_state_dict({"w": paddle.zeros([2])}, path)
    with pytest.raises(AssertionError, match="^a: expected a tensor, got 3"):
        dist.save_state_dict({"a": 3}, path)


def test_parts_of_arrays_are_cut_in_another_way():
    converter = dist.auto_parallel.static.converter.Converter
    whole = np.arange(24).reshape(4, 6)
    rows = {"process_shape": [2], "process_group": [0, 1], "dims_mapping": [0, -1]}
    both = {"process_shape": [2, 2], "process_group": [0, 1, 2, 3], "dims_mapping": [1, 0]}
    for plan, parts in (
        (rows, [whole[:2], whole[2:]]),
        (both, [whole[:2, :3], whole[2:, :3], whole[:2, 3:], whole[2:, 3:]]),
    ):
        np.testing.assert_array_equal(converter.merge_with_dist_attr(parts, plan), whole)
        np.testing.assert_array_equal(converter.slice_with_dist_attr(whole, plan), parts[0])
    made = converter({"w": [whole[:2], whole[2:]]}, {"w": rows}, {"w": both}).convert()
    np.testing.assert_array_equal(made["w"], whole[:2, :3])
    pieces = converter.split(np.arange(6).reshape(1, 1, 6), [[], [], [2, 4]], 3)
    assert [each.tolist() for each in pieces] == [[[[0, 1]]], [[[2, 3]]], [[[4, 5]]]]
    with pytest.raises(ValueError, match="v is not said both before and now"):
        converter({"w": [whole]}, {"w": rows}, {"v": rows}).convert()
    with pytest.raises(ValueError, match="expected tensors_dict to be a dictionary"):
        converter({}, {"w": rows}, {"w": rows})


def test_a_strategy_of_plans_is_told_in_parts():
    strategy = dist.Strategy({"sharding": {"enable": True, "stage": 2}, "seed": 3})
    assert (strategy.sharding.stage, strategy.sharding.degree, strategy.seed) == (2, 8, 3)
    strategy.pipeline.micro_batch_size = 2
    assert strategy.to_dict()["pipeline"]["micro_batch_size"] == 2
    assert str(strategy.gradient_merge) == '{"enable":"False","k_steps":"1","avg":"True",}'
    assert dist.Strategy().pipeline.micro_batch_size == 1
    with pytest.raises(ValueError, match="expected config to be a dictionary"):
        dist.Strategy(3)


def test_what_is_not_divided_says_so():
    net = paddle.nn.Linear(2, 2)
    with pytest.raises(UnsupportedError, match="use paddle.jit.to_static"):
        dist.to_static(net)
    with pytest.raises(RuntimeError, match="call init_parallel_env"):
        dist.group_sharded_parallel(net, None, "os_g")
    with pytest.raises(UnsupportedError, match="use paddle.save"):
        dist.save_group_sharded_model(net, "here")


def test_a_communicator_has_no_servers(capsys):
    talks = communicator.Communicator(paddle.static.Program())
    talks.start()
    talks.stop()
    assert talks.is_running() is None
    said = "you must call init_with_ctx first to init comm before"
    assert capsys.readouterr().out == f"{said} start\n{said} stop\n{said} stop\n"


def test_functions_are_called_in_this_process(monkeypatch):
    with pytest.raises(RuntimeError, match="call init_rpc"):
        rpc.get_all_worker_infos()
    monkeypatch.setenv("PADDLE_WORKER_ENDPOINT", "127.0.0.1:9002")
    rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8005")
    assert str(rpc.get_all_worker_infos()) == (
        "[{name: worker0, rank: 0, ip: 127.0.0.1, port: 9002}]"
    )
    assert rpc.get_worker_info("worker0") == rpc.get_current_worker_info()
    assert rpc.rpc_sync("worker0", pow, args=(2, 3)) == 8
    assert rpc.rpc_async("worker0", dict, kwargs={"a": 1}).wait() == {"a": 1}
    with pytest.raises(ZeroDivisionError):
        rpc.rpc_sync("worker0", divmod, (1, 0))
    with pytest.raises(ValueError, match="expected the name of a process, 'worker0'"):
        rpc.rpc_sync("worker1", pow, (2, 3))
    rpc.shutdown()
    with pytest.raises(UnsupportedError, match="in one process, got number 1 of 2"):
        rpc.init_rpc("worker1", rank=1, world_size=2)


def test_persistable_variables_are_written_and_read(tmp_path):
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2])
        paddle.static.nn.fc(x, 1)
        executor = paddle.static.Executor()
        executor.run(startup)
        dist.io.save_persistables(executor, str(tmp_path), main, "all")
        dist.io.load_persistables(executor, str(tmp_path), main, "all")
        assert not dist.io.is_persistable(x)
        assert dist.io.is_persistable(main.all_parameters()[0])
