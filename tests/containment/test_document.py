"""docs/security.md tells what the tables tell."""

import document


def test_every_control_is_explained(programs):
    """A probe that names a control of which the page says nothing would prove nothing to its reader."""
    rows = document.table_of(programs / "sandbar-probe", "list", 7)
    assert {row[3] for row in rows} == set(document.CONTROLS)
    assert len({row[2] for row in rows}) == len(rows) >= 200


def test_the_page_holds_the_tables(programs):
    """The generated parts are as the programs print them."""
    text = document.PAGE.read_text()
    told = "run: python3 tests/containment/document.py build/release/bin/sandbar-probe"
    assert document.with_parts(text, programs / "sandbar-probe") == text, told
