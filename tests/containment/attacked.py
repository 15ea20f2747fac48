"""Sessions with the program that attacks in them, and what it tells."""

import contextlib
import secrets
import threading
import time
from typing import NamedTuple

from wire import PATIENCE

PROGRAM = "/tmp/sandbar-probe"
WORD_FILE = "/tmp/sandbar-probe.word"
VARIABLE = "SANDBAR_PROBE_WORD"
GUARDED = 97
SECONDS = 3 * PATIENCE  # of all the attempts


class Row(NamedTuple):
    verdict: str
    group: str
    name: str
    control: str
    expected: str
    got: str
    attempt: str


def rows_of(text):
    return [Row(*line.split("\t")) for line in text.splitlines() if line]


class Attacked:
    """A session with the program in it. What it runs may attack: the word is in its environment and in its file."""

    def __init__(self, client, program, word=True, **params):
        self.client = client
        self.word = secrets.token_hex(16)
        self.session = client.create(**params)
        self.channel = client.attach(self.session)
        self.put(PROGRAM, program.read_bytes(), mode="755")
        if word:
            self.put(WORD_FILE, self.word.encode(), mode="600")

    def put(self, path, data, mode):
        """No step needs a second process: the profile `compute` gives none."""
        process = self.client.shell(self.session, f"exec cat > {path}", stdin=True)
        end = self.channel.feed(process, data)
        self.client.send(self.channel.number, [49, process, end])  # EOF
        assert self.channel.wait_exit(process)["exit_code"] == 0
        assert self.client.call("process.run", session=self.session, argv=["chmod", mode, path])["exited"]["exit_code"] == 0

    def start(self, *arguments, **params):
        params["env"] = {VARIABLE: self.word} | params.get("env", {})
        return self.client.start(self.session, PROGRAM, *arguments, **params)

    def run(self, *arguments, seconds=SECONDS, **params):
        """Returns (the ending, stdout, stderr)."""
        process = self.start(*arguments, **params)
        ending = self.channel.wait_exit(process, seconds)
        return ending, self.output(process), self.output(process, 2)

    def output(self, process, stream=1):
        return self.channel.view.bytes(process, stream).decode(errors="replace")

    def shell(self, script, **params):
        return self.client.run(self.session, script, **params)

    def read(self, path):
        return self.client.call("process.run", session=self.session, argv=["cat", path])["stdout"]

    def end(self):
        self.client.call("session.end", session=self.session)


@contextlib.contextmanager
def attacked(client, program, **params):
    made = Attacked(client, program, **params)
    yield made
    made.end()


class Neighbour:
    """Another session of the server, over a connection of its own, that answers an echo all the while: every line that goes
    to its `cat` must come back."""

    PAUSE = 0.01

    def __init__(self, server):
        self.server = server
        self.times = []
        self.fault = None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            with self.server.client() as client:
                session = client.create()
                channel = client.attach(session)
                process = client.start(session, "cat", stdin=True)
                offset = 0
                while not self.stopped.is_set():
                    began = time.monotonic()
                    channel.send([48, process, offset, b"echo\n"])  # STDIN
                    offset += 5
                    channel.wait(lambda view: view.length.get((process, 1), 0) >= offset)
                    self.times.append(time.monotonic() - began)
                    time.sleep(self.PAUSE)
                client.call("session.end", session=session)
        except Exception as error:  # whatever it was: it is told where it is waited for
            self.fault = error

    def quantile(self, part):
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    def told(self):
        return f"neighbour's echo: {len(self.times)} times, p50 {1000 * self.quantile(0.5):.1f} ms, " \
            f"p99 {1000 * self.quantile(0.99):.1f} ms, longest {1000 * max(self.times):.0f} ms"

    def __enter__(self):
        self.thread.start()
        deadline = time.monotonic() + PATIENCE
        while not self.times and not self.fault and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.times, f"the neighbour did not answer even before: {self.fault}"
        return self

    def __exit__(self, kind, value, trace):
        self.stopped.set()
        self.thread.join(PATIENCE)
        if kind is None:
            assert self.fault is None and not self.thread.is_alive(), f"the neighbour did not answer: {self.fault}"
