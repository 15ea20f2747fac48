"""A client of sandbar.v1, written from protocol/PROTOCOL.md alone. It checks what it is told: sequence numbers follow
each other, offsets go on where they ended, and what is missing was announced by a GAP."""

import itertools
import os
import threading
import time

import msgpack

from websocket import BINARY, Closed, WebSocket

OUTPUT, STARTED, EXITED, RESIZED, INPUT, PARTICIPANT, DRIVER, NOTE = 1, 2, 3, 4, 5, 6, 7, 9
USAGE, CHECKPOINT, STREAM_CLOSED, ENDED, DENIED = 10, 11, 12, 13, 14
GAP, STATE, SCREEN, LIVE, STDIN_ACK, ERROR, TYPING = 32, 33, 34, 35, 36, 37, 38
STDIN, EOF, RESIZE, CREDIT = 48, 49, 50, 51
EVENTS = {OUTPUT, STARTED, EXITED, RESIZED, INPUT, PARTICIPANT, DRIVER, NOTE, USAGE, CHECKPOINT, STREAM_CLOSED, ENDED, DENIED}
STDOUT, STDERR, TTY = 1, 2, 3
STREAM_NAMES = {STDOUT: "stdout", STDERR: "stderr", TTY: "tty"}

SLOWNESS = float(os.environ.get("SANDBAR_TEST_SLOWNESS", 1))  # of this machine; an emulated processor is ten times slower
PATIENCE = 60 * SLOWNESS  # seconds; an instrumented server on a busy machine is slow


class RemoteError(Exception):
    """An error of a request."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code, self.message, self.data = error["code"], error["message"], error["data"]


class View:
    """What one observer knows of a session's journal, over any number of channels one after the other."""

    def __init__(self, first=0, keep=True, filtered=False):
        self.last = first       # the newest seq that was handled; None = whatever comes first
        self.keep = keep        # whether the bytes of streams are kept, or only counted
        self.filtered = filtered  # attached with `processes`: other processes' OUTPUT is not sent
        self.frames = []        # every event but OUTPUT, and every GAP, STATE and LIVE
        self.data = {}          # (process, stream) -> bytes
        self.length = {}        # (process, stream) -> the offset at which the next byte must stand
        self.gaps = []
        self.exited = {}        # process -> ending
        self.outputs = 0        # OUTPUT frames
        self.arrived = 0.0      # when the newest frame came
        self.faults = []        # broken promises

    def take(self, frame):
        self.arrived = time.monotonic()
        kind = frame[0]
        if kind in EVENTS:
            self.take_event(kind, frame)
        elif kind == GAP:
            self.take_gap(frame)
        elif kind == STATE:
            self.take_state(frame)
        if kind != OUTPUT:
            self.frames.append(frame)

    def take_event(self, kind, frame):
        seq = frame[1]
        if self.last is not None and seq != self.last + 1 and not (self.filtered and seq > self.last):
            self.faults.append(f"seq {seq} came after {self.last}: {frame[:5]}")
        self.last = seq
        if kind == OUTPUT:
            self.take_output(*frame[3:7])
        elif kind == EXITED:
            self.take_exit(frame[3], frame[4])

    def take_output(self, process, stream, offset, data):
        key = (process, stream)
        self.outputs += 1
        if process in self.exited and STREAM_NAMES[stream] not in self.exited[process]["streams_open"]:
            self.faults.append(f"OUTPUT of {key} after EXITED, which did not list it as open")
        expected = self.length.get(key, 0)
        if offset != expected:
            self.faults.append(f"offset {offset} of {key}, expected {expected}")
        if not isinstance(data, bytes) or not data:
            self.faults.append(f"OUTPUT holds {data!r}")
        if self.keep:
            self.data.setdefault(key, bytearray()).extend(data)
        self.length[key] = offset + len(data)

    def take_exit(self, process, ending):
        if process in self.exited:
            self.faults.append(f"EXITED twice for process {process}")
        self.exited[process] = ending
        for number, name in STREAM_NAMES.items():
            if name in ending["offsets"]:
                got, told = self.length.get((process, number), 0), ending["offsets"][name]
                if got != told and not self.filtered:
                    self.faults.append(f"EXITED says {told} bytes of {name}, {got} came before it")

    def take_gap(self, frame):
        _, first, to = frame[:3]
        if first != self.last + 1 or to < first:
            self.faults.append(f"GAP {first}…{to} after seq {self.last}")
        self.gaps.append((first, to))
        self.last = to

    def take_state(self, frame):
        if not self.gaps or frame[1] != self.gaps[-1][1]:
            self.faults.append(f"STATE {frame[1]} does not follow a GAP: {self.gaps[-1:]}")
        for process in frame[2]["processes"]:
            for number, name in STREAM_NAMES.items():
                if name in process["offsets"]:
                    self.length[process["process"], number] = process["offsets"][name]
            if process["exited"]:
                self.exited[process["process"]] = process["exited"]

    def bytes(self, process, stream=STDOUT):
        return bytes(self.data.get((process, stream), b""))

    def of_kind(self, kind):
        return [frame for frame in self.frames if frame[0] == kind]


