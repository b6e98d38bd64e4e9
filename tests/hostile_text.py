"""Programs all of whose text is one that somebody chose, and texts to choose."""

import re

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import fluidlite as fluid
from fluidlite.ground.callsite import CallSite
from fluidlite.ir.operator import Operator

#: beside what Hypothesis makes up: what ends lines, strings, comments and tags somewhere
ATTACKS = (
    "x\r    __import__('os').system('id>PWNED')#",
    "\n    raise SystemExit\n",
    '"); raise SystemExit  #',
    "'); raise SystemExit  #",
    '"""\nraise SystemExit\n"""',
    "\\",
    'a\\"',
    "*/ int x; /*",
    "</script><script>alert(1)</script>",
    "]]>--><b onclick='x'>",
    '"]; } digraph {"',
    "{}{0}{{%s%d",
    "\x85\u2028\u2029\v\f\x1c\x1d\x1e\x1f\0\x7f\x9b\x1b[31m",
    "\udcff\ud800\ufffe\uffff\u202e",
)
#: but two surrogates that are one character in JSON
TEXTS = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(st.characters(codec=None), min_size=1, max_size=30),
    st.text("\n\r\"'\\#{}()<>&/*;`\u2028\x85\0 ", min_size=1, max_size=12),
).filter(
    lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text)
)  # one character in JSON
MODELS = settings(deadline=None, max_examples=40)


def harmless(text):
    """A text as long, whose letters, digits, dots and so on are the same, and mean the same."""
    return re.sub(r"[^A-Za-z0-9_.@/]", "u", text)


class Model:
    """A program of a small net, all of whose names and places are made of one text."""

    def __init__(self, text, trains=True):
        self.main, self.startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(self.main, self.startup), fluid.unique_name.guard():
            x = fluid.data("x", [None, 3], "float32")
            h = fluid.layers.fc(x, 4, act="relu")
            loss = h
            if trains:
                loss = fluid.layers.reduce_mean(fluid.layers.dropout(h, 0.5))
                fluid.optimizer.Adam(0.1).minimize(loss)
        names = {}
        for program in (self.main, self.startup):
            block = program.global_block()
            for name in list(block.vars):
                new = names.setdefault(name, f"v{len(names)}{text}v")
                block.rename_var(name, new)
            for op in block.ops:
                op.callsite = CallSite(f"{text}/{text}.py", 7)
                op.namescope = f"/{text}/"
        self.x, self.loss = x.name, loss.name

    def run(self, times=4):
        """Run it until it is bound."""
        scope, exe = fluid.Scope(), fluid.Executor()
        exe.run(self.startup, scope=scope)
        feed = {self.x: np.ones([2, 3], "float32")}
        for _ in range(times):
            exe.run(self.main, feed=feed, fetch_list=[self.loss], scope=scope)
        return scope


def unusual(text):
    """A model, one of whose operators nobody has defined."""
    made = Model(text)
    block = made.main.global_block()
    attrs = {f"name{text}": f"value{text}", "names": (text, text)}
    slots = {f"X{text}": (made.x,)}, {f"Out{text}": (made.loss,)}
    op = Operator(block, f"type{text}", *slots, attrs, callsite=CallSite(text, 7))
    block.ops.insert(1, op)
    return made.main
