"""Compute the same in different ways with a checkpoint's own weights, and tell how far the results lie apart.

python scripts/selfcheck.py checkpoints/pocket
python scripts/selfcheck.py checkpoints/pocket --exported pocket-ct2 --exported pocket-hf --json

An export also counts if it lies beside the bundle as NAME-ctranslate2 or NAME-huggingface. Exit status: 0 all holds,
1 something does not, 2 a mistake in one line on stderr.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter
from translator.cli.translate_flags import OneLineParser
from translator.errors import UserError, at_least

if TYPE_CHECKING:
    from translator.data.tokenizer import Tokenizer
    from translator.inspection.probes import Probes
    from translator.inspection.selfcheck import Finding, Subject

PROGRAM = "selfcheck.py"
BESIDE = ("ctranslate2", "huggingface")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status."""

    def work() -> int:
        found = build_parser().parse_args(arguments)
        at_least("--sentences", found.sentences, 1)
        lines, holds = _check(found.directory, found.exported, found.sentences, found.json)
        LineWriter("-").write(lines)
        return 0 if holds else 1

    return exit_status(PROGRAM, work)


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the bundle, such as checkpoints/pocket")
    parser.add_argument(
        "--exported", metavar="DIR2", type=Path, action="append", default=[], help="an export of it; may be repeated"
    )
    parser.add_argument("--sentences", type=int, default=8, metavar="N", help="how many pairs to try it on (8)")
    parser.add_argument("--json", action="store_true", help="one JSON object in place of lines")
    return parser


def _check(directory: Path, exported: Sequence[Path], sentences: int, as_json: bool) -> tuple[list[str], bool]:
    """What to print, and whether all holds."""
    from translator.bundle import load_bundle
    from translator.inspection.probes import find_probes
    from translator.inspection.selfcheck import run_checks, subject_of

    bundle = load_bundle(directory)
    for folder in exported:
        if not (folder / "config.json").is_file():
            raise UserError(f"there is no exported model at {folder}: give a folder that scripts/export.py wrote")
    probes = find_probes(bundle, sentences)
    subject = subject_of(bundle, probes)
    findings = run_checks(subject)
    folders = [*exported, *_beside(directory, exported)]
    findings += [_compare(subject, bundle.tokenizer, folder) for folder in folders]
    holds = all(finding.holds for finding in findings)
    return _as_json(directory, probes, findings, holds) if as_json else _as_text(probes, findings), holds


def _beside(directory: Path, exported: Sequence[Path]) -> list[Path]:
    """Exports that lie beside the bundle and have not been named."""
    named = {folder.resolve() for folder in exported}
    place = directory.resolve()
    found = [place.with_name(f"{place.name}-{kind}") for kind in BESIDE]
    return [folder for folder in found if (folder / "config.json").is_file() and folder not in named]


def _compare(subject: "Subject", tokenizer: "Tokenizer", folder: Path) -> "Finding":
    from translator.inspection.selfcheck import Finding
    from translator.interop.comparison import largest_difference

    difference, tolerance = largest_difference(subject.model, tokenizer, folder, subject.sources, subject.targets)
    return Finding(f"exported = ours ({folder})", difference, tolerance)


def _as_text(probes: "Probes", findings: Sequence["Finding"]) -> list[str]:
    width = max(len(finding.name) for finding in findings)
    lines = [f"{len(probes.sources)} pairs from {probes.origin}; largest differences:"]
    for finding in findings:
        verdict = "holds" if finding.holds else "FAILS"
        lines.append(f"{finding.name:{width}}  {finding.difference:8.1e}  of {finding.tolerance:.0e}  {verdict}")
    failed = sum(not finding.holds for finding in findings)
    return [*lines, f"{failed} of {len(findings)} checks fail" if failed else f"all {len(findings)} checks hold"]


def _as_json(directory: Path, probes: "Probes", findings: Sequence["Finding"], holds: bool) -> list[str]:
    checks = [
        # JSON has no infinity: where the pieces themselves differ, there is no number.
        {
            "name": finding.name,
            "difference": finding.difference if abs(finding.difference) < float("inf") else None,
            "tolerance": finding.tolerance,
            "holds": finding.holds,
        }
        for finding in findings
    ]
    values = {
        "checkpoint": str(directory), "pairs": len(probes.sources), "origin": probes.origin,
        "checks": checks, "holds": holds,
    }  # fmt: skip
    return [json.dumps(values, ensure_ascii=False)]


if __name__ == "__main__":
    sys.exit(main())
