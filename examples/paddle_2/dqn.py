"""Deep Q-learning on a line: a replay memory, a target network, double Q-learning."""

import collections
import copy
import random

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

Transition = collections.namedtuple("Transition", "state action reward next_state done")


class Line:
    """Who walks to the right end of a line gets one point; each step costs a little."""

    length = 6

    def reset(self):
        self.place, self.steps = 2, 0
        return self.observe()

    def observe(self):
        return np.array([self.place / self.length, 1 - self.place / self.length], dtype="float32")

    def step(self, action):
        self.place = int(np.clip(self.place + (1 if action else -1), 0, self.length))
        self.steps += 1
        done = self.place in (0, self.length) or self.steps >= 12
        return self.observe(), 1.0 if self.place == self.length else -0.05, done


class QNetwork(nn.Layer):
    """A dueling network: what a state is worth, and what an action adds."""

    def __init__(self):
        super().__init__()
        init = nn.initializer.KaimingNormal()
        self.body = nn.Linear(2, 12, weight_attr=paddle.ParamAttr(initializer=init))
        self.value = nn.Linear(12, 1)
        self.gain = nn.Linear(12, 2)

    def forward(self, states):
        hidden = F.relu(self.body(states))
        gain = self.gain(hidden)
        return self.value(hidden) + gain - gain.mean(axis=1, keepdim=True)


class Agent:
    def __init__(self, gamma=0.95, tau=0.2):
        self.gamma, self.tau, self.epsilon = gamma, tau, 0.5
        self.q = QNetwork()
        self.target = copy.deepcopy(self.q)
        for parameter in self.target.parameters():
            parameter.stop_gradient = True
        self.optimizer = paddle.optimizer.RMSProp(
            0.01, rho=0.9, momentum=0.5, centered=True, parameters=self.q.parameters()
        )

    @paddle.no_grad()
    def act(self, state):
        if random.random() < self.epsilon:
            return random.randrange(2)
        return int(self.q(paddle.to_tensor(state).unsqueeze(0)).argmax(axis=1))

    def learn(self, batch):
        batch = Transition(*map(np.array, zip(*batch)))
        states, following = paddle.to_tensor(batch.state), paddle.to_tensor(batch.next_state)
        actions = paddle.to_tensor(batch.action.reshape(-1, 1))
        rewards = paddle.to_tensor(batch.reward.astype("float32"))
        goes_on = 1.0 - paddle.to_tensor(batch.done.astype("float32"))
        chosen = paddle.take_along_axis(self.q(states), actions, axis=1).squeeze(1)
        with paddle.no_grad():
            best = self.q(following).argmax(axis=1)
            worth = (self.target(following) * F.one_hot(best, 2)).sum(axis=1)
            goal = rewards + self.gamma * goes_on * worth
        loss = F.smooth_l1_loss(chosen, goal)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.follow()
        return float(loss)

    def follow(self):
        """The target network goes a part of the way to the other one."""
        new, old = self.q.state_dict(), self.target.state_dict()
        self.target.set_state_dict(
            {name: self.tau * new[name] + (1 - self.tau) * old[name] for name in old}
        )


def main():
    random.seed(1)
    paddle.seed(1)
    agent, memory, env = Agent(), collections.deque(maxlen=100), Line()
    state, learned, total = env.reset(), 0, 0.0
    while learned < 20:
        action = agent.act(state)
        following, reward, done = env.step(action)
        memory.append(Transition(state, action, reward, following, done))
        state, total = (env.reset() if done else following), total + reward
        if len(memory) >= 16 and len(memory) % 2 == 0:
            print(f"step {learned} loss {agent.learn(random.sample(memory, 8)):.7f}")
            learned += 1
            agent.epsilon *= 0.95
    states = paddle.to_tensor([[place / 6, 1 - place / 6] for place in range(7)])
    print(
        f"reward {total:.3f} worth", " ".join(f"{q:.6f}" for q in agent.q(states).max(1).tolist())
    )


if __name__ == "__main__":
    main()
