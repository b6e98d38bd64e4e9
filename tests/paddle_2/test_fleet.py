"""paddle.distributed.fleet in a process that was started alone."""

import os

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import FluidWarning, UnsupportedError
from fluidlite.paddle.distributed import fleet
from fluidlite.paddle.distributed.fleet import recomputing, utils


def test_a_process_asks_who_it_is_when_it_has_joined():
    with pytest.raises(AttributeError, match=r"call fleet.init\(\) first"):
        fleet.worker_index()
    with pytest.raises(ValueError, match=r"call fleet.init\(\) first"):
        fleet.init_worker()
    assert fleet.init(is_collective=True) is fleet.fleet
    assert (fleet.worker_index(), fleet.worker_num(), fleet.rank(), fleet.world_size()) == (
        0,
        1,
        0,
        1,
    )
    assert fleet.is_first_worker() and fleet.is_worker() and not fleet.is_server()
    assert fleet.worker_endpoints(to_string=True) == "127.0.0.1:6170"
    assert (fleet.server_num(), fleet.server_endpoints(), fleet.node_num()) == (0, [], 1)
    fleet.barrier_worker()
    fleet.stop_worker()
    hybrid = fleet.get_hybrid_communicate_group()
    assert hybrid.get_model_parallel_world_size() == 1 and hybrid.get_stage_id() == 0
    assert hybrid.get_parallel_mode() == 0


def test_join_checks_what_it_is_given():
    with pytest.raises(ValueError, match="expected a role maker"):
        fleet.init(3)
    with pytest.raises(AttributeError, match="expected a DistributedStrategy"):
        fleet.init(is_collective=True, strategy=3)
    with pytest.raises(ValueError, match="expected log_level"):
        fleet.init(is_collective=True, log_level="LOUD")


def test_what_processes_do_together_one_does_alone(capsys):
    fleet.init(is_collective=True)
    assert fleet.util.all_reduce(np.array([1, 2])).tolist() == [1, 2]
    assert fleet.util.all_gather(3) == 3
    assert fleet.all_reduce([1, 2], "max") == [1, 2]
    fleet.util.barrier()
    assert fleet.util.get_file_shard(["a", "b"]) == ["a", "b"]
    fleet.util.print_on_rank("here", 0)
    fleet.util.print_on_rank("there", 1)
    assert capsys.readouterr().out == "here\n"
    with pytest.raises(TypeError, match="expected a list of names"):
        fleet.util.get_file_shard("a")


def test_a_role_can_be_said():
    role = fleet.UserDefinedRoleMaker(
        current_id=0, role=fleet.Role.SERVER, worker_num=2, server_endpoints=["here:1", "here:2"]
    )
    assert role._is_server() and (role._worker_num(), role._server_num()) == (2, 2)
    assert role.to_string() == (
        "role: 2, current_id: 0, worker_endpoints: [], server_endpoints: ['here:1', 'here:2']"
    )
    with pytest.raises(UnsupportedError, match="no process keeps parameters"):
        fleet.init(role)
    with pytest.raises(AssertionError, match="expected worker_num or worker_endpoints"):
        fleet.UserDefinedRoleMaker()._worker_num()


def test_the_environment_says_a_role(monkeypatch):
    said = {
        "TRAINING_ROLE": "PSERVER",
        "PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1:36001,127.0.0.2:36001",
        "POD_IP": "127.0.0.2",
        "PADDLE_PORT": "36001",
    }
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    role = fleet.PaddleCloudRoleMaker(is_collective=False)
    assert role._is_server() and role._server_index() == 1
    monkeypatch.setenv("TRAINING_ROLE", "READER")
    with pytest.raises(ValueError, match="expected TRAINING_ROLE"):
        fleet.PaddleCloudRoleMaker()._is_server()


# -- strategies ------------------------------------------------------------------------------------


def test_a_strategy_is_written_as_a_text_and_read_again(tmp_path):
    strategy = fleet.DistributedStrategy()
    strategy.dgc = True
    strategy.recompute = True
    strategy.recompute_configs = {"checkpoints": ["x", "y"]}
    path = tmp_path / "strategy.prototxt"
    strategy.save_to_prototxt(path)
    assert path.read_text() == (
        'recompute: true\ndgc: true\nrecompute_configs {\n  checkpoints: "x"\n'
        '  checkpoints: "y"\n}\n'
    )
    again = fleet.DistributedStrategy()
    again.load_from_prototxt(path)
    assert again.dgc and again.recompute_configs["checkpoints"] == ["x", "y"]
    path.write_text("zz: 3\n")
    with pytest.raises(ValueError, match="is no strategy"):
        again.load_from_prototxt(path)
    assert again.dgc