class Channel:
    def __init__(self, client, answer, view):
        self.client, self.answer, self.view = client, answer, view
        self.number = answer["channel"]
        self.closed = None    # the reason of channel.closed
        self.acknowledged = {}  # process -> offset
        self.errors = []      # ERROR frames
        self.frames = []      # the kinds of all frames, in the order in which they came

    def take(self, frame):
        self.frames.append(frame[0])
        if self.closed is not None:
            self.view.faults.append(f"a frame after channel.closed: {frame[:4]}")
        if frame[0] == STDIN_ACK:
            self.acknowledged[frame[1]] = frame[2]
        elif frame[0] == ERROR:
            self.errors.append(frame)
        else:
            self.view.take(frame)

    def send(self, *frames):
        self.client.send(self.number, *frames)

    def wait(self, done, seconds=PATIENCE):
        """Wait until done(view) holds; returns its value."""
        return self.client.wait(lambda: done(self.view), seconds)

    def wait_exit(self, process, seconds=PATIENCE):
        return self.wait(lambda view: view.exited.get(process), seconds)

    def wait_live(self):
        self.client.wait(lambda: LIVE in self.frames)

    def feed(self, process, data, offset=0, piece=65536, window=1 << 20):
        """Send input as the window allows; returns the offset after it."""
        end = offset + len(data)
        position = offset
        while position < end:
            room = self.acknowledged.get(process, offset) + window - position
            if room <= 0:
                have = self.acknowledged.get(process, offset)
                self.client.wait(lambda: self.acknowledged.get(process, offset) > have)
                continue
            part = data[position - offset:position - offset + min(piece, room)]
            self.send([STDIN, process, position, part])
            position += len(part)
        return end

    def detach(self):
        self.client.call("session.detach", channel=self.number)
        self.closed = "detached"


