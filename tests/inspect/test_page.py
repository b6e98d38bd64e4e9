"""The page in a browser, with real clicks and keys."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.inspect import to_html

from browser import Browser, executable
from specimens import deep, evil, lenet, lenet_feed, loop

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium is installed")

SELECTED = "document.querySelector('.node.selected .title')?.textContent"


@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.close()


@pytest.fixture
def page(browser, tmp_path):
    """A function that opens the page of a program; nothing may go wrong in it."""

    def opened(program, **more):
        path = tmp_path / "page.html"
        to_html(program, path, **more)
        browser.open(path)
        return browser

    yield opened
    assert browser.errors == []
    outside = [url for url in browser.requests if not url.startswith(("file:", "blob:"))]
    assert outside == []


def trained():
    lenet()
    return fluid.default_main_program()


def titles(page):
    return page.ask("[...document.querySelectorAll('.node .title')].map((n) => n.textContent)")


def test_a_click_on_a_gradient_operator_shows_its_forward_operator_and_the_reverse(page):
    page = page(trained())
    page.click(".node", "conv2d_grad")
    assert page.text("#panel h2") == "conv2d_gradbackward"
    assert "gradient of conv2d" in page.text("#panel .twins")
    page.click("#panel .twins button")
    assert page.wait(f"{SELECTED} === 'conv2d'")
    assert "its gradient: conv2d_grad" in page.text("#panel .twins")
    page.press("g")
    assert page.wait(f"{SELECTED} === 'conv2d_grad'")


def test_the_panel_shows_source_line_attributes_producers_and_consumers(page):
    page = page(trained())
    page.click(".node", "pool2d")
    text = page.text("#panel")
    for wanted in ("specimens.py:", "ksize", "[2, 2]", "Producers", "relu", "Consumers", "mul"):
        assert wanted in text
    assert "simple_img_conv_pool" in page.text("#panel .source") or "image" in page.text(
        "#panel .source"
    )
    page.click("#panel table button", "conv2d_0.tmp_2")
    assert page.text("#panel h2") == "conv2d_0.tmp_2variable"
    assert "relu_grad" in page.text("#panel")


NAMES = "[...document.querySelectorAll('.node .title')].map((n) => n.textContent)"


def test_a_group_unfolds_at_its_sign_and_folds_again(page):
    page = page(deep(12))
    assert "12 × layer" in titles(page)
    page.click(".node.folded .sign", "+")
    page.wait(f"{NAMES}.includes('layer_7')")
    assert "12 × layer" in page.text(".box .title")
    page.click(".box .sign")
    page.wait(f"{NAMES}.includes('12 × layer')")
    assert "layer_7" not in titles(page)


def test_a_double_click_and_a_key_unfold(page):
    page = page(deep(12))
    page.click(".node.folded", "12 × layer", count=2)
    page.wait(f"{NAMES}.includes('layer_7')")
    page.click(".node.folded", "layer_7")
    page.press("Enter")
    page.wait(
        "[...document.querySelectorAll('.box .title')].some((n) => n.textContent === 'layer_7')"
    )
    page.press("f")
    page.wait(f"{NAMES}.includes('layer_7')")


def test_search_finds_names_and_goes_there_through_folded_groups(page):
    page = page(deep(12))
    assert "fc_14.tmp_0" not in str(titles(page))
    page.press("/")
    page.type("fc_14.tmp_0")
    page.wait("document.querySelectorAll('#results li').length > 1")
    page.press("Enter")
    page.wait("document.querySelector('#panel h2')?.textContent.startsWith('fc_14.tmp_0')")
    assert page.wait(SELECTED)


def test_arrow_keys_follow_the_values(page):
    page = page(trained())
    page.click(".node", "pool2d")
    page.press("ArrowDown")
    assert page.wait(f"{SELECTED} === 'mul'")
    page.press("ArrowUp")
    assert page.wait(f"{SELECTED} === 'pool2d'")
    page.press("Escape")
    assert page.wait("!document.querySelector('.node.selected')")


def test_dragging_and_the_wheel_move_and_scale(page):
    page = page(trained())
    where = "document.querySelector('.world').getAttribute('transform')"
    before = page.ask(where)
    page.drag((40, 300), (140, 380))
    moved = page.wait(f"{where} !== {before!r} && {where}")
    assert moved.rpartition(" ")[2] == before.rpartition(" ")[2]
    page.wheel(300, 300, -240)
    page.wait(f"{where}.split('scale')[1] !== {moved!r}.split('scale')[1]")
    page.click("#fit")
    page.wait(f"{where} === {before!r}")


def test_dark_mode_follows_the_system_and_the_button(page, browser):
    browser.is_dark(True)
    page = page(trained())
    theme = "document.documentElement.dataset.theme"
    assert page.ask(theme) == "dark"
    page.click("#theme")
    assert page.ask(theme) == "light"
    browser.is_dark(False)


def test_the_keys_are_told(page):
    page = page(trained())
    page.press("?")
    assert page.wait("document.getElementById('help').open")
    page.click("#help button")
    assert page.wait("!document.getElementById('help').open")


def test_values_of_a_traced_run_are_shown(page):
    program = trained()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    page = page(program, trace=exe.trace(program, lenet_feed()))
    page.click(".node", "conv2d")
    assert "mean" in page.text("#panel .value")
    assert page.ask("document.querySelectorAll('.histogram rect').length") == 24
    assert page.ask("document.querySelector('canvas.image').width") == 12


def test_what_is_not_finite_is_marked(page):
    x = fluid.data("x", [1, 2], "float32")
    fluid.layers.sqrt(x)
    exe = fluid.Executor()
    trace = exe.trace(feed={"x": np.full([1, 2], -1, "float32")})
    page = page(fluid.default_main_program(), trace=trace)
    assert page.text(".node .bad") == "not finite"


@pytest.fixture
def stepped(browser, tmp_path):
    """The page that a debugger writes behind the second of four operators, and it."""
    x = fluid.data("x", [1, 2], "float32")
    square = fluid.layers.square(fluid.layers.scale(x, scale=-2.0))
    fluid.layers.sqrt(fluid.layers.scale(square, scale=-1.0), name="root")
    feed = {"x": np.array([[1, 3]], "float32")}
    with fluid.inspect.Debugger(fluid.Executor(), feed=feed) as debugger:
        debugger.go()
        debugger.back(2)
        debugger.to_html(tmp_path / "run.html", title="a run")
    browser.open(tmp_path / "run.html")
    yield browser
    assert browser.errors == []


SLIDE = """(() => {
  const slider = document.getElementById("step");
  slider.value = %d;
  slider.dispatchEvent(new Event("input"));
})()"""


def test_a_slider_goes_through_the_run_of_a_debugger(stepped):
    page = stepped
    assert page.text("#stepped").startswith("2 of 4: square wrote square_0")
    assert page.ask("document.querySelector('.node .bad')") is None
    page.ask(SLIDE % 4)
    assert page.text("#stepped").startswith("4 of 4: sqrt wrote")
    assert page.text(".node .bad") == "not finite"
    assert page.wait(f"{SELECTED} === 'sqrt'")
    page.press("[")
    assert page.text("#stepped").startswith("3 of 4: scale")
    assert page.ask("document.querySelector('.node .bad')") is None
    page.click("#back")
    page.click("#back")
    assert page.wait(f"{SELECTED} === 'scale'")
    assert "mean -4" in page.text("#panel")
    page.ask(SLIDE % 0)
    assert page.text("#stepped") == "0 of 4"
    page.press("[")
    assert page.text("#stepped") == "0 of 4"


def test_a_variable_stays_selected_while_its_value_changes(browser, tmp_path):
    x = fluid.data("x", [1], "float32")
    for _ in range(3):
        fluid.layers.increment(x)
    program = fluid.default_main_program()
    trace = fluid.Executor().trace(program, {"x": np.array([7], "float32")})
    to_html(program, tmp_path / "page.html", trace=trace)
    browser.open(tmp_path / "page.html")
    number = [v.name for v in program.list_vars()].index("x")
    browser.ask(f"view.select({{ variable: {number} }})")
    for at, value in (3, 10), (1, 8), (0, 7):
        browser.ask(SLIDE % at)
        assert browser.text("#panel h2").startswith("x")
        rows = browser.ask("[...document.querySelectorAll('#panel tr')].map((r) => r.textContent)")
        assert f"max{value}" in rows
    assert browser.errors == []


def test_a_page_without_a_run_has_no_slider(page):
    page = page(trained())
    assert page.ask("document.getElementById('steps').hidden") is True


def test_loops_are_drawn_inside_each_other(page):
    loop()
    page = page(fluid.default_main_program())
    assert "while (block 1)" in page.text(".box .title")
    assert "while" in titles(page)


def test_nothing_of_a_program_runs(page):
    page = page(evil(), title="<script>document.title='evil'</script>")
    for number in range(3):
        page.click(".node") if not number else page.press("ArrowDown")
        assert "scale" in page.text("#panel") or "script" in page.text("#panel")
    page.press("/")
    page.type("script")
    page.wait("document.querySelectorAll('#results li').length > 1")
    assert page.ask("document.title") == "<script>document.title='evil'</script>"
    assert page.ask("document.querySelectorAll('img').length") == 0


def test_a_page_of_five_thousand_operators_opens_and_pans(page):
    """... for it draws few of them, wherever it stands."""
    page = page(deep(295))
    assert page.ask("document.querySelectorAll('.node').length") <= 300
    page.ask(
        """(async () => {
          const world = document.querySelector(".world");
          for (let k = 0; k < 30; k += 1) {
            world.setAttribute("transform", `translate(${k * 7} ${k * 5}) scale(0.8)`);
            await new Promise(requestAnimationFrame);
          }
        })()"""
    )
    assert page.ask("document.querySelectorAll('.node').length") <= 300
    page.click(".node.folded .sign", "+")
    page.wait(f"{NAMES}.includes('layer_200')")
    page.press("u")
    assert "more than" in page.text("#notice")


def test_an_empty_program_has_a_page(page):
    page = page(fluid.Program())
    assert titles(page) == []
