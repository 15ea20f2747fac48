"""A person at a terminal: tmux runs what they start, send-keys types, capture-pane reads the screen."""

import os
import shlex
import subprocess
import time

PATIENCE = 40


class Screen:
    """One terminal window of a tmux server of its own, with a shell in it."""

    def __init__(self, folder, name, environment, cols=100, rows=30):
        self.base = ["tmux", "-S", os.path.join(str(folder), name), "-f", "/dev/null"]
        self.environment = environment
        self.name = name
        self.tmux("new-session", "-d", "-x", str(cols), "-y", str(rows), "env PS1='READY> ' sh")
        self.see("READY>")

    def tmux(self, *argv):
        done = subprocess.run([*self.base, *argv], capture_output=True, text=True, timeout=30, env=self.environment)
        assert done.returncode == 0, (argv, done.stderr)
        return done.stdout

    def type(self, text, enter=True):
        self.tmux("send-keys", "-l", "--", text)
        if enter:
            self.keys("Enter")

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def run(self, argv):
        """Type a command line that starts a program."""
        self.type(shlex.join(argv))

    def text(self):
        return self.tmux("capture-pane", "-p")

    def cells(self, rows, cols):
        """The first rows and columns, with their colours: what a person sees, as tmux describes it."""
        lines = self.tmux("capture-pane", "-p", "-e").split("\n")[:rows]
        plain = [line[:cols].rstrip() for line in self.text().split("\n")[:rows]]
        return plain, [line.rstrip() for line in lines]

    def last_row(self):
        return self.text().rstrip("\n").split("\n")[-1]

    def see(self, wanted, seconds=PATIENCE):
        """Wait until the screen shows a text, or until wanted(screen) holds."""
        holds = wanted if callable(wanted) else lambda screen: wanted in screen
        deadline = time.monotonic() + seconds
        while not holds(screen := self.text()):
            assert time.monotonic() < deadline, f"the screen never showed {wanted!r}, but:\n{screen}"
            time.sleep(0.1)
        return screen

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def settings(self):
        """What `stty` says of the terminal, as its shell sees it."""
        self.type("clear; stty -a | tr ';' '\\n' | grep -E 'icanon|isig|speed'; echo END-$((1+1))")
        return self.see("END-2").split("END-2")[0]

    def end(self):
        subprocess.run([*self.base, "kill-server"], capture_output=True, timeout=30)
