"""Tables from rows; what people wrote on the page stays."""

import json
from pathlib import Path

import pytest

from benchmarks.page import TITLES, page, read_rows, section
from benchmarks.tables import number, series
from tests.benchmarks import rows
from translator.errors import UserError

PAGE = """# Ours

Before.

<!-- measured: train -->
old
<!-- end: train -->

Between \\1.

<!-- measured: decode -->
<!-- end: decode -->
"""


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_measured_parts_are_replaced_and_prose_stays() -> None:
    found = page(PAGE, [rows.train()])
    assert "old" not in found
    assert found.startswith("# Ours\n\nBefore.\n\n<!-- measured: train -->\n| model |")
    assert "\n<!-- end: train -->\n\nBetween \\1.\n\n<!-- measured: decode -->\n<!-- end: decode -->\n" in found
    assert page(found, [rows.train()]) == found


def test_a_page_without_a_place_gets_one_at_its_end() -> None:
    found = page("# Ours\n", [rows.decode()])
    assert found.startswith("# Ours\n\n## Translating\n\n<!-- measured: decode -->\n")
    assert page(found, [rows.decode(beam=1)]).count("## Translating") == 1


def test_every_figure_has_its_command_and_machine() -> None:
    lines = section("train", [rows.train(), rows.train("small")])
    where = "2 threads on 8 cores, cpu (AVX9), translator 1.2, torch 3.4, python 5.6"
    assert lines[-1] == f"- `python x train`: median of 3 rounds, {where}"
    assert cells(lines[2])[:6] == ["tiny", "2,345,678", "32-true", "4,321", "2,160 to 8,642", "12.3"]
    assert cells(lines[2])[6:] == ["7.1%", "700", "300"]


def test_ways_to_translate_stand_side_by_side() -> None:
    lines = section("decode", [rows.decode(), rows.decode(cache=False, batch=1)])
    assert cells(lines[2]) == [
        "pocket", "5", "64", "on", "float32", "56.8", "28.4 to 114", "901", "2.0%", "500", "400", "abcdef",
    ]  # fmt: skip
    assert cells(lines[3])[2:4] == ["1", "off"]


def test_growth_is_a_line_a_series_with_its_exponent() -> None:
    flat = [rows.growth(n, 2.0) for n in (32, 8)]
    linear = [rows.growth(n, float(n), cache=False) for n in (8, 32)]
    assert [[row["length"] for row in one] for one in series([*flat, *linear])] == [[8, 32], [8, 32]]
    lines = section("growth", [*flat, *linear, rows.growth(8, 3.0, beam=5)])
    assert cells(lines[0])[5:7] == ["ms at 8", "ms at 32"]
    assert cells(lines[2]) == ["small", "on", "8", "1", "8", "2.00", "2.00", "0.00", "100", "4,096"]
    assert cells(lines[3])[5:8] == ["8.00", "32.0", "1.00"]
    assert cells(lines[4])[5:8] == ["3.00", "", "nan"]


def test_kinds_of_attention_stand_beside_the_first() -> None:
    lines = section("kinds", [rows.kinds("mha", 1.0), rows.kinds("mqa", 1.5)])
    assert cells(lines[3]) == [
        "small", "mqa", "7,654", "64", "1", "32", "800", "1.50", "0.75 to 3.00", "512", "4,096",
    ]  # fmt: skip


def test_peers_stand_beside_ours() -> None:
    lines = section(
        "peers-decode",
        [rows.peer("ours", 1.0), rows.peer("other", 2.5, same_outputs=None, versions={"python": "5.6", "engine": "7"})],
    )
    assert cells(lines[2])[2:5] == ["70.0 sentences a second", "35.0 to 140", "1.00"]
    assert cells(lines[2])[-2:] == ["87.5%", ""]
    assert cells(lines[3])[4:] == ["2.50", "80.0", "", ""]
    assert "median of 4 turns, 1 thread on 8 cores, python 5.6, engine 7" in lines[-1]
    assert lines[-2] == ""  # one command, one entry


def test_attention_is_a_line_a_rule_kernel_and_pass() -> None:
    fit = rows.attention(0, 0.0, lengths=[8, 16], seconds_exponent=1.5, peak_bytes_exponent=2.0)
    del fit["length"], fit["seconds"], fit["peak_bytes"]
    other = rows.attention(8, 0.25, rule="window", kernel="explicit")
    lines = section("attention", [rows.attention(8, 0.002), rows.attention(16, 0.004), fit, other])
    assert cells(lines[0]) == ["rule", "kernel", "pass", "ms at 8", "ms at 16", "exponent", "MB at 16", "exponent"]
    assert cells(lines[2]) == ["dense", "fused", "forward", "2.00", "4.00", "1.50", "16.0", "2.00"]
    assert cells(lines[3]) == ["window", "explicit", "forward", "250", "", "", "", ""]


@pytest.mark.parametrize(("value", "shown"), [(1234.5, "1,234"), (99.94, "99.9"), (9.876, "9.88"), (0.0123, "0.01")])
def test_numbers_have_the_digits_that_count(value: float, shown: str) -> None:
    assert number(value) == shown


def test_rows_are_read_and_mistakes_are_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps(rows.train())}\n\n{json.dumps(rows.decode())}\n")
    assert [row["kind"] for row in read_rows(file)] == ["train", "decode"]
    file.write_text(json.dumps(rows.train()) + "\n{\n")
    with pytest.raises(UserError, match=r"rows\.jsonl, line 2: not JSON"):
        read_rows(file)
    file.write_text('{"kind": "other"}\n')
    with pytest.raises(UserError, match=r"line 1: not a row .*train, decode, growth"):
        read_rows(file)
    with pytest.raises(UserError, match=r"cannot read .*nowhere"):
        read_rows(tmp_path / "nowhere")


def test_a_place_without_an_end_is_a_mistake() -> None:
    with pytest.raises(UserError, match="no <!-- end: train -->"):
        page("<!-- measured: train -->\n", [rows.train()])


def test_the_page_of_this_project_has_a_place_for_everything() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs/performance.md").read_text(encoding="utf-8")
    for kind in TITLES:
        assert text.count(f"<!-- measured: {kind} -->") == text.count(f"<!-- end: {kind} -->") == 1