def test_settings_are_said_in_parts():
    strategy = fleet.DistributedStrategy()
    assert strategy.amp_configs["init_loss_scaling"] == 32768.0
    assert strategy.gradient_merge_configs == {"k_steps": 1, "avg": True}
    strategy.hybrid_configs = {"dp_degree": 2, "pp_configs": {"enable_timer": True}}
    assert strategy.hybrid_configs["dp_degree"] == 2
    assert strategy.hybrid_configs["pp_configs"]["enable_timer"]
    assert strategy.hybrid_configs["mp_degree"] == 1
    with pytest.raises(AssertionError, match="there is no 'zz', there are checkpoints"):
        strategy.recompute_configs = {"zz": 1}
    with pytest.raises(TypeError, match="enable_offload"):
        strategy.recompute_configs = {"checkpoints": ["x"], "enable_offload": "a"}
    assert strategy.recompute_configs["checkpoints"] == []  # nothing is half said
    strategy.a_sync = False
    assert strategy.a_sync_configs["k_steps"] == 0


def test_switches_take_what_they_are():
    strategy = fleet.DistributedStrategy()
    with pytest.warns(FluidWarning, match="expected bool, got 3; it stays False"):
        strategy.amp = 3
    with pytest.warns(FluidWarning, match="expected int, got 'a'; it stays 1"):
        strategy.nccl_comm_num = "a"
    with pytest.raises(TypeError, match="has no switch 'zz'"):
        strategy.zz = 3
    with pytest.raises(ValueError, match="expected a_sync to be True or False"):
        strategy.a_sync = 3
    with pytest.raises(ValueError, match="more than 0"):
        strategy.last_comm_group_size_MB = 0
    with pytest.raises(UnsupportedError, match="no process keeps parameters"):
        strategy.sparse_table_configs = {}
    execution = paddle.static.ExecutionStrategy()
    execution.num_threads = 7
    strategy.execution_strategy = execution
    assert strategy.execution_strategy.num_threads == 7
    build = strategy.build_strategy
    build.fuse_bn_act_ops = True
    strategy.build_strategy = build
    assert strategy.build_strategy.fuse_bn_act_ops
    assert repr(strategy) == "<DistributedStrategy: build_strategy, execution_strategy>"


# -- training --------------------------------------------------------------------------------------


def test_layers_and_their_optimizers_stay_what_they_are_in_one_process():
    fleet.init(is_collective=True)
    net = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    assert fleet.distributed_model(net) is net
    assert fleet.distributed_optimizer(optimizer) is optimizer
    with pytest.raises(AssertionError, match="expected a layer, got None"):
        fleet.distributed_model(None)


def trained(**switches):
    """The types of the operators that a step appends."""
    paddle.enable_static()
    fleet.init(is_collective=True)
    strategy = fleet.DistributedStrategy()
    for name, value in switches.items():
        setattr(strategy, name, value)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2])
        loss = paddle.mean(paddle.static.nn.fc(x, 1))
        optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy)
        optimizer.minimize(loss)
        executor = paddle.static.Executor()
        executor.run(startup)
        feed = {"x": np.ones((3, 2), "float32")}
        first, second = (executor.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(2))
    return [op.type for op in main.global_block().ops], bool(np.all(first == second))


def test_a_strategy_chooses_how_a_program_is_trained():
    types, same = trained()
    assert types.count("sgd") == 2 and not same
    merged, same = trained(gradient_merge=True, gradient_merge_configs={"k_steps": 2})
    assert "conditional_block" in merged and same  # the first step is made after two runs
    assert trained(localsgd=True)[0] == types  # as there: it does nothing in one process
    with pytest.raises(UnsupportedError, match="pipeline is not supported; use"):
        trained(pipeline=True)
    with pytest.raises(UnsupportedError, match="use paddle.optimizer.Lamb"):
        trained(lamb=True)


