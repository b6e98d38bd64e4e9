"""Every benchmark runs, with its smallest setting; nothing is timed here."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_jobs import need_mpi
from shares import whole_only

from fluidlite.backend import onednn

pytestmark = whole_only

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "performance.md"
SECONDS = 180
STEPS = ["fit_a_line", "mnist_mlp", "lenet", "word2vec", "lstm", "resnet"]  # those by hand
MORE = ["transformer", "gpt_block", "mobilenet_block"]
OURS = ["NumPy by hand", "fluidlite"]


def run(script, *options):
    """What a benchmark prints, run as users run it; it must end well."""
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), *map(str, options)],
        env={**os.environ, "PYTHONPATH": search},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{script} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def part(page, name):
    """What stands between the marks of a part."""
    found = re.search(rf"<!-- {name}: begin -->\n(.*)<!-- {name}: end -->", page, re.S)
    assert found, f"no part {name!r}"
    return found[1].strip()


@pytest.fixture
def page(tmp_path):
    """A copy of the page, to be written to."""
    return Path(shutil.copy(PAGE, tmp_path))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hand_written_steps_compute_what_fluidlite_computes(dtype):
    options = ["--only", *STEPS, "--dtype", dtype, "--contestants", *OURS]
    said = run("steps.py", "--check", "--small", *options)
    assert said == ""  # it says what is wrong or missing


def test_steps_are_timed_beside_a_busy_process(page):
    options = ["--small", "--rounds", 1, "--seconds", 0, "--warmup", 0, "--only", "fit_a_line"]
    run("steps.py", *options, "--contestants", OURS[1], "--beside", "--write", page)
    rows = part(page.read_text(encoding="utf-8"), "steps beside")
    assert re.search(r"^\| fit_a_line \| [\d,.]+ \([\d.]+\) \|$", rows, re.M)


def test_one_thread_and_two_are_compared(page):
    run("threads.py", "--small", "--only", "fit_a_line", "lenet", "--seconds", 0, "--write", page)
    rows = part(page.read_text(encoding="utf-8"), "threads")
    number = r"[\d,.e+-]+"
    cells = rf"\| {number} \| {number} \| {number} \| yes \| {number} \|"
    assert re.search(rf"^\| fit_a_line {cells}", rows, re.M)
    assert re.search(rf"^\| lenet {cells}", rows, re.M)


def test_further_steps_run_too():
    said = run("steps.py", "--check", "--small", "--only", *MORE, "--contestants", OURS[1])
    assert said == ""


def test_the_steps_are_timed_and_written(page, tmp_path):
    file = tmp_path / "steps.json"
    options = ["--small", "--rounds", 1, "--seconds", 0, "--warmup", 0, "--only", *STEPS]
    options += ["--json", file, "--write", page]
    said = run("steps.py", *options, "--contestants", *OURS)
    figures = json.loads(file.read_text(encoding="utf-8"))["microseconds"]
    assert list(figures) == STEPS
    assert all(list(found) == OURS for found in figures.values())
    assert all(one["min"] > 0 for found in figures.values() for one in found.values())
    rows = part(page.read_text(encoding="utf-8"), "steps")
    for name in STEPS:
        assert re.search(rf"^ *{name}  ", said, re.M)
        assert re.search(rf"^\| {name} \|( [\d,.]+( \([\d.]+\))? \|){{2}}$", rows, re.M)
    assert "- Machine: " in rows


def test_a_contestant_that_is_not_installed_is_left_out():
    said = run("steps.py", "--check", "--small", "--only", "fit_a_line", "--contestants", "paddle")
    assert said == "left out: paddle: no paddle.fluid\n"


def test_long_programs_are_measured_and_written(page):
    sizes = ["--sizes", 20, "--wide", 20, "--parameters", 10]
    said = run("long_chain.py", *sizes, "--write", page)
    rows = [line.split()[0] for line in said.splitlines()]
    assert rows == ["program", "chain", "wide", "parameters"]
    assert said.strip() in part(page.read_text(encoding="utf-8"), "long programs")


def test_recomputing_is_measured_and_written(page):
    said = run(
        "recompute.py", "--layers", 9, "--batch", 4, "--width", 3, "--runs", 1, "--write", page
    )
    losses = re.findall(r"loss (\S+)", said)
    assert len(losses) == 2
    assert losses[0] == losses[1]
    assert said.strip() in part(page.read_text(encoding="utf-8"), "recompute")


def test_budgets_of_memory_are_measured_and_written(page):
    said = run("memory_budget.py", "--layers", 3, "--write", page)
    shares = [float(share) for share in re.findall(r"50% .* MiB +(\S+)%", said)]
    assert len(shares) == 2 and max(shares) <= 50
    assert said.strip() in part(page.read_text(encoding="utf-8"), "memory-budget")


def test_overheads_are_measured_and_written(page):
    sizes = ["--sizes", 20, "--longest", 30]
    said = run("overheads.py", *sizes, "--rounds", 1, "--write", page)
    rows = [line.split()[0] for line in said.splitlines()[-2:]]
    assert rows == ["44", "64"]  # operators, with their gradients
    assert said.strip() in part(page.read_text(encoding="utf-8"), "overheads")


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="asks Linux to forget what was the most"
)
def test_memory_is_measured_and_written(page):
    small = "--only", "mnist_mlp", "--small", "--beside", "fluidlite"
    said = run("memory.py", *small, "--write", page)
    plans, processes = said.split(f"{'step':<16}{'fluidlite':>20}")
    rows = [line[:25].split() for line in plans.splitlines()]
    measured = [["step", "kernels"], ["mnist_mlp", "numpy"], ["mnist_mlp", "auto"]]
    measured.append(["mnist_mlp", "auto,", "C"])
    assert rows == measured[: len(rows)]
    assert len(rows) >= 2  # the last one where oneDNN is installed
    assert re.fullmatch(r"\nmnist_mlp +\d+ \(\d+\)\n", processes)
    written = part(page.read_text(encoding="utf-8"), "memory")
    assert all(line in written for line in said.splitlines())


def test_first_steps_are_measured_and_written(page):
    said = run(
        "first_steps.py", "--only", "fit_a_line", "--small", "--patience", 0, "--write", page
    )
    assert [line.split()[0] for line in said.splitlines()] == ["nothing", "step", "fit_a_line"]
    assert said.strip() in part(page.read_text(encoding="utf-8"), "first steps")


def test_small_products_are_measured_and_written(page, compiler):
    said = run("small_products.py", "--seconds", 0, "--write", page)
    assert "a small net, generated kernels in one call" in said
    assert said.strip() in part(page.read_text(encoding="utf-8"), "small products")


def test_products_are_measured_and_written(page):
    said = run("products.py", "--small", "--seconds", 0, "--write", page)
    assert re.findall(r"^2, 3, 4(?:, Y turned)? +(?:[\d.]+ +){5}[\d.]+$", said, re.MULTILINE)
    assert said.strip() in part(page.read_text(encoding="utf-8"), "products")


def test_heads_are_measured_and_written(page):
    said = run("heads.py", "--small", "--rounds", 1, "--seconds", 0, "--write", page)
    rows = [line.split()[0] for line in said.splitlines()]
    assert rows == ["step", "detector", "super_resolution", "mlp"]
    assert said.strip() in part(page.read_text(encoding="utf-8"), "heads")


def test_the_time_of_importing_is_measured():
    said = run("import_time.py", "--runs", 1)
    rows = "numpy", "fluidlite beyond it", "a script, plainly", "fluidlite run beyond it"
    assert re.fullmatch("".join(rf"{row} +-?[\d.]+ ms .*\n" for row in rows), said)


def test_the_time_of_the_example_is_measured():
    said = run("main_job.py", "--runs", 1, "--quick")
    assert re.fullmatch(r"quick +min [\d.]+ s .* accuracy [\d.]+ to [\d.]+ %\n", said)


def test_the_overhead_of_eager_operators_is_measured():
    said = run("eager_overhead.py", "--length", 3, "--repeat", 1)
    assert re.search(r"^tanh\(x\) +[\d.]+ +[\d.]+", said, re.M)


def test_the_first_steps_of_an_eager_loop_are_measured():
    said = run("eager.py", "--only", "perceptron", "gru", "--rounds", 1, "--steps", 1)
    assert re.search(r"^gru +[\d.]+ +[\d.]+ +[\d.]+", said, re.M)


def test_what_each_form_of_eager_dispatch_saves_is_measured():
    said = run("eager_forms.py", "--length", 3, "--repeat", 1)
    assert re.search(r"^tanh\(x\)( +[\d.]+){8}$", said, re.M)


def test_the_speed_of_files_is_measured(tmp_path):
    said = run("files.py", "--megabytes", 1, "--operators", 20, "--rounds", 1, "--folder", tmp_path)
    assert re.search(r"^checkpoint.load ", said, re.M)
    assert list(tmp_path.iterdir()) == []


def test_the_speed_of_readers_is_measured():
    said = run("readers.py", "--small", "--rounds", 1, "--steps", 2)
    assert re.search(r"^lenet by a thread +[\d.]+ ms a step, +[\d.]+%", said, re.M)
    assert said.count("one process") == 3


def test_steps_on_sequences_are_measured_beside_others():
    said = run("sequences.py", "ctc", "--rounds", 1)
    (line,) = re.findall(r"^ctc .*$", said, re.M)  # in the order in which they were measured
    assert re.search(r" fluidlite [\d.]+ ms", line)
    assert re.search(r" torch (ModuleNotFoundError|[\d.]+ ms \(fluidlite: [\d.]+ of it\))", line)


def test_a_killed_process_leaves_whole_files():
    said = run("kill_while_saving.py", "--kills", 2, "--megabytes", 1)
    assert "nothing lost, nothing half-written" in said


def test_endurance_finds_nothing_left_of_programs():
    printed = run("endurance.py", "--programs", 10)
    assert printed.count("; 0 of 40 alive") == 4


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="looks at memory as Linux has it")
@pytest.mark.parametrize("kind", ["onnx", "numpy"])
def test_exports_are_timed(kind, tmp_path):
    if kind == "onnx":
        pytest.importorskip("onnx", reason="needs the extra onnx")
    said = run("export.py", "--megabytes", 0.1, "--folder", tmp_path, "--kind", kind)
    assert re.fullmatch(rf"{kind}: 0\.\d MB in .* times the file\n", said)


def test_rewriting_is_timed_and_measured_against_its_size():
    said = run("rewriting.py", "--sizes", 200, 400)
    lines = [line.split() for line in said.splitlines()[1:]]
    assert [line[0] for line in lines[::2]] == ["chain", "optional", "wide", "training"]
    assert all(int(line[2]) > 0 for line in lines)


def test_every_benchmark_is_run_here():
    scripts = {
        path.name
        for path in FOLDER.glob("*.py")
        if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
    }
    told = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in scripts if f'run("{name}"' not in told.replace("\n        ", "")} == {
        "worker.py",  # which steps.py starts
        "sequence_worker.py",  # which sequences.py starts
        "distributed_worker.py",  # which distributed.py starts
    }


def test_training_in_two_processes_is_measured_beside_one():
    need_mpi()
    few = ["--jobs", 1, "--rounds", 1, "--steps", 1]
    said = run("distributed.py", "--only", "fit_a_line", *few)
    assert re.search(r"2 processes, together +[\d.]+ ms +[\d.]+ samples/s", said)
    assert re.search(r"sent: 56 bytes in 1 messages", said)


def test_processes_end_when_one_of_them_is_killed():
    need_mpi()
    said = run("kill_ranks.py", "--kills", 3, "--processes", 2, "--bound", 2)
    assert said.count("1 killed: all ended") == said.count("1 stopped: all ended") == 1


def test_numbers_of_few_bits_are_compared_with_float32(page):
    if not onednn.multiplies_int8():
        pytest.skip("needs oneDNN and a processor with VNNI")
    how = ["--small", "--rounds", 1, "--seconds", 0.02, "--only", "mobilenet, batch 1"]
    run("narrow.py", *how, "--write", page)
    written = part(page.read_text(encoding="utf-8"), "narrow")
    (row,) = re.findall(r"^\| \w+, .*", written, re.M)
    assert re.fullmatch(r"\| mobilenet, batch 1 \|( [\d.]+ \|){5}( [\d.]+% \|){3}", row)


def test_steps_on_jax_are_compared_with_those_by_hand():
    pytest.importorskip("jax", reason="needs fluidlite[jax]")
    said = run("xla.py", "--small", "--rounds", 1, "--seconds", 0, "--only", "fit_a_line")
    assert re.search(r"fit_a_line +[\d,.]+ +[\d,.]+ +[\d.]+", said)


def test_derivatives_are_compared_with_those_of_jax():
    pytest.importorskip("jax", reason="needs fluidlite[jax]")
    said = run("transform.py", "--small", "--rounds", 1, "--seconds", 0)
    derivatives = "hvp of an MLP", "jacobian, forward", "jacobian, reverse", "hessian", "50 steps"
    for name in (*derivatives, "gradients of each image"):
        assert re.search(name + r" +[\d,.]+ +[\d,.]+ +[\d.]+", said)


def test_second_derivatives_through_loops_are_compared_with_those_of_jax():
    pytest.importorskip("jax", reason="needs the extra jax")
    said = run("loops.py", "--size", 3, "--steps", 2, "--times", 2, "--only", "while_loop")
    rows = re.findall(r"^(\w+) +[\d.]+ +[\d.]+ +[\d.]+ ", said, re.M)
    assert rows == ["while_loop"]


def test_large_nets_are_measured_with_an_empty_folder_of_kernels_and_a_filled_one(page):
    few = ["--only", "unet", "--contestants", "cold", "warm", "--small", "--steady", 1]
    run("large.py", *few, "--write", page)
    lines = part(page.read_text(encoding="utf-8"), "large").splitlines()[-3:-1]
    assert [line.split()[:2] for line in lines] == [["unet", "cold"], ["unet", "warm"]]
    few = ["--only", "unet", "--contestants", "warm", "--small", "--steady", 1, "--threads", 2]
    run("large.py", *few, "--write", page)
    text = page.read_text(encoding="utf-8")
    assert "unet            warm" in part(text, "large, 2 threads")
    assert part(text, "large").splitlines()[-3:-1] == lines


def test_middle_nets_are_measured_on_numpy_alone_and_with_libraries(page):
    few = [
        "--only",
        "vision_transformer",
        "graph_convolution",
        "--contestants",
        "NumPy",
        "oneDNN, C",
    ]
    run("middle.py", *few, "--small", "--rounds", 1, "--steps", 1, "--warm", 0, "--write", page)
    lines = part(page.read_text(encoding="utf-8"), "middle").splitlines()[-3:-1]
    assert [line.split()[0] for line in lines] == ["vision_transformer", "graph_convolution"]


def test_linear_algebra_is_measured():
    said = run(
        "linalg.py", "--libraries", "fluidlite", "--sizes", "2x3", "1x5", "--seconds", "0"
    ).splitlines()
    assert [line.split()[0] for line in said[:4]] == ["2x3", "inv", "solve", "det"]
    assert len(said) == 22


def test_rows_at_numbers_are_measured_and_written(page):
    options = ["--libraries", "tensors", "plan", "--sizes", "tiny", "--seconds", "0", "--rounds", 1]
    run("irregular.py", *options, "--write", page)
    lines = part(page.read_text(encoding="utf-8"), "irregular").splitlines()
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("|")]
    assert rows[0].startswith("tiny: 7 numbers") and rows[2:5] == ["gather", "gather_nd", "scatter"]
    assert len(rows) == 20


def test_ways_of_sparse_products_are_measured():
    pytest.importorskip("scipy", reason="needs SciPy")
    said = run("sparse_products.py", "--small")
    assert re.search(r"^ +3 +2 +4( +[\d.]+){5}$", said, re.M)


def test_the_commands_of_all_tables_are_listed():
    said = run("all.py", "--list", "--only", "steps", "memory_budget", "--python", "other")
    assert said.splitlines() == [
        "python benchmarks/memory_budget.py --measure 12 --write",
        "python benchmarks/steps.py --python other --write",
    ]
    said = run("all.py", "--list", "--only", "eager", "--page", "docs/other.md")
    assert said.splitlines() == ["python benchmarks/eager.py --write docs/other.md"]


def test_nothing_is_measured_where_a_foreign_process_is_busy():
    before = PAGE.read_bytes()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            done = subprocess.run(
                [sys.executable, str(FOLDER / "all.py"), "--only", "products", "--watch", "1"],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        finally:
            busy.kill()
    assert done.returncode == 1
    assert done.stderr.startswith("the machine is not quiet: ")
    assert PAGE.read_bytes() == before


def test_a_table_stays_where_its_benchmark_fails_or_foreign_work_takes_time(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    script, page = tmp_path / "script.py", tmp_path / "page.md"
    table = importlib.import_module("all")
    page.write_text("old")
    script.write_text("import sys; open(sys.argv[1], 'w').write('new'); sys.exit(int(sys.argv[2]))")
    assert table.measured([str(script), str(page), "3"], page) == "it ended with 3"
    assert page.read_text() == "old"
    busy = iter((0.0, 100.0))
    with monkeypatch.context() as patched:
        patched.setattr(table.machine, "busy_seconds", lambda: next(busy))
        assert "foreign work took" in table.measured([str(script), str(page), "0"], page)
    assert page.read_text() == "old"
    monkeypatch.setattr(table.machine, "busy_seconds", lambda: 0.0)
    assert not table.measured([str(script), str(page), "0"], page)
    assert page.read_text() == "new"
