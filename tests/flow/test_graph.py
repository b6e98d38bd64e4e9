"""Graphs: built once as a program, run with steps of optimizers; losses of OneFlow 0.9."""

import numpy as np
import pytest

from fluidlite import flow
from fluidlite.errors import (
    ArgumentError,
    BuildError,
    StateDictError,
    StrictError,
    UnsupportedError,
)

nn, optim = flow.nn, flow.optim
X = flow.tensor(np.arange(12, dtype="float32").reshape(4, 3) / 6)
Y = flow.ones(4, 2)


class Fitting(nn.Graph):
    """A linear module that is fitted; built as often as ``calls`` says."""

    def __init__(self, make, schedule=None, parts=1):
        super().__init__()
        self.net = nn.Linear(3, 2)
        nn.init.constant_(self.net.weight, 0.1)
        nn.init.zeros_(self.net.bias)
        self.calls = 0
        self.optimizer = make([*self.net.parameters()])
        self.schedule = schedule(self.optimizer) if schedule else None
        self.add_optimizer(self.optimizer, lr_sch=self.schedule)
        self.config.set_gradient_accumulation_steps(parts)

    def build(self, x, y):
        self.calls += 1
        loss = ((self.net(x) - y) ** 2).mean()
        loss.backward()
        return loss


def sgd(params):
    return optim.SGD(params, lr=0.1)


def clipped(params):
    group = {"params": params, "lr": 1.0, "clip_grad_max_norm": 0.1, "clip_grad_norm_type": 2.0}
    return optim.SGD([group])


@pytest.mark.parametrize(
    "make, schedule, losses",
    [
        (sgd, None, [0.55375, 0.310964, 0.225671, 0.192126, 0.175755]),
        (lambda p: optim.Adam(p, lr=0.1), None, [0.55375, 0.235, 0.224121, 0.299249, 0.291173]),
        (
            lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.1),
            None,
            [0.55375, 0.23581, 0.220525, 0.28884, 0.277062],
        ),
        (
            sgd,
            lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 4),
            [0.55375, 0.310964, 0.235551, 0.213748, 0.209072],
        ),
        (
            sgd,
            lambda o: optim.lr_scheduler.WarmUpLR(o, warmup_factor=0.5, warmup_iters=3),
            [0.55375, 0.416435, 0.305459, 0.233895, 0.194854],
        ),
        (clipped, None, [0.55375, 0.399467, 0.286137, 0.212054, 0.171833]),
        (
            lambda p: optim.RMSprop(p, lr=0.1),
            None,
            [0.55375, 12.553721, 0.479861, 0.172653, 0.143877],
        ),
        (lambda p: optim.LAMB(p, lr=0.1), None, [0.55375, 0.391037, 0.351701, 0.312955, 0.275808]),
    ],
)  # fmt: skip
def test_losses_are_oneflow_s(make, schedule, losses):
    graph = Fitting(make, schedule)
    rates = [group["lr"] for group in graph.optimizer.param_groups]
    assert not graph.is_compiled
    found = [graph(X, Y) for _ in losses]
    assert graph.is_compiled and graph.calls == 1
    assert [float(loss) for loss in found] == pytest.approx(losses, rel=3e-6, abs=2e-6)
    assert found[0].shape == () and not found[0].requires_grad
    # optimizers keep their rates, and parameters have no gradients
    assert [group["lr"] for group in graph.optimizer.param_groups] == rates
    assert all(parameter.grad is None for parameter in graph.net.parameters())


def test_a_graph_computes_what_modules_compute_at_once():
    graph = Fitting(sgd)
    net = nn.Linear(3, 2)
    net.load_state_dict(graph.net.state_dict())
    steps = sgd(net.parameters())
    for _ in range(3):
        loss = ((net(X) - Y) ** 2).mean()
        assert float(graph(X, Y)) == pytest.approx(loss.item(), rel=1e-6)
        loss.backward()
        steps.step()
        steps.zero_grad()


def test_gradients_of_parts_of_a_batch_are_gathered():
    graph = Fitting(sgd, parts=2)
    losses = [graph(X, Y) for _ in range(3)]
    wanted = [[0.77125, 0.33625], [0.54258, 0.079348], [0.425945, 0.025396]]
    assert [loss.numpy().tolist() for loss in losses] == [
        pytest.approx(w, abs=2e-6) for w in wanted
    ]
    with pytest.raises(BuildError, match="2 equal parts"):
        Fitting(sgd, parts=2)(X[:3], Y[:3])


