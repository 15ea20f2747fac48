"""What the documents say is what the programs do."""

import re
import subprocess

from conftest import TOP


def test_the_page_on_the_server_lists_its_flags(programs):
    """docs/operations.md holds the very table that `sandbard --help-markdown` prints."""
    printed = subprocess.run([programs / "sandbard", "--help-markdown"], capture_output=True, text=True, check=True, timeout=30).stdout
    assert printed.strip() in (TOP / "docs/operations.md").read_text(), "put the output of `sandbard --help-markdown` there"


def test_the_readme_uses_commands_that_exist(programs):
    """Every `sandbar WORD` of the README is a command that `sandbar --help` lists."""
    listed = subprocess.run([programs / "sandbar", "--help"], capture_output=True, text=True, check=True, timeout=30).stdout
    code = "\n".join(re.findall(r"^    .*$|`[^`]+`", (TOP / "README.md").read_text(), re.M))
    used = set(re.findall(r"\bsandbar ([a-z]+)\b", code))
    assert used, code
    assert all(re.search(rf"^\s+{word}\b", listed, re.M) for word in used), (used, listed)


def test_help_is_there_however_it_is_asked_for(programs):
    """`sandbar help`, `help COMMAND` and `COMMAND --help` say the same as `--help` does, and are no error."""
    def said(*words):
        return subprocess.run([programs / "sandbar", *words], capture_output=True, text=True, check=True, timeout=30).stdout

    assert said("help") == said("--help") != ""
    assert said("help", "run") == said("run", "--help") != said("help")


def test_the_walk_of_the_readme(server):
    """Somebody follows the README: a streamed command, a session that is broken off and read again, and its end."""
    shell = "\n".join([
        "set -e",
        "echo hello | sandbar run -- tr a-z A-Z",
        "s=$(sandbar new)",
        "sandbar exec $s -- sh -c 'echo kept > note'",
        "timeout -s INT 1 sandbar exec $s -- sh -c 'for i in $(seq 3); do echo $i; sleep 1; done' >/dev/null || true",
        "sandbar ps $s",
        "sandbar exec $s -- cat note",
        "sandbar ls",
        "sandbar end $s",
    ])
    environment = server.shell_environment() | {"SANDBAR_STATE": str(server.state)}
    environment["PATH"] = f"{server.programs}:{environment['PATH']}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("HELLO\n") and "kept\n" in done.stdout
