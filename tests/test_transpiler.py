import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, UnsupportedError


def config(mode, **settings):
    made = fluid.DistributeTranspilerConfig()
    made.mode = mode
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def minimized():
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    fluid.optimizer.SGD(0.1).minimize(loss)


@pytest.mark.parametrize("mode", ["nccl2", "collective"])
@pytest.mark.parametrize("trainers", [1, "127.0.0.1:6170", ["127.0.0.1:6170"]])
def test_gradients_are_summed_and_first_values_are_shared(mode, trainers):
    minimized()
    made = fluid.DistributeTranspiler(config(mode))
    made.transpile(trainer_id=0, trainers=trainers)
    program = made.get_trainer_program()
    assert program is fluid.default_main_program()
    types = [op.type for op in program.global_block().ops]
    assert types.index("c_scale_loss_grad") < types.index("c_allreduce_start")
    startup = fluid.default_startup_program().global_block().ops
    assert {op.type for op in startup[-3:]} == {"c_broadcast"}


def test_servers_of_parameters_are_refused_and_the_error_says_what_to_write():
    minimized()
    made = fluid.DistributeTranspiler()
    with pytest.raises(UnsupportedError, match=r"config.mode = 'nccl2'"):
        made.transpile(trainer_id=0, pservers="127.0.0.1:6174", trainers=1)
    for use in (made.get_pserver_program, made.get_pserver_programs, made.get_startup_program):
        with pytest.raises(UnsupportedError, match="every process has all parameters"):
            use("127.0.0.1:6174")
    types = {op.type for op in fluid.default_main_program().global_block().ops}
    assert "c_allreduce_start" not in types


def test_as_many_processes_as_are_said_must_have_been_started():
    minimized()
    made = fluid.DistributeTranspiler(config("nccl2"))
    with pytest.raises(UnsupportedError, match=r"expected 2 processes .*, got 1; .*mpiexec -n 2"):
        made.transpile(trainer_id=0, trainers="a:1,b:2")


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"mode": "other"}, "to be 'nccl2' or 'collective', got 'other'"),
        ({"mode": "collective", "collective_mode": "other"}, "'grad_allreduce', got 'other'"),
    ],
)
def test_modes_that_nobody_has_are_refused(settings, said):
    minimized()
    with pytest.raises(ArgumentError, match=said):
        fluid.DistributeTranspiler(config(**settings)).transpile(0)


def test_wrong_uses_are_refused():
    with pytest.raises(ArgumentError, match="DistributeTranspilerConfig"):
        fluid.DistributeTranspiler(3)
    with pytest.raises(ArgumentError, match="before get_trainer_program"):
        fluid.DistributeTranspiler(config("nccl2")).get_trainer_program()
    with pytest.raises(ArgumentError, match="call minimize"):
        fluid.DistributeTranspiler(config("nccl2")).transpile(0)
