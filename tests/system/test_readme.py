"""The README's walk of a shared terminal, as three people follow it: what they type stands nowhere but in README.md."""

import re
import subprocess
import time

import pytest
from cast import Cast
from conftest import TOP

PATIENCE = 40
KEY = "C-]"


def commands():
    """The lines of code from where a shared terminal begins up to the end of the walk, without what is said behind them."""
    text = (TOP / "README.md").read_text()
    walk = text[text.index("**A shared terminal.**"):text.index("`sandbar doctor`")]
    return [re.sub(r"\s+# .*", "", line.strip()) for line in re.findall(r"^    (.*)$", walk, re.M)]


class Walk:
    """The README's lines, taken one after the other: none is left over, and none is passed over."""

    def __init__(self, environment, folder, session):
        self.lines, self.environment, self.folder, self.session = commands(), environment, folder, session

    def next(self, begins):
        line = self.lines.pop(0)
        assert line.startswith(begins), f"the README goes on with {line!r}, the test with {begins!r}"
        return line

    def run(self, begins):
        """In a shell that has S set as the README's has."""
        done = subprocess.run(["sh", "-ec", f"s={self.session}; {self.next(begins)}"], capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment, cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def type(self, begins, screen):
        screen.type(f"clear; s={self.session}")
        screen.type(self.next(begins))


@pytest.fixture
def environment(server):
    """What the README's `export` sets."""
    found = server.shell_environment() | {"SANDBAR_STATE": str(server.state), "TERM": "xterm-256color"}
    return found | {"PATH": f"{server.programs}:{found['PATH']}"}


@pytest.fixture
def windows(server, environment, screens):
    """Three, in which `sandbar` is found as the README says."""
    opened = [screens(name) for name in ("one", "anna", "bert")]
    for screen in opened:
        screen.type(f"export PATH={server.programs}:$PATH SANDBAR_STATE={server.state}")
    return opened


def shown(screen):
    """Its lines, but for the status line."""
    return [line.rstrip() for line in screen.text().split("\n")[:29] if line.strip()]


def test_the_walk_of_a_shared_terminal(server, environment, windows, screens, tmp_path):
    """A script works in a shell; anna joins, bert comes by a link; one drives at a time, asks and hands over; a note, a role;
    all of it is recorded, and played it shows what they saw."""
    made = subprocess.run(["sandbar", "new"], capture_output=True, text=True, check=True, timeout=PATIENCE, env=environment).stdout.strip()
    script, anna, bert = windows
    walk = Walk(environment, tmp_path, made)
    people = {"anna": anna, "bert": bert}

    walk.type("sandbar exec -t $s -- bash", script)
    script.see(":~$")
    script.type("echo work-$((1+1))")
    script.see("work-2")
    walk.type("sandbar attach --name anna $s", anna)
    anna.see("work-2")
    walk.type("sandbar attach $(sandbar share --role editor --name bert $s)", bert)
    bert.see("work-2")
    anna.see("3 here")

    walk.run("sandbar terminal $s --input driver")
    told = {"takes it": lambda: bert.see("anna drives"), "asks for it": lambda: anna.see("bert asks to drive"),
            "hands over": lambda: bert.see("you drive")}
    keys = re.findall(r"(\w+): \^\] (\w) ([a-z ]+?) ·", walk.next("# anna: ^]"))
    assert [does for _, _, does in keys] == list(told), keys
    for name, key, does in keys:
        people[name].keys(KEY, key)
        told[does]()
    bert.type("echo bert-$((1+1))")
    script.see("bert-2")

    listed = walk.run("sandbar who $s")
    assert re.search(r"owner .* anna", listed) and re.search(r"drives 1 .* bert", listed), listed
    walk.run("sandbar note $s")
    anna.see("from here on it worked")
    walk.run("sandbar role $s bert viewer")
    bert.see("you are viewer now")

    last = anna.see("bert-2\n")
    assert shown(script)[-2:] == shown(anna)[-2:] == shown(bert)[-2:], last
    live = shown(anna)
    walk.run("sandbar logs --cast $s > session.cast")
    cast = Cast((tmp_path / "session.cast").read_bytes())
    assert "owner: from here on it worked" in cast.of("m")
    assert walk.next("asciinema play") == "asciinema play session.cast"
    play(screens("player"), cast, tmp_path / "played", live)

    assert made in walk.run("sandbar ls")
    walk.run("sandbar end $s")
    for screen in windows:
        screen.see(lambda text: text.rstrip().endswith("READY>"))
    assert walk.lines == []


def play(screen, cast, path, live):
    """As a player does: its output, in a terminal of its size."""
    path.write_text(cast.output)
    screen.type(f"clear; cat {path}; sleep 1000")
    deadline = time.monotonic() + PATIENCE
    while shown(screen)[-len(live):] != live:
        assert time.monotonic() < deadline, (shown(screen), live)
        time.sleep(.1)
