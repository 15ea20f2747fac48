"""What a late viewer is shown, drawn by a real terminal emulator: tmux shows the rows, cursor and modes that the VT core holds."""

import base64
import glob
import json
import os
import subprocess
import time

import pytest

from conftest import BUILT, TOP

DUMP = BUILT.parent / "tests/terminal/terminal_dump"
RECORDINGS = sorted(glob.glob(str(TOP / "tests/terminal/recordings/*.bin")))
SIZE = (80, 24)
MOMENTS = (3, 5, 8)  # of ten
STATE = ("#{cursor_x} #{cursor_y} #{alternate_on} #{scroll_region_upper} #{scroll_region_lower} #{mouse_button_flag} #{mouse_sgr_flag} "
         "#{keypad_cursor_flag} #{insert_flag} #{wrap_flag} #{cursor_flag} #{origin_flag}")
MODES = {"keys": 1 << 2, "insert": 1 << 0, "wrap": 1 << 5, "cursor": 1 << 7, "origin": 1 << 4}  # bits of the core's
MODES_TOLD = ("keys", "insert", "wrap", "cursor", "origin")
STORY = (b"first\r\nsecond\x1b[?1049h\x1b[?1002h\x1b[?1006h\x1b[?1h\x1b[5;20r\x1b]2;title\x07\x1b(0\x1b[8;4Hlqqk"
         b"\x1b[31mred\x1b[?6h\x1b[4;7H\x1b[4hinserted")


class Emulator:
    """A tmux server; each text is drawn in a window of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.base = ["tmux", "-S", str(folder / "socket"), "-f", "/dev/null"]
        self.count = 0
        self.tmux("new-session", "-d", "-x", str(SIZE[0]), "-y", str(SIZE[1]), "sleep 1000")
        self.tmux("set", "-g", "status", "off")

    def tmux(self, *argv):
        done = subprocess.run([*self.base, *argv], capture_output=True, timeout=30, check=True, env=os.environ | {"LANG": "C.UTF-8"})
        return done.stdout.decode()

    def draw(self, text):
        self.count += 1
        path, window = self.folder / f"text{self.count}", f":{self.count}"
        path.write_bytes(text)
        self.tmux("new-window", "-d", "-t", window, f"stty raw -echo; cat {path}; touch {path}.done; sleep 1000")
        self.tmux("resize-window", "-t", window, "-x", str(SIZE[0]), "-y", str(SIZE[1]))
        return window

    def shown(self, window):
        rows = [row.rstrip() for row in self.tmux("capture-pane", "-p", "-t", window).split("\n")[:SIZE[1]]]
        return rows, [int(number) for number in self.tmux("display", "-p", "-t", window, STATE).split()]

    def end(self):
        subprocess.run([*self.base, "kill-server"], capture_output=True, timeout=30)


@pytest.fixture(scope="module")
def emulator(tmp_path_factory):
    if not DUMP.exists():
        pytest.skip(f"{DUMP} was not built")
    emulator = Emulator(tmp_path_factory.mktemp("emulator"))
    yield emulator
    emulator.end()


def core(output):
    """Returns (the screen's bytes, rows, state) of a terminal that was fed OUTPUT."""
    commands = b"new %d %d 1000\nfeed %d\n%sdump\nscreen 1000\n" % (*SIZE, len(output), output)
    told = subprocess.run([DUMP], input=commands, capture_output=True, timeout=60, check=True).stdout.decode().splitlines()
    held, grid = json.loads(told[0]), None
    grid = held["alt"] if held["alternate"] else held["main"]
    rows = ["".join(cell[0] for cell in row["cells"]).rstrip() for row in grid["rows"]]
    flags = [int(bool(held["modes"] & MODES[name])) for name in MODES_TOLD]
    state = [held["x"], held["y"], int(held["alternate"]), *grid["region"], int(held["mouse"][0] == 1002),
             int(held["mouse"][1] == 1006), *flags]
    return base64.b64decode(told[1]), rows, state


def outputs():
    for path in RECORDINGS:
        with open(path, "rb") as file:
            recorded = file.read()
        for moment in MOMENTS:
            yield pytest.param(recorded[:len(recorded) * moment // 10], id=f"{os.path.basename(path).split('-80x')[0]}-{moment}")
    yield pytest.param(STORY, id="modes")


@pytest.mark.parametrize("output", outputs())
def test_a_real_terminal_shows_what_the_core_holds(emulator, output):
    screen, rows, state = core(output)
    window = emulator.draw(screen)
    deadline = time.monotonic() + 20
    while (shown := emulator.shown(window)) != (rows, state) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert shown == (rows, state)


def test_leaving_the_alternate_screen_shows_the_first_one(emulator):
    screen, *_ = core(STORY)
    window = emulator.draw(screen + b"\x1b[?1049l")
    deadline = time.monotonic() + 20
    while emulator.shown(window)[0][:2] != ["first", "second"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert emulator.shown(window)[0][:2] == ["first", "second"]
    assert emulator.shown(window)[1][:2] == [6, 1]
