"""Random edits of programs, as people make them: patches and merges are tried on the results.

python tests/aids/program_edits.py --count 1000 --seed 7
"""

import argparse
import random
import warnings

from random_programs.program import build, recipe

import fluidlite as fluid
from fluidlite.errors import MergeConflictError, VerifyError
from fluidlite.ir.compare import differences
from fluidlite.transform import Patch, apply_patch, make_patch, merge3


def base(seed, runs=True):
    """A random program; ``runs`` is false for one with an operator that nobody defined, which any
    edit leaves as right as it was.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = build(fluid, recipe(seed)).main
    if not runs:
        program.blocks[0].ops.insert(3, fluid.Program.parse(MAGIC).blocks[0].ops[0])
        program = program.clone()
    return program


MAGIC = "program (seed=0) {\n block 0 {\n {Out=y} = magic(X=x, axes=ints [], seed=long 7)\n }\n}"


def is_right(program):
    """Whether a program keeps the rules."""
    try:
        program.verify()
    except VerifyError:
        return False
    return True


def edited(program, rng, edits, tag):
    """A copy with so many random edits; names that are new end with the tag."""
    made = program.clone()
    for number in range(edits):
        rng.choice(EDITS)(made, rng, f"{tag}{number}")
    return made


def _attribute(program, rng, tag):
    block = rng.choice(program.blocks)
    found = [(op, n) for op in block.ops for n, v in op.attrs.items() if type(v) in (float, bool)]
    if found:
        op, name = rng.choice(found)
        value = op.attrs[name]
        op.set_attr(name, (not value) if isinstance(value, bool) else rng.choice([0.25, 0.5, 3.0]))


def _insert(program, rng, tag):
    block = rng.choice(program.blocks)
    place = rng.randrange(len(block.ops) + 1)
    written = {n for op in block.ops[:place] for n in op.output_arg_names}
    names = sorted(n for n in written if n in block.vars and block.vars[n].spec is not None)
    floats = [
        n for n in names if block.vars[n].dtype.is_float and block.vars[n].kind.name == "LOD_TENSOR"
    ]
    if floats:
        x = rng.choice(floats)
        out = block.create_var(name=f"new_{tag}")
        with program.as_role(rng.choice([0, 0, 1, 2])):
            block.insert_op(
                place, "scale", {"X": x}, {"Out": out}, {"scale": rng.choice([2.0, 3.0])}
            )


def _remove(program, rng, tag):
    block = rng.choice(program.blocks)
    if block.ops:
        block.remove_op(rng.randrange(len(block.ops)))


def _move(program, rng, tag):
    block = rng.choice(program.blocks)
    if len(block.ops) > 1:
        ops = list(block.ops)
        ops.insert(rng.randrange(len(ops)), ops.pop(rng.randrange(len(ops))))
        block.set_ops(ops)


def _declare(program, rng, tag):
    block = rng.choice(program.blocks)
    block.create_var(
        name=f"other`{tag}", shape=[2, -1], dtype="int64", lod_level=rng.choice([0, 1])
    )


def _redeclare(program, rng, tag):
    block = rng.choice(program.blocks)
    if block.vars:
        variable = block.vars[rng.choice(sorted(block.vars))]
        variable.persistable = not variable.persistable
        variable.stop_gradient = rng.random() < 0.5


def _drop(program, rng, tag):
    block = rng.choice(program.blocks)
    if block.vars:
        block.drop_var(rng.choice(sorted(block.vars)))


def _rename(program, rng, tag):
    block = rng.choice(program.blocks)
    if block.vars:
        block.rename_var(rng.choice(sorted(block.vars)), f"renamed_{tag}")


def _reorder(program, rng, tag):
    block = rng.choice(program.blocks)
    variables = list(block.vars.values())
    if variables:
        variables.insert(rng.randrange(len(variables)), variables.pop())
        block.set_vars(variables)


def _seed(program, rng, tag):
    program.random_seed = rng.randrange(100)


def _notes(program, rng, tag):
    block = rng.choice(program.blocks)
    if block.ops:
        op = rng.choice(block.ops)
        op.set_attr("op_role", rng.choice([0, 1, 2, 256, 5]))
        op.set_attr("op_role_var", rng.choice([[], ["a", "b@GRAD"]]))
        op.set_attr("op_namescope", rng.choice(["/", "/encoder/", '/a"b/']))
        op.set_attr("op_device", rng.choice(["", "cpu"]))
        op.lists_given_attrs |= rng.random() < 0.5


def _block(program, rng, tag):
    made = program.add_block(rng.randrange(program.num_blocks))
    made.create_var(name=f"in_{tag}", shape=[1], dtype="float32")
    made.append_op(
        "fill_constant", {}, {"Out": f"in_{tag}"}, {"shape": [1], "value": 1.0, "dtype": "float32"}
    )


def _no_block(program, rng, tag):
    used = {b.parent_idx for b in program.blocks} | {b.forward_block_idx for b in program.blocks}
    last = program.num_blocks - 1
    if last and last not in used:
        program.blocks.pop()
        program.touch()


EDITS = [_attribute, _insert, _remove, _move, _declare, _redeclare, _drop, _rename, _reorder]
EDITS += [_seed, _notes, _block, _no_block, _attribute, _insert]


def random_edits(seed, tags, most):
    """A random program and copies of it with random edits, one for each tag: all of them keep the
    rules, or nobody can run any.
    """
    for runs in (True, False):
        rng = random.Random(seed)
        before = base(seed % 200, runs)
        copies = [edited(before, rng, rng.randrange(1, most), tag) for tag in tags]
        if not runs or all(map(is_right, [before, *copies])):
            return before, *copies


def patched(seed):
    """In what a patch of random edits fails to give what it was made of; nothing when it does."""
    before, after = random_edits(seed, "a", 12)
    patch = make_patch(before, after)
    again = Patch.parse(str(patch))
    found = [] if again == patch and str(again) == str(patch) else ["the text of the patch"]
    found += differences(apply_patch(again, before), after)
    found += differences(apply_patch(again, after, reverse=True), before)
    return found


def merged(seed):
    """In what merging random edits fails: with no edits it gives the edited program, and who is who
    does not matter.  The second part is how many conflicts there were.
    """
    before, ours, theirs = random_edits(seed, "ab", 5)
    found = differences(merge3(before, ours, before), ours)
    found += differences(merge3(before, before, theirs), theirs)
    found += differences(merge3(before, ours, ours), ours)
    results = []
    for one, other in ((ours, theirs), (theirs, ours)):
        try:
            results.append((merge3(before, one, other), 0))
        except MergeConflictError as error:
            results.append((before, len(error.conflicts)))
    (first, conflicts), (second, others) = results
    found += differences(first, second)
    if conflicts != others:
        found.append(f"{conflicts} conflicts, {others} conflicts")
    return found, conflicts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    clashes = 0
    for seed in range(given.seed, given.seed + given.count):
        found, conflicts = merged(seed)
        clashes += conflicts > 0
        for line in [*patched(seed)[:3], *found[:3]]:
            print(seed, line, flush=True)
    print(f"{given.count} patches and merges, {clashes} with conflicts")


if __name__ == "__main__":
    main()
