"""Trains the networks of this folder with torch, and writes their losses to ``losses.json``.

``python tests/data/networks/record.py`` needs torch; ``tests/networks`` reads what it writes.
"""

import json
from pathlib import Path

import derivatives  # noqa: F401
import images  # noqa: F401
import sequences  # noqa: F401
import torch
from numbers_of_torch import NETWORKS, Numbers

SHIFT = 1e-7  #: of the start values


def recorded(train):
    exact, single = (train(Numbers(dtype)) for dtype in (torch.float64, torch.float32))
    moved = [train(Numbers(torch.float32, shift)) for shift in (SHIFT, -SHIFT)]
    spread = max(abs(a - b) for run in moved for a, b in zip(run, single))
    return {"float64": exact, "float32": single, "spread": spread}


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = {name: recorded(train) for name, train in sorted(NETWORKS.items())}
    path = Path(__file__).with_name("losses.json")
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, losses in found.items():
        print(f"{name}: {losses['float64'][0]:.4f} to {losses['float64'][-1]:.4f}, "
              f"spread {losses['spread']:.1e}")
