"""What an operator's tools ask over HTTP: /healthz and /metrics; and under which names the server answers at all."""

import http.client
import re
import socket
import subprocess

import pytest
from websocket import Refused, WebSocket
from wire import RemoteError


def get(address, path, **headers):
    """(status, headers, body) of a GET."""
    connection = http.client.HTTPConnection(*address, timeout=30)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, body


def samples(body):
    """{name{labels}: value}, from a text that must be OpenMetrics."""
    assert body.endswith("# EOF\n")
    values, types = {}, {}
    for line in body.splitlines()[:-1]:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, line
            types[name] = kind
        elif not line.startswith("# "):
            told = re.fullmatch(r'([a-z_]+)(\{[a-z_]+="[^"]*"\})? (-?[0-9.e+]+)', line)
            assert told, line
            family = re.sub("_(total|bucket|count|sum|info)$", "", told[1]) if told[1] not in types else told[1]
            assert family in types, line
            assert types[family] != "counter" or told[1] == family + "_total", line
            values[told[1] + (told[2] or "")] = float(told[3])
    return values


def test_it_is_well(server):
    status, headers, body = get(server.address, "/healthz")
    assert (status, body) == (200, "ok\n")
    shown = subprocess.run(["curl", "-fsS", "http://{}:{}/healthz".format(*server.address)], capture_output=True, timeout=30)
    assert shown.returncode == 0 and shown.stdout == b"ok\n"


def test_the_numbers_move(server):
    """A session, a process with 5,000 bytes of output and one that is killed, input, an error: each is counted."""
    before = samples(get(server.address, "/metrics")[2])
    with server.client() as client:
        session = client.create()
        client.run(session, "head -c 5000 /dev/zero")
        client.run(session, "cat", input=b"x" * 1000)
        client.call("process.kill", session=session, process=client.shell(session, "sleep 100"))
        with pytest.raises(RemoteError):
            client.call("session.info", session="a" * 16)
        status, headers, body = get(server.address, "/metrics")
        assert status == 200 and headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        after = samples(body)
        client.call("session.end", session=session)

    def grown(name):
        return after[name] - before.get(name, 0)

    assert grown("sandbar_processes_started_total") == 3
    assert grown('sandbar_processes_exited_total{reason="exited"}') == 2
    assert grown('sandbar_processes_exited_total{reason="killed"}') <= 1
    assert grown("sandbar_output_bytes_total") == 6000 and grown("sandbar_input_bytes_total") == 1000
    assert grown('sandbar_errors_total{code="not_found"}') == 1
    assert grown("sandbar_connections_opened_total") == 1
    assert after["sandbar_connections"] == before["sandbar_connections"] + 1
    assert after["sandbar_sessions"] == before["sandbar_sessions"] + 1
    assert grown("sandbar_sent_bytes_total") > 5000 and grown("sandbar_received_bytes_total") > 1000
    assert grown("sandbar_loop_turn_seconds_count") > 0 and after["process_resident_memory_bytes"] > 1 << 20


def test_a_gap_is_counted(server):
    with server.client() as client:
        session = client.create()
        channel = client.attach(session)
        client.pause()
        before = samples(get(server.address, "/metrics")[2])["sandbar_gaps_total"]
        with server.client() as other:
            other.call("process.wait", session=session, process=other.shell(session, "head -c 40000000 /dev/zero"))
        client.resume()
        channel.wait(lambda view: view.exited)
        gaps = samples(get(server.address, "/metrics")[2])["sandbar_gaps_total"] - before
        assert gaps == len(channel.view.gaps)
        client.call("session.end", session=session)


def test_metrics_from_elsewhere_need_a_token(server):
    """What a proxy hands on is from elsewhere: an operator's token is asked for, another tenant's is not enough."""
    elsewhere = {"X_Forwarded_For": "192.0.2.7"}
    assert get(server.address, "/metrics", **elsewhere)[0] == 401
    assert get(server.address, "/metrics", Forwarded="for=192.0.2.7")[0] == 401
    with server.client() as owner:
        tenants = owner.call("token.create", name="x", tenant="acme", rights=["admin"])["token"]
        users = owner.call("token.create", name="x")["token"]
    for token, status in ((server.token, 200), (tenants, 401), (users, 401), ("x.y.z", 401), ("x" * 5000, 401)):
        assert get(server.address, "/metrics", Authorization=f"Bearer {token}", **elsewhere)[0] == status


def test_strange_hosts_are_refused(server):
    """DNS rebinding: a name that somebody made to point here is not answered, on no path but /healthz."""
    port = server.address[1]
    for host in ("evil.example", f"evil.example:{port}", f"10.1.2.3:{port}", "localhost.evil.example", f"127.0.0.1.evil:{port}", "[::1"):
        for path in ("/", "/metrics", "/v1/ws"):
            assert get(server.address, path, Host=host)[0] in (400, 403), (host, path)
        assert get(server.address, "/healthz", Host=host)[0] == 200 or host == "[::1"
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost:9999", f"LOCALHOST:{port}", "[::1]:80"):
        assert get(server.address, "/", Host=host)[0] == 200, host


def test_a_browser_of_a_strange_name_gets_no_socket(server):
    """The page's Origin is the very name that it was loaded from, which points here: refused all the same."""
    name = f"evil.example:{server.address[1]}"

    class Rebound(WebSocket):
        def upgrade(self, address, path, subprotocol, headers):
            super().upgrade((name.split(":")[0], address[1]), path, subprotocol, headers)

    with pytest.raises(Refused) as caught:
        Rebound(server.address, headers=[("Origin", f"http://{name}")])
    assert caught.value.status == 403


def test_names_it_was_given(start_server):
    """--public-host: with that name, whatever its port; its own pages may connect."""
    server = start_server("--public-host", "sandbar.example", "--public-host", "other.example:8443")
    for host, status in (("sandbar.example", 200), ("Sandbar.Example:8080", 200), ("other.example:8443", 200), ("other.example", 403),
                         ("not.example", 403)):
        assert get(server.address, "/", Host=host)[0] == status, host

    class Named(WebSocket):
        def upgrade(self, address, path, subprotocol, headers):
            super().upgrade(("sandbar.example", 443), path, subprotocol, headers)

    Named(server.address, headers=[("Origin", "https://sandbar.example:443")]).close()
    with pytest.raises(Refused):
        Named(server.address, headers=[("Origin", "https://evil.example")])


def test_who_sends_no_host(server):
    with socket.create_connection(server.address, 10) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert plain.recv(100).split(b" ")[1] in (b"400", b"403")
