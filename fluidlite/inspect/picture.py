"""A program as a picture in a file: SVG, which this module writes itself, or PNG by matplotlib."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..ground.files import Transaction, write_text
from ..ground.quoting import markup
from ..ir.program import Program
from .exports import to_dot, to_mermaid
from .folding import VISIBLE
from .graph import ProgramGraph
from .html import to_html
from .layout import LINE, PlacedNode, Placing
from .scene import Link, Scene

#: role -> its colour, and that of its ground
_COLOURS = {
    "forward": ("#0072b2", "#e8f2f9"),
    "backward": ("#c2500a", "#fceee3"),
    "optimize": ("#0b7d5a", "#e4f4ee"),
    "learning rate": ("#9b4d82", "#f7eaf3"),
    "data": ("#5d6670", "#eef0f2"),
}
_EDGES = {"flow": "#99a3ad", "back": "#d58a57", "gradient": "#b8c4d0"}
_INK, _SOFT = "#1d2126", "#5d6670"
_CUT = 8.0  # of the corners of optimizers
_LARGEST = 20_000  # pixels of a side of a PNG

Point = tuple[float, float]


def draw(program: Program, path: str | os.PathLike[str], max_nodes: int = VISIBLE) -> None:
    """Write a picture of a program to a file.

    Forward operators run downwards on the left, backward operators upwards beside them, what
    updates parameters stands on the right.

    Args:
        program: what to draw.
        path: its ending says what is written: ``.svg``; ``.png``, which needs matplotlib; a page,
            ``.html``; the language of Graphviz, ``.dot``; that of Mermaid, ``.mmd``.
        max_nodes: what is more is folded, by role, name scope, layer and repeated part.

    Raises:
        ArgumentError: the file has another ending, or the first argument is no program.
        UnsupportedError: a ``.png`` without matplotlib.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.fc(x, size=2, act="relu")
    >>> fluid.inspect.draw(fluid.default_main_program(), "net.svg")
    """
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program to draw, got {program!r:.60} of type {type(program).__name__}"
        )
    if max_nodes < 1:
        raise ArgumentError(f"expected at least one node, got max_nodes={max_nodes}")
    ending = Path(path).suffix.lower()
    if ending == ".svg":
        text = to_svg(program, max_nodes)
        write_text(path, text, "xmlcharrefreplace")
    elif ending == ".png":
        _write_png(Placing(Scene(ProgramGraph(program), max_nodes)), path)
    elif ending in (".html", ".htm"):
        to_html(program, path, visible=max_nodes)
    elif ending == ".dot":
        write_text(path, to_dot(program))
    elif ending in (".mmd", ".mermaid"):
        write_text(path, to_mermaid(program, max_nodes) + "\n")
    else:
        raise ArgumentError(
            f"expected a file that ends in .svg, .png, .html, .dot or .mmd, got {str(path)!r}"
        )


def to_svg(program: Program, max_nodes: int = VISIBLE) -> str:
    """A picture of a program as SVG; arguments as of :func:`draw`.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> fluid.inspect.to_svg(fluid.default_main_program())[:4]
    '<svg'
    """
    placing = Placing(Scene(ProgramGraph(program), max_nodes))
    width, height = round(placing.width), round(placing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0.5L8 4L0 7.5Z" fill="#7d8791"/></marker>'
        "</defs>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for link in placing.links:
        points = _curve(placing, link)
        (a, b), (c, d), (e, f), (g, h) = [(round(x, 1), round(y, 1)) for x, y in points]
        dashes = ' stroke-dasharray="2 4"' if link.kind == "gradient" else ""
        arrow = "" if link.kind == "gradient" else ' marker-end="url(#arrow)"'
        parts.append(
            f'<path d="M{a},{b}C{c},{d} {e},{f} {g},{h}" fill="none" '
            f'stroke="{_EDGES[link.kind]}" stroke-width="1.3"{dashes}{arrow}/>'
        )
    for box in placing.boxes:
        parts += _svg_box(box)
    return "\n".join([*parts, "</svg>\n"])


def _svg_box(box: PlacedNode) -> list[str]:
    colour, ground = _COLOURS[box.node.role]
    left, top = round(box.x - box.width / 2, 1), round(box.y, 1)
    width, height = round(box.width, 1), round(box.height, 1)
    style = f'fill="{ground}" stroke="{colour}" stroke-width="1.3"'
    if box.node.role == "learning rate":
        style += ' stroke-dasharray="5 3"'
    parts = []
    if box.node.is_group:
        parts.append(
            f'<rect x="{left + 4}" y="{top + 4}" width="{width}" height="{height}" rx="4" {style}/>'
        )
    if box.node.role == "optimize":
        points = " ".join(f"{round(x, 1)},{round(y, 1)}" for x, y in _octagon(box))
        parts.append(f'<polygon points="{points}" {style}/>')
    else:
        radius = {"backward": 14, "data": round(height / 2, 1)}.get(box.node.role, 4)
        parts.append(
            f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="{radius}" {style}/>'
        )
    x = left + 13
    parts.append(
        f'<text x="{x}" y="{top + 20}" font-size="12" font-weight="600" fill="{_INK}">'
        f"{markup(box.node.title)}</text>"
    )
    for k, line in enumerate(box.node.lines):
        parts.append(
            f'<text x="{x}" y="{round(top + 36 + k * LINE, 1)}" font-size="10" fill="{_SOFT}">'
            f"{markup(line)}</text>"
        )
    return parts


def _octagon(box: PlacedNode) -> list[Point]:
    left, right = box.x - box.width / 2, box.x + box.width / 2
    top, bottom = box.y, box.y + box.height
    return [
        (left + _CUT, top),
        (right - _CUT, top),
        (right, top + _CUT),
        (right, bottom - _CUT),
        (right - _CUT, bottom),
        (left + _CUT, bottom),
        (left, bottom - _CUT),
        (left, top + _CUT),
    ]


def _curve(placing: Placing, link: Link) -> tuple[Point, Point, Point, Point]:
    """The ends of an edge and the two points that bend it."""
    a, b = placing.boxes[link.source], placing.boxes[link.target]
    if placing.is_aside(link):
        side = 1 if a.x < b.x else -1
        start = (a.x + side * a.width / 2, a.y + a.height / 2)
        end = (b.x - side * b.width / 2, b.y + b.height / 2)
        middle = (start[0] + end[0]) / 2
        return start, (middle, start[1]), (middle, end[1]), end
    start, end = (a.x, a.y + a.height), (b.x, b.y)
    if b.y < a.y:
        start, end = (a.x, a.y), (b.x, b.y + b.height)
    middle = (start[1] + end[1]) / 2
    return start, (start[0], middle), (end[0], middle), end


def _write_png(placing: Placing, path: str | os.PathLike[str]) -> None:
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon
    except ModuleNotFoundError:
        raise UnsupportedError(
            "a .png needs matplotlib, which is not installed: pip install matplotlib; a .svg does "
            "without"
        ) from None

    scale = min(1.5, _LARGEST / max(placing.width, placing.height))
    with matplotlib.rc_context({"font.family": "DejaVu Sans Mono"}):
        figure = Figure(figsize=(placing.width / 72, placing.height / 72), dpi=72 * scale)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, placing.width), ylim=(placing.height, 0))
        axes.axis("off")
        for link in placing.links:
            points = _curve(placing, link)
            path_of_edge = matplotlib.path.Path(points, [1, 4, 4, 4])
            style = "-" if link.kind == "gradient" else "-|>,head_length=5,head_width=2.5"
            dashes = (0, (2, 3)) if link.kind == "gradient" else "-"
            colour = _EDGES[link.kind]
            axes.add_patch(
                FancyArrowPatch(
                    path=path_of_edge, arrowstyle=style, color=colour, lw=1.1, ls=dashes
                )
            )
        for box in placing.boxes:
            colour, ground = _COLOURS[box.node.role]
            shown: dict[str, Any] = dict(facecolor=ground, edgecolor=colour, lw=1.2)
            if box.node.role == "learning rate":
                shown["ls"] = "--"
            left = box.x - box.width / 2
            radius = {"backward": 13.0, "data": box.height / 2.1}.get(box.node.role, 4.0)
            rounding = f"round,pad=0,rounding_size={radius}"
            for shift in (4, 0) if box.node.is_group else (0,):
                corner = (left + shift, box.y + shift)
                axes.add_patch(
                    FancyBboxPatch(corner, box.width, box.height, boxstyle=rounding, **shown)
                    if box.node.role != "optimize"
                    else Polygon([(x + shift, y + shift) for x, y in _octagon(box)], **shown)
                )
            words: dict[str, Any] = dict(parse_math=False, va="baseline")
            axes.text(
                left + 13,
                box.y + 20,
                box.node.title,
                fontsize=11,
                weight="bold",
                color=_INK,
                **words,
            )
            for k, line in enumerate(box.node.lines):
                height = box.y + 36 + k * LINE
                axes.text(left + 13, height, line, fontsize=9.5, color=_SOFT, **words)
        with Transaction() as files, files.open(path) as file:
            figure.savefig(file, format="png")
