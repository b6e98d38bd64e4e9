"""Scripts of users with their mistakes, and what is said of them."""

#: scripts that fail: what the message says, the line with the mistake marked by `# here`
ERRORS = {
    "a layer": ("expected input to be a variable", "fluid.layers.fc(3, 4)  # here"),
    "an argument too few": ("missing 1 required", "fluid.layers.fc(fluid.data('x', [2])) # here"),
    "an operator": (
        "cannot broadcast shapes",
        "x, y = fluid.data('x', [2, 3]), fluid.data('y', [7])\nx + y  # here",
    ),
    "a method": ("5", "x = fluid.data('x', [2, 3], 'float32')\nx.reshape([5, 2])  # here"),
    "a function of the user's within a layer": (
        "expected input to be a variable",
        """
        def body(i):
            return [fluid.layers.fc(None, 3)]  # here

        i = fluid.layers.fill_constant([1], "int64", 0)
        ten = fluid.layers.fill_constant([1], "int64", 10)
        fluid.layers.while_loop(lambda i: fluid.layers.less_than(i, ten), body, [i])  # and here
        """,
    ),
    "no startup program": (
        "run the startup program first",
        """
        y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
        feed = {"x": np.ones([2, 3], "float32")}
        fluid.Executor().run(feed=feed, fetch_list=[y])  # here
        """,
    ),
    "a kernel": (
        "matmul",
        """
        x = fluid.data("x", [None, None], "float32")
        y = fluid.layers.matmul(x, x)
        feed = {"x": np.ones([2, 3], "float32")}
        fluid.Executor().run(feed=feed, fetch_list=[y])  # here
        """,
    ),
    "a prepared run": (
        "'x' was not fed",
        """
        x = fluid.data("x", [None, 3], "float32")
        step = fluid.Executor().prepare(feed_names=["x"], fetch_list=[x * 2.0])
        step({"z": np.ones([2, 3], "float32")})  # here
        """,
    ),
    "a loss that is no loss": (
        "nothing can be differentiated",
        "fluid.optimizer.SGD(0.1).minimize(fluid.data('x', [1], 'float32'))  # here",
    ),
    "append_backward": ("expected the loss", "fluid.append_backward(3)  # here"),
    "gradients": ("variable", "fluid.gradients(3, 4)  # here"),
    "an optimizer": ("expected the learning rate", "fluid.optimizer.SGD('much')  # here"),
    "a file": (
        "there is no such folder",
        "fluid.io.load_inference_model('no such folder', fluid.Executor())  # here",
    ),
    "tensors": ("cannot broadcast", "fluid.ones([2]) + fluid.ones([3])  # here"),
    "a function of tensors": (
        "columns",
        "fluid.matmul(fluid.ones([2, 3]), fluid.ones([2, 3])) # here",
    ),
    "a method of a tensor": ("5", "fluid.ones([2, 3]).reshape([5])  # here"),
    "a layer of tensors": ("columns", "fluid.nn.Linear(2, 3)(fluid.ones([2, 4]))  # here"),
    "nn.functional": (
        "columns",
        "fluid.nn.functional.linear(fluid.ones([2, 3]), fluid.ones([2, 3])) # here",
    ),
    "a layer of the user's": (
        "columns",
        """
        class Net(fluid.nn.Layer):
            def __init__(self):
                super().__init__()
                self.inner = fluid.nn.Linear(2, 3)

            def forward(self, x):
                return self.inner(x)  # here

        Net()(fluid.ones([2, 4]))  # and here
        """,
    ),
    "a layer in another spelling": (
        "columns",
        "from fluidlite import flow\nflow.nn.Linear(2, 3)(flow.ones(3, 4))  # here",
    ),
    "a guard": ("expected main_program", "with fluid.program_guard(3):  # here\n    pass"),
    "a variable of a block": (
        "no variable 'nope'",
        "fluid.default_main_program().global_block().var('nope')  # here",
    ),
    "a fraction of several elements": ("one element", "float(fluid.ones([2]))  # here"),
    "a setting": ("stop_gradient", "fluid.ones([2]).stop_gradient = 'yes'  # here"),
    "a reader of the user's": (
        "out of paper",
        """
        def samples():
            yield (np.ones(3, "float32"),)
            raise ValueError("out of paper")  # here

        x = fluid.data("x", [None, 3], "float32")
        loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=True)
        loader.set_sample_generator(samples, batch_size=1, drop_last=False)
        for batch in loader():  # and here
            pass
        """,
    ),
    "an operator of the user's": (
        "one too many",
        """
        @fluid.custom_op
        class user_broken:
            '''Out = X.'''

            signature = "X -> Out"

            def infer(self, X):
                return dict(Out=X)

            def run(self, xp, X):
                raise RuntimeError("one too many")  # here

        y = user_broken(fluid.data("x", [2], "float32"))
        fluid.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])  # and here
        """,
    ),
    "a callback of the user's": (
        "I do not like it",
        """
        def callback(block, context):
            raise KeyError("I do not like it")  # here

        loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 3], "float32"), 1))
        fluid.append_backward(loss, callbacks=[callback])  # and here
        """,
    ),
    "another error of the user's before": (
        "expected input",
        """
        try:
            {}["key"]  # and here
        except KeyError:
            fluid.layers.fc(3, 4)  # here
        """,
    ),
    "types are no sizes": ("sizes are given as one list", "fluid.randn(2, 3)  # here"),
    "a loss of many elements": (
        "expected a loss of one element",
        """
        y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 1)
        fluid.optimizer.SGD(0.1).minimize(y)  # here
        """,
    ),
    "two losses": (
        "expected the loss to be a variable",
        """
        loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 3], "float32"), 1))
        fluid.optimizer.SGD(0.1).minimize([loss, loss])  # here
        """,
    ),
    "a name that is elsewhere": ("fluid.layers.fc is there", "fluid.fc  # here"),
    "a name that is left out": ("custom_op", "fluid.load_op_library  # here"),
    "an optimizer that is left out": (
        "fluid.optimizer.Momentum",
        "fluid.optimizer.DGCMomentumOptimizer # here",
    ),
    "a name that is misspelt": ("did you mean 'softmax'", "fluid.layers.sotfmax  # here"),
    "a number of a variable": ("fetch it", "print('%f' % fluid.data('x', [1]))  # here"),
    "a number in a text": ("fetch it", "x = fluid.data('x', [1])\nprint(f'{x:.3f}')  # here"),
    "rows of a variable": ("unstack", "x = fluid.data('x', [3])\nfor row in x:  # here\n    pass"),
    "an element that is set": (
        "write to a clone() of it",
        "fluid.layers.create_parameter([3], 'float32')[0] = 1.0  # here",
    ),
    "a function of NumPy's": ("use x.mean(...)", "np.mean(fluid.data('x', [3]))  # here"),
    "backward of a variable": (
        "minimize(mean_0.tmp_0)",
        "fluid.layers.mean(fluid.data('x', [3])).backward()  # here",
    ),
    "an attribute that is misspelt": ("did you mean 'shape'", "fluid.data('x', [3]).shap  # here"),
    "a tensor and a variable": ("feed it", "fluid.data('x', [2]) + fluid.ones([2])  # here"),
    "a list and a variable": ("layers.assign", "fluid.data('x', [2]) + [1.0, 2.0]  # here"),
    "a question for None": ("`is None`", "fluid.data('x', [2]) == None  # here"),
    "a width in place of sizes": (
        "[number of ids, width of a row]",
        "fluid.embedding(fluid.data('x', [None], 'int64'), 10)  # here",
    ),
    "a shape in place of a name": ("the name", "fluid.data([None, 3], 'x')  # here"),
    "an activation that is a function": (
        "act='relu'",
        "fluid.layers.fc(fluid.data('x', [2, 3]), 4, act=fluid.layers.relu)  # here",
    ),
    "an initializer that is a class": (
        "Xavier(...)",
        "fluid.layers.fc(fluid.data('x', [2, 3]), 4, param_attr=fluid.initializer.Xavier)  # here",
    ),
    "a body that returns nothing": (
        "let it return",
        """
        i = fluid.layers.fill_constant([1], "int64", 0)
        fluid.layers.while_loop(lambda i: i < 3, lambda i: None, [i])  # here
        """,
    ),
    "None is fed": (
        "was fed None",
        "x = fluid.data('x', [2])\nfluid.Executor().run(feed={'x': None}, fetch_list=[x])  # here",
    ),
    "variables to be fed to a model": (
        "give its name: 'x'",
        """
        x = fluid.data("x", [2])
        fluid.io.save_inference_model("m", [x], [x * 2.0], fluid.Executor())  # here
        """,
    ),
    "a layer before its constructor": (
        "call super().__init__()",
        """
        class Net(fluid.nn.Layer):
            def __init__(self):
                self.inner = fluid.nn.Linear(2, 3)  # here

        Net()  # and here
        """,
    ),
    "a layer without forward": (
        "needs a method forward",
        """
        class Net(fluid.nn.Layer):
            pass

        Net()(fluid.ones([2]))  # here
        """,
    ),
    "layers in a list": (
        "LayerList",
        """
        class Net(fluid.nn.Layer):
            def __init__(self):
                super().__init__()
                self.inner = [fluid.nn.Linear(2, 3)]

        fluid.optimizer.SGD(0.1, parameters=Net().parameters()).step()  # here
        """,
    ),
    "a model without labels": (
        "labels",
        """
        net = fluid.nn.Linear(2, 1)
        model = fluid.Model(net)
        sgd = fluid.optimizer.SGD(0.1, parameters=net.parameters())
        model.prepare(sgd, fluid.nn.MSELoss())
        model.fit(np.ones([4, 2], "float32"), verbose=0)  # here
        """,
    ),
    "flags that are none": ("dictionary", "fluid.set_flags(3)  # here"),
    "lengths that are none": ("[[2, 3]]", "fluid.create_lod_tensor(np.ones([5, 1]), 5)  # here"),
    "a profiler of nothing": ("'CPU'", "with fluid.profiler.profiler('x'):  # here\n    pass"),
    "a name scope without a name": ("a name", "with fluid.name_scope(''):  # here\n    pass"),
    "nothing to export": ("the path", "fluid.onnx.export(3, 'x.onnx')  # here"),
    "a picture below a file": (
        "cannot write",
        """
        with open("taken", "w"):
            pass
        fluid.inspect.draw(fluid.default_main_program(), "taken/net.svg")  # here
        """,
    ),
}
#: scripts that run on, as in fluid 1.8, and are probably mistaken
WARNINGS = {
    "the truth of a variable": (
        ["'x'", "always true", "cond", "fetch"],
        """
        x = fluid.data("x", [1], "float32")
        if x:  # here
            pass
        """,
    ),
    "a comparison of variables": (
        ["always true"],
        "x = fluid.data('x', [1], 'float32')\n0.0 < x < 1.0  # here",
    ),
    "a variable in a list": (
        ["always true", "is"],
        "x, y = fluid.data('x', [1]), fluid.data('y', [1])\nx in [y]  # here",
    ),
    "a parameter of another shape": (
        ["'w'", "[3, 5]", "[3, 2]", "line 5", "line 10", "scope_guard"],
        """
        exe = fluid.Executor()
        x = fluid.data("x", [2, 3], "float32")
        y = fluid.layers.fc(x, 2, param_attr="w")
        exe.run(fluid.default_startup_program())
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()):
            x = fluid.data("x", [2, 3], "float32")
            z = fluid.layers.fc(x, 5, param_attr="w", bias_attr=False)
        exe.run(other, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[z])  # here
        """,
    ),
    "another program's variable": (
        ["'fc_0.tmp_1'", "line 3", "line 6"],
        """
        x = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 4)
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
            z = fluid.layers.fc(fluid.data("z", [None, 7], "float32"), 4)
            fluid.layers.relu(x)  # here
        """,
    ),
    "another program's variable that is fetched": (
        ["'scale_0.tmp_0'", "line 4", "line 7"],
        """
        x = fluid.data("x", [1], "float32")
        y = fluid.layers.scale(x, 2.0)
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
            z = fluid.layers.scale(fluid.data("x", [1], "float32"), 3.0)
        feed = {"x": np.ones(1, "float32")}
        fluid.Executor().run(other, feed=feed, fetch_list=[y])  # here
        """,
    ),
    "a loss without parameters": (
        ["no trainable parameter reaches", "has no parameters"],
        """
        loss = fluid.layers.mean(fluid.data("x", [2, 3], "float32"))
        fluid.optimizer.SGD(0.1).minimize(loss)  # here
        """,
    ),
    "a loss of frozen parameters": (
        ["frozen", "fc_0.w_0"],
        """
        x = fluid.data("x", [2, 3], "float32")
        frozen = fluid.ParamAttr(trainable=False)
        loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr=frozen, bias_attr=False))
        fluid.optimizer.SGD(0.1).minimize(loss)  # here
        """,
    ),
    "a loss of other parameters": (
        ["does not depend on fc_1.w_0"],
        """
        x = fluid.data("x", [2, 3], "float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1))
        fluid.layers.fc(x, 1)
        fluid.optimizer.SGD(0.1, parameter_list=["fc_1.w_0"]).minimize(loss)  # here
        """,
    ),
    "a loop that builds": (
        ["line 5", "6 runs", "in front of the loop"],
        """
        x, exe = fluid.data("x", [1], "float32"), fluid.Executor()
        for _ in range(8):
            y = fluid.layers.scale(x, 2.0)
            exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])  # here
        """,
    ),
    "a name that the program does not have": (
        ["'z'"],
        """
        y = fluid.layers.scale(fluid.data("x", [1], "float32"), 2.0)
        one = np.ones(1, "float32")
        fluid.Executor().run(feed={"x": one, "z": one}, fetch_list=[y])  # here
        """,
    ),
    "a loss that is minimized twice": (
        ["fc_0.w_0", "line 5", "in front of the loop"],
        """
        x = fluid.data("x", [None, 3], "float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
        fluid.optimizer.SGD(0.1).minimize(loss)
        fluid.optimizer.SGD(0.1).minimize(loss)  # here
        """,
    ),
    "a softmax of a softmax": (
        ["'softmax_0.tmp_0'", "logits"],
        """
        label = fluid.data("label", [None, 1], "int64")
        scores = fluid.layers.softmax(fluid.data("x", [None, 3], "float32"))
        fluid.layers.softmax_with_cross_entropy(scores, label)  # here
        """,
    ),
    "labels of one dimension": (
        ["[-1, 1]", "[-1]", "reshape"],
        """
        x, y = fluid.data("x", [None, 1], "float32"), fluid.data("y", [None], "float32")
        fluid.layers.square_error_cost(x, y)  # here
        """,
    ),
    "parameters for an empty program": (
        ["'params'", "the program is empty"],
        "fluid.io.load_params(fluid.Executor(), 'params')  # here",
    ),
}
#: scripts that look alike, and are as they should be
RIGHT = {
    "is None": "x = fluid.data('x', [1], 'float32')\nassert x is not None",
    "a copy for tests": """
        x = fluid.data("x", [None, 3], "float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1))
        test = fluid.default_main_program().clone(for_test=True)
        fluid.optimizer.SGD(0.1).minimize(loss)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        for program in (fluid.default_main_program(), test):
            exe.run(program, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[loss])
        with fluid.program_guard(test):
            fluid.layers.scale(loss, 2.0)
        """,
    "a shared parameter": """
        exe = fluid.Executor()
        programs = [fluid.Program(), fluid.Program()]
        feed = {"x": np.ones([2, 3], "float32")}
        for program in programs:
            startup = fluid.Program()
            with fluid.program_guard(program, startup), fluid.unique_name.guard():
                y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
            exe.run(startup)
            exe.run(program, feed=feed, fetch_list=[y])
        """,
    "building in steps": """
        x, exe = fluid.data("x", [1], "float32"), fluid.Executor()
        y = x + 1.0
        exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])
        y = y + 1.0
        exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])
        y = y + 1.0
        exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])
        """,
    "a loss of one element": """
        x = fluid.data("x", [1, 1], "float32")
        fluid.optimizer.SGD(0.1).minimize(fluid.layers.fc(x, 1))
        """,
    "sizes and a type": "assert fluid.randn([2, 3], 'float64').numpy().dtype == 'float64'",
    "two losses of one net": """
        y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 1)
        for loss in (fluid.layers.mean(y), fluid.layers.mean(y * y)):
            fluid.optimizer.SGD(0.1).minimize(loss)
        """,
    "one loss for two halves": """
        y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 1)
        loss = fluid.layers.mean(y)
        fluid.optimizer.SGD(0.1).minimize(loss, parameter_list=["fc_0.w_0"])
        fluid.optimizer.Adam(0.1).minimize(loss, parameter_list=["fc_0.b_0"])
        """,
    "labels that are stretched": """
        x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [3], "float32")
        fluid.layers.square_error_cost(x, y)
        """,
    "functions of NumPy's": """
        x = fluid.data("x", [2], "float32")
        made = [np.sin(x), np.float32(2) * x, np.array([2.0]) - x, np.float64(1) < x, abs(x)]
        feed = {"x": np.array([-1, 2], "float32")}
        found = fluid.Executor().run(feed=feed, fetch_list=made)
        wanted = [np.sin([-1, 2]), [-2, 4], [3, 0], [False, True], [1, 2]]
        for ours, theirs in zip(found, wanted):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        assert np.shape(x) == (2,) and np.ndim(x) == 1
        """,
}