class Client:
    """One connection, read by a thread of its own. `pace` (bytes a second) makes it a slow reader."""

    def __init__(self, address, token, client_id=None, name="wire.py", hello=True, pace=None, **options):
        self.socket = WebSocket(address, **options)
        self.client_id = client_id or os.urandom(16)
        self.changed = threading.Condition()
        self.reading = threading.Event()
        self.reading.set()
        self.pace = pace
        self.ids = itertools.count(1)
        self.answers = {}   # id -> [1, id, error, result]
        self.notices = []
        self.channels = {}
        self.early = {}     # frames of a channel that came before we knew of it
        self.views = {}     # request id -> view of an attach under way
        self.closed = None  # Closed
        self.faults = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        if hello:
            self.hello = self.call("hello", token=token, version=1, client=name, client_id=self.client_id)

    # Reading

    def read(self):
        try:
            while True:
                self.reading.wait()
                opcode, payload = self.socket.receive()
                if opcode != BINARY:
                    self.faults.append(f"a message of opcode {opcode}")
                with self.changed:
                    self.take(payload)
                    self.changed.notify_all()
                if self.pace:
                    time.sleep(len(payload) / self.pace)
        except Closed as closed:
            self.finish(closed)
        except (OSError, ValueError) as error:
            self.finish(Closed(None, str(error)))

    def finish(self, closed):
        with self.changed:
            if closed.behind:
                self.faults.append(f"frames behind the close frame: {closed.behind}")
            self.closed = closed
            self.changed.notify_all()

    def take(self, payload):
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=True, max_buffer_size=len(payload) or 1, object_pairs_hook=self.unique)
        unpacker.feed(payload)
        number, *frames = list(unpacker)
        if not frames:
            self.faults.append(f"a message without a frame on channel {number}")
        for frame in frames:
            if number == 0:
                self.take_control(frame)
            elif number in self.channels:
                self.channels[number].take(frame)
            else:
                self.early.setdefault(number, []).append(frame)

    def unique(self, pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            self.faults.append(f"a key stands twice in a map: {keys}")
        return dict(pairs)

    def take_control(self, frame):
        if frame[0] == 1:
            if frame[1] in self.answers:
                self.faults.append(f"a second answer to request {frame[1]}")
            self.answers[frame[1]] = frame
            if frame[1] in self.views and frame[2] is None:
                self.open(frame[3], self.views.pop(frame[1]))
        elif frame[0] == 2:
            self.notices.append((frame[1], frame[2][0]))
            if frame[1] == "channel.closed":
                self.channels[frame[2][0]["channel"]].closed = frame[2][0]["reason"]
        else:
            self.faults.append(f"on channel 0: {frame}")

    def open(self, answer, view):
        channel = self.channels[answer["channel"]] = Channel(self, answer, view)
        if answer["channel"] in self.early:
            self.faults.append(f"frames of channel {answer['channel']} came before the answer to attach")
        return channel

    # Asking

    def send(self, channel, *frames):
        self.socket.send(b"".join(msgpack.packb(value, use_bin_type=True) for value in (channel, *frames)))

    def request(self, method, view=None, **params):
        number = next(self.ids)
        if view is not None:
            self.views[number] = view
        self.send(0, [0, number, method, [params]])
        return number

    def answer(self, number, seconds=PATIENCE):
        frame = self.wait(lambda: self.answers.get(number), seconds)
        if frame[2] is not None:
            raise RemoteError(frame[2])
        return frame[3]

    def call(self, method, seconds=PATIENCE, **params):
        return self.answer(self.request(method, **params), seconds)

    def wait(self, done, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                value = done()
                if value:
                    return value
                left = deadline - time.monotonic()
                if self.closed:
                    raise self.closed
                if left <= 0:
                    raise TimeoutError(f"nothing came of it within {seconds} s")
                self.changed.wait(left)

    def wait_closed(self, seconds=PATIENCE):
        with self.changed:
            self.changed.wait_for(lambda: self.closed, seconds)
        if not self.closed:
            raise TimeoutError(f"the connection is still open after {seconds} s")
        assert not self.closed.behind, f"frames came behind the close frame: {self.closed.behind}"
        return self.closed.code

    # Words of the protocol

    def create(self, **params):
        return self.call("session.create", **params)["session"]

    def attach(self, session, view=None, **params):
        """Attach with VIEW (a new one by default), after what it knows, unless `after` is given."""
        view = view or View(params.get("after", 0), filtered=params.get("processes") is not None)
        params.setdefault("after", view.last)
        number = self.request("session.attach", view, session=session, **params)
        return self.channels[self.answer(number)["channel"]]

    def start(self, session, *argv, **params):
        return self.call("process.start", session=session, argv=list(argv), **params)["process"]

    def shell(self, session, script, **params):
        return self.start(session, "sh", "-c", script, **params)

    def run(self, session, script, **params):
        return self.call("process.run", session=session, argv=["sh", "-c", script], **params)

    def processes(self, session):
        return {process["process"]: process for process in self.call("process.list", session=session)["processes"]}

    # Leaving

    def pause(self):
        self.reading.clear()

    def resume(self):
        self.reading.set()

    def close(self):
        self.socket.close()
        self.resume()
        self.thread.join(PATIENCE)
        self.socket.shut()
        self.check()

    def cut(self):
        self.socket.cut()
        self.resume()
        self.thread.join(PATIENCE)
        self.check()

    def check(self):
        faults = self.faults + [fault for channel in self.channels.values() for fault in channel.view.faults]
        assert not faults, "\n".join(faults[:20])

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            self.socket.shut()
            self.resume()
        else:
            self.close()
