import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from translator.data.tables import read_csv, read_jsonl, read_parquet, read_tsv
from translator.errors import UserError

EN_DE = ("en", "de")


def written(path: Path, text: str) -> str:
    path.write_bytes(text.encode())
    return str(path)


# Tab-separated


def test_a_quote_in_a_tsv_is_text(tmp_path: Path):
    text = 'First\tfirst\n"Second\tsecond\nThird "x"\tthird\n5\' 9" tall\tfourth\nFifth"\tfifth\n'
    sources, targets = read_tsv(written(tmp_path / "a.tsv", text), EN_DE)
    assert sources == ["First", '"Second', 'Third "x"', "5' 9\" tall", 'Fifth"']
    assert targets == ["first", "second", "third", "fourth", "fifth"]


def test_a_header_names_the_columns_in_any_order(tmp_path: Path):
    path = written(tmp_path / "a.tsv", "\ufeffde\tid\ten\nHund\t1\tdog\n\t2\t\n")
    assert read_tsv(path, EN_DE) == (["dog", ""], ["Hund", ""])
    assert read_tsv(path, ("id", "de")) == (["1", "2"], ["Hund", ""])


def test_two_columns_need_no_header(tmp_path: Path):
    assert read_tsv(written(tmp_path / "a.tsv", "\ufeffdog\tHund\r\ncat\tKatze"), EN_DE) == (
        ["dog", "cat"],
        ["Hund", "Katze"],
    )


def test_more_columns_need_a_header(tmp_path: Path):
    path = written(tmp_path / "a.tsv", "1\tdog\tHund\n")
    with pytest.raises(UserError, match=r"a\.tsv, line 1: 3 columns and not a header with 'en' and 'de'"):
        read_tsv(path, EN_DE)


@pytest.mark.parametrize(("line", "tabs"), [("a\tb\tc", 2), ("a", 0), ("", 0)])
def test_a_row_with_another_number_of_tabs_is_named(tmp_path: Path, line: str, tabs: int):
    path = written(tmp_path / "a.tsv", f"dog\tHund\n{line}\ncat\tKatze\n")
    with pytest.raises(UserError, match=rf"a\.tsv, line 2: {tabs} tabs where line 1 has 1"):
        read_tsv(path, EN_DE)


def test_only_line_feed_ends_a_row(tmp_path: Path):
    path = written(tmp_path / "a.tsv", "a\u2028b\x0bc\rd\tA\x85B\n")
    assert read_tsv(path, EN_DE) == (["a\u2028b\x0bc\rd"], ["A\x85B"])


def test_an_empty_tsv_has_no_pairs(tmp_path: Path):
    assert read_tsv(written(tmp_path / "a.tsv", ""), EN_DE) == ([], [])


def test_a_table_may_be_gzipped(tmp_path: Path):
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b"dog\tHund\n"))
    assert read_tsv(str(path), EN_DE) == (["dog"], ["Hund"])


# Comma-separated


def test_csv_cells_are_text_and_nothing_else(tmp_path: Path):
    text = '\ufeffid,en,de\r\n1,NA,null\r\n2,007,1e5\r\n3,"a, ""b""",\r\n4,nan,True\r\n'
    assert read_csv(written(tmp_path / "a.csv", text), EN_DE) == (
        ["NA", "007", 'a, "b"', "nan"],
        ["null", "1e5", "", "True"],
    )


def test_line_ends_inside_a_csv_cell_are_spaces(tmp_path: Path):
    text = 'en,de\n"one\ntwo","eins\r\nzwei"\na\rb,"c\rd"\nx\u2028y,z\x85\n'
    assert read_csv(written(tmp_path / "a.csv", text), EN_DE) == (
        ["one two", "a b", "x\u2028y"],
        ["eins zwei", "c d", "z\x85"],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("en,de\na,b\na,b,c\n", "line 3: 3 cells where the header has 2"),
        ("en,de\na,b\na\n", "line 3: 1 cells where the header has 2"),
        ('en,de\na,"b"c\n', "line 2: not valid CSV"),
        ('en,de\n"a,b\nc,d\n', "line 3: not valid CSV"),
        ("en,fr\na,b\n", "line 2: no column 'de', only 'en', 'fr'; set data.source_column"),
    ],
)
def test_a_malformed_csv_names_the_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(UserError, match=rf"a\.csv, {message}"):
        read_csv(written(tmp_path / "a.csv", text), EN_DE)


# JSON lines


