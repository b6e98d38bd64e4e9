"""The playground: its page in Chromium, its session, and the wheel in Pyodide's interpreter.

``FLUIDLITE_PYODIDE`` names a folder with a whole distribution of Pyodide, for the real thing.
``FLUIDLITE_NODE_MODULES`` names one with the npm package ``pyodide``, for the interpreter alone.
"""

import base64
import functools
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import threading
import urllib.parse
import zipfile
from pathlib import Path

import pytest

import browser

ROOT = Path(__file__).resolve().parents[1]
PLAYGROUND = ROOT / "docs" / "playground"
STAND_IN = ROOT / "tests" / "data" / "playground_interpreter.mjs"
HOSTILE = "print('</textarea><img src=x onerror=parent.bad=1><script>bad=1</script>')\n"
TEXT = """program (seed=0) {
  block 0 {
    data  x: float32[2]
    var   y: float32[2]

    y = exp(X=x)
  }
}
"""
PYTHON = """x = fluid.data("x", [2])
y = fluid.layers.square(x)
feed = {"x": np.array([3, 4], "float32")}
print("built")
"""


@pytest.fixture(scope="module")
def session():
    """The module that runs in the interpreter."""
    found = importlib.util.spec_from_file_location("session", PLAYGROUND / "session.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_python_program_is_answered_with_its_page_values_and_gradients(session):
    found = json.loads(session.answer("python", PYTHON, True))
    rows = {row[0]: row[1:] for row in found["rows"]}
    assert rows["x"] == ["[2]", "[3. 4.]", "[6. 8.]"]
    assert found["printed"] == "built\n"
    assert found["error"] == ""
    assert found["page"].startswith("<!DOCTYPE html>")


def test_a_program_as_text_runs_with_sampled_values_twice_the_same(session):
    once, again = (json.loads(session.answer("text", TEXT, True)) for _ in range(2))
    assert once == again
    (x, y) = once["rows"]
    assert y[2] == x[3] != ""  # the derivative of exp is exp


def test_without_gradients_none_are_appended(session):
    rows = json.loads(session.answer("text", TEXT, False))["rows"]
    assert [row[3] for row in rows] == ["", ""]


@pytest.mark.parametrize(
    "kind, source, words",
    [
        ("text", "nonsense", "ParseError: line 1"),
        ("python", "x = (", "SyntaxError"),
        ("python", "1 / 0", "ZeroDivisionError"),
        ("python", "fluid.layers.exp(3)", "Error"),
    ],
)
def test_a_mistake_is_answered_and_leaves_the_session_as_it_was(session, kind, source, words):
    found = json.loads(session.answer(kind, source, True))
    assert words in found["error"]
    assert found["page"] == ""
    assert json.loads(session.answer("python", PYTHON, True))["error"] == ""


class Served(http.server.SimpleHTTPRequestHandler):
    """Serves the playground with an interpreter beside it."""

    interpreter = None  # a folder with a distribution, else the stand-in
    wheel = b""
    recorded = b"{}"

    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *args):
        pass

    def translate_path(self, path):
        name = urllib.parse.urlsplit(path).path
        if self.interpreter is not None and name.startswith("/pyodide/"):
            return str(Path(self.interpreter) / name.removeprefix("/pyodide/"))
        if name == "/pyodide/pyodide.mjs":
            return str(STAND_IN)
        return super().translate_path(path)

    def do_GET(self):
        name = urllib.parse.urlsplit(self.path).path
        whole = {"/fluidlite.whl": self.wheel, "/pyodide/recorded.json": self.recorded}
        if name not in whole or (name.startswith("/pyodide/") and self.interpreter):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(whole[name])))
        self.end_headers()
        self.wfile.write(whole[name])


