"""How well each layer, head and step aligns words.

Alignment error rate, precision and recall of hard links between words, by layer, head and the step at which a word is
read (where the decoder writes it, or one step later, where it reads it), beside the plain diagonal and a statistical
aligner. Rows with the word mean read the average of all heads of a layer, or of neighbouring layers. Gold links come
from one of

  --source F --target F --gold F     a line a pair, i-j sure and ipj possible, words counted at spaces and tabs
  --source F --target F --links F    single known words: a table with a heading and five columns (sentence, word, its
                                     position, translation, its position; tabs, from 0); judged is the share of them
                                     whose links all go to the right source word
  --source F --target F --agreement  nobody's: links that the statistical aligner finds in both directions are sure,
                                     those of one direction possible; to choose a reading with --store-best where
                                     no links are known (--aligner-text is what it learns from)
  --data pocket --split valid|test   a checkpoint that was trained on pocket, whose grammar knows the links
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from translator.cli.command import Command, table_or_json
from translator.cli.streams import say
from translator.errors import UserError, one_of

if TYPE_CHECKING:
    from translator.alignment.gold import Gold
    from translator.data.parallel import ParallelText


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add, given = parser.add_argument, parser.add_mutually_exclusive_group(required=True).add_argument
    add("--source", metavar="F", help="source lines, plain or .gz")
    add("--target", metavar="F", help="their translations")
    given("--gold", metavar="F", help="sure and possible links")
    given("--links", metavar="F", help="known word pairs")
    given("--agreement", action="store_true", help="agreement with the statistical aligner")
    given("--data", choices=["pocket"], help="take pairs and links from the checkpoint's own corpus")
    add("--one-based", action="store_true", help="the links of --gold count words from 1")
    add("--split", metavar="NAME", help="with --data: valid (the default), test, test_unseen")
    add("--reverse", metavar="DIR2", type=Path, help="a checkpoint of the other direction; joins the table")
    add("--symmetrize", metavar="M", help="with --reverse: intersection, union or grow-diag (all three)")
    add("--aligner-text", nargs=2, metavar=("SRC", "TGT"), help="what the statistical aligner learns from, too")
    add("--store-best", action="store_true", help="keep the best reading in the checkpoint as its default")
    add("--json", metavar="F", help="write all figures; - is stdout, in place of the table")


def _rate(found: argparse.Namespace) -> list[str]:
    """The table, and the files that were asked for."""
    _check(found)
    from translator.bundle import store_in_config
    from translator.data.parallel import ParallelText, read_parallel
    from translator.inference.translator import Translator
    from translator.inspection.alignment_table import check_reverse, measure_alignments

    if found.reverse:
        check_reverse(found.directory, found.reverse)
    text = read_parallel(*found.aligner_text) if found.aligner_text else ParallelText([], [])
    gold = _gold(found, text)
    translator = Translator.load(found.directory, device="cpu")
    reverse = Translator.load(found.reverse, device="cpu") if found.reverse else None
    known = None if found.agreement else (text.sources, text.targets)
    table = measure_alignments(translator, gold, reverse=reverse, method=found.symmetrize, aligner_text=known)
    if found.store_best:
        store_in_config(found.directory, alignment=table.best.to_config())
        say(f"{found.directory} now reads alignments from {table.best}", found.program)
    return table_or_json(table.lines(), table.to_dict(), found.json)


def _check(found: argparse.Namespace) -> None:
    """Refuse flags that do not go together, before anything heavy is loaded."""
    if found.data is None and None in (found.source, found.target):
        raise UserError("--gold, --links and --agreement tell about lines: add --source F and --target F")
    if found.data is not None and (found.source or found.target or found.one_based):
        raise UserError("--data brings its own pairs and links: leave out --source, --target and --one-based")
    if found.data is None and found.split is not None:
        raise UserError("--split is a part of --data: add --data pocket, or leave it out")
    if found.store_best and found.split not in (None, "valid"):
        raise UserError("the best reading is chosen on validation pairs: --store-best needs --split valid")
    if found.symmetrize is not None:
        from translator.alignment.symmetrization import METHODS

        one_of("--symmetrize", found.symmetrize, tuple(METHODS))
        if found.reverse is None:
            raise UserError("--symmetrize needs the links of two models: add --reverse DIR2")


def _gold(found: argparse.Namespace, text: "ParallelText") -> "Gold":
    from translator.alignment.gold import agreed_links, pocket_gold, read_gold, read_word_pairs
    from translator.bundle import read_config
    from translator.data.parallel import read_parallel

    if found.data is not None:
        return pocket_gold(read_config(found.directory), found.split or "valid")
    if found.links is not None:
        return read_word_pairs(found.source, found.target, found.links)
    if found.agreement:
        pairs = read_parallel(found.source, found.target)
        return agreed_links(pairs.sources, pairs.targets, text)
    return read_gold(found.source, found.target, found.gold, one_based=found.one_based)


COMMAND = Command(__doc__, _add_flags, _rate)
