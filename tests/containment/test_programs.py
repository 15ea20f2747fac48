"""Well-known programs do inside what they do outside. What this host does not have is skipped, by name."""

import shutil

import pytest
from wire import SLOWNESS, RemoteError

C_PROGRAM = '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n'
JAVA_PROGRAM = 'public class Main { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> ' \
    'System.out.println("threaded")); t.start(); t.join(); } }\n'
PYTHON_POOL = """
import multiprocessing, threading
def work(number): return number * number
if __name__ == "__main__":
    seen = []
    threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(20)]
    [t.start() for t in threads]; [t.join() for t in threads]
    with multiprocessing.Pool(4) as pool: print(len(seen), sum(pool.map(work, range(100))))
"""
NODE_PROGRAM = """
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) { new Worker(__filename).on('message', m => { require('child_process').exec('echo ' + m, (e, out) => process.stdout.write(out)); }); }
else parentPort.postMessage('worked');
"""
CMAKE_LISTS = "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p main.c)\n"

# (name, the programs it needs, files, script, what must stand in its output)
PROGRAMS = [
    ("gcc", ["gcc"], {"main.c": C_PROGRAM}, "gcc -O2 -Wall main.c -o main && ./main", "built"),
    ("clang with AddressSanitizer", ["clang"], {"main.c": C_PROGRAM}, "ASAN_OPTIONS=detect_leaks=0 && clang -fsanitize=address main.c -o main && ./main", "built"),
    ("cmake and make", ["cmake", "make", "cc"], {"main.c": C_PROGRAM, "CMakeLists.txt": CMAKE_LISTS}, "cmake -S . -B b >/dev/null && make -j4 -C b >/dev/null && b/p", "built"),
    ("python: threads and processes", ["python3"], {"p.py": PYTHON_POOL}, "python3 p.py", "20 328350"),
    ("python: venv", ["python3"], {}, "python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix)'", "/v"),
    ("python: sockets on the loopback", ["python3"], {}, "python3 -c 'import socket as s; l=s.create_server((\"127.0.0.1\",0)); c=s.create_connection(l.getsockname()); "
     "a,_=l.accept(); a.send(b\"looped\"); print(c.recv(9).decode())'", "looped"),
    ("python: asyncio and subprocess", ["python3"], {},
     "python3 -c 'import asyncio\nasync def m():\n p=await asyncio.create_subprocess_exec(\"echo\",\"awaited\")\n await p.wait()\nasyncio.run(m())'", "awaited"),
    ("node: workers and children", ["node"], {"p.js": NODE_PROGRAM}, "node p.js", "worked"),
    ("node: npm", ["npm"], {}, "npm init -y >/dev/null && npm pkg get name", "work"),
    ("git", ["git"], {}, "git init -q r && cd r && echo x >f && git add f && git -c user.name=u -c user.email=u@e commit -qm m && git gc -q && git log --oneline | wc -l", "1"),
    ("perl", ["perl"], {}, "perl -e 'my $p = fork; if (!$p) { print \"forked\\n\"; exit } waitpid $p, 0'", "forked"),
    ("java", ["java", "javac"], {"Main.java": JAVA_PROGRAM}, "javac Main.java && java -Xmx128m Main", "threaded"),
    ("strace of a child", ["strace"], {}, "strace -f -e trace=openat -o t cat /etc/hostname >/dev/null && grep -c hostname t", "1"),
    ("gdb of a child", ["gdb", "gcc"], {"main.c": C_PROGRAM}, "gcc -g main.c -o main && gdb -q -batch -ex 'break main' -ex run -ex bt ./main 2>&1 | grep -c '#0  main'", "1"),
    ("tar, gzip, xz", ["tar", "gzip", "xz"], {}, "mkdir d && echo packed >d/f && tar cJf a.xz d && rm -r d && tar xJf a.xz && cat d/f", "packed"),
    ("find, sort, awk, sed", ["find", "sort", "awk", "sed"], {},
     "find /usr/bin -type l | sort | awk 'END { print (NR > 10) ? \"many\" : \"few\" }' | sed s/many/listed/", "listed"),
    ("sqlite", ["sqlite3"], {}, "sqlite3 d.db 'create table t(a); insert into t values(41); update t set a=a+1; select a from t'", "42"),
    ("flock", ["flock"], {}, "flock lock -c 'echo locked'", "locked"),
    ("openssl", ["openssl"], {}, "openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -noout -text | grep -c ED25519", "1"),
    ("curl to a server inside", ["curl", "python3"], {}, "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in $(seq 100); do "
     "curl -sf http://127.0.0.1:8123/ >page && break; sleep 0.05; done; kill $!; grep -c 'Directory listing' page", "2"),
    ("go", ["go"], {"main.go": 'package main\nfunc main() { c := make(chan string); go func() { c <- "spoken" }(); println(<-c) }\n'},
     "GOCACHE=/tmp/go GOFLAGS=-mod=mod HOME=/work go run main.go 2>&1", "spoken"),
    ("rust", ["rustc", "cc"], {"main.rs": 'fn main() { std::thread::spawn(|| println!("spawned")).join().unwrap(); }\n'}, "rustc main.rs && ./main", "spawned"),
    ("a package from a file", ["dpkg-deb"], {"control": "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: m <m@e>\nDescription: d\n"},
     "mkdir -p p/DEBIAN p/usr/share/p && mv control p/DEBIAN && echo installed >p/usr/share/p/f && dpkg-deb -b p >/dev/null && "
     "dpkg-deb -x p.deb root && cat root/usr/share/p/f", "installed"),
]
PATH = "/usr/local/bin:/usr/bin:/bin"  # as inside
LIMITS = {"memory": 2 << 30, "processes": 512}


@pytest.fixture(scope="module")
def place(any_server, tables):
    """A session, and the rows of what ran in it."""
    rows = [("PROGRAM", "RESULT")]
    with any_server.client() as client:
        yield client, client.create(limits=LIMITS), rows
    tables.append((f"well-known programs, in a session of a server that runs as {any_server.user}", rows))


@pytest.mark.parametrize("name,needs,files,script,expected", PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_it_works(place, name, needs, files, script, expected):
    client, session, rows = place
    lacks = [program for program in needs if not shutil.which(program, path=PATH)]
    if lacks:
        rows.append((name, f"this host has no {lacks[0]} in /usr"))
        pytest.skip(f"this host has no {lacks[0]} in /usr")
    client.run(session, "rm -rf /work/* /tmp/*")
    for path, text in files.items():
        client.run(session, f"cat > /work/{path}", input=text.encode())
    answer = client.call("process.run", seconds=90 * SLOWNESS, session=session, argv=["sh", "-c", script])
    told = answer["stdout"].decode()
    rows.append((name, "works" if expected in told else "fails"))
    assert expected in told and answer["exited"]["reason"] == "exited", told + answer["stderr"].decode() + str(answer["exited"])


def test_tmux_inside_a_terminal(place):
    """A terminal in a terminal: tmux draws what its shell wrote, and ends when it is told."""
    client, session, rows = place
    if not shutil.which("tmux"):
        pytest.skip("this host has no tmux")
    script = "tmux -f /dev/null new-session -d -s s 'echo inner; sleep 60'; sleep 0.5; tmux capture-pane -pt s; tmux kill-server"
    try:
        told = client.run(session, script, terminal={"cols": 80, "rows": 24})["tty"].decode()
    except RemoteError as error:
        told = str(error)
    rows.append(("tmux", "works" if "inner" in told else "fails"))
    assert "inner" in told
