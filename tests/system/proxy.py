"""TCP proxies in front of the server: one whose connections can be cut as a network would cut them, and one that wants to hear something."""

import selectors
import socket
import struct
import threading


class Proxy:
    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.pairs = []
        self.is_open = True
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if not self.is_open:
                near.close()
                continue
            self.begin(near, socket.create_connection(self.target))

    def begin(self, near, far):
        self.pairs.append((near, far))
        for a, b in ((near, far), (far, near)):
            threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    def copy(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        self.drop(source, sink)

    @staticmethod
    def drop(*sockets):
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        for pair in self.pairs:
            for one in pair:
                try:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                except OSError:
                    pass
            self.drop(*pair)
        self.pairs = []

    def close(self):
        self.listener.close()
        self.cut()


class Impatient(Proxy):
    """Ends a connection through which nothing went for SECONDS, as the proxies of many providers do."""

    def __init__(self, target, seconds):
        self.seconds, self.ended = seconds, 0
        super().__init__(target)

    def begin(self, near, far):
        threading.Thread(target=self.pass_on, args=(near, far), daemon=True).start()

    def pass_on(self, near, far):
        others = {near: far, far: near}
        with selectors.DefaultSelector() as ready, near, far:
            for one in others:
                ready.register(one, selectors.EVENT_READ)
            try:
                while rows := ready.select(self.seconds):
                    for row, _ in rows:
                        if not (data := row.fileobj.recv(65536)):
                            return
                        others[row.fileobj].sendall(data)
            except OSError:
                return
            self.ended += 1
