"""The command ``fluidlite certify``: certificates of the gradients of programs in files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, FileError, GradientCheckError, UsageError
from ..ground.console import complain, say, say_json
from ..ground.files import write_text
from ..ground.options import end_with
from ..io.any_file import read_file
from ..io.contents import read
from .certificate import ONES, Certificate
from .certification import certify, check_certificate

_EXAMPLES = """\
The exit status is 0 when every gradient is certified, 1 when one is wrong or the certificate does
not hold, 2 when there was trouble, 3 when a part of the program is not certified.

examples:
  fluidlite certify train.txt -o train.certificate
  fluidlite certify train.txt --feed label=@label.npy
  fluidlite certify --check train.certificate train.txt
  fluidlite certify --check train.certificate --seed 7 train.txt     at other points
"""


def add_certify(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite certify`` takes."""
    end_with(parser, _EXAMPLES)
    parser.add_argument("path", metavar="FILE", help="a program, or the folder of a saved model")
    parser.add_argument("-o", "--output", metavar="REPORT", help="write the certificate")
    parser.add_argument("--check", metavar="REPORT", help="do the work of a certificate once more")
    parser.add_argument(
        "--feed",
        action="append",
        default=[],
        metavar="NAME=@FILE",
        help="data that random numbers do not fit, as .npy, or .npz:NAME; once for each",
    )
    parser.add_argument(
        "--no-grad",
        action="append",
        default=[],
        metavar="NAME",
        help="a variable at which gradients were told to stop; once for each",
    )
    parser.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="TARGET=NAME",
        help="what a target of gradients is weighted with, 1 for ones; once for each",
    )
    parser.add_argument("--seed", type=int, help="of what is drawn; 0, or the certificate's")
    parser.add_argument("--rounds", type=int, default=2, help="at how many points")
    parser.add_argument("--batch-size", type=int, default=2, help="what -1 is taken for")
    parser.add_argument("--json", action="store_true", help="print the result for scripts")
    parser.set_defaults(run=_certify)


def _certify(given: argparse.Namespace) -> int:
    contents = read_file(given.path)
    if contents.program is None:
        raise FileError(f"{given.path}: expected a program, found {contents.kind}")
    feed = dict(_fed(text) for text in given.feed)
    try:
        if given.check is not None:
            text = Path(given.check).read_text(encoding="utf-8", errors="backslashreplace")
            certificate = check_certificate(text, contents.program, feed, given.seed)
        else:
            certificate = certify(
                contents.program,
                feed,
                target_gradients={
                    target: None if weight == ONES else weight
                    for target, weight in (_pair(text, "--weight") for text in given.weight)
                },
                no_grad_set=given.no_grad,
                seed=given.seed or 0,
                rounds=given.rounds,
                batch_size=given.batch_size,
                raise_error=False,
            )
    except GradientCheckError as error:
        complain(str(error))
        return 1
    except ArgumentError as error:
        raise UsageError(f"{given.path}: {error}") from error
    if given.output is not None:
        write_text(given.output, str(certificate), "backslashreplace")
    if given.json:
        say_json(_as_json(certificate), indent=2)
    else:
        say(certificate.headline if given.output or given.check else str(certificate).rstrip())
    return 0 if certificate.ok else 1 if certificate.faults else 3


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"expected {option} NAME=VALUE, got {text!r}")
    return name, value


def _fed(text: str) -> tuple[str, Any]:
    """The name and the value that ``NAME=@FILE`` says."""
    name, value = _pair(text, "--feed")
    path, colon, member = value.removeprefix("@").rpartition(":")
    if not (colon and path.endswith(".npz")):
        path, member = value.removeprefix("@"), name
    arrays = read(path).variables
    if member in arrays:
        return name, arrays[member]
    if len(arrays) == 1:
        return name, next(iter(arrays.values()))
    raise UsageError(f"{path} holds {', '.join(arrays) or 'no array'}, and no {member!r}")


def _as_json(certificate: Certificate) -> dict[str, Any]:
    return {
        "ok": certificate.ok,
        "result": certificate.headline,
        "program": certificate.digest,
        "prime": f"2^{certificate.exponent} - 1",
        "degree": str(certificate.degree),
        "bits": certificate.bits,
        "gradients": [
            {
                "variable": each.variable,
                "gradient": each.gradient,
                "method": each.method,
                "culprits": list(each.culprits),
            }
            for each in certificate.gradients
        ],
        "not certified": [*certificate.idle, *certificate.untaken],
    }
