"""Clicks predicted by a program: paddle.static, AUC, a model for inference, fine-tuning."""

import numpy as np
import paddle
from paddle import static

USERS, ADS, BATCH = 20, 15, 16
INIT = np.random.RandomState(12)


def attr(name, *shape, **more):
    """A parameter with start values of NumPy's."""
    value = INIT.uniform(-0.4, 0.4, shape).astype("float32")
    start = paddle.nn.initializer.Assign(value)
    return paddle.ParamAttr(name=name, initializer=start, **more)


def network(user, ad, dense):
    vectors = [
        static.nn.embedding(user, [USERS, 4], param_attr=attr("user_vectors", USERS, 4)),
        static.nn.embedding(ad, [ADS, 4], param_attr=attr("ad_vectors", ADS, 4)),
    ]
    product = paddle.sum(vectors[0] * vectors[1], axis=-1, keepdim=True)
    joined = paddle.concat([*vectors, dense], axis=-1)
    deep = static.nn.fc(
        joined, 8, weight_attr=attr("w1", 11, 8, regularizer=paddle.regularizer.L2Decay(1e-3)),
        bias_attr=False, activation="relu",
    )  # fmt: skip
    deep = static.nn.batch_norm(deep, momentum=0.8, param_attr=attr("scale", 8))
    return static.nn.fc(deep, 1, weight_attr=attr("w2", 8, 1)) + product


def batches(count):
    random = np.random.RandomState(13)
    liked = random.rand(USERS, ADS)
    for _ in range(count):
        user, ad = random.randint(0, USERS, BATCH), random.randint(0, ADS, BATCH)
        dense = random.rand(BATCH, 3).astype("float32")
        click = (liked[user, ad] + 0.3 * dense[:, 0] > 0.65).astype("int64")
        yield {"user": user, "ad": ad, "dense": dense, "click": click.reshape(-1, 1)}


def main():
    paddle.enable_static()
    main_program, startup = static.Program(), static.Program()
    with static.program_guard(main_program, startup):
        user = static.data("user", [None], "int64")
        ad = static.data("ad", [None], "int64")
        dense = static.data("dense", [None, 3], "float32")
        click = static.data("click", [None, 1], "int64")
        logit = network(user, ad, dense)
        chance = paddle.nn.functional.sigmoid(logit)
        serving = main_program.clone(for_test=True)
        cost = paddle.nn.functional.binary_cross_entropy_with_logits(
            logit, paddle.cast(click, "float32"), reduction="mean"
        )
        both = paddle.concat([1 - chance, chance], axis=1)
        auc = static.auc(input=both, label=click, num_thresholds=200)[0]
        test_program = main_program.clone(for_test=True)
        rate = paddle.optimizer.lr.PiecewiseDecay([10, 15], [0.05, 0.02, 0.01])
        paddle.optimizer.Adam(learning_rate=rate).minimize(cost)

    exe = static.Executor(paddle.CPUPlace())
    exe.run(startup)
    for step, feed in enumerate(batches(20)):
        loss, area = exe.run(main_program, feed=feed, fetch_list=[cost, auc])
        rate.step()
        print(f"step {step} loss {float(loss):.7f} auc {float(area):.6f} rate {rate():.3f}")
    tested = exe.run(test_program, feed=feed, fetch_list=[cost.name])[0]
    print(f"test {float(tested):.7f}")

    static.save_inference_model("served/click", [user, ad, dense], [chance], exe, program=serving)
    static.save(main_program, "training/click")
    with static.scope_guard(static.Scope()):
        served, names, outputs = static.load_inference_model("served/click", exe)
        feed = {name: feed[name] for name in names}
        chances = exe.run(served, feed=feed, fetch_list=outputs)[0]
    static.load(main_program, "training/click", exe)
    print("served", names, chances.shape, f"{chances.mean():.7f}")
    weight = static.global_scope().find_var("w2").get_tensor()
    print("weight", f"{np.abs(np.array(weight)).sum():.6f}")
    paddle.disable_static()


if __name__ == "__main__":
    main()