class Outputs(nn.Graph):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3))

    def build(self, x, more):
        y = self.net(x)
        return {"a": y, "b": [more[0] + 1, None], "sum": y.sum(), "rows": y.sum(1)}


def test_outputs_are_lists_and_dictionaries_and_buffers_are_written():
    graph = Outputs()
    found = graph(X, (Y, None))
    assert found["a"].shape == (4, 3) and found["b"][0].tolist() == [[2.0, 2.0]] * 4
    assert found["b"][1] is None and found["sum"].shape == () and found["rows"].shape == (4,)
    mean = graph.net[1].running_mean
    assert mean.numpy().any()
    first = graph(X, (Y, None))["a"].tolist()
    assert graph(X, (Y, None))["a"].tolist() != first  # other elements are dropped
    assert graph.net.origin.training and len(graph.net) == 2
    assert [*graph.net][1] is graph.net[1] and graph.net.to(nn.Module) is graph.net.origin


def test_states_go_on_where_they_were():
    graph = Fitting(lambda p: optim.Adam(p, lr=0.1), lambda o: optim.lr_scheduler.StepLR(o, 2))
    for _ in range(3):
        graph(X, Y)
    state = graph.state_dict()
    assert state["net"].keys() == {"weight", "bias"}
    assert {"net.weight-m", "net.bias-v", "System-Train-TrainStep"} <= state.keys()
    other = Fitting(lambda p: optim.Adam(p, lr=0.1), lambda o: optim.lr_scheduler.StepLR(o, 2))
    saved = {
        k: v.clone() if hasattr(v, "clone") else {n: t.clone() for n, t in v.items()}
        for k, v in state.items()
    }
    other.load_state_dict(saved)
    assert [float(graph(X, Y)) for _ in range(3)] == [float(other(X, Y)) for _ in range(3)]
    with pytest.raises(StateDictError, match="net"):
        other.load_state_dict({})


def test_a_graph_prints_its_modules_and_its_program():
    graph = Fitting(sgd)
    text = repr(graph)
    assert text.splitlines()[:3] == [
        f"(GRAPH:{graph.name}:Fitting): (",
        "  (CONFIG:config:GraphConfig(training=True, ))",
        "  (MODULE:net:Linear(in_features=3, out_features=2, bias=True)): (",
    ]
    assert (
        "(PARAMETER:net.bias:tensor(..., size=(2,), dtype=oneflow.float32, requires_grad=True)): ()"
        in text
    )
    graph(X, Y)
    text = repr(graph)
    assert "(INPUT:input_0:tensor(..., size=(4, 3), dtype=oneflow.float32))" in text
    assert "Y=net.bias)" in text and "net.weight@GRAD" in text
    assert "(OPTIMIZER: SGD of 2 parameters)" in text and graph.name.startswith("Fitting_")


def test_switches_for_other_machines_are_accepted():
    graph = Fitting(sgd)
    graph.config.enable_amp(True)
    graph.config.allow_fuse_add_to_output(True)
    graph.config.enable_zero(True, stage=1)
    graph.set_grad_scaler(flow.amp.GradScaler())
    graph.debug(1)
    graph.net.config.set_stage(0)
    graph.net.config.activation_checkpointing = True
    assert float(graph(X, Y)) == pytest.approx(0.55375)
    doubled = nn.Graph.trace(lambda x: x * 2)
    assert doubled(Y).tolist() == [[2.0, 2.0]] * 4


class Broken(nn.Graph):
    def __init__(self, build, *optimizers):
        super().__init__()
        self.net = nn.Linear(3, 2)
        self.said = build
        for each in optimizers:
            self.add_optimizer(each(self.net.parameters()))

    def build(self, *args):
        return self.said(self, *args)


def differentiated(self, x):
    loss = self.net(x)
    loss.backward()
    return loss


def summed(self, x):
    loss = self.net(x).sum()
    loss.backward()
    return loss


@pytest.mark.parametrize(
    "build, optimizers, error",
    [
        (lambda self, x: self.net(x), [sgd], BuildError),
        (summed, [], BuildError),
        (differentiated, [sgd], BuildError),
        (lambda self, x: 3, [], UnsupportedError),
        (lambda self, x: x if x.sum() > 0 else -x, [], StrictError),
        (lambda self, x: x.numpy(), [], ArgumentError),
    ],
)
def test_what_no_graph_can_do_is_refused(build, optimizers, error):
    graph = Broken(build, *optimizers)
    with pytest.raises(error):
        graph(X)
    assert not graph.is_compiled


