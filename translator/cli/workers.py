"""Several processes that translate side by side, with one thread each unless more are asked for.

The matrices of a small model are too small to be shared by threads: on files, two processes of one thread do better
than one process of two.
"""

import multiprocessing
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from typing import TYPE_CHECKING

from translator.errors import UserError
from translator.inference.options import TranslateOptions
from translator.inference.translation import Translation

if TYPE_CHECKING:
    from translator.inference.translator import Translator

#: Lines that one process takes at a time: enough to sort by length, few enough that none idles long at the end.
CHUNK = 256
#: Chunks that are handed out for each process, so that none waits for the writer.
AHEAD = 3

Load = Callable[[], "Translator"]
Translated = tuple[list[str], list[Translation]]
_Waiting = queue.Queue[tuple[list[str], Future[list[Translation]]] | Exception | None]

_begun: list[tuple[Load, int]] = []  # of this process: one, what `_begin` was given


class Workers:
    """A pool of processes, each with its own copy of the model, whose results come back in the order of the lines."""

    def __init__(self, load: Load, count: int, threads: int = 1) -> None:
        """Start ``count`` processes; ``load`` gives each its translator, and must be a picklable callable.

        Where processes can be forked the model is loaded once and shared. That is safe only as long as this process
        has no threads of its own: else a child waits for ever for those that it did not inherit. So ``load`` must keep
        the library to one, input must be opened afterwards, and each process takes its ``threads`` once it is there.
        """
        self._count = count
        forked = sys.platform == "linux"
        ready = cache(load)
        if forked:
            ready()
        context = multiprocessing.get_context("fork" if forked else "spawn")
        given = (ready if forked else load, threads)
        self._pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=given)
        for started in [self._pool.submit(int) for _ in range(count)]:  # fork all of them now, not one by one
            started.result()

    def translate(self, lots: Iterable[list[str]], options: TranslateOptions) -> Iterator[Translated]:
        """Lots of lines -> chunks of lines and their translations, in order.

        Raises:
            UserError: as `Translator.translate_lines`, or a process has died.
        """
        waiting: _Waiting = queue.Queue(maxsize=AHEAD * self._count)
        # A thread of its own hands out: what is ready is answered even while the next lot is long in coming.
        threading.Thread(target=self._feed, args=(lots, options, waiting), daemon=True).start()
        try:
            while (next_one := waiting.get()) is not None:
                if isinstance(next_one, Exception):
                    raise next_one  # a dead process may be noticed when the next chunk is handed out
                yield next_one[0], next_one[1].result()
        except BrokenProcessPool as error:
            advice = "use fewer --workers or smaller --batch-tokens"
            raise UserError(f"a worker process died, perhaps for lack of memory: {advice}") from error

    def _feed(self, lots: Iterable[list[str]], options: TranslateOptions, waiting: _Waiting) -> None:
        first = 0
        try:
            for lines in lots:
                for start in range(0, len(lines), CHUNK):
                    chunk = lines[start : start + CHUNK]
                    waiting.put((chunk, self._pool.submit(_translate, chunk, options, first)))
                    first += len(chunk)
            waiting.put(None)
        except Exception as error:
            waiting.put(error)

    def close(self) -> None:
        """Stop all processes; chunks that have not begun are dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _begin(load: Load, threads: int) -> None:
    """Ready a new process. Ctrl-C reaches the whole group: the parent alone answers it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _begun.append((load, threads))


@cache
def _translator() -> "Translator":
    """This process's own, loaded with its first chunk, so that what is wrong with the bundle is told as ever."""
    import torch

    load, threads = _begun[-1]
    translator = load()
    torch.set_num_threads(threads)
    return translator


def _translate(lines: list[str], options: TranslateOptions, first: int) -> list[Translation]:
    return _translator().translate_lines(lines, options, first_line=first)
