"""The server of the tutorial answers every request, whatever it holds; no client holds it up."""

import contextlib
import json
import os
import socket
import types
from pathlib import Path

import numpy as np
import pytest

from pages import compiled, python_blocks

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorial" / "5-serving.md"
ROW = [0.0] * 64


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The names of the page, while its server serves."""
    names = vars(types.ModuleType("page"))
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("served"))  # contextlib.chdir is of Python 3.11
    try:
        for block in python_blocks(PAGE):
            if "urllib" not in block.code:
                exec(compiled(block, PAGE), names)
    finally:
        os.chdir(before)
    yield names
    names["server"].shutdown()
    names["server"].server_close()


def connected(page):
    return socket.create_connection(page["server"].server_address, timeout=20)


def answer(page, *pieces):
    """The status and the content that a server gives to a request."""
    with connected(page) as client:
        for piece in pieces:
            client.sendall(piece)
        client.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: client.recv(1 << 16), b""))
    head, _, content = said.partition(b"\r\n\r\n")
    return int(head.split()[1]), content


def post(length, body=b""):
    line = b"" if length is None else b"Content-Length: " + str(length).encode() + b"\r\n"
    return b"POST / HTTP/1.1\r\nHost: x\r\n" + line + b"\r\n" + body


def posted(body):
    return post(len(body), body)


@pytest.mark.parametrize("rows", [[ROW, ROW], ROW, []], ids=["two", "flat", "none"])
def test_rows_are_answered(page, rows):
    status, content = answer(page, posted(json.dumps(rows).encode()))
    assert (status, len(json.loads(content))) == (200, np.size(rows) // 64)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"nothing", b"\xff\xfe\x00", b"null", b"{}", b'"text"', b"[[1, 2], [3]]"),
        *(b"[1, 2, 3]", b"[" * 100_000, b"[" + b"9" * 5000 + b"]"),
        json.dumps([[None] * 64]).encode(),
        json.dumps([[float("nan")] * 64]).encode(),
        json.dumps([[10**300] * 64]).encode(),
        json.dumps([[10**400] * 64]).encode(),
        *(json.dumps([[each] * 64]).encode() for each in ({}, "1", True)),
    ],
    ids=lambda body: repr(body[:12]),
)
def test_what_is_no_rows_is_answered_with_400(page, body):
    status, content = answer(page, posted(body))
    assert status == 400
    assert b"expected rows of 64 numbers" in content


@pytest.mark.parametrize(
    "length, status",
    [
        *(
            (None, 411),
            (-1, 400),
            ("", 400),
            ("many", 400),
            ("1_0", 400),
            ("+5", 400),
            ("5.0", 400),
        ),
        *(("5.0", 400), (1 << 21, 413), ("9" * 19, 413), ("9" * 5000, 413)),
    ],
)
def test_a_length_that_is_missing_or_wrong_is_refused(page, length, status):
    assert answer(page, post(length, b"[]"))[0] == status


def test_a_request_that_is_cut_short_is_refused(page):
    assert answer(page, post(100, json.dumps([]).encode()))[0] == 400


def test_clients_that_say_nothing_do_not_stop_others(page):
    with contextlib.ExitStack() as slow:
        for beginning in (b"", b"POST / HT", post(50), post(5000, b"[")):
            slow.enter_context(connected(page)).sendall(beginning)
        assert answer(page, posted(json.dumps(ROW).encode()))[0] == 200


def test_a_client_that_falls_silent_is_let_go(page, monkeypatch):
    monkeypatch.setattr(page["Answer"], "timeout", 0.1)
    with connected(page) as client:
        client.sendall(post(50, b"["))
        assert client.recv(100) == b""


def test_the_server_goes_on_behind_all_of_them(page):
    assert answer(page, posted(json.dumps(ROW).encode())) == (200, b"[0]")
