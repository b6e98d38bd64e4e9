"""The documentation as a site: built strictly, every link followed, every page opened."""

import functools
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import pytest

import browser

ROOT = Path(__file__).resolve().parents[1]
WORDS = {
    "append_backward": "Gradients",
    "recompute": "Gradients",
    "DynamicRNN": "Sequences of different lengths",
    "conv2d_transpose": "fluidlite.layers",
    "checkpoint": "Files",
    "learning rate": "Learning-rate schedules",
    "gradcheck": "Debugging",
    "FLAGS_check_nan_inf": "Debugging",
    "cotangent": "2. A tape",
    "softmax_with_cross_entropy": "fluidlite.layers",
}
BROWSERS = 2  # at once, when pages are opened
INDEX = "/search/search_index.json"
TITLES = ".md-search-result__article h1"
#: how many pixels of a page do not fit the window
BESIDE = "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    pytest.importorskip("mkdocs_jupyter", reason="needs the extra docs")
    pytest.importorskip("mkdocstrings_handlers.python", reason="needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": search, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """The links, pictures and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        self.targets += [found[key] for key in ("href", "src") if found.get(key)]


def test_every_link_and_picture_of_the_site_leads_somewhere(site):
    pages = {path: Page(path) for path in site.glob("**/*.html") if path.name == "index.html"}
    assert len(pages) > 150
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if not parts.path:
                there = path
            elif there.is_dir():
                there /= "index.html"
            if not there.exists():
                broken.append(f"{path.relative_to(site)}: {target}")
            elif parts.fragment and there in pages:
                name = urllib.parse.unquote(parts.fragment)
                if name not in pages[there].anchors and name != "__skip":
                    broken.append(f"{path.relative_to(site)}: {target}, no such anchor")
    assert not broken, "\n".join(broken[:30])


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site.  A page reads the whole index of the search, which takes longer than the
    page itself: those that are not searched get an index of one section.
    """

    protocol_version = "HTTP/1.1"
    short_index = False

    def log_message(self, *args):
        pass

    def do_GET(self):
        if self.path != INDEX or not self.short_index:
            super().do_GET()
            return
        index = json.loads(Path(self.translate_path(INDEX)).read_bytes())
        answer = json.dumps({**index, "docs": index["docs"][:1]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served."""

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site)
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def opened():
    if browser.executable() is None:
        pytest.skip("needs Chromium")
    return browser.Browser()


def test_every_page_opens_without_errors_and_fits_wide_and_narrow_windows(
    site, address, monkeypatch
):
    monkeypatch.setattr(Quiet, "short_index", True)
    pages = sorted(site.glob("**/index.html"))
    windows = [opened() for _ in range(BROWSERS)]
    try:
        with ThreadPoolExecutor(BROWSERS) as pool:
            parts = [pages[k::BROWSERS] for k in range(BROWSERS)]
            found = pool.map(functools.partial(what_is_wrong, site, address), windows, parts)
            wrong = [each for part in found for each in part]
    finally:
        for window in windows:
            window.close()
    assert not wrong, "\n".join(wrong[:20])


def what_is_wrong(site, address, window, pages):
    """A line for each page with errors, missing pictures, requests to elsewhere, or parts that do
    not fit the window.
    """
    wrong = []
    for path in pages:
        url = address + path.parent.relative_to(site).as_posix().removeprefix(".")
        url = url if url.endswith("/") else url + "/"
        window.visit(url)
        window.wait("[...document.images].every((each) => each.complete)")
        missing = window.ask(
            "[...document.images].filter((each) => !each.naturalWidth).map((each) => each.src)"
        )
        beside = []
        for width in (400, 1400):
            window.resize(width)
            beside.append(window.ask(BESIDE))
        away = [r for r in window.requests if not r.startswith((address, "data:", "blob:"))]
        if window.errors or missing or any(beside) or away:
            wrong.append(f"{url}: {window.errors} {missing} {beside} {away}")
    return wrong


def test_search_finds_what_it_is_asked_for(address):
    window = opened()
    try:
        for word, title in WORDS.items():
            window.visit(f"{address}?q={urllib.parse.quote(word)}")
            window.wait("document.querySelector('.md-search-result__link')")
            found = window.ask(
                f"[...document.querySelectorAll('{TITLES}')].map((e) => e.innerText)"
            )
            assert title in found, (word, found)
    finally:
        window.close()
