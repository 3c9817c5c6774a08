"""The flags of ``translate``. Standard library only, so that help and complaints come at once."""

import argparse
from collections.abc import Sequence
from dataclasses import fields

from translator.alignment.steps import ALIGN_STEPS
from translator.cli.parser import OneLineParser, head_numbers
from translator.device import DEVICES, PRECISIONS
from translator.errors import at_least
from translator.inference.options import FORMATS, ON_LONG, TranslateOptions

DESCRIPTION = """\
Translate line by line: one line in, one line out, in order, always. A blank line stays blank; LF alone ends a line.
When input pauses for a moment, what has come is translated, so the command can be talked to through a pipe.
Exit status: 0 all done, 2 a mistake in one line on stderr, 130 interrupted (whole lines only were written), 141 the
reader of the output has gone.
"""

OUTPUT_HELP = """\
output:
  text          translation; with --scores: score<TAB>translation; with --alignments: translation ||| 0-0 1-2
  text, n-best  id ||| translation ||| score [||| links], ids from 0; a blank line has one empty entry, and a line has
                fewer than K entries where the search found fewer; entries differ as piece sequences
  tsv           id<TAB>source<TAB>translation<TAB>score[<TAB>links], no header, tabs in the source become spaces
  json          an object a line: id, source, translation, score, tokens, alignment, finished, n_best
score = sum of log p / length^A over the produced pieces and the end of sentence; a cut translation ("finished": false)
has no end of sentence to count; a line that was split has the mean of its parts' scores.
Characters that the model has never seen are left out of the translation; a line of nothing else stays blank.
"""

LONG_HELP = """\
a longer source is split at the end of a sentence, else at a space, else anywhere, and its parts are joined with a
space; or cropped; or an error (split). Split cuts single words of more than 1000 characters"""

LINKS_HELP = """\
add links source-target between words (at spaces), from 0, read from cross-attention: hard (default) the source word
that each target word explains most of, and left-over source words beside it; soft i-j:weight for every weight between
words from 0.01; W every link of at least that weight. The end of sentence is left out and weights are renormalised
first"""


def parse(arguments: Sequence[str] | None = None) -> tuple[argparse.Namespace, TranslateOptions]:
    """Read the flags: everything about files and running, and the checked options of translating.

    Raises:
        UserError: an unknown flag or a value that does not fit.
    """
    found = build_parser().parse_args(arguments)
    if found.alignments_output is not None and found.alignments is None:
        found.alignments = "hard"
    at_least("workers", found.workers, 1)
    return found, TranslateOptions(**{field.name: getattr(found, field.name) for field in fields(TranslateOptions)})


def build_parser() -> argparse.ArgumentParser:
    """The parser, whose defaults are those of `TranslateOptions`."""
    parser = OneLineParser(prog="translate", description=DESCRIPTION, epilog=OUTPUT_HELP)
    _add_translating(parser)
    _add_writing_and_running(parser)
    parser.set_defaults(**{field.name: field.default for field in fields(TranslateOptions)})
    return parser


def _add_translating(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("files").add_argument
    add("-m", "--model", metavar="DIR", help="the bundle to use; by default the newest under checkpoints/")
    add("-i", "--input", metavar="FILE", default="-", help="source text, plain or .gz (default: stdin)")
    add("-o", "--output", metavar="FILE", default="-", help="translations, gzipped if named .gz (default: stdout)")
    add = parser.add_argument_group("search").add_argument
    add("-b", "--beam-size", type=int, metavar="N", help="hypotheses side by side (5); 1 is greedy")
    add("--n-best", type=int, metavar="K", help="candidates a line (1), at most the beam size")
    add("--length-penalty", type=float, metavar="A", help="rank by sum log p / length^A (1.0)")
    add("--no-repeat-ngram", type=int, metavar="N", help="never repeat N pieces in a row (0: allowed)")
    add = parser.add_argument_group("sampling").add_argument
    add("--sample", action="store_true", help="draw at random in place of searching; --n-best draws")
    add("--top-k", type=int, metavar="K", help="from the K most probable pieces (0: all)")
    add("--top-p", type=float, metavar="P", help="from the fewest pieces that hold P together (1.0)")
    add("--temperature", type=float, metavar="T", help="below 1 sharper, above 1 flatter (1.0)")
    add("--seed", type=int, metavar="N", help="the same seed draws the same (0)")
    add = parser.add_argument_group("limits (in subword pieces)").add_argument
    ratio = "a source of S pieces may become R*S + 10, end of sentence included (2.0)"
    add("--max-length-ratio", type=float, metavar="R", help=ratio)
    add("--max-length", type=int, metavar="N", help="never more than N pieces, end of sentence included")
    longest = "the longest source that is translated whole (512, or what the model's positions allow)"
    add("--max-input-length", type=int, metavar="N", help=longest)
    add("--on-long", choices=ON_LONG, help=LONG_HELP)


def _add_writing_and_running(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what is written").add_argument
    add("--format", choices=FORMATS, default="text", help="see below (text)")
    add("--scores", action="store_true", help="write the score before the translation")
    add("--alignments", nargs="?", const="hard", type=_alignment_mode, metavar="hard|soft|W", help=LINKS_HELP)
    add("--alignments-output", metavar="FILE", help="write the links there, line by line, alone")
    add("--align-layer", type=int, metavar="L", help="decoder layer from 0 (the bundle's best, or all of them)")
    heads = "heads to average (the bundle's best, or all)"
    add("--align-heads", type=head_numbers, metavar="0,3|mean|best", help=heads)
    step = "read the links of a word where the decoder writes it, or one step later, where it reads it (the bundle's "
    add("--align-step", choices=ALIGN_STEPS, help=f"{step}best, or output)")
    add("--subwords", action="store_true", help="links between pieces in place of words")
    add = parser.add_argument_group("running").add_argument
    add("--batch-tokens", type=int, metavar="N", help="padded source pieces times beam size in a batch (8192)")
    add("--device", choices=DEVICES, default="auto", help="(auto: a GPU where there is one)")
    numbers = "of the weights (float32); int8 is a CPU's fastest, its scores move a little, also with the batch"
    add("--precision", choices=PRECISIONS, default="float32", help=numbers)
    add("--threads", type=int, metavar="N", help="CPU threads (all cores; of each worker: 1)")
    side = "processes that translate side by side (1), for files: on a CPU as many as cores is the fastest"
    add("--workers", type=int, metavar="N", default=1, help=side)
    add("-q", "--quiet", action="store_true", help="only warnings and errors on stderr")


def _alignment_mode(text: str) -> str | float:
    """hard, soft or a number; the options complain about other words."""
    try:
        return float(text)
    except ValueError:
        return text
