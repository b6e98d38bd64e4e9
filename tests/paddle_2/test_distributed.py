"""paddle.distributed in a process that was started alone, as paddle 2.6.2 answers on a CPU."""

import socket
import subprocess
import sys

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import FluidWarning, UnsupportedError
from fluidlite.paddle import distributed as dist
from fluidlite.paddle.distributed import datasets


def test_a_process_alone_is_the_first_of_one():
    assert dist.get_rank() == 0 and dist.get_world_size() == 1
    assert dist.init_parallel_env() is None
    assert dist.is_available() and not dist.is_initialized() and dist.get_group() is None
    env = dist.ParallelEnv()
    assert (env.rank, env.local_rank, env.nranks, env.nrings) == (0, 0, 1, 1)
    assert (env.current_endpoint, env.trainer_endpoints) == ("", [""])
    assert env.pg_timeout == 1800000


ALONE = {
    "all_reduce": lambda x, g: dist.all_reduce(x, group=g),
    "reduce": lambda x, g: dist.reduce(x, 0, group=g),
    "broadcast": lambda x, g: dist.broadcast(x, 0, group=g),
    "gather": lambda x, g: dist.gather(x, [], 0, group=g),
    "scatter": lambda x, g: dist.scatter(x, [x], 0, group=g),
    "alltoall": lambda x, g: dist.alltoall([x], [], group=g),
    "alltoall_single": lambda x, g: dist.alltoall_single(x, x, group=g),
    "reduce_scatter": lambda x, g: dist.reduce_scatter(x, [x], group=g),
    "send": lambda x, g: dist.send(x, 0, group=g),
    "recv": lambda x, g: dist.recv(x, 0, group=g),
    "isend": lambda x, g: dist.isend(x, 0, group=g),
    "irecv": lambda x, g: dist.irecv(x, 0, group=g),
    "barrier": lambda x, g: dist.barrier(g),
    "all_gather_object": lambda x, g: dist.all_gather_object([], 3, group=g),
    "broadcast_object_list": lambda x, g: dist.broadcast_object_list([3], 0, group=g),
    "scatter_object_list": lambda x, g: dist.scatter_object_list([], [3], 0, group=g),
    "stream": lambda x, g: dist.stream.all_reduce(x, group=g, use_calc_stream=True),
}


@pytest.mark.parametrize("name", ALONE)
def test_without_others_there_is_nothing_to_compute_together(name):
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="call init_parallel_env"):
        ALONE[name](x, None)
    group = dist.new_group([0])  # to which this process does not belong, as in paddle 2
    assert ALONE[name](x, group) is None and x.tolist() == [1.0, 2.0]


def test_a_group_of_one_process_has_a_number_and_no_members():
    group = dist.new_group([0])
    assert str(group) == "rank: -1, nranks: 1, id: 10, ranks: 0; name: _default_pg10"
    assert dist.get_rank(group) == -1 and dist.get_world_size(group) == -1
    assert dist.get_group(10) is group and not group.is_member()
    with pytest.raises(RuntimeError, match="does not belong to the group"):
        dist.get_backend(group)
    with pytest.raises(RuntimeError, match="does not belong to the group"):
        dist.all_gather([], paddle.ones([1]), group=group)
    with pytest.raises(AssertionError, match="call init_parallel_env"):
        dist.new_group([0, 1])
    dist.destroy_process_group(group)
    assert dist.get_group(10) is None
    with pytest.raises(RuntimeError):
        dist.destroy_process_group()


def test_sums_are_operators_of_programs():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        dist.all_reduce(x, dist.ReduceOp.MAX)
        dist.broadcast(x, 0)
        assert [op.type for op in x.block.ops] == ["c_allreduce_max", "c_broadcast"]
        with pytest.raises(ValueError, match="SUM, MAX, MIN or PROD"):
            dist.all_reduce(x, dist.ReduceOp.AVG)


def test_layers_for_several_processes_train_in_one():
    net = paddle.DataParallel(paddle.nn.Linear(2, 1))
    with net.no_sync():
        loss = net.scale_loss(net(paddle.ones([3, 2])).sum())
        loss.backward()
    net.apply_collective_grads()
    assert net.parameters()[1].grad.tolist() == [3.0]
    assert sorted(net.state_dict()) == ["bias", "weight"]


def test_entries_say_which_rows_are_kept():
    assert dist.CountFilterEntry(10)._to_attr() == "count_filter_entry:10"
    assert dist.ProbabilityEntry(0.1)._to_attr() == "probability_entry:0.1"
    assert dist.ShowClickEntry("a", "b")._to_attr() == "show_click_entry:a:b"
    for make in (
        lambda: dist.CountFilterEntry(-1),
        lambda: dist.CountFilterEntry(1.5),
        lambda: dist.ProbabilityEntry(1.0),
        lambda: dist.ProbabilityEntry(1),
        lambda: dist.ShowClickEntry(1, "b"),
    ):
        with pytest.raises(ValueError, match="expected"):
            make()


