"""Attributes of objects of fluid 1.8's classes: each is there, or left out with a reason."""

import gzip
import json
from pathlib import Path

from fluid_instances import made

import fluidlite as fluid
from fluidlite.ground.protected import ProtectedNameError

DATA = Path(__file__).parents[1] / "data" / "instance_attributes.json.gz"
#: object -> attribute -> what it had in fluid 1.8.5, in a list where it is plain
ATTRIBUTES = json.loads(gzip.decompress(DATA.read_bytes()))
#: plain attributes with another value here, by their names
OTHERWISE = {
    "_Program__op_role_var": "_op_role_var has it",
    "_appending_grad_times": "nothing is warned of by it",
    "_dtype": "an optimizer of tensors has one before its first step, too",
    "_full_name": "one name is enough",
    "_places": "how many there are",
    "_seed": "0 before a step, too",
    "_use_lamb": "a hint to fluid's passes",
    "helper": "as _dtype",
    "collate_fn": "the function that is used",
    "use_shared_memory": "the argument's default",
}


def test_objects_have_the_attributes_of_fluid(recwarn):
    seen, unlike, otherwise = 0, [], set()
    for what, each in made(fluid):
        seen += what in ATTRIBUTES
        for name, said in ATTRIBUTES.get(what, {}).items():
            try:
                value = getattr(each, name)
            except ProtectedNameError:
                continue
            except AttributeError:
                value = AttributeError
            if (said or value is AttributeError) and value not in said:
                otherwise.add(name)
                unlike += [(what, name, value, said)] if name not in OTHERWISE else []
    assert not unlike
    assert seen == len(ATTRIBUTES)
    assert otherwise == set(OTHERWISE)


def test_states_of_an_optimizer_are_there_before_the_first_step():
    adam = fluid.optimizer.Adam(0.1)
    assert adam._accumulators["moment1"] == {} and adam._opti_name_list == []
    assert adam._learning_rate_map == {} and adam.helper is None
    x = fluid.data("x", [2, 3], "float32")
    adam.minimize(fluid.layers.mean(fluid.layers.fc(x, 1)))
    assert list(adam._accumulators["moment1"]) == ["fc_0.b_0", "fc_0.w_0"]
    assert adam._opti_name_list[:2] == ["fc_0.b_0_moment1_0", "fc_0.b_0_moment2_0"]
    (rate,) = adam._learning_rate_map.values()
    assert rate is adam._global_learning_rate()


def test_a_learning_rate_that_a_program_puts_into_the_map_is_the_one_of_its_steps():
    sgd = fluid.optimizer.SGD(0.1)
    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 3], "float32"), 1))
    rate = fluid.layers.create_global_var([1], 0.5, "float32", persistable=True, name="mine")
    sgd._learning_rate_map[fluid.default_main_program()] = rate
    sgd.minimize(loss)
    steps = [op for op in loss.block.ops if op.type == "sgd"]
    assert [op.input("LearningRate") for op in steps] == [["mine"], ["mine"]]


def test_a_subclass_may_set_what_an_object_answers():
    class Mine(fluid.optimizer.SGD):
        def __init__(self):
            super().__init__(0.1)
            self.helper, self._dtype = "mine", "float16"

    assert (Mine().helper, Mine()._dtype) == ("mine", "float16")
