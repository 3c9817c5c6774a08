import pytest

from tests.model.small import small
from translator.errors import UserError
from translator.inspection.heads.names import Head, heads_of, listed, parse_heads


def test_names_are_read_and_written():
    model = small()
    heads = parse_heads(["dec.cross.1:5,0", "enc.self.0:1", "dec.cross.1:0"], model)
    assert heads == [Head("encoder", 0, 1), Head("cross", 1, 0), Head("cross", 1, 5)]
    assert listed(heads) == "enc.self.0:1 dec.cross.1:0,5"
    assert parse_heads(listed(heads).split(), model) == heads
    assert str(heads[2]) == "dec.cross.1:5"


def test_a_head_keeps_its_name_when_others_go():
    model = small()
    model.prune_heads({"decoder.0": [0, 2, 3, 4]})
    assert [str(head) for head in heads_of(model) if head.site == "decoder.0"] == ["dec.self.0:1", "dec.self.0:5"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dec.cross.1", "'dec.cross.1' names no heads: write KIND.LAYER:HEAD,HEAD, such as dec.cross.3:0,5"),
        ("cross.1:0", "'cross.1:0' names no heads"),
        ("enc.self.0:", "'enc.self.0:' names no heads"),
        ("enc.self.2:0", "enc.self.2:0: there is no such layer; enc.self has layers 0 to 1"),
        ("enc.self.1:6", "enc.self.1:6: there is no such head; those of enc.self.1 are 0, 1, 2, 3, 4, 5"),
        ("dec.cross.0:0", "dec.cross.0:0: there is no such head; those of dec.cross.0 are gone"),
    ],
)
def test_what_names_nothing_is_refused(name, message):
    model = small()
    model.prune_heads({"cross.0": range(6)})
    with pytest.raises(UserError, match=message):
        parse_heads(["enc.self.0:1", name], model)
