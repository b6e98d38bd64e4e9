"""Writes ``layers.svg``: the picture of the package's layers, from the contract in ``setup.cfg``.

python docs/layers.py
"""

import configparser
import html
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "layers.svg"
SECTION = "importlinter:contract:layers"
WIDTH, MARGIN, BOX, GAP, LETTER = 980, 16, 26, 8, 7.3


def layers():
    """The layers from the top down: the modules of each, and whether they may know each other."""
    config = configparser.ConfigParser()
    config.read(HERE.parent / "setup.cfg", encoding="utf-8")
    for line in filter(str.strip, config[SECTION]["layers"].split("\n")):
        yield [part.strip(" ()") for part in re.split("[|:]", line)], "|" not in line


def lines_of(modules):
    """The boxes of a layer in lines that fit: (module, x, width)."""
    lines, x = [[]], MARGIN
    for module in modules:
        width = len(module) * LETTER + 16
        if lines[-1] and x + width > WIDTH - MARGIN:
            lines.append([])
            x = MARGIN
        lines[-1].append((module, x, width))
        x += width + GAP
    return lines


def picture():
    """The drawing, as SVG."""
    y, parts = MARGIN, []
    for modules, acquainted in layers():
        lines = lines_of(modules)
        height = len(lines) * (BOX + GAP) + GAP
        edge = "#0072b2" if acquainted else "#c2500a"
        parts.append(
            f'<rect x="8" y="{y}" width="{WIDTH - 16}" height="{height}" rx="6" '
            f'fill="#f6f8fa" stroke="#d0d7de"/>'
        )
        for row, boxes in enumerate(lines):
            top = y + GAP + row * (BOX + GAP)
            for module, x, width in boxes:
                parts.append(
                    f'<rect x="{x:.0f}" y="{top}" width="{width:.0f}" height="{BOX}" rx="4" '
                    f'fill="white" stroke="{edge}"/><text x="{x + width / 2:.0f}" y="{top + 17}" '
                    f'text-anchor="middle">{html.escape(module)}</text>'
                )
        y += height + 6
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" '
        f'font-family="monospace" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{y + 10}" fill="white"/>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8", newline="\n")
