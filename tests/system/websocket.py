"""A WebSocket client (RFC 6455) over a plain socket, so that a test can also do what no library lets it do: send wrong
frames, cut a connection with RST, not read, not answer a ping."""

import base64
import hashlib
import os
import socket
import struct

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Refused(Exception):
    """The server did not answer the upgrade with 101."""

    def __init__(self, status, head):
        super().__init__(f"HTTP {status}")
        self.status, self.head = status, head


class Closed(Exception):
    """The connection has ended: with a close frame's code, or None when it was cut. BEHIND is what came behind that frame: opcodes."""

    def __init__(self, code=None, reason="", behind=()):
        super().__init__(f"closed: {code} {reason}")
        self.code, self.reason, self.behind = code, reason, behind


def mask(payload, key):
    """XOR with the repeated key, as one big number: a loop over bytes would be the slowest part of every test."""
    length = len(payload)
    repeated = (key * (length // 4 + 1))[:length]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(repeated, "little")).to_bytes(length, "little")


class WebSocket:
    def __init__(self, address, path="/v1/ws", subprotocol="sandbar.v1", headers=(), receive_buffer=None, timeout=60, tls=None):
        self.answer_pings = self.answer_close = True
        self.pings = 0
        self.fragments = []
        self.buffer = bytearray()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:  # an ssl.SSLContext; such a connection is not for two threads at once
            self.socket = tls.wrap_socket(self.socket, server_hostname=address[0])
        try:
            self.upgrade(address, path, subprotocol, headers)
        except BaseException:
            self.socket.close()
            raise

    def upgrade(self, address, path, subprotocol, headers):
        key = base64.b64encode(os.urandom(16))
        lines = [f"GET {path} HTTP/1.1", f"Host: {address[0]}:{address[1]}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key.decode()}", "Sec-WebSocket-Version: 13"]
        if subprotocol:
            lines.append(f"Sec-WebSocket-Protocol: {subprotocol}")
        lines += [f"{name}: {value}" for name, value in headers]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        self.buffer = bytearray(rest)
        status = int(head.split(b" ", 2)[1])
        if status != 101:
            raise Refused(status, head)
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        assert accept in head, f"wrong Sec-WebSocket-Accept: {head!r}"
        if subprotocol:
            assert f"sec-websocket-protocol: {subprotocol}".encode() in head.lower(), head

    def fill(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise Closed()
        self.buffer += data

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def send(self, payload, opcode=BINARY, final=True):
        self.socket.sendall(self.frame(payload, opcode, final))

    def frame(self, payload, opcode=BINARY, final=True):
        key, length = os.urandom(4), len(payload)
        first = bytes([(0x80 if final else 0) | opcode])
        if length < 126:
            head = first + bytes([0x80 | length])
        elif length < 1 << 16:
            head = first + bytes([0x80 | 126]) + struct.pack(">H", length)
        else:
            head = first + bytes([0x80 | 127]) + struct.pack(">Q", length)
        return head + key + mask(payload, key)

    def receive_frame(self):
        first, second = self.take(2)
        assert not second & 0x80, "a server's frame is never masked"
        assert not first & 0x70, "no extension was agreed upon"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self.take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.take(8))
        return bool(first & 0x80), first & 0x0F, self.take(length)

    def receive(self):
        """The next whole data message: (opcode, payload). Pings are answered on the way; Closed when there are no more."""
        while True:
            final, opcode, payload = self.receive_frame()
            if opcode == PING:
                self.pings += 1
                if self.answer_pings:
                    self.send(payload, PONG)
            elif opcode == CLOSE:
                self.finish(payload)
            elif opcode != PONG:
                self.fragments.append((opcode, payload))
                if final:
                    whole, self.fragments = self.fragments, []
                    return whole[0][0], b"".join(part for _, part in whole)

    def finish(self, payload):
        code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
        behind = []
        try:
            if self.answer_close:
                self.send(payload[:2], CLOSE)
            while True:
                behind.append(self.receive_frame()[1])
        except (OSError, ValueError, Closed):
            pass  # the end
        raise Closed(code, payload[2:].decode("utf-8", "replace"), behind)

    def close(self, code=1000):
        try:
            self.send(struct.pack(">H", code), CLOSE)
        except OSError:
            pass

    def cut(self):
        """End the connection with RST, as a lost link does: nothing that is under way arrives."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.shut()

    def shut(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes a reader in another thread
        except OSError:
            pass
        self.socket.close()
