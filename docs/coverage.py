"""Writes ``coverage.md``: which operators and public names of fluid 1.8 there are.

    python docs/coverage.py

What is left out has a reason, below; an entry that is there by now fails a test.
"""

import fnmatch
import gzip
import importlib
import json
from pathlib import Path

import fluidlite as fluid
import fluidlite.io  # defines operators of its own
from fluidlite.absent import LEFT_OUT
from fluidlite.opdef.definition import is_defined, lookup

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"

#: operators that are left out: reason -> types
OPERATORS = {
    "many processes and parameter servers": """
        checkpoint_notify dgc_clip_by_norm dgc_momentum
        distributed_lookup_table fake_init fetch_barrier fl_listen_and_serv listen_and_serv
        lookup_sparse_table lookup_table_dequant merge_ids prefetch pull_box_sparse pull_sparse
        pull_sparse_v2 push_dense pyramid_hash rank_attention recv recv_save ref_by_trainer_id
        send send_barrier shuffle_batch split_byref split_ids split_selected_rows""",
    "inner workings of fluid's runtime": "delete_var get_places run_program",
}

#: operators that the backend "jax" leaves to the host: reason -> types
ON_HOST = {}


def on_host():
    """Operators that the backend "jax" leaves to the host, at least for some inputs, and why."""
    return dict(reasons(ON_HOST))


#: public names that are left out: reason -> ``MODULE.NAME``; the module of ``fluid`` is a point
NAMES = {
    reason: " ".join(f".{name}" if name[0] == "." else name for name in names)
    for reason, names in LEFT_OUT.items()
}


def read(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def reasons(table):
    """Entries of a table and their reasons, in its order."""
    return [(entry, why) for why, entries in table.items() for entry in entries.split()]


def why(table, name):
    """Why a name is left out; None where the table does not say."""
    found = [reason for entry, reason in reasons(table) if fnmatch.fnmatchcase(name, entry)]
    return found[0] if found else None


def forward_operators():
    """The types of fluid's operators, without those of gradients."""
    types = read(TESTS / "data" / "op_schema.json.gz")
    return [t for t in types if not t.endswith("_grad") and "_grad_" not in t]


def family_of(type):
    """The module that an operator is defined in."""
    return lookup(type).__module__.removeprefix("fluidlite.").removeprefix("ops.")


def public_names():
    """``MODULE.NAME`` -> whether it is there; the module of ``fluid`` itself is a point."""
    found = {}
    for module, names in read(TESTS / "api" / "fluid18.json.gz").items():
        ours = module_of(module)
        for name in names:
            here = getattr(ours, name, None)
            found[f"{module}.{name}"] = here is not None and callable(here)
    return found


def module_of(name):
    """The library's module of that name, or None."""
    try:
        return fluid if name == "." else importlib.import_module(f"fluidlite.{name}")
    except ImportError:
        return None


def table(heads, rows):
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def left_out(names, reasons_of):
    """Names and why they are left out, by reason."""
    groups = {}
    for name in names:
        groups.setdefault(reasons_of(name) or "?", []).append(name)
    order = sorted(groups.items(), key=lambda group: -len(group[1]))
    return table(
        ["why", "how many", "which"],
        [[reason, len(each), " ".join(f"`{one}`" for one in each)] for reason, each in order],
    )


def page():
    """The text of ``coverage.md``."""
    types = forward_operators()
    there = [t for t in types if is_defined(t)]
    families = {}
    for type in there:
        families.setdefault(family_of(type), []).append(type)
    names = public_names()
    missing = [name for name, here in names.items() if not here]
    modules = {}
    for name, here in names.items():
        modules.setdefault(title(name), []).append(here)
    return "\n\n".join(
        [
            "# Coverage of fluid 1.8",
            "Written by `python docs/coverage.py`; a test fails where it is out of date.",
            "## Operators",
            f"{len(there)} of {len(types)} operators are there, each with its gradients of every "
            "order unless nothing flows through it. A family is a file of `fluidlite/ops`.",
            table(
                ["family", "how many", "which"],
                [
                    [family, len(each), " ".join(f"`{one}`" for one in each)]
                    for family, each in sorted(families.items())
                ],
            ),
            "### Left out",
            left_out([t for t in types if t not in there], lambda name: why(OPERATORS, name)),
            "### Operators on JAX",
            "The backend `jax` compiles all operators but these, which run on the host, some of "
            "them for some inputs only. Tests compare every other one with NumPy, in float32 and "
            "float64, with gradients of two orders. Operators on arrays of tensors are compiled "
            "where positions are known, those that print, read files or call Python never.",
            left_out(sorted(on_host()), on_host().get),
            "## Public names",
            f"{sum(names.values())} of {len(names)} functions and classes are there. Their "
            "parameters are fluid's; where they differ is listed with reasons in "
            "`tests/api/differences.py`.",
            table(
                ["module", "there", "of"],
                [[module, sum(here), len(here)] for module, here in modules.items()],
            ),
            "### Left out",
            left_out(missing, lambda name: why(NAMES, name)).replace("`..", "`"),
            "",
        ]
    ).removesuffix("\n")


def title(name):
    """How the module of a public name is called."""
    module = name.rpartition(".")[0]
    return "`fluid`" if module == "." else f"`fluid.{module}`"


if __name__ == "__main__":
    (HERE / "coverage.md").write_text(page(), encoding="utf-8")
