"""The pages for browsers, as the gateway serves them: what it read at its start, with strict headers, and nothing else."""

import gzip
import hashlib
import http.client
import os
import pathlib
import shutil
import tempfile

import pytest
from conftest import Server

BIG = os.urandom(1_000_000)
SCRIPT = b"console.log('a page')\n" * 200
INDEX = b"<!doctype html><title>first</title>\n"


@pytest.fixture(scope="module")
def programs_with_pages(programs):
    """The built programs, with a folder of pages beside them."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sandbar-pages-"))
    folder.chmod(0o755)
    for program in programs.iterdir():
        if program.is_file():
            shutil.copy2(program, folder / program.name)
    (folder / "pages/assets/deep").mkdir(parents=True)
    files = {"index.html": INDEX, "session.html": b"<!doctype html><title>second</title>\n", "embed.js": SCRIPT, "empty.txt": b"",
             "assets/app-1234.js": SCRIPT, "assets/app-1234.js.gz": gzip.compress(SCRIPT), "assets/deep/big.bin": BIG,
             ".hidden": b"hidden", "orphan.txt.gz": gzip.compress(b"alone")}
    for name, content in files.items():
        (folder / "pages" / name).write_bytes(content)
    (folder / "secret").write_text("outside")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def serve(programs, *flags):
    server = Server(programs, flags, user="root" if os.geteuid() == 0 else "user")
    try:
        yield server
    finally:
        faults = server.finish()
    assert not faults, "\n\n".join(faults)


@pytest.fixture(scope="module")
def paged(programs_with_pages):
    yield from serve(programs_with_pages, "--allow-origin", "https://host.example")


def get(server, path, method="GET", **headers):
    """(status, headers, body) of one request on a connection of its own."""
    connection = http.client.HTTPConnection(*server.address, timeout=60)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        answer = connection.getresponse()
    except http.client.RemoteDisconnected:  # what the library finds no path at all
        return 400, {}, b""
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def test_documents(paged):
    """`/` is index.html; a document is found with its `.html` and without."""
    for path, content in (("/", INDEX), ("/index.html", INDEX), ("/index", INDEX), ("/session", b"<!doctype html><title>second</title>\n")):
        status, headers, body = get(paged, path)
        assert (status, body, headers["content-type"]) == (200, content, "text/html; charset=utf-8"), path


def test_headers(paged):
    """No page may load anything from elsewhere, be framed by strangers, or tell where it came from."""
    for path in ("/", "/session", "/assets/app-1234.js", "/embed.js"):
        _, headers, _ = get(paged, path)
        policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert all(policy[kind] == "'self'" for kind in ("script-src", "style-src", "img-src", "font-src", "connect-src"))
        assert policy["frame-ancestors"] == "'self' https://host.example"
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
    assert get(paged, "/embed.js")[1]["cross-origin-resource-policy"] == "cross-origin"
    assert get(paged, "/")[1]["cross-origin-resource-policy"] == "same-origin"


def test_what_is_not_there(paged):
    """Unknown paths, paths that lead out, hidden files and folders are 404: nothing beside what was read can be had."""
    for path in ("/nothing", "/../secret", "/assets/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/assets", "/assets/", "/.hidden",
                 "//secret", "/index.html/", "/assets/app-1234.js.gz", "/" + "x" * 3000, "/index.html%00.js"):
        status, _, body = get(paged, path)
        assert status in (400, 403, 404) and b"outside" not in body, (path, status)


def test_a_large_page_comes_whole(paged):
    """A megabyte, to four readers at once."""
    connections = []
    for _ in range(4):
        connection = http.client.HTTPConnection(*paged.address, timeout=60)
        connection.request("GET", "/assets/deep/big.bin")
        connections.append(connection)
    for connection in connections:
        assert hashlib.sha256(connection.getresponse().read()).digest() == hashlib.sha256(BIG).digest()
        connection.close()


def test_packed_where_it_is_understood(paged):
    """gzip for who asks for it, the plain text for the rest; an empty page is one."""
    _, headers, body = get(paged, "/assets/app-1234.js", Accept_Encoding="gzip, br")
    assert headers["content-encoding"] == "gzip" and gzip.decompress(body) == SCRIPT and headers["vary"] == "accept-encoding"
    _, headers, body = get(paged, "/assets/app-1234.js", Accept_Encoding="identity")
    assert "content-encoding" not in headers and body == SCRIPT
    assert get(paged, "/empty.txt")[::2] == (200, b"")
    assert get(paged, "/orphan.txt.gz")[0] == 200


def test_what_a_browser_has_is_not_sent_again(paged):
    """Names with a hash are kept for ever, all else is asked for by its ETag."""
    _, headers, _ = get(paged, "/")
    assert headers["cache-control"] == "no-cache"
    assert get(paged, "/", If_None_Match=headers["etag"])[::2] == (304, b"")
    assert get(paged, "/", If_None_Match='"another"')[0] == 200
    assert "immutable" in get(paged, "/assets/app-1234.js")[1]["cache-control"]


def test_methods(paged):
    """HEAD tells the length and sends no body; what is neither GET nor HEAD is 405."""
    status, headers, body = get(paged, "/assets/deep/big.bin", method="HEAD")
    assert (status, headers["content-length"], body) == (200, str(len(BIG)), b"")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, headers, body = get(paged, "/", method=method)
        assert (status, headers["allow"], headers["content-type"], body) == (405, "GET, HEAD", "text/plain", b"This is for GET and HEAD alone.\n"), method


@pytest.mark.parametrize("path, subprotocol, status, told", [
    ("/other", "sandbar.v1", 404, b"A WebSocket is opened at /v1/ws.\n"), ("/", "sandbar.v1", 404, b"A WebSocket is opened at /v1/ws.\n"),
    ("/v1/ws", "other", 403, b"The subprotocol sandbar.v1 must be offered.\n"), ("/v1/ws?token=x", "sandbar.v1", 403, b"A token does not belong")])
def test_no_websocket_and_why(paged, path, subprotocol, status, told):
    """Who asks for a WebSocket and gets none is told why, in plain text, also where another subprotocol was meant."""
    answer = get(paged, path, Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13", Sec_WebSocket_Protocol=subprotocol,
                 Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==")
    assert (answer[0], answer[1].get("content-type")) == (status, "text/plain") and answer[2].startswith(told)


def test_a_strange_host_sees_nothing(paged):
    """A page of a stranger whose name points here is told why it gets nothing."""
    status, _, body = get(paged, "/", Host="evil.example")
    assert status == 403 and b"--public-host" in body


def test_a_reader_who_stops_costs_the_others_nothing(paged):
    """Ten that ask for a megabyte and read nothing; another is served all the same, and the server stops in time."""
    import socket
    stalled = []
    for _ in range(10):
        one = socket.create_connection(paged.address)
        one.sendall(b"GET /assets/deep/big.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stalled.append(one)
    assert get(paged, "/assets/deep/big.bin")[2] == BIG
    for one in stalled:
        one.close()


def test_without_pages_the_server_says_so(programs, start_server):
    """A server that was built without them runs, and its first page tells what was missing."""
    server = start_server()
    status, _, body = get(server, "/")
    assert status == 200 and b"without them" in body and b"npm" in body


def test_too_many_bytes_are_refused_at_the_start(programs_with_pages):
    """A page over its limit is an error that names it, not a server without that page."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sandbar-pages-"))
    folder.chmod(0o755)
    try:
        for program in programs_with_pages.iterdir():
            if program.is_file():
                shutil.copy2(program, folder / program.name)
        (folder / "pages").mkdir()
        (folder / "pages/large.js").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
        with pytest.raises(RuntimeError, match="large.js"):
            Server(folder, user="root" if os.geteuid() == 0 else "user").await_address(10)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
