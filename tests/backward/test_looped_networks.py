"""Random networks with loops: their gradients are those of the same networks without."""

import looped_networks
import pytest


@pytest.mark.parametrize("seed", range(3))
def test_the_second_order_of_a_random_network_is_that_without_loops(seed):
    looped_networks.check(seed)


def test_so_is_the_third():
    looped_networks.check(11, order=3)
