import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, UnsupportedError
from fluidlite.ground.process_group import OneProcess, groups
from fluidlite.incubate.fleet import collective, role_maker
from fluidlite.incubate.fleet.collective import DistributedStrategy, fleet

NAMES = [f"host:{6170 + k}" for k in range(3)]


class Member(OneProcess):
    """One of several processes that need not talk."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size


def begun(rank=0, size=1):
    """``fleet`` in one of some processes."""
    return groups.guard(Member(rank, size)), role_maker.UserDefinedCollectiveRoleMaker(
        rank, NAMES[:size]
    )


def loss_of_a_net():
    x = fluid.data("x", [None, 3], "float32")
    return fluid.layers.mean(fluid.layers.fc(fluid.layers.fc(x, 4, act="tanh"), 1))


def test_a_process_alone_is_the_first_of_one():
    fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))
    assert (fleet.worker_index(), fleet.worker_num()) == (0, 1)
    assert fleet.is_first_worker() and fleet.is_worker() and not fleet.is_server()
    assert fleet.worker_endpoints() == ["127.0.0.1:6170"]
    assert fleet.server_num() == 0 and fleet.server_endpoints() == []
    fleet.init()
    fleet.barrier_worker()


def test_the_environment_of_mpi_says_who_a_process_is(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "3")
    monkeypatch.setenv("PMI_RANK", "2")
    role = role_maker.PaddleCloudRoleMaker(is_collective=True)
    role.generate_role()
    assert (role.worker_index(), role.worker_num()) == (2, 3)
    assert role.to_string().startswith("worker 2 of 3: 127.0.0.1:6170,")


def test_the_environment_of_paddles_launcher_says_who_a_process_is(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", ",".join(NAMES))
    role = role_maker.PaddleCloudRoleMaker(is_collective=True)
    assert (role.worker_index(), role.get_trainer_endpoints()) == (1, NAMES)
    with pytest.raises(UnsupportedError, match=r"expected 3 processes .* mpiexec -n 3"):
        fleet.init(role)


def test_what_was_never_asked_is_an_error_that_says_what_to_call():
    with pytest.raises(ArgumentError, match=r"expected fleet.init\(role_maker\) first"):
        fleet.worker_index()
    with pytest.raises(ArgumentError, match="fleet.init"):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.1)).minimize(loss_of_a_net())


@pytest.mark.parametrize("number, want", [(0, "ab"), (1, "cd"), (2, "e")])
def test_files_are_divided_in_their_order(number, want):
    group, role = begun(number, 3)
    with group:
        fleet.init(role)
        assert fleet.split_files(list("abcde")) == list(want)
        with pytest.raises(ArgumentError, match="expected a list"):
            fleet.split_files("abc")


def test_another_number_than_the_rank_is_refused():
    _, role = begun(1, 3)
    with groups.guard(Member(2, 3)), pytest.raises(ArgumentError, match="its rank, 2 of 3, got 1"):
        fleet.init(role)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: fleet.init("x"), "expected a role maker"),
        (lambda: role_maker.UserDefinedCollectiveRoleMaker(), "worker_endpoints"),
        (lambda: role_maker.UserDefinedCollectiveRoleMaker(5, NAMES), "one of 3 processes"),
        (lambda: fleet.distributed_optimizer(3), "expected an optimizer"),
        (lambda: fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), 3), "DistributedStrategy"),
        (lambda: fleet.save_persistables(None, "x"), "expected a Program"),
    ],
)
def test_wrong_arguments_are_refused(make, said):
    with pytest.raises(ArgumentError, match=said):
        make()


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("mode", "pserver", "every process has all parameters"),
        ("use_local_sgd", True, "use 'grad_allreduce'"),
        ("collective_mode", "local_sgd", "use 'grad_allreduce'"),
        ("use_dist_fc", True, "every process has all parameters"),
        ("gradient_scale_strategy", fluid.BuildStrategy.GradientScaleStrategy.One, "multiply"),
    ],
)
def test_a_strategy_that_is_not_there_is_refused_and_says_what_to_write(name, value, said):
    strategy = DistributedStrategy()
    setattr(strategy, name, value)
    with pytest.raises(UnsupportedError, match=said):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy)


@pytest.mark.parametrize(
    "use",
    [
        fleet.run_server,
        lambda: role_maker.PaddleCloudRoleMaker().generate_role(),
        lambda: role_maker.PaddleCloudRoleMaker(is_collective=True).server_index(),
    ],
)
def test_servers_of_parameters_are_refused_and_the_error_says_what_to_write(use):
    with pytest.raises(UnsupportedError, match="fluid.incubate.fleet.collective"):
        use()


def test_programs_are_those_of_fluid():
    fleet.init()
    loss = loss_of_a_net()
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    count = len(main.global_block().ops)
    made = fleet.distributed_optimizer(fluid.optimizer.SGD(0.1)).minimize(loss)
    assert [len(each) for each in made] == [4, 4]
    assert isinstance(fleet.main_program, fluid.CompiledProgram)
    assert fleet.main_program.program is main is fleet._transpiled_program
    assert fleet.startup_program is startup
    assert len(fleet._origin_program.global_block().ops) == count


def test_in_the_collective_mode_the_program_itself_is_run():
    fleet.init()
    strategy = DistributedStrategy()
    strategy.mode, strategy.collective_mode = "collective", "grad_allreduce"
    loss = loss_of_a_net()
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
    assert fleet.main_program is fluid.default_main_program()
    types = [op.type for op in fleet.main_program.global_block().ops]
    assert types.index("c_scale_loss_grad") < types.index("c_allreduce_start")


def test_mixed_precision_and_recomputing_are_asked_for_by_the_strategy():
    fleet.init()
    strategy = DistributedStrategy()
    loss = loss_of_a_net()
    strategy.use_amp = strategy.forward_recompute = True
    strategy.recompute_checkpoints = [loss.block.var("fc_0.tmp_2")]
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
    types = {op.type for op in fluid.default_main_program().global_block().ops}
    assert {"cast", "c_allreduce_start"} <= types
    products = [op for op in fluid.default_main_program().global_block().ops if op.type == "mul"]
    assert len(products) > 2  # those of backward are computed again


def test_only_the_first_process_writes(tmp_path):
    fleet.init()
    loss = loss_of_a_net()
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.1)).minimize(loss)
    exe = fluid.Executor()
    exe.run(fleet.startup_program)
    targets = [fluid.default_main_program().global_block().var("fc_1.tmp_1")]
    names = fleet.save_inference_model(exe, tmp_path / "model", ["x"], targets)
    fleet.save_persistables(exe, tmp_path / "kept")
    assert (tmp_path / "kept" / "fc_0.w_0").is_file()
    program, feeds, _ = fluid.io.load_inference_model(tmp_path / "model", exe)
    assert feeds == ["x"] and len(names) == 1 and program is not None
    group, role = begun(1, 3)
    with group:
        state = collective._job.get().main
        fleet.init(role)
        fleet.save_persistables(exe, tmp_path / "other", state)
        model = tmp_path / "other"
        assert fleet.save_inference_model(exe, model, ["x"], targets, state) == ["fc_1.tmp_1"]
    assert not model.exists()


def test_numbers_of_all_processes_are_reduced_and_gathered():
    fleet.init()
    output = np.zeros(2)
    fleet.all_reduce_worker([1.0, 2.0], output)
    assert output.tolist() == [1.0, 2.0]
    role = role_maker.PaddleCloudRoleMaker(is_collective=True)
    assert role.all_gather(3) == [3]
    with pytest.raises(ArgumentError, match="sum, max or min"):
        role.all_reduce_worker(output, output, "mean")
