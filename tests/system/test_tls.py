"""TLS: what is said is private, the certificate is the operator's, and it is replaced without anybody noticing."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import certificates
import msgpack
import pytest
from websocket import PING, PONG, Closed, Refused, WebSocket
from wire import SLOWNESS, STDIN


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def files(folder):
    return certificates.self_signed(folder, "first", "rsa")


@pytest.fixture(scope="module")
def server(start_server, files):
    return start_server("--tls-cert", str(files[0]), "--tls-key", str(files[1]))


def call(connection, number, method, **params):
    """A request over a WebSocket that only this thread uses, and its answer."""
    connection.send(b"".join(msgpack.packb(value) for value in (0, [0, number, method, [params]])))
    while True:
        unpacker = msgpack.Unpacker(raw=False)
        unpacker.feed(connection.receive()[1])
        for frame in list(unpacker)[1:]:
            if frame[:2] == [1, number]:
                assert frame[2] is None, frame
                return frame[3]


def connect(server, context):
    connection = WebSocket(server.address, tls=context)
    call(connection, 1, "hello", token=server.token, version=1, client_id=os.urandom(16))
    return connection


def served(server, context):
    """The common name of the certificate that a handshake gets."""
    with socket.create_connection(server.address, 10) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
        return dict(part[0] for part in secure.getpeercert()["subject"])["commonName"]


def sandbar(server, cert, *argv, **options):
    return server.command("--ca-file", str(cert), *argv, **options)


def test_a_conversation(server, files):
    """The WebSocket over TLS 1.3 and 1.2: hello, a session, and 3 MiB through it, unharmed."""
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = certificates.trusting(files[0], minimum_version=version, maximum_version=version)
        connection = connect(server, context)
        assert connection.socket.version() == {"TLSv1_2": "TLSv1.2", "TLSv1_3": "TLSv1.3"}[version.name]
        session = call(connection, 2, "session.create")["session"]
        data = os.urandom(1000000)
        answer = call(connection, 3, "process.run", session=session, argv=["cat"], input=data)
        assert answer["stdout"] == data
        for number in range(4, 7):
            answer = call(connection, number, "process.run", session=session, argv=["head", "-c", "1000000", "/dev/zero"])
            assert answer["stdout"] == bytes(1000000)
        call(connection, 9, "session.end", session=session)
        connection.close()


@pytest.mark.parametrize("answers", [True, False], ids=["answered", "unanswered"])
def test_a_close_says_why(server, files, answers):
    """As without TLS: the code comes, nothing behind it, and who does not answer is gone before the next ping would come."""
    connection = connect(server, certificates.trusting(files[0]))
    connection.answer_close = answers
    connection.socket.settimeout(10)
    begun = time.monotonic()
    connection.send(b"\xc1")
    with pytest.raises(Closed) as caught:
        connection.receive()
    assert (caught.value.code, caught.value.behind) == (1007, []) and time.monotonic() - begun < 10


def test_the_address_says_https(server):
    assert (server.state / "address").read_text() == "https://{}:{}\n".format(*server.address)
    assert "sandbard: listening on https://" in server.text()


def test_old_versions_and_plain_http_are_refused(server, files):
    """TLS 1.1 is not spoken, and who speaks plain HTTP to a TLS port gets no answer to it."""
    context = certificates.trusting(files[0])
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(OSError):
        served(server, context)
    with pytest.raises(Exception):
        WebSocket(server.address)
    with pytest.raises(Refused):  # it does serve pages
        WebSocket(server.address, path="/healthz", tls=certificates.trusting(files[0]))


def test_the_command(server, files, folder):
    """`sandbar --ca-file` works over wss, streams and all; without the file, or with another, it does not connect."""
    data = os.urandom(3000000)
    done = sandbar(server, files[0], "run", "--", "cat", stdin=subprocess.PIPE)
    out, err = done.communicate(data, timeout=120)
    assert (done.returncode, err) == (0, b"") and out == data
    named = server.sandbar("--url", f"wss://localhost:{server.address[1]}", "--ca-file", str(files[0]), "ls", "--json")
    assert json.loads(subprocess.run(named, capture_output=True, timeout=60, check=True).stdout) == {"sessions": []}
    stranger = certificates.self_signed(folder, "stranger")
    for flags in ([], ["--ca-file", str(stranger[0])]):
        refused = server.command(*flags, "ls")
        assert refused.wait(60) == 3, flags
        told = refused.stderr.read().decode()
        assert "certificate" in told.lower(), told
    other_name = server.sandbar("--url", f"wss://127.1.1.1:{server.address[1]}", "--ca-file", str(files[0]), "ls")
    assert subprocess.run(other_name, capture_output=True, timeout=60).returncode == 3


def test_sighup_replaces_the_certificate(start_server, folder):
    """The operator's files are replaced, and SIGHUP is sent: connections stay, new handshakes get the new certificate, also
    of another kind of key, also from the next gateway. A wrong file changes nothing, and the log says why."""
    old, new = certificates.self_signed(folder, "old", "rsa"), certificates.self_signed(folder, "new", "ec")
    cert, key = folder / "served.crt", folder / "served.key"

    def install(pair):
        shutil.copy(pair[0], cert)
        shutil.copy(pair[1], key)
        server.process.send_signal(signal.SIGHUP)

    shutil.copy(old[0], cert)
    shutil.copy(old[1], key)
    server = start_server("--tls-cert", str(cert), "--tls-key", str(key))
    both = certificates.trusting(old[0], new[0])
    connection = connect(server, both)
    assert served(server, both) == "old"

    def await_served(name):
        deadline = time.monotonic() + 20
        while True:
            try:
                if served(server, both) == name:
                    return
            except OSError:
                pass
            assert time.monotonic() < deadline, server.text()[-2000:]
            time.sleep(.05)

    install(new)
    await_served("new")
    only_rsa = certificates.trusting(old[0], maximum_version=ssl.TLSVersion.TLSv1_2)
    only_rsa.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    with pytest.raises(OSError):  # the old one is not kept for who would like it better
        served(server, only_rsa)
    install((new[0], old[1]))
    deadline = time.monotonic() + 20
    while "the key is not that of the certificate" not in server.text():
        assert time.monotonic() < deadline
        time.sleep(.05)
    assert served(server, both) == "new"
    server.process.send_signal(signal.SIGUSR2)
    deadline = time.monotonic() + 20
    while server.text().count('"serving"') < 2:
        assert time.monotonic() < deadline
        time.sleep(.05)
    await_served("new")
    install(old)
    await_served("old")
    connection.close()


def test_sighup_keeps_connections(server, files):
    connection = connect(server, certificates.trusting(files[0]))
    for number in range(2, 6):
        server.process.send_signal(signal.SIGHUP)
        time.sleep(.2)
        call(connection, number, "session.list")
    connection.close()


def test_a_chain_is_sent(start_server, folder):
    """Who trusts only the root can check the certificate, since its file holds the one in between."""
    chain, key, root = certificates.vouched(folder, "chain")
    server = start_server("--tls-cert", str(chain), "--tls-key", str(key))
    assert served(server, certificates.trusting(root)) == "chain leaf"


@pytest.mark.parametrize("fault", ["alone", "no key", "wrong key", "no certificate", "encrypted", "missing"])
def test_files_that_cannot_be_used(programs, folder, files, tmp_path, fault):
    """The server does not start, and says on stderr which file is wrong."""
    other = certificates.self_signed(folder, "other")
    empty, locked = tmp_path / "empty", tmp_path / "locked"
    empty.write_text("nothing\n")
    certificates.run("rsa", "-aes128", "-passout", "pass:secret", "-in", files[1], "-out", locked)
    flags, word = {
        "alone": (["--tls-cert", files[0]], "go together"),
        "no key": (["--tls-cert", files[0], "--tls-key", empty], "private key"),
        "wrong key": (["--tls-cert", files[0], "--tls-key", other[1]], "not that of the certificate"),
        "no certificate": (["--tls-cert", empty, "--tls-key", files[1]], "certificate in PEM"),
        "encrypted": (["--tls-cert", files[0], "--tls-key", locked], "passphrase"),
        "missing": (["--tls-cert", tmp_path / "nowhere", "--tls-key", files[1]], "nowhere"),
    }[fault]
    shown = subprocess.run([programs / "sandbard", "--listen", "127.0.0.1:0", "--state", tmp_path / "state", *map(str, flags)],
                           capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert shown.returncode in (1, 2) and word in shown.stderr, shown.stderr


def test_other_addresses_need_tls(programs, start_server, files, tmp_path):
    """0.0.0.0 without TLS is refused with what helps; with TLS, or --allow-plaintext, it is served, and STATE/address
    names an address of this machine."""
    shown = subprocess.run([programs / "sandbard", "--listen", "0.0.0.0:0", "--state", tmp_path], capture_output=True, text=True,
                           timeout=60)
    assert shown.returncode == 2 and "--tls-cert" in shown.stderr and "--allow-plaintext" in shown.stderr
    open_one = start_server("--listen", "0.0.0.0:0", "--allow-plaintext")
    assert "listening on http://0.0.0.0:" in open_one.text()
    secure = start_server("--listen", "0.0.0.0:0", "--tls-cert", str(files[0]), "--tls-key", str(files[1]))
    assert "listening on https://0.0.0.0:" in secure.text()


def pong(connection):
    """Seconds until a ping of ours was answered."""
    begun = time.monotonic()
    connection.send(b"here?", PING)
    while connection.receive_frame()[1:] != (PONG, b"here?"):
        pass
    return time.monotonic() - begun


def upload(server, context, session, stopped, sent):
    """Ten kilobytes a second into a program that reads them."""
    connection = connect(server, context)
    process = call(connection, 2, "process.start", session=session, argv=["sh", "-c", "cat > upload"], stdin=True)["process"]
    channel = call(connection, 3, "session.attach", session=session, after=0)["channel"]
    while not stopped.wait(.1):
        connection.send(b"".join(msgpack.packb(value) for value in (channel, [STDIN, process, sent[0], bytes(1024)])))
        sent[0] += 1024
    call(connection, 4, "session.list")
    connection.close()


@pytest.mark.seconds(400)
def test_who_blocks_holds_up_nobody(server, files):
    """S6, as one story: a session is in `sleep 60` that somebody waits for, a client uploads at 10 KB/s, four TLS handshakes have begun
    and do not go on. A hundred other sessions are asked for an echo in turn, and pings go in between: none waits for those."""
    context = certificates.trusting(files[0])
    asking, sleeping = connect(server, context), connect(server, context)
    slow = call(asking, 2, "session.create")["session"]
    sleeping.send(b"".join(msgpack.packb(value) for value in (0, [0, 2, "process.run", [{"session": slow, "argv": ["sleep", "60"]}]])))
    stalled = [socket.create_connection(server.address, 10) for _ in range(4)]
    for connection in stalled:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(20))  # a ClientHello of 512 bytes, and 31 of them
    stopped, sent = threading.Event(), [0]
    uploader = threading.Thread(target=upload, args=(server, context, slow, stopped, sent))
    uploader.start()
    try:
        sessions = [call(asking, 100 + number, "session.create")["session"] for number in range(100)]
        echoes, pongs = [], []
        for number, session in enumerate(sessions):
            begun = time.monotonic()
            answer = call(asking, 1000 + number, "process.run", session=session, argv=["echo", str(number)])
            echoes.append(time.monotonic() - begun)
            assert answer["stdout"] == b"%d\n" % number
            pongs.append(pong(asking))
        for number, session in enumerate(sessions):
            call(asking, 2000 + number, "session.end", session=session)
    finally:
        stopped.set()
        uploader.join(30)
    assert sorted(echoes)[98] < 1 * SLOWNESS and sorted(pongs)[98] < .5 * SLOWNESS, (sorted(echoes)[-3:], sorted(pongs)[-3:])
    listed = call(asking, 5000, "process.list", session=slow)["processes"]
    assert [process["state"] for process in listed if process["argv"] == ["sleep", "60"]] == ["running"], "it has not blocked all the time"
    assert sent[0] > 1024
    got = call(asking, 5001, "process.run", session=slow, argv=["sh", "-c", "wc -c < upload"])["stdout"]
    assert int(got) == sent[0]
    for connection in stalled:
        connection.close()
    call(asking, 5002, "session.end", session=slow)
    asking.close()
    sleeping.close()
