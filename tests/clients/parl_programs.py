"""Trains each algorithm of parl 1.3.2 for 50 steps and prints the losses as JSON.

Runs under the alias and, to compare, on paddlepaddle 1.8.5 with Python 3.7; parl is unmodified.
Start values and data are the same, and what is drawn at random is made constant.

    python parl_programs.py [ALGORITHM ...]
"""

import importlib.util
import json
import sys
import types

import numpy as np

STEPS, BATCH, OBS, ACTIONS = 50, 8, 4, 3


class Anything(types.ModuleType):
    """A module, class or function that stands for one that is not there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **keywords):
        return args[0] if self.__name__ == "colored" else Anything("result")


def stub(*names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = Anything(name)


# pyarrow is there, but no more the functions of it that parl calls when it is imported.
sys.modules["pyarrow"] = Anything("pyarrow")
stub("termcolor", "cloudpickle", "zmq", "psutil", "flask", "flask_cors", "tensorboardX", "visualdl")
stub("requests", "click", "scipy", "scipy.signal")

if importlib.util.find_spec("fluidlite"):
    import fluidlite.compat

    fluidlite.compat.install(dropped_names=True)

import paddle.fluid as fluid  # noqa: E402


class Steady(fluid.layers.Normal):
    """A normal distribution that always draws the same."""

    def sample(self, shape, seed=0):
        return [self.loc + self.scale * 0.3]


def steady_like(input, shape, *args, **keywords):
    return fluid.layers.fill_constant_batch_size_like(input, shape, "float32", 0.4)


def steady_uniform(shape, dtype="float32", min=-1.0, max=1.0, seed=0):
    if isinstance(shape, fluid.framework.Variable):  # sizes that are known when it runs
        return fluid.layers.fill_constant(shape, dtype, 0.3)
    return fluid.layers.fill_constant(shape, dtype, 0.3)


fluid.layers.Normal = Steady
fluid.layers.gaussian_random_batch_size_like = steady_like
fluid.layers.uniform_random = steady_uniform

import parl  # noqa: E402
from parl import layers  # noqa: E402


class Policy(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="tanh")
        self.fc2 = layers.fc(size=ACTIONS, act="softmax")

    def forward(self, obs):
        return self.fc2(self.fc1(obs))


class Values(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="relu")
        self.fc2 = layers.fc(size=ACTIONS)

    def value(self, obs):
        return self.fc2(self.fc1(obs))


class Actor(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="relu")
        self.fc2 = layers.fc(size=ACTIONS, act="tanh")

    def policy(self, obs):
        return self.fc2(self.fc1(obs))


class Gaussian(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="relu")
        self.fc2 = layers.fc(size=ACTIONS, act="tanh")
        self.fc3 = layers.fc(size=ACTIONS)

    def policy(self, obs):
        hidden = self.fc1(obs)
        return self.fc2(hidden), layers.clip(self.fc3(hidden), min=-3.0, max=1.0)


class Critic(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="relu")
        self.fc2 = layers.fc(size=1)

    def value(self, obs, act):
        both = layers.concat([obs, act], axis=1)
        return layers.squeeze(self.fc2(self.fc1(both)), axes=[1])


class Critics(parl.Model):
    def __init__(self):
        self.one, self.other = Critic(), Critic()

    def value(self, obs, act):
        return self.one.value(obs, act), self.other.value(obs, act)


class ActorCritic(parl.Model):
    def __init__(self, critic):
        self.actor, self.critic = Actor(), critic

    def policy(self, obs):
        return self.actor.policy(obs)

    def value(self, obs, act):
        return self.critic.value(obs, act)

    def Q1(self, obs, act):
        return self.critic.one.value(obs, act)

    def get_actor_params(self):
        return self.actor.parameters()


class PolicyAndValue(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="relu")
        self.fc2 = layers.fc(size=ACTIONS)
        self.fc3 = layers.fc(size=1)

    def policy(self, obs):
        return self.fc2(self.fc1(obs))

    def value(self, obs):
        return layers.squeeze(self.fc3(self.fc1(obs)), axes=[1])


class Means(parl.Model):
    def __init__(self):
        self.fc1 = layers.fc(size=16, act="tanh")
        self.fc2 = layers.fc(size=ACTIONS, act="tanh")
        self.logvars = layers.create_parameter(
            shape=[ACTIONS],
            dtype="float32",
            default_initializer=fluid.initializer.ConstantInitializer(-1.0),
        )

    def policy(self, obs):
        return self.fc2(self.fc1(obs)), self.logvars()


class PPOModel(parl.Model):
    def __init__(self):
        self.policy_model, self.fc1, self.fc2 = Means(), layers.fc(16, act="tanh"), layers.fc(1)

    def policy(self, obs):
        return self.policy_model.policy(obs)

    def value(self, obs):
        return layers.squeeze(self.fc2(self.fc1(obs)), axes=[])


class Agents(parl.Model):
    def __init__(self):
        self.pi1, self.pi2 = layers.fc(16, act="relu"), layers.fc(ACTIONS)
        self.q1, self.q2 = layers.fc(16, act="relu"), layers.fc(1)

    def policy(self, obs):
        return self.pi2(self.pi1(obs))

    def value(self, obs_n, act_n):
        both = layers.concat(obs_n + act_n, axis=1)
        return layers.squeeze(self.q2(self.q1(both)), axes=[1])

    def get_actor_params(self):
        return self.parameters()[:4]

    def get_critic_params(self):
        return self.parameters()[4:]


class Space:
    n = ACTIONS


class Agent(parl.Agent):
    """Builds one program and feeds it."""

    def __init__(self, algorithm, build):
        self.build = build
        super().__init__(algorithm)

    def build_program(self):
        self.learn_program = fluid.Program()
        with fluid.program_guard(self.learn_program):
            self.costs = self.build(self.alg)

    def learn(self, feed):
        return self.fluid_executor.run(self.learn_program, feed=feed, fetch_list=list(self.costs))


def data(name, shape, dtype="float32", whole=False):
    return layers.data(name, shape=shape, dtype=dtype, append_batch_size=not whole)


def transition(value=()):
    return (
        data("obs", [OBS]),
        data("reward", []),
        data("next_obs", [OBS]),
        data("terminal", [], "bool"),
    )


def policy_gradient():
    def build(alg):
        return (alg.learn(data("obs", [OBS]), data("act", [1], "int64"), data("reward", [])),)

    return parl.algorithms.PolicyGradient(Policy(), lr=1e-2), build


def q_learning(kind):
    def make():
        def build(alg):
            obs, reward, next_obs, terminal = transition()
            return (alg.learn(obs, data("act", [1], "int32"), reward, next_obs, terminal),)

        kinds = parl.algorithms
        return getattr(kinds, kind)(Values(), act_dim=ACTIONS, gamma=0.9, lr=1e-2), build

    return make


def ddpg():
    def build(alg):
        obs, reward, next_obs, terminal = transition()
        return alg.learn(obs, data("action", [ACTIONS]), reward, next_obs, terminal)

    rates = dict(gamma=0.9, tau=0.05, actor_lr=1e-3, critic_lr=1e-2)
    return parl.algorithms.DDPG(ActorCritic(Critic()), **rates), build


def td3():
    def build(alg):
        obs, reward, next_obs, terminal = transition()
        critic = alg.critic_learn(obs, data("action", [ACTIONS]), reward, next_obs, terminal)
        return alg.actor_learn(obs), critic

    rates = dict(gamma=0.9, tau=0.05, actor_lr=1e-3, critic_lr=1e-2)
    return parl.algorithms.TD3(ActorCritic(Critics()), max_action=1.0, **rates), build


def sac():
    def build(alg):
        obs, reward, next_obs, terminal = transition()
        return alg.learn(obs, data("action", [ACTIONS]), reward, next_obs, terminal)

    rates = dict(gamma=0.9, tau=0.05, actor_lr=1e-3, critic_lr=1e-2)
    return parl.algorithms.SAC(Gaussian(), Critics(), max_action=1.0, **rates), build


def ppo():
    def build(alg):
        obs = data("obs", [OBS])
        policy = alg.policy_learn(obs, data("action", [ACTIONS]), data("advantage", []))
        return policy + (alg.value_learn(obs, data("reward", [])),)

    rates = dict(policy_lr=1e-3, value_lr=1e-2)
    return parl.algorithms.PPO(PPOModel(), act_dim=ACTIONS, **rates), build


def a3c():
    def build(alg):
        return alg.learn(
            data("obs", [OBS]),
            data("acts", [], "int64"),
            data("advantage", []),
            data("reward", []),
            data("lr", [1], whole=True),
            data("entropy", [1], whole=True),
        )

    return parl.algorithms.A3C(PolicyAndValue(), vf_loss_coeff=0.5), build


def impala():
    def build(alg):
        found = alg.learn(
            data("obs", [OBS]),
            data("acts", [], "int64"),
            data("logits", [ACTIONS]),
            data("reward", []),
            data("done", []),
            data("lr", [1], whole=True),
            data("entropy", [1], whole=True),
        )
        vtrace, kl = found
        return vtrace.total_loss, vtrace.pi_loss, vtrace.vf_loss, vtrace.entropy, kl

    settings = dict(
        sample_batch_steps=4,
        gamma=0.9,
        vf_loss_coeff=0.5,
        clip_rho_threshold=1.0,
        clip_pg_rho_threshold=1.0,
    )
    return parl.algorithms.IMPALA(PolicyAndValue(), **settings), build


def maddpg():
    def build(alg):
        obs_n = [data("obs", [OBS]), data("next_obs", [OBS])]
        act_n = [data("action", [ACTIONS]), data("logits", [ACTIONS])]
        alg.predict_next(obs_n[0])
        alg.Q_next(obs_n, act_n)
        return (alg.learn(obs_n, act_n, data("reward", [])),)

    made = parl.algorithms.MADDPG(
        Agents(), agent_index=0, act_space=[Space(), Space()], gamma=0.9, tau=0.05, lr=1e-2
    )
    return made, build


ALGORITHMS = {
    "PolicyGradient": policy_gradient,
    "DQN": q_learning("DQN"),
    "DDQN": q_learning("DDQN"),
    "DDPG": ddpg,
    "TD3": td3,
    "SAC": sac,
    "PPO": ppo,
    "A3C": a3c,
    "IMPALA": impala,
    "MADDPG": maddpg,
}


def feeds():
    random = np.random.RandomState(7)

    def normal(*shape):
        return random.randn(*shape).astype("float32")

    for _ in range(STEPS):
        act = random.randint(0, ACTIONS, [BATCH, 1])
        yield {
            "obs": normal(BATCH, OBS),
            "next_obs": normal(BATCH, OBS),
            "act": act,
            "acts": act[:, 0].astype("int64"),
            "action": np.tanh(normal(BATCH, ACTIONS)),
            "logits": normal(BATCH, ACTIONS),
            "reward": normal(BATCH),
            "advantage": normal(BATCH),
            "terminal": random.rand(BATCH) < 0.2,
            "done": (random.rand(BATCH) < 0.2).astype("float32"),
            "lr": np.array([1e-2], "float32"),
            "entropy": np.array([-0.01], "float32"),
        }


def start_values(program):
    """The same for both systems: by the order of parameters in the program."""
    random = np.random.RandomState(3)
    scope = fluid.global_scope()
    for parameter in program.global_block().all_parameters():
        shape = [int(size) for size in parameter.shape]
        value = (random.randn(*shape) / np.sqrt(shape[0])).astype("float32")
        scope.find_var(parameter.name).get_tensor().set(value, fluid.CPUPlace())


def losses(name):
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        with fluid.unique_name.guard():
            algorithm, build = ALGORITHMS[name]()
            agent = Agent(algorithm, build)
            program = agent.learn_program
            start_values(program)
            block = program.global_block()
            found = []
            for number, batch in enumerate(feeds()):
                feed = {key: value for key, value in batch.items() if block.has_var(key)}
                for key in ("act",):
                    if key in feed:
                        kind = "int32" if name in ("DQN", "DDQN") else "int64"
                        feed[key] = feed[key].astype(kind)
                costs = agent.learn(feed)
                found.append([float(np.ravel(cost)[0]) for cost in costs])
                if hasattr(algorithm, "sync_target") and number % 10 == 9:
                    algorithm.sync_target()
                if name == "PPO" and number % 10 == 9:
                    algorithm.sync_old_policy()
            return found


if __name__ == "__main__":
    results = {}
    for each in sys.argv[1:] or ALGORITHMS:
        try:
            results[each] = losses(each)
        except Exception as error:
            if "--raise" in sys.argv:
                raise
            results[each] = repr(error)
    print("LOSSES " + json.dumps(results))
