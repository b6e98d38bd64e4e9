"""Driving blocks in a run of a program."""

from __future__ import annotations

from ..errors import FluidError
from ..ir.operator import located
from .driver import Driver
from .plan import Environment, Step
from .session import Session


def drive(session: Session, step: Step, env: Environment) -> None:
    """Run a control operator."""
    try:
        step.instance.execute(Driver(session, step, env))
    except FluidError as error:
        if step.body is not None:  # an operator inside has said what was wrong and where
            raise
        raise located(error, step.op, []) from error