@pytest.fixture
def address():
    """Where the playground is served."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Served, directory=PLAYGROUND)
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/index.html?python=local"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def window():
    if browser.executable() is None:
        pytest.skip("needs Chromium")
    page = browser.Browser()
    yield page
    page.close()


@pytest.fixture
def recorded(session, monkeypatch):
    """Let the stand-in answer as the session does."""
    asked = [("python", PYTHON, True), ("text", TEXT, True), ("python", HOSTILE, True)]
    asked.append(("python", PYTHON.replace("square", "exp"), True))
    answers = {json.dumps(each, separators=(",", ":")): session.answer(*each) for each in asked}
    monkeypatch.setattr(Served, "recorded", json.dumps(answers).encode())


def hash_of(kind, source):
    """A program as an address has it."""
    return f"#{kind}={base64.urlsafe_b64encode(source.encode()).decode().rstrip('=')}"


def visit(window, url):
    window.visit(url, "document.body && document.body.dataset.ready")


def status(window, text, seconds=60):
    window.wait(f"document.getElementById('status').textContent == {json.dumps(text)}", seconds)


def test_a_program_of_the_address_is_shown_and_runs_after_a_click(window, address, recorded):
    visit(window, address + hash_of("python", PYTHON))
    assert window.ask("document.getElementById('source').value") == PYTHON
    assert not window.ask("document.getElementById('notice').hidden")
    assert window.text("#output") == ""
    assert not any("worker.js" in url for url in window.requests)
    window.click("#run")
    status(window, "Done")
    assert window.text("#output") == "built\n"
    assert "[6. 8.]" in window.text("#values")
    assert window.ask("document.getElementById('notice').hidden")
    window.wait("document.getElementById('page').onload === null")
    assert window.errors == []
    assert all(urllib.parse.urlsplit(url).hostname == "127.0.0.1" for url in window.requests)


def test_text_of_an_address_never_becomes_markup(window, address, recorded):
    visit(window, address + hash_of("python", HOSTILE))
    window.click("#run")
    status(window, "Done")
    assert "<script>bad=1</script>" in window.text("#output")
    assert window.ask("document.querySelectorAll('img, #output *, #values script').length") == 0
    assert window.ask("typeof bad") == "undefined"


@pytest.mark.parametrize("end", ["#python=%FF%FE", "#python=!!", "#python=_w", "#script=YQ", "#"])
def test_an_address_that_holds_no_program_leaves_the_example(window, address, end):
    visit(window, address + end)
    assert "fluid.layers.fc" in window.ask("document.getElementById('source').value")
    assert window.errors == []


def test_an_endless_loop_leaves_the_page_alive_and_is_stopped(window, address, recorded):
    visit(window, address + hash_of("python", "while True: pass\n"))
    window.click("#run")
    status(window, "Running")
    window.click("#stop")
    status(window, "Stopped")
    window.ask(f"document.getElementById('source').value = {json.dumps(PYTHON)}")
    window.click("#run")
    status(window, "Done")
    assert "[6. 8.]" in window.text("#values")


def test_values_follow_what_is_typed_and_so_does_the_address(window, address, recorded):
    visit(window, address + hash_of("python", PYTHON))
    window.click("#live")
    window.click("#run")
    status(window, "Done")
    changed = PYTHON.replace("square", "exp")
    window.ask(
        f"""(() => {{ const source = document.getElementById('source');
        source.value = {json.dumps(changed)}; source.dispatchEvent(new Event("input")); }})()"""
    )
    window.wait("document.getElementById('values').textContent.includes('54.5')")
    assert window.ask("location.hash") == hash_of("python", changed)


def test_what_is_typed_before_the_first_click_does_not_run(window, address, recorded):
    visit(window, address + hash_of("python", PYTHON))
    window.click("#live")
    window.ask("document.getElementById('source').dispatchEvent(new Event('input'))")
    window.ask("new Promise((done) => setTimeout(done, 900))")
    assert not any("worker.js" in url for url in window.requests)


def test_the_page_fits_wide_and_narrow_windows(window, address):
    visit(window, address)
    for width in (400, 1400):
        window.resize(width)
        assert window.ask("document.documentElement.scrollWidth") <= width


def test_the_address_cannot_name_another_interpreter():
    worker = (PLAYGROUND / "worker.js").read_text(encoding="utf-8")
    assert 'PLACES[place === "local" ? "local" : "public"]' in worker
    assert worker.count("await import(") == 1


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package as the bytes of a wheel."""
    path = tmp_path_factory.mktemp("wheel") / "fluidlite.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((ROOT / "fluidlite").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(ROOT))
    return path


@pytest.mark.skipif(
    "FLUIDLITE_PYODIDE" not in os.environ,
    reason="needs FLUIDLITE_PYODIDE, a folder with a whole Pyodide distribution",
)
def test_a_program_runs_in_pyodide(window, address, wheel, monkeypatch):
    monkeypatch.setattr(Served, "interpreter", os.environ["FLUIDLITE_PYODIDE"])
    monkeypatch.setattr(Served, "wheel", wheel.read_bytes())
    visit(window, address + hash_of("python", PYTHON))
    window.click("#run")
    status(window, "Done", 300)
    assert "[6. 8.]" in window.text("#values")


SCRIPT = """
import {{ loadPyodide }} from {package};
import {{ readFileSync }} from "node:fs";
const python = await loadPyodide();
python.unpackArchive(new Uint8Array(readFileSync({wheel})), "wheel");
console.log(python.runPython(readFileSync({program}, "utf8")));
"""
WITHOUT_NUMPY = r"""
import compileall, importlib, importlib.util, json, sys, types, warnings

(folder,) = importlib.util.find_spec("fluidlite").submodule_search_locations
package = types.ModuleType("fluidlite")
package.__path__ = [folder]
sys.modules["fluidlite"] = package  # without __init__, which reads NumPy
class Named(types.ModuleType):  # NumPy, which is only named by what is tried here
    __path__, __file__ = [], "/numpy/__init__.py"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
sys.modules["numpy"] = Named("numpy")
found = dict(compiles=bool(compileall.compile_dir(folder, quiet=2)))
support = importlib.import_module("fluidlite.ground.threading_support")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    reader = importlib.import_module("fluidlite.reader")
    numbers = lambda: iter(range(4))
    found["buffered"] = list(reader.buffered(numbers, 2)())
    found["mapped"] = list(reader.xmap_readers(lambda n: n * n, numbers, 2, 2)())
found["notices"] = [str(each.message) for each in caught]
found["processes"] = support.why_no_processes()
json.dumps(found)
"""


def test_parts_without_numpy_run_in_the_interpreter_of_the_npm_package(wheel, tmp_path):
    node, modules = shutil.which("node"), os.environ.get("FLUIDLITE_NODE_MODULES")
    if node is None or modules is None:
        pytest.skip("needs node, and FLUIDLITE_NODE_MODULES with the npm package pyodide")
    package = (Path(modules) / "pyodide" / "pyodide.mjs").resolve().as_uri()
    program, script = tmp_path / "program.py", tmp_path / "script.mjs"
    program.write_text(WITHOUT_NUMPY, encoding="utf-8")
    names = dict(package=package, wheel=str(wheel), program=str(program))
    script.write_text(SCRIPT.format(**{k: json.dumps(v) for k, v in names.items()}))
    done = subprocess.run([node, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["compiles"]
    assert found["buffered"] == [0, 1, 2, 3]
    assert found["mapped"] == [0, 1, 4, 9]
    assert len(found["notices"]) == 1
    assert "works without threads" in found["notices"][0]
    assert found["processes"] == "Python has no processes on emscripten"