def test_servers_of_parameters_are_refused():
    for name in ("run_server", "load_model", "shrink", "init_coordinator"):
        with pytest.raises(UnsupportedError, match="no process keeps parameters"):
            getattr(fleet, name)()
    with pytest.raises(UnsupportedError, match="devices are not measured"):
        fleet.collective_perf("allreduce")


# -- topologies ------------------------------------------------------------------------------------


def test_processes_are_points_of_a_grid():
    grid = fleet.CommunicateTopology(["data", "pipe", "sharding", "sep", "model"], [2, 2, 1, 1, 2])
    assert (grid.world_size(), grid.get_dim("data"), grid.get_dim_size("pipe")) == (8, 2, 2)
    assert grid.get_rank(data=1, pipe=0, sharding=0, sep=0, model=1) == 5
    assert tuple(grid.get_coord(5)) == (1, 0, 0, 0, 1)
    assert grid.get_axis_list("model", 0) == [0, 2, 4, 6]
    assert grid.get_comm_list("data") == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert grid.get_rank_from_stage(0, pipe=1) == 2
    assert grid.get_fused_ranks(["data", "model"]) == [[0, 1, 4, 5], [2, 3, 6, 7]]
    for wrong in (lambda: grid.get_rank(data=1), lambda: grid.get_coord(99)):
        with pytest.raises(AssertionError):
            wrong()
    with pytest.raises(ValueError, match="expected an axis"):
        grid.get_dim("zz")


# -- files -----------------------------------------------------------------------------------------


def test_files_of_this_machine(tmp_path):
    files, at = utils.LocalFS(), lambda *names: os.path.join(tmp_path, *names)
    files.mkdirs(at("a", "b"))
    files.mkdirs(at("a", "b"))
    files.touch(at("f"))
    assert files.is_dir(at("a")) and files.is_file(at("f")) and files.is_exist(at("a", "b"))
    assert files.ls_dir(str(tmp_path)) == (["a"], ["f"]) and files.list_dirs(at("a")) == ["b"]
    assert files.ls_dir(at("none")) == ([], [])
    with pytest.raises(utils.fs.FSFileExistsError):
        files.touch(at("f"), exist_ok=False)
    with pytest.raises(AssertionError, match="expected a folder"):
        files.mkdirs(at("f"))
    files.mv(at("f"), at("g"))
    files.touch(at("h"))
    with pytest.raises(utils.fs.FSFileExistsError, match="overwrite=True"):
        files.mv(at("h"), at("g"))
    with pytest.raises(utils.fs.FSFileNotExistsError):
        files.mv(at("none"), at("g"))
    files.mv(at("h"), at("g"), overwrite=True)
    for name in ("g", "a", "none"):
        files.delete(at(name))
    assert os.listdir(tmp_path) == [] and not files.need_upload_download()
    for call in (files.upload, files.download):
        with pytest.raises(NotImplementedError):
            call("a", "b")


HADOOP = """#!/bin/sh
# stands for hadoop: the paths are those of this machine
shift
while [ "${1#-D}" != "$1" ]; do shift; done
case "$1" in
  -test) test "$2" "$3" ;;
  -cat) cat "$2" ;;
  -mkdir) mkdir -p "$3" ;;
  -put|-get) cp "$2" "$3" ;;
  -touchz) touch "$2" ;;
  -mv) mv "$2" "$3" ;;
  -rm) rm -r "$3" ;;
  -ls) for each in "$2"/*; do
    if [ -d "$each" ]; then kind=d; else kind=-; fi; echo "$kind 1 u g 0 2020-01-01 00:00 $each"
  done ;;
esac
"""


def test_files_of_hadoop_are_those_that_its_command_sees(tmp_path):
    command = tmp_path / "bin" / "hadoop"
    command.parent.mkdir()
    command.write_text(HADOOP)
    command.chmod(0o700)
    client = utils.HDFSClient(str(tmp_path), {"fs.default.name": "hdfs://here:1"})
    there, at = str(tmp_path / "there"), lambda name: str(tmp_path / "there" / name)
    client.mkdirs(there)
    client.touch(at("f"))
    client.mkdirs(at("d"))
    assert client.ls_dir(there) == (["d"], ["f"]) and client.is_file(at("f"))
    (tmp_path / "own").write_text("text")
    client.upload(str(tmp_path / "own"), at("g"))
    assert client.cat(at("g")) == "text" and client.cat(at("none")) == ""
    client.mv(at("g"), at("f"), overwrite=True)
    client.download(at("f"), str(tmp_path / "back"))
    assert (tmp_path / "back").read_text() == "text"
    client.delete(at("f"))
    assert client.list_dirs(there) == ["d"] and client.need_upload_download()
    with pytest.raises(utils.fs.FSFileNotExistsError):
        client.download(at("none"), "here")


