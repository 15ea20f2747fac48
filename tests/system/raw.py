"""A client that does nothing by itself, and what the gateway has in memory meanwhile."""

import time

import msgpack
from test_gateway import gateway
from websocket import BINARY, WebSocket
from wire import CREDIT


def resident(server):
    with open(f"/proc/{gateway(server)}/status") as file:
        return int(file.read().split("VmRSS:")[1].split()[0]) * 1024


class Raw:
    """A client that keeps every message's channel and size, and reads when it is told to."""

    def __init__(self, server, **options):
        self.socket = WebSocket(server.address, **options)
        self.messages = []  # (channel, bytes of the frames behind the channel, frames)
        self.answers = {}
        self.request(1, "hello", token=server.token, version=1, client="raw", client_id=bytes(range(16)))
        self.answer(1)

    def send(self, *values):
        self.socket.send(b"".join(msgpack.packb(value, use_bin_type=True) for value in values))

    def request(self, number, method, **params):
        self.send(0, [0, number, method, [params]])

    def read(self):
        opcode, payload = self.socket.receive()
        assert opcode == BINARY
        unpacker = msgpack.Unpacker(max_buffer_size=len(payload), strict_map_key=False)
        unpacker.feed(payload)
        channel = next(unpacker)
        message = channel, len(payload) - unpacker.tell(), list(unpacker)
        self.messages.append(message)
        for frame in message[2]:
            if channel == 0 and frame[0] == 1:
                self.answers[frame[1]] = frame
        return message

    def answer(self, number):
        while number not in self.answers:
            self.read()
        assert self.answers[number][2] is None, self.answers[number]
        return self.answers[number][3]

    def close(self):
        self.socket.close()
        self.socket.shut()

    def paced(self, channel, rate, ahead):
        """Frames of CHANNEL as they are drawn at RATE bytes a second by who grants what it has drawn and AHEAD more: (bytes, frames)."""
        drawn = 0
        while True:
            number, size, frames = self.read()
            if number == channel:
                time.sleep(size / rate)
                drawn += size
                self.send(channel, [CREDIT, drawn + ahead])
                yield size, frames
