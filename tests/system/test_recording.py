"""Recordings that begin in the middle: of an editor that two people work in, and where nothing but a CHECKPOINT tells what
was drawn. (Case T31.)"""

import json
import re
import time

import pytest
from cast import Cast
from people import settle
from test_shared import join, sandbar, start, terminal_of
from wire import CHECKPOINT, LIVE, STARTED, TTY, View

PATIENCE = 40
PLAYER = """
import sys, tty
tty.setcbreak(0)
print("play it")
for path in sys.argv[1:]:
    sys.stdin.read(1)
    sys.stdout.write(open(path).read())
    sys.stdout.flush()
sys.stdin.read(1)  # else the shell's prompt would stand in what was drawn last
"""


def turn(look, numbers):
    """LOOK, a map of fg, bg and flags, after SGR with NUMBERS, as tmux writes it."""
    numbers = [int(number or 0) for number in numbers]
    while numbers:
        number = numbers.pop(0)
        side = {3: "fg", 9: "fg", 4: "bg", 10: "bg"}.get(number // 10)
        if number == 0:
            look = {}
        elif side and number % 10 == 8:
            length = 2 if numbers[0] == 5 else 4
            look, numbers = look | {side: tuple(numbers[:length])}, numbers[length:]
        elif side:
            look = {key: value for key, value in look.items() if key != side} | ({} if number % 10 == 9 else {side: number})
        else:
            look = look | {number: True}
    return look


def cells(screen, rows, cols):
    """What is written in the first rows and columns, each character with its look. (Blanks behind a line's last character are told
    or not, as they came to be there.)"""
    found, look = [], {}
    for line in screen.tmux("capture-pane", "-p", "-e").split("\n")[:rows]:
        row = []
        for sequence, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
            if character:
                row.append((character, tuple(look.items())))
            else:
                look = turn(look, sequence.split(";"))
        row = [(character, () if character == " " else sorted(look, key=str)) for character, look in row[:cols]]
        while row and row[-1][0] == " ":
            row.pop()
        found.append(row)
    return found


def until_same(screen, size, expected, what):
    """The screen shows the cells EXPECTED() of a terminal of SIZE."""
    deadline = time.monotonic() + PATIENCE
    while (shown := cells(screen, *size)) != (wanted := expected()):
        assert time.monotonic() < deadline, f"{what}: {shown}, {wanted}"
        time.sleep(.1)


class Player:
    """Plays a recording in a window, which gets the recording's sizes, up to each marker of a name and no further."""

    def __init__(self, screen, cast, markers, folder):
        self.screen, self.steps, self.folder = screen, [], folder
        text = ""
        for _, code, data in cast.events:
            if code == "o":
                text += data
            elif code == "r":
                self.step(text, size=data)
                text = ""
            elif code == "m" and data in markers:
                self.step(text, marker=data)
                text = ""
        screen.resize(cast.header["term"]["cols"], cast.header["term"]["rows"])
        (folder / "player.py").write_text(PLAYER)
        screen.run(["python3", str(folder / "player.py"), *(str(path) for path, _, _ in self.steps)])
        screen.see("\nplay it\n")

    def step(self, text, size=None, marker=None):
        path = self.folder / f"part{len(self.steps)}"
        path.write_text(text)
        self.steps.append((path, size, marker))

    def play(self):
        """Yields each marker when what stands before it is drawn."""
        for _, size, marker in self.steps:
            self.screen.type("x", enter=False)
            if marker:
                yield marker
            if size:
                time.sleep(.5)  # what came before it is drawn in the old size
                self.screen.resize(*map(int, size.split("x")))


@pytest.mark.seconds(400)
def test_a_recording_that_begins_inside_an_editor(server, screens, made, tmp_path):
    """T31: two people work in vim; its recording is taken from a moment when it has long been drawn. It begins with the screen; anna's
    window changes its size in between; it ends with 3. At ten moments it shows, played, what both of them saw."""
    process = start(server, made, "vim.basic", "-u", "NONE", "-N", "-c", "syntax on", "-c", "set number", "story.c")
    anna = join(server, screens("anna", cols=80, rows=24), "anna", made)
    anna.see("~")
    anna.type("iint before = 1; // long ago", enter=True)
    bert = join(server, screens("bert", cols=100, rows=30), "bert", made)
    bert.see("long ago")
    begun = json.loads(sandbar(server, "info", made, "--json"))["seq"]
    size, seen = (23, 80), []
    for step in range(10):
        (anna, bert)[step % 2].type(f'char *text_{step} = "{"größer " * (step % 4)}"; /* {step} */', enter=True)
        if step == 5:
            anna.resize(90, 25)
            size = (24, 90)
            deadline = time.monotonic() + PATIENCE
            while (at := terminal_of(server, made, process))["cols"] != 90 or at["rows"] != 24:
                assert time.monotonic() < deadline
                time.sleep(.1)
            time.sleep(1)  # the screen that follows a new size
        for screen in (anna, bert):
            screen.see(lambda text, step=step: f"/* {step} */" in text and f"\n{step + 3:3}\n" in text)
        until_same(bert, size, lambda: cells(anna, *size), f"both see the same at {step}")
        seen.append((size, cells(anna, *size)))
        sandbar(server, "note", made, f"step-{step}")
    anna.keys("Escape")
    anna.type(":cq 3")
    anna.see(lambda text: text.rstrip().endswith("READY>"))

    cast = Cast(sandbar(server, "logs", "--cast", "--from", str(begun), made).encode())
    assert (cast.header["term"]["cols"], cast.header["term"]["rows"]) == (80, 23)
    assert cast.events[0][1] == "o" and "long ago" in re.sub(r"\x1b\[[0-9;]*m", "", cast.events[0][2]) and "text_0" not in cast.events[0][2]
    assert cast.of("r") == ["90x24"] and cast.of("x") == ["3"]
    assert {json.loads(data)["by"] for data in cast.of("sandbar.input")} == {"anna", "bert"}
    markers = [f"owner: step-{step}" for step in range(10)]
    assert [marker for marker in cast.of("m") if marker in markers] == markers
    player = Player(screens("player", cols=80, rows=23), cast, markers, tmp_path)
    for step, marker in enumerate(player.play()):
        assert marker == markers[step]
        size, shown = seen[step]
        until_same(player.screen, size, lambda shown=shown: shown, marker)


DRAWING = r"""
import sys, tty
tty.setraw(0)
out = sys.stdout
out.write("\033[?1049h\033[2J\033[1;1H\033[1;32mdrawn long ago, and never again\033[0m\033[5;20r")
for turn in range(40000):
    out.write(f"\033[{6 + turn % 12};{1 + 7 * (turn % 9)}H\033[3{turn % 8}m{turn:06d}\033[0m")
out.write("\033[23;1Hfinished\033[12;3H")
out.flush()
sys.stdin.read(1)
"""


def test_a_recording_where_only_a_checkpoint_reaches_back(start_server, screens):
    """Nothing is recorded, and the ring has turned more than once since a program drew its first line: how it was started is gone as
    well. The recording says what is missing, and begins with the screen as a CHECKPOINT has it; played it is what was live."""
    server = start_server("--ring", "512K", "--record", "0")
    with server.client() as client:
        session = client.create()
        process = client.start(session, "python3", "-c", DRAWING, terminal={"cols": 80, "rows": 23})
        view = View(keep=False)
        channel = client.attach(session, view)
        channel.wait(lambda view: view.length.get((process, TTY), 0) > 40000 * 20)
        settle(channel)
        live = screens("live", cols=80, rows=24)
        live.run(server.sandbar("attach", session))
        live.see("finished")
        text = sandbar(server, "logs", "--cast", session)
        cast = Cast(text.encode())
        first = client.attach(session, View(keep=False), after=0)
        first.wait_live()
        assert first.view.gaps and first.view.gaps[0][0] == 1, "the ring has not turned: the test shows nothing"
        assert CHECKPOINT in first.frames[:first.frames.index(LIVE)] and STARTED not in first.frames
        assert len(cast.of("o")) > 3, "it begins where it ends, not at the CHECKPOINT"
        assert cast.events[0][1] == "o" and "drawn long ago" in cast.events[0][2]
        assert (cast.header["term"]["cols"], cast.header["term"]["rows"]) == (80, 23)
        path = server.folder / "played"
        path.write_text(cast.output)
        played = screens("played", cols=80, rows=23)
        played.type(f"clear; cat {path}; sleep 1000")
        until_same(played, (23, 80), lambda: cells(live, 23, 80), "what is played")
        client.call("session.end", session=session)
