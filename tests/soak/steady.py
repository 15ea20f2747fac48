"""A client that is cut off, comes again, and goes on where it was; and a view that checks every byte by its offset."""

import os
import time

import pattern
from websocket import Closed, Refused
from wire import EOF, PATIENCE, STDIN, STREAM_NAMES, Client, View

PIECE, WINDOW = 24_000, 1 << 20


class Checked(View):
    """Keeps no bytes. What is not the pattern at its offset is a fault."""

    def __init__(self, first=0):
        super().__init__(first, keep=False)
        self.unlike = 0

    def take_output(self, process, stream, offset, data):
        super().take_output(process, stream, offset, data)
        if data != pattern.piece(offset, len(data)):
            self.unlike += 1
            if self.unlike < 3:
                self.faults.append(f"process {process} {STREAM_NAMES[stream]} at {offset}: {bytes(data[:24])!r}… is not the pattern")

    def started(self):
        return {frame[3] for frame in self.frames if frame[0] == 2}


class Steady:
    """One participant of one session."""

    def __init__(self, soak, session, view=None, pace=None, **attach):
        self.soak, self.session, self.pace, self.attaching = soak, session, pace, attach
        self.view = view or Checked()
        self.client_id = os.urandom(16)
        self.doubts = set()  # (process, from, to): input that may or may not have arrived; each may be told more than once
        self.accepted = {}  # process -> offset of input, when we came back
        self.client = None
        self.connect()

    def connect(self):
        def attach(client):
            channel = client.attach(self.session, self.view, **self.attaching)
            if not self.pace:  # who is slow may never be where a flood is
                channel.wait_live()
            return channel

        options = {"pace": self.pace, "receive_buffer": 32768} if self.pace else {}
        self.client, self.channel = self.soak.connected(attach, client_id=self.client_id, **options)
        self.deaths = self.client.deaths
        self.accepted = dict(map(tuple, self.channel.answer["stdin"]))

    def unknown(self, process):
        """Bytes of its input of which we were told, up to now, that they may or may not have arrived."""
        told = {(process, data["from"], data["to"]) for _, number, code, _, data in list(self.channel.errors)
                if code == "stdin_unknown" and number == process}
        return sum(to - begin for number, begin, to in self.doubts | told if number == process)

    def settle(self):
        """Keep what the closed connection told."""
        for _, process, code, message, data in self.channel.errors:
            if code == "stdin_unknown":
                self.doubts.add((process, data["from"], data["to"]))
            elif code not in ("process_exited", "stdin_closed", "stdin_gap"):
                self.soak.fault(f"ERROR {code}: {message}")
        self.forgive()
        self.soak.faults_of(self.client)

    def forgive(self):
        """Behind input that was lost, and told as unknown, the echo is another piece of the pattern."""
        if self.doubts or any(error[2] == "stdin_unknown" for error in list(self.channel.errors)):
            self.view.faults = [fault for fault in self.view.faults if "pattern" not in fault]

    def again(self, closed=None):
        self.soak.expect_closed(self.client)
        self.settle()
        self.client.socket.shut()
        self.connect()

    def cut(self):
        self.client.is_ours_to_cut = True
        self.client.socket.cut()
        self.client.thread.join(PATIENCE)
        self.again()

    def wait(self, done, seconds=PATIENCE, what="what was waited for"):
        deadline = time.monotonic() + seconds
        while not (value := done(self.view)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} did not come within {seconds} s; seq {self.view.last}, {dict(self.view.length)}")
            try:
                self.channel.wait(done, 1)
            except TimeoutError:
                pass
            except Closed:
                self.again()
        return value

    def wait_exit(self, process, seconds=PATIENCE):
        return self.wait(lambda view: view.exited.get(process), seconds, f"EXITED of {process}")

    def send(self, *frames):
        try:
            self.channel.send(*frames)
        except OSError:
            self.client.wait_closed(PATIENCE)
            self.again()

    def call(self, method, **params):
        """A request that may be asked twice."""
        while True:
            try:
                return self.client.call(method, **params)
            except (Closed, OSError):
                self.again()

    def acknowledged(self, process):
        return max(self.channel.acknowledged.get(process, 0), self.accepted.get(process, 0))

    def feed(self, process, length, skip, rng):
        """Send LENGTH bytes of the pattern behind its first SKIP, then the end; now and then over a connection that is cut."""
        position, deadline = 0, time.monotonic() + 2 * PATIENCE
        channel = self.channel
        while self.acknowledged(process) < length:
            if time.monotonic() > deadline:
                raise TimeoutError(f"input of {process} stays at {self.acknowledged(process)} of {length}")
            if rng.random() < 0.02:
                self.cut()
            if channel is not self.channel:
                channel, position = self.channel, self.acknowledged(process)
            size = min(rng.randrange(1, PIECE), length - position, self.acknowledged(process) + WINDOW - position)
            if size > 0:
                self.send([STDIN, process, position, pattern.piece(skip + position, size)])
                position += size
                continue
            before = self.acknowledged(process)
            try:
                self.channel.wait(lambda view: self.acknowledged(process) > before, 5)
            except TimeoutError:
                pass
            except Closed:
                self.again()
        self.end_input(process, length)

    def end_input(self, process, length):
        """It is not acknowledged, and so is sent again over each new connection."""
        deadline, channel = time.monotonic() + PATIENCE, None
        while process not in self.view.exited:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {process} does not end with its input")
            if channel is not self.channel:
                self.send([EOF, process, length])
                channel = self.channel
            self.wait_a_little(lambda view: process in view.exited)

    def wait_a_little(self, done):
        try:
            self.channel.wait(done, 0.5)
        except TimeoutError:
            pass
        except Closed:
            self.again()

    def leave(self):
        self.settle()
        self.client.is_ours_to_cut = True
        self.client.socket.close()
        self.client.thread.join(PATIENCE)
        self.client.socket.shut()


class Connecting:
    """How the soak connects: while the gateway is away it tries again, otherwise every failure is a fault."""

    def connected(self, first=lambda client: None, **options):
        """A client, and what FIRST(client) returned."""
        deadline = time.monotonic() + PATIENCE
        while True:
            deaths, client = self.deaths - self.is_dying, None  # it may be the dying one that answers
            try:
                client = Client(self.server.address, self.server.token, **options)
                client.deaths, client.is_ours_to_cut = deaths, False
                return client, first(client)
            except (Closed, OSError, Refused) as error:
                if client:
                    client.socket.shut()
                if not self.may_close(deaths):
                    raise
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no gateway within {PATIENCE} s: {error}")
                time.sleep(0.02)

    def may_close(self, deaths):
        return self.is_dying or self.deaths != deaths

    def expect_closed(self, client):
        if client.closed is None:
            client.wait_closed(PATIENCE)
        if not client.is_ours_to_cut and not self.may_close(client.deaths):
            self.fault(f"the server closed a connection: {client.closed}")
