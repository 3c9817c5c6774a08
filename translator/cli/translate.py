"""The command ``translate``. See `translator.cli.translate_flags` for its flags."""

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from translator.cli.command import exit_status, messages_on_stderr
from translator.cli.streams import LOT, LineReader, LineWriter, open_input, refuse_same_file
from translator.cli.translate_flags import parse
from translator.errors import UserError
from translator.inference.options import TranslateOptions

if TYPE_CHECKING:
    from translator.inference.translation import Translation
    from translator.inference.translator import Translator

Engine = Callable[[Iterator[list[str]]], "Iterator[tuple[list[str], list[Translation]]]"]

log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None, *, lot: int = LOT) -> int:
    """Run the command -> exit status; ``lot`` is the number of lines that are read before they are sorted."""

    def work() -> None:
        found, options = parse(arguments)
        with messages_on_stderr("translate", logging.WARNING if found.quiet else logging.INFO):
            _run(found, options, lot)

    return exit_status("translate", work, "interrupted; the lines written so far are whole")


def _run(found: argparse.Namespace, options: TranslateOptions, lot: int) -> None:
    targets = [found.output] + ([found.alignments_output] if found.alignments_output else [])
    for target in targets:
        refuse_same_file(found.input, target)
    if len(targets) == 2 and os.path.abspath(targets[0]) == os.path.abspath(targets[1]):
        raise UserError("--output and --alignments-output name the same file")
    source = open_input(found.input)
    with ExitStack() as stack:
        translate = _engine(found, options, stack)
        from translator.cli.formats import Layout, lines_of, link_lines
        from translator.inference.translator import warn_of_cuts

        writer, *links = [stack.enter_context(closing(LineWriter(target))) for target in targets]
        layout = Layout.of(options, found.format, found.scores, links_inline=not links)
        reader = LineReader(source, "standard input" if found.input == "-" else found.input, lot)
        stack.enter_context(_memory_told(options))
        started, done, cut = time.monotonic(), 0, 0
        for lines, translations in translate(reader.lots()):
            numbered = enumerate(zip(translations, lines, strict=True), done)
            writer.write([line for index, (t, text) in numbered for line in lines_of(t, index, text, layout)])
            for file in links:
                file.write([line for t in translations for line in link_lines(t, layout)])
            done += len(lines)
            cut += sum(not t.finished for t in translations)
    warn_of_cuts(cut, done)
    log.info("%d lines in %.1f s", done, time.monotonic() - started)


def _engine(found: argparse.Namespace, options: TranslateOptions, stack: ExitStack) -> Engine:
    """What turns lots of lines into translations: this process, or several."""
    load = _loader(found)
    if found.workers > 1:
        from translator.cli.workers import Workers

        workers = stack.enter_context(closing(Workers(load, found.workers, found.threads or 1)))
        return lambda lots: workers.translate(lots, options)
    translator = load()

    def translate(lots: Iterator[list[str]]) -> "Iterator[tuple[list[str], list[Translation]]]":
        done = 0
        for lines in lots:
            yield lines, translator.translate_lines(lines, options, first_line=done)
            done += len(lines)

    return translate


@contextmanager
def _memory_told(options: TranslateOptions) -> Iterator[None]:
    """Tell what to do when memory runs out."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        fewer = max(options.batch_tokens // 4, 1)
        raise UserError(f"not enough memory for a batch; try --batch-tokens {fewer}") from error


def _loader(found: argparse.Namespace) -> "Callable[[], Translator]":
    """Loads the bundle, by one thread where several processes are forked from this one; see `Workers`."""
    from translator.bundle import newest_bundle
    from translator.inference.translator import Translator

    directory = found.model
    if directory is None:
        directory = newest_bundle()
        log.info("using the newest model, %s", directory)
    threads = 1 if found.workers > 1 else found.threads
    return partial(Translator.load_frozen, directory, found.device, found.precision, threads)


if __name__ == "__main__":
    sys.exit(main())