@pytest.mark.parametrize(
    "build, said",
    [
        (lambda x: x.item(), "return it from build"),
        (lambda x: float(x.sum()), "return it from build"),
        (lambda x: x.numpy(), "return it from build"),
        (lambda x: x if x else -x, "flow.where"),
        (lambda x: len(x), "a graph is built for one shape"),
        (lambda x: x.grad, "flow.autograd.grad outside of it"),
        (lambda x: np.interp(x, [0], [0]), "use a function of flow, or return it from build"),
    ],
)
def test_errors_in_build_have_words_of_graphs(build, said):
    with pytest.raises(Exception, match=said) as error:
        Broken(lambda self, x: build(x))(X)
    assert "fluid." not in str(error.value) and "Executor" not in str(error.value)


def test_calls_and_attributes_are_checked():
    graph = Fitting(sgd)
    graph(X, Y)
    for wrong in ((X[:2], Y[:2]), (X.double(), Y), (X,)):
        with pytest.raises(RuntimeError, match="as in the first call"):
            graph(*wrong)
    with pytest.raises(NotImplementedError, match="got 3"):
        graph(X, 3)
    with pytest.raises(NotImplementedError, match="build"):
        nn.Graph()(X)
    with pytest.raises(AttributeError, match="no tensor"):
        graph.w = flow.ones(2)
    with pytest.raises(AssertionError, match="an optimizer"):
        graph.add_optimizer(3)
    with pytest.raises(ArgumentError, match="scheduler"):
        graph.add_optimizer(graph.optimizer, lr_sch=3)
    with pytest.raises(ArgumentError):
        graph.set_grad_scaler(3)
    with pytest.raises(ArgumentError):
        graph.config.set_gradient_accumulation_steps(0)

    class Early(nn.Graph):
        def __init__(self):
            self.net = nn.Linear(2, 2)

    with pytest.raises(AttributeError, match=r"super\(\).__init__"):
        Early()


def test_two_optimizers_share_one_backward():
    class Both(nn.Graph):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(3, 2), nn.Linear(2, 1)
            self.add_optimizer(sgd(self.one.parameters()))
            self.add_optimizer(optim.Adam(self.two.parameters(), lr=0.1))

        def build(self, x):
            hidden = self.one(x)
            loss, other = self.two(hidden).square().mean(), hidden.square().mean()
            loss.backward()
            other.backward()
            return loss, other

    graph = Both()
    before = [p.tolist() for part in (graph.one, graph.two) for p in part.parameters()]
    totals = [float(sum(graph(X))) for _ in range(10)]
    assert totals[-1] < totals[0]
    after = [p.tolist() for part in (graph.one, graph.two) for p in part.parameters()]
    assert all(a != b for a, b in zip(before, after))


def test_a_graph_trains_when_it_has_an_optimizer():
    class Same(nn.Graph):
        def build(self, x):
            return x

    assert not Same().training
    assert Fitting(sgd).training


def test_a_graph_goes_through_rows_and_gives_tensors_that_no_input_changes():
    class Rows(nn.Graph):
        def build(self, x):
            first, second = x
            return sum(row for row in x), first - second, [flow.ones(2), flow.arange(3)]

    rows = Rows()
    for _ in range(2):
        total, difference, (ones, numbers) = rows(flow.tensor([[1.0, 2.0], [3.0, 5.0]]))
        assert (total.tolist(), difference.tolist()) == ([4, 7], [-2, -3])
        assert (ones.tolist(), numbers.tolist()) == ([1, 1], [0, 1, 2])
        ones += 1


def test_results_are_filled_in_place_within_a_graph():
    class Filling(flow.nn.Graph):
        def build(self, x):
            drawn, spread = x.clone().normal_(), x.clone().exponential_()
            return x.clone().zero_(), x.clone().fill_(3), drawn, spread

    zeros, threes, drawn, spread = (found.numpy() for found in Filling()(flow.ones(2, 3)))
    assert not zeros.any() and (threes == 3).all()
    assert len({*drawn.flat}) == len({*spread.flat}) == 6 and (spread > 0).all()
