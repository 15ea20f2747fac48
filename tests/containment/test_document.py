"""docs/security.md tells what the tables tell."""

import hashlib
import pathlib
import subprocess

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


def test_the_programs_own_sha256_is_sha256(programs):
    """What a proof's fingerprints are made with, beside an implementation that everybody uses."""
    told = subprocess.run([programs / "sandbar-probe", "facts", "kernel"], capture_output=True, text=True, check=True).stdout
    expected = hashlib.sha256(pathlib.Path("/proc/version").read_bytes()).hexdigest()
    assert f"/proc/version {expected}\n" in told
