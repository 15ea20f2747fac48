"""Links that break, and programs that do not notice. (Cases 16, T10.)"""

import os
import random
import re
import socket
import time

import pytest
from people import up
from proxy import Impatient
from wire import SLOWNESS, STDIN, TTY, Client, View

TERMINAL = {"cols": 80, "rows": 24}
CYCLES = round(100 / SLOWNESS)
ECHO = r"""
import os, select, tty
tty.setraw(0)
os.write(1, b"up %d." % os.getpid())
count = 0
while True:
    count += 1
    os.write(1, b"<%07d>" % count)
    if select.select([0], [], [], .002)[0]:
        typed = os.read(0, 4096)
        os.write(1, b"[" + typed + b"]")
        if b"!" in typed:
            os.write(1, b"end %d %d." % (os.getpid(), count))
            break
"""


def leave(client, how):
    """By RST, with a close frame, or in the middle of a frame."""
    if how == "closed":
        client.socket.close(1001)
        client.wait_closed()
    elif how == "half a frame":
        client.socket.socket.sendall(bytes([0x82, 0xFE, 0x10, 0x00]) + b"half")
    client.cut()


@pytest.mark.seconds(300)
def test_a_hundred_comings_and_goings(server):
    """T10: a program counts, and shows what is typed. Somebody comes, types, and goes before he hears of it, a hundred times, by RST, with
    a close frame (1001) and in the middle of a frame, and comes back at once or a little later. It is the same process all the time;
    his output has every byte once, in order; what he typed arrived once, in order."""
    moments = random.Random(10)
    identity, view, typed = os.urandom(16), View(0), 0
    text = b"".join(b"%05d," % number for number in range(CYCLES)) + b"!"
    with server.client() as owner:
        session = owner.create()
        process = owner.start(session, "python3", "-c", ECHO, terminal=TERMINAL)
        for cycle in range(CYCLES):
            client = Client(server.address, server.token, client_id=identity)
            channel = client.attach(session, view)
            accepted = dict(channel.answer["stdin"]).get(process, 0)
            assert accepted <= typed
            if cycle == 0:
                up(channel, process)
            channel.send([STDIN, process, accepted, text[accepted:6 * (cycle + 1)]])
            typed = 6 * (cycle + 1)
            time.sleep(moments.choice((0, 0, .001, .01, .05)))
            leave(client, ("cut", "closed", "half a frame")[cycle % 3])
            time.sleep(moments.choice((0, 0, .1)))
        with Client(server.address, server.token, client_id=identity) as client:
            channel = client.attach(session, view)
            accepted = dict(channel.answer["stdin"]).get(process, 0)
            channel.send([STDIN, process, accepted, text[accepted:]])
            channel.wait_exit(process)
        output = view.bytes(process, TTY)
        told = re.fullmatch(rb"up (\d+)\.(.*)end (\d+) (\d+)\.", output, re.S)
        assert told and told[1] == told[3] and not view.gaps
        assert b"".join(re.findall(rb"\[([^]]*)\]", told[2])) == text
        assert re.findall(rb"<(\d+)>", told[2]) == [b"%07d" % number for number in range(1, int(told[4]) + 1)]
        owner.call("session.end", session=session)


@pytest.mark.seconds(150)
def test_silence_behind_a_proxy_that_ends_what_is_silent(server):
    """Case 16: a command says nothing for 50 s, behind a proxy that ends connections after 20 s of silence: the server's pings keep it, and
    `done` arrives over the same connection. One to somebody who never says anything shows that the proxy does end them. (A third of
    the case's times: pings come every 15 s.)"""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        proxy, other = Impatient(server.address, 20), Impatient(mute.getsockname(), 20)
        with socket.create_connection(other.address) as silent, Client(proxy.address, server.token) as client:
            session = client.create()
            channel = client.attach(session)
            process = client.shell(session, "sleep 50; echo done")
            assert channel.wait_exit(process, 90 * SLOWNESS)["reason"] == "exited" and channel.view.bytes(process) == b"done\n"
            assert client.socket.pings >= 3 and not client.closed and proxy.ended == 0
            silent.settimeout(10)
            assert silent.recv(1) == b"" and other.ended == 1
            client.call("session.end", session=session)
        proxy.close()
        other.close()
