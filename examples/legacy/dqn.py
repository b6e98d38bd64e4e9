"""Q-learning with a replay buffer and a target network, in a small world of its own, as of 2018.

The world: a cart on a line is pushed to the left or to the right, and shall stay near the middle.
"""

from __future__ import print_function

import argparse
import random
from collections import deque

import numpy as np
import paddle.fluid as fluid
from paddle.fluid.param_attr import ParamAttr

UPDATE_TARGET_STEPS = 20
MEMORY_WARMUP_SIZE = 64
BATCH_SIZE = 32
GAMMA = 0.9


def parse_args():
    parser = argparse.ArgumentParser("dqn")
    parser.add_argument('--enable_ce', action='store_true', help="a few episodes only.")
    parser.add_argument('--use_cuda', action='store_true', help="if set, use cuda.")
    parser.add_argument('--num_episodes', type=int, default=60, help="number of episodes.")
    return parser.parse_args()


class LineEnv(object):
    """Place, speed and the wind that blows now."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.state_dim = 3
        self.action_dim = 2

    def reset(self):
        self.place, self.speed, self.steps = self.rng.uniform(-0.5, 0.5), 0.0, 0
        self.wind = self.rng.uniform(-0.05, 0.05)
        return self._state()

    def step(self, action):
        self.speed = 0.9 * self.speed + (0.1 if action else -0.1) + self.wind
        self.place += 0.3 * self.speed
        self.steps += 1
        isOver = abs(self.place) > 1 or self.steps >= 40
        return self._state(), 1.0 - abs(self.place), isOver

    def _state(self):
        return np.array([self.place, self.speed, self.wind], dtype='float32')


class ReplayMemory(object):
    def __init__(self, max_size):
        self._memory = deque(maxlen=max_size)

    def append(self, exp):
        self._memory.append(exp)

    def sample(self, batch_size):
        batch = random.sample(list(self._memory), batch_size)
        return [np.array(each) for each in zip(*batch)]

    def __len__(self):
        return len(self._memory)


class DQNModel(object):
    def __init__(self, state_dim, action_dim, gamma, use_cuda):
        self.state_dim, self.action_dim, self.gamma = state_dim, action_dim, gamma
        self.exploration, self.global_step = 1.1, 0
        self.place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
        self._build_net()

    def _get_inputs(self):
        return (fluid.layers.data(name='state', shape=[self.state_dim], dtype='float32'),
                fluid.layers.data(name='action', shape=[1], dtype='int32'),
                fluid.layers.data(name='reward', shape=[], dtype='float32'),
                fluid.layers.data(name='next_s', shape=[self.state_dim], dtype='float32'),
                fluid.layers.data(name='isOver', shape=[], dtype='bool'))

    def _build_net(self):
        self.predict_program = fluid.Program()
        self.train_program = fluid.Program()
        self._sync_program = fluid.Program()

        with fluid.program_guard(self.predict_program):
            state, action, reward, next_s, isOver = self._get_inputs()
            self.pred_value = self.get_DQN_prediction(state)

        with fluid.program_guard(self.train_program):
            state, action, reward, next_s, isOver = self._get_inputs()
            pred_value = self.get_DQN_prediction(state)
            reward = fluid.layers.clip(reward, min=-1.0, max=1.0)
            action_onehot = fluid.layers.one_hot(action, self.action_dim)
            action_onehot = fluid.layers.cast(action_onehot, dtype='float32')
            pred_action_value = fluid.layers.reduce_sum(
                fluid.layers.elementwise_mul(action_onehot, pred_value), dim=1)

            targetQ_predict_value = self.get_DQN_prediction(next_s, target=True)
            best_v = fluid.layers.reduce_max(targetQ_predict_value, dim=1)
            best_v.stop_gradient = True
            target = reward + (1.0 - fluid.layers.cast(
                isOver, dtype='float32')) * self.gamma * best_v
            cost = fluid.layers.square_error_cost(pred_action_value, target)
            self.cost = fluid.layers.reduce_mean(cost)
            optimizer = fluid.optimizer.Adam(1e-3, epsilon=1e-3)
            optimizer.minimize(self.cost)

        vars = list(self.train_program.list_vars())
        policy_vars = sorted(
            [v for v in vars if v.persistable and v.name.startswith('policy')
             and 'moment' not in v.name and 'beta' not in v.name], key=lambda v: v.name)
        target_vars = sorted([v for v in vars if v.name.startswith('target') and v.persistable],
                             key=lambda v: v.name)
        assert len(policy_vars) == len(target_vars) == 6
        with fluid.program_guard(self._sync_program):
            block = fluid.default_main_program().global_block()
            for source, target in zip(policy_vars, target_vars):
                source, target = [
                    block.create_var(name=var.name, shape=var.shape, dtype=var.dtype,
                                     persistable=True) for var in (source, target)]
                fluid.layers.assign(source, target)

        # fluid exe
        self.exe = fluid.Executor(self.place)
        self.exe.run(fluid.default_startup_program())

    def get_DQN_prediction(self, state, target=False):
        variable_field = 'target' if target else 'policy'
        hidden = state
        for number, size in enumerate((32, 16)):
            hidden = fluid.layers.fc(
                input=hidden, size=size, act='relu',
                param_attr=ParamAttr(name='{}_fc{}'.format(variable_field, number)),
                bias_attr=ParamAttr(name='{}_fc{}_b'.format(variable_field, number)))
        return fluid.layers.fc(
            input=hidden, size=self.action_dim,
            param_attr=ParamAttr(name='{}_value'.format(variable_field)),
            bias_attr=ParamAttr(name='{}_value_b'.format(variable_field)))

    def act(self, state, train_or_test):
        sample = np.random.random()
        if train_or_test == 'train' and sample < self.exploration:
            act = np.random.randint(self.action_dim)
        else:
            pred_Q = self.exe.run(self.predict_program, feed={'state': state[np.newaxis]},
                                  fetch_list=[self.pred_value])[0]
            act = np.argmax(np.squeeze(pred_Q, axis=0))
        if train_or_test == 'train':
            self.exploration = max(0.1, self.exploration - 5e-3)
        return act

    def train(self, state, action, reward, next_state, isOver):
        if self.global_step % UPDATE_TARGET_STEPS == 0:
            self.exe.run(self._sync_program)
        self.global_step += 1
        return self.exe.run(
            self.train_program,
            feed={'state': state.astype('float32'),
                  'action': np.expand_dims(action, -1).astype('int32'),
                  'reward': reward.astype('float32'),
                  'next_s': next_state.astype('float32'), 'isOver': isOver},
            fetch_list=[self.cost])[0]


def run_train_episode(agent, env, exp):
    total_reward, state, cost = 0, env.reset(), [np.nan]
    while True:
        action = agent.act(state, train_or_test='train')
        next_state, reward, isOver = env.step(action)
        exp.append((state, action, reward, next_state, isOver))
        if len(exp) > MEMORY_WARMUP_SIZE:
            cost = agent.train(*exp.sample(BATCH_SIZE))
        total_reward += reward
        state = next_state
        if isOver:
            return total_reward, cost


def main():
    if args.enable_ce:
        random.seed(0)
        np.random.seed(0)
    env = LineEnv(seed=3)
    exp = ReplayMemory(1000)
    agent = DQNModel(env.state_dim, env.action_dim, gamma=GAMMA, use_cuda=args.use_cuda)
    for episode in range(16 if args.enable_ce else args.num_episodes):
        total_reward, cost = run_train_episode(agent, env, exp)
        if len(exp) > MEMORY_WARMUP_SIZE:
            print("episode %d: reward %.4f, cost %.6f, exploration %.2f" % (
                episode, total_reward, cost[0], agent.exploration))
    fluid.io.save_params(agent.exe, "dqn_model", main_program=agent.predict_program)


if __name__ == '__main__':
    args = parse_args()
    main()