def test_layers_are_not_cut_among_processes():
    with pytest.raises(ValueError, match="enable_static"):
        dist.split(paddle.ones([2, 4]), (4, 4), "linear")
    paddle.enable_static()
    x = paddle.static.data("x", [2, 4])
    with pytest.raises(AssertionError, match="linear or embedding"):
        dist.split(x, (4, 4), "convolution")
    with pytest.raises(UnsupportedError, match="use paddle.nn.Linear"):
        dist.split(x, (4, 4), "linear")


# -- processes that meet at an address -------------------------------------------------------------

MEETING = """
import sys
from fluidlite.paddle.distributed import gloo
rank, address = int(sys.argv[1]), sys.argv[2]
gloo.gloo_init_parallel_env(rank, 2, address)
gloo.gloo_barrier()
gloo.gloo_barrier()
gloo.gloo_release()
print("met")
"""


def test_processes_meet_at_an_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = [sys.executable, "-c", MEETING]
    started = [
        subprocess.Popen([*words, str(rank), address], stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    assert [each.communicate(timeout=60)[0] for each in started] == ["met\n"] * 2


def test_a_meeting_needs_two():
    with pytest.raises(AssertionError, match="expected rank_num to be 2 or more"):
        dist.gloo_init_parallel_env(0, 1, "127.0.0.1:6170")
    with pytest.raises(AssertionError, match="expected server_endpoint as HOST:PORT"):
        dist.gloo_init_parallel_env(0, 2, "here")
    with pytest.raises(AssertionError, match="call gloo_init_parallel_env"):
        dist.gloo_barrier()
    dist.gloo_release()


# -- files of slots --------------------------------------------------------------------------------


@pytest.fixture
def slots(tmp_path):
    """Variables, and a file with two lines for them."""
    paddle.enable_static()
    variables = [paddle.static.data(f"s{k}", [None, 1], "int64", lod_level=1) for k in range(2)]
    path = tmp_path / "lines.txt"
    path.write_text("2 1 2 1 5\n1 3 2 7 8\n")
    return variables, str(path)


def test_a_dataset_in_memory_is_told_by_words(slots):
    variables, path = slots
    dataset = dist.InMemoryDataset()
    dataset.init(batch_size=1, thread_num=2, use_var=variables, pipe_command="cat", input_type=1)
    dataset.update_settings(batch_size=2)
    dataset._init_distributed_settings(fea_eval=True, candidate_size=100)
    dataset.set_date("20211111")
    dataset.set_filelist([path])
    dataset.load_into_memory(is_shuffle=True)
    dataset.slots_shuffle(["s0"])
    dataset.global_shuffle()
    assert dataset.get_memory_data_size() == 2
    (batch,) = dataset.feeds()
    assert sorted(np.ravel(batch["s1"])) == [5, 7, 8]
    dataset.release_memory()
    with pytest.raises(ValueError, match="there is no setting 'batches'"):
        dataset.update_settings(batches=3)
    with pytest.raises(UnsupportedError, match="tdm_sampler"):
        dataset.tdm_sample("tree", "path", [1], 0, True, 0, 0)


def test_files_that_are_not_there_are_left_out_with_a_warning(slots):
    variables, path = slots
    for dataset in (dist.QueueDataset(), datasets.FileInstantDataset(), dist.InMemoryDataset()):
        dataset.init(batch_size=2, use_var=variables)
        dataset.set_filelist(["absent.txt", path])
        in_memory = isinstance(dataset, dist.InMemoryDataset)
        read = dataset.load_into_memory if in_memory else dataset.feeds
        with pytest.warns(FluidWarning, match=r"there is no file absent.txt; left out"):
            read()
        assert len(list(dataset.feeds())) == 1


def test_passes_of_servers_that_are_not_there_are_without_effect():
    dataset = datasets.BoxPSDataset()
    dataset._set_merge_by_lineid()
    dataset.slots_shuffle(["0"])
    dataset.begin_pass()
    dataset.end_pass(True)


# -- processes that are started --------------------------------------------------------------------


def test_spawn_refuses_what_it_cannot_start():
    with pytest.raises(ValueError, match="expected a function, got 3"):
        dist.spawn(3)
    with pytest.raises(ValueError, match="expected nprocs to be 1 or more"):
        dist.spawn(print, nprocs=0)
    with pytest.raises(ValueError, match="there is no option 'gpu'"):
        dist.spawn(print, gpu=3)


def test_spawn_calls_a_function_in_another_process(tmp_path):
    path = tmp_path / "called"
    context = dist.spawn(path.write_text, args=("here",), nprocs=1)
    assert path.read_text() == "here" and context.join()
    with pytest.raises(UnsupportedError, match="ended with status 1"):
        dist.spawn((tmp_path / "no" / "where").touch, nprocs=1)
