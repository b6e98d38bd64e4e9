"""What programs ask of processes and devices."""

from fluidlite import flow


def test_one_process_is_the_only_one():
    assert (flow.env.get_rank(), flow.env.get_world_size()) == (0, 1)
    assert (flow.env.get_local_rank(), flow.env.get_node_size()) == (0, 1)
    assert not flow.env.rdma_is_initialized()


def test_processes_of_two_machines_know_their_numbers(monkeypatch):
    for name, value in (("WORLD_SIZE", "4"), ("WORLD_RANK", "3"), ("WORLD_LOCAL_SIZE", "2")):
        monkeypatch.setenv(f"OMPI_COMM_{name}", value)
    assert (flow.env.get_rank(), flow.env.get_world_size()) == (3, 4)
    assert (flow.env.get_local_rank(), flow.env.get_node_size()) == (1, 2)


def test_there_are_no_graphics_processors():
    assert not flow.cuda.is_available()
    assert flow.cuda.device_count() == 0
    flow.cuda.manual_seed_all(3)
    flow.cuda.manual_seed(3)
    flow.cuda.synchronize()
    flow.cuda.empty_cache()
