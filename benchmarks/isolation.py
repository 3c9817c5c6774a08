"""Each measurement in a process of its own, so that memory and warm caches of one do not colour the next."""

import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from translator.errors import UserError

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def isolated(function: Callable[[_Job], _Result], job: _Job) -> _Result:
    """What ``function`` makes of ``job`` in a fresh interpreter; both must be picklable, exceptions come back.

    Raises:
        UserError: the process was ended from outside, as by a system that has run out of memory.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_obey_interrupts) as pool:
        try:
            return pool.submit(function, job).result()
        except BrokenProcessPool as error:
            raise UserError(
                "a measurement was ended from outside, probably for want of memory: measure a smaller model or batch"
            ) from error


def _obey_interrupts() -> None:
    """Ctrl-C reaches parent and child alike; the parent tells it, so the child just goes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