def test_without_hadoop_there_are_no_files():
    client = utils.HDFSClient("/nowhere", {})
    assert not client.is_exist("/a") and client.ls_dir("/a") == ([], []) and client.cat("/a") == ""
    with pytest.raises(utils.fs.ExecuteError, match="is Hadoop in /nowhere"):
        client.mkdirs("/a")


# -- parts that are computed again -----------------------------------------------------------------


def test_layers_in_a_row_are_computed_again_in_segments():
    net = paddle.nn.Sequential(*(paddle.nn.Linear(2, 2) for _ in range(3)))
    x = paddle.ones([1, 2])
    x.stop_gradient = False
    plain = net(x)
    (wanted,) = paddle.grad(plain.sum(), x)
    for segments in (1, 2, 3):
        y = recomputing.recompute_sequential({"segments": segments}, net, x)
        np.testing.assert_array_equal(y.numpy(), plain.numpy())
        np.testing.assert_array_equal(paddle.grad(y.sum(), x)[0].numpy(), wanted.numpy())
    with pytest.raises(ValueError, match="expected 1 to 3 segments, got 4"):
        recomputing.recompute_sequential({"segments": 4}, net, x)
    with pytest.raises(AssertionError, match="mp_group"):
        recomputing.recompute_hybrid({"mp_group": None}, net, x)
    y = recomputing.recompute_hybrid({"mp_group": 1}, net, x, preserve_rng_state=True)
    assert y.tolist() == plain.tolist()


def test_layers_of_a_model_in_several_processes_are_whole_in_one():
    parallel = fleet.meta_parallel
    column = parallel.ColumnParallelLinear(4, 6, gather_output=False, has_bias=True)
    row = parallel.RowParallelLinear(6, 4, input_is_parallel=True, has_bias=False)
    table = parallel.VocabParallelEmbedding(5, 4)
    x = table(paddle.to_tensor([[1, 2], [3, 4]]))
    wanted = (x.numpy() @ column.weight.numpy() + column.bias.numpy()) @ row.weight.numpy()
    out = row(column(x))
    np.testing.assert_allclose(out.numpy(), wanted, 1e-5, 1e-6)
    assert row.bias is None
    label = paddle.to_tensor([[[0], [1]], [[2], [-100]]])
    loss = parallel.ParallelCrossEntropy()(out, label)
    logits = wanted - np.log(np.exp(wanted).sum(-1, keepdims=True))
    assert loss.shape == [2, 2, 1] and loss[1, 1].item() == 0.0
    np.testing.assert_allclose(loss[0, 1].item(), -logits[0, 1, 1], 1e-5)


def test_counts_of_all_processes_are_put_together():
    counts = fleet.metrics
    assert counts.sum(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert counts.max(np.array([3])).tolist() == counts.min(paddle.to_tensor([3])).tolist() == [3]
    assert counts.mae(np.array([3.0]), np.array([4.0])) == 0.75
    assert counts.mse(np.array([1.0]), np.array([4.0])) == 0.25
    assert counts.rmse(np.array([1.0]), np.array([4.0])) == 0.5
    rng = np.random.default_rng(3)
    scores, labels = rng.integers(0, 10, 200), rng.integers(0, 2, 200)
    hits, misses = (np.bincount(scores[labels == k], minlength=10) for k in (1, 0))
    pairs = [(s > t) + (s == t) / 2 for s in scores[labels == 1] for t in scores[labels == 0]]
    np.testing.assert_allclose(counts.auc(hits, misses), np.mean(pairs), 1e-12)
    assert counts.auc(hits, np.zeros(10)) == 0.5
    with pytest.raises(ValueError, match="there is no variable 'none'"):
        counts.sum("none")