def test_jsonl_has_columns_or_a_translation(tmp_path: Path):
    rows = [{"en": "dog", "de": "Hund", "n": 1}, {"translation": {"de": "Katze", "en": "cat"}}, {"en": None, "de": ""}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    assert read_jsonl(written(tmp_path / "a.jsonl", text), EN_DE) == (["dog", "cat", ""], ["Hund", "Katze", ""])


def test_escapes_in_json_stay_in_their_line(tmp_path: Path):
    text = '{"en": "a\\nb\\r\\nc\\u2028d\\u0000e", "de": "x\\ud83dy\\ud83d\\ude80"}\n'
    assert read_jsonl(written(tmp_path / "a.jsonl", text), EN_DE) == (["a b c\u2028d e"], ["x\ufffdy🚀"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"en": "a"', "line 2: not valid JSON"),
        ('["a", "b"]', "line 2: not a JSON object"),
        ('{"en": "a", "fr": "b"}', "line 2: no column 'de', only 'en', 'fr'; set data.source_column"),
        ('{"en": "a", "de": 3}', "line 2: column 'de' holds int, not text"),
        ('{"translation": {"en": "a"}}', "line 2: no column 'de', only 'en'"),
    ],
)
def test_a_malformed_jsonl_names_the_line(tmp_path: Path, line: str, message: str):
    path = written(tmp_path / "a.jsonl", '{"en": "a", "de": "b"}\n' + line + "\n")
    with pytest.raises(UserError, match=rf"a\.jsonl, {message}"):
        read_jsonl(path, EN_DE)


# Parquet


def parquet(path: Path, columns: Mapping[str, object], **options: object) -> str:
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)
    return str(path)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), "str")])
def test_parquet_cells_are_text_whatever_holds_it(tmp_path: Path, kind: pyarrow.DataType):
    columns = {
        "n": [1, 2, 3],
        "de": pyarrow.array(["Hund", None, "a\r\nb"], kind),
        "en": pyarrow.array(["dog", "", "x\u2028y\0"], kind),
    }
    path = parquet(tmp_path / "a.parquet", columns)
    assert read_parquet(path, EN_DE) == (["dog", "", "x\u2028y "], ["Hund", "", "a b"])


def test_parquet_may_have_a_translation_and_no_rows(tmp_path: Path):
    rows = {"id": [1, 2], "translation": [{"de": "Hund", "en": "dog"}, {"de": None, "en": "cat"}]}
    assert read_parquet(parquet(tmp_path / "a.parquet", rows), EN_DE) == (["dog", "cat"], ["Hund", ""])
    empty = {"en": pyarrow.array([], "str"), "de": pyarrow.array([], "str")}
    assert read_parquet(parquet(tmp_path / "b.parquet", empty), EN_DE) == ([], [])


def test_other_columns_of_a_parquet_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = parquet(tmp_path / "a.parquet", {"en": ["dog"], "picture": [b"x" * 99], "de": ["Hund"]})
    read: list[object] = []
    batches = pyarrow.parquet.ParquetFile.iter_batches
    monkeypatch.setattr(
        pyarrow.parquet.ParquetFile,
        "iter_batches",
        lambda self, columns: read.append(columns) or batches(self, columns=columns),
    )
    assert read_parquet(path, EN_DE) == (["dog"], ["Hund"])
    assert read == [["en", "de"]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"en": ["a"], "fr": ["b"]}, "row 1: no column 'de', only 'en', 'fr'; set data.source_column"),
        ({"en": ["a"], "de": [3]}, "row 1: column 'de' holds int, not text"),
        ({"en": ["a", "b"], "de": [None, b"c"]}, "row 2: column 'de' holds bytes, not text"),
    ],
)
def test_a_malformed_parquet_names_the_row(tmp_path: Path, columns: Mapping[str, object], message: str):
    path = parquet(tmp_path / "a.parquet", columns)
    with pytest.raises(UserError, match=rf"a\.parquet, {message}"):
        read_parquet(path, EN_DE)


def test_row_numbers_go_on_over_the_groups_of_a_parquet(tmp_path: Path):
    columns = {"en": [str(i) for i in range(7)], "de": [None] * 7}
    assert read_parquet(parquet(tmp_path / "a.parquet", columns, row_group_size=3), EN_DE) == (columns["en"], [""] * 7)
    columns["de"][4] = b"x"
    with pytest.raises(UserError, match="row 5: column 'de' holds bytes, not text"):
        read_parquet(parquet(tmp_path / "b.parquet", columns, row_group_size=3), EN_DE)


def test_a_damaged_parquet_is_one_line(tmp_path: Path):
    path = Path(parquet(tmp_path / "a.parquet", {"en": ["dog" * 99], "de": ["Hund" * 99]}, compression="none"))
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole.replace(b"dogdog", b"dog\xff\xff\xff"), b""):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"a\.parquet: not a readable Parquet file \(\w+: [^\n]+\)$"):
            read_parquet(str(path), EN_DE)


def test_a_folder_is_no_parquet(tmp_path: Path):
    with pytest.raises(UserError, match=r"cannot read .*: no such file"):
        read_parquet(str(tmp_path), EN_DE)
