"""Record what well-known programs write to a terminal of 80x24, with keys typed: recordings/NAME-80x24.bin.

    /usr/bin/python3 tests/terminal/record.py [NAME...]

The programs see nothing of the host they are recorded on: an empty home, processes of their own, a text of our own.
"""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

COLUMNS, ROWS = 80, 24
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings")

TEXT = "\n".join(f"{n:4} The quick brown fox jumps over the lazy dog; 敏捷的棕色狐狸 {'=' * (n % 30)} \tend" for n in range(400)) + "\n"
CODE = "#include <stdio.h>\n\n" + "\n".join(
    f"/* number {n} */\nstatic int add_{n}(int one, int other)\n{{\n\tif (one > {n})\n\t\treturn one + other + {n};\n"
    f'\tprintf("%d: %s\\n", one, "text");\n\treturn 0;\n}}\n' for n in range(60))

PROGRESS = r"""
for i in $(seq 0 4 100); do
    printf '\r\033[K\033[1;32m%3d%%\033[0m [' "$i"
    for j in $(seq 1 40); do [ "$((j * 100 / 40))" -le "$i" ] && printf '\033[42m \033[0m' || printf ' '; done
    printf '] \033[36mdownload\033[0m %s/100 kB' "$i"; sleep 0.01
done; echo
for i in $(seq 1 60); do printf '\033[3%dmline %d\033[0m is done\n' "$((i % 8))" "$i"; done
"""

WIDE = r"""
printf '\033]0;widths\007'
for i in $(seq 1 30); do
    printf '%s 日本語テキスト 中文字符 한국어 ｆｕｌｌ 🙂🚀🎉 e\314\201a\314\210 naïve │ ' "$i"
    printf '\033[4:3;58:2::255:80:0mcurly\033[0m \033[38;2;%d;100;200mrgb\033[0m \033]8;;https://example.org/%d\033\\link\033]8;;\033\\\n' "$((i * 8))" "$i"
done
printf '漢%.0s' $(seq 1 90); printf '\n👩\342\200\215💻 🇩🇪 ❤\357\270\217 ☃\n'
"""

VIM = ["vim", "-u", "NONE", "-N", "-n", "-i", "NONE", "-c", "syntax on", "-c", "set number hlsearch title ttyfast", "file.c"]
TMUX = ["tmux", "-L", "recording", "-f", "tmux.conf", "new-session", "bash --norc"]
TMUX_CONF = "set -g status-right ''\nset -g default-terminal screen-256color\nset -g automatic-rename off\nset -g mouse on\nset -g default-command 'bash --norc'\n"

# What runs, and the keys it gets, one after the other with a pause.
RECORDINGS = {
    "vim": (VIM, ["\x06", "\x06", "/add_9\r", "n", "ciwhello\x1b", ":split\r", "\x17w", "10j", "5dd", "p", "u", "Go日本語 text\x1b",
                  ":set list\r", "gg", "ivisual \x1b", "V5j", "\x1b", ":%s/one/uno/g\r", ":q!\r"]),
    "vim-inside": (VIM, ["\x06", "\x06", "/add_30\r", "VGd", "u", "\x02", ":vsplit\r", "\x17l", "20j", "Ainserted 漢字\x1b"]),
    "less": (["less", "-R", "text.txt"], [" ", " ", "b", "/brown\r", "n", "G", "g", "-N\r", "\x04", "h", "q", "q"]),
    "top": (["unshare", "-pf", "--mount-proc", "top", "-d", "0.3"], ["1", "c", "M", "z", "x", "h", " ", "q"]),
    "htop": (["unshare", "-pf", "--kill-child", "--mount-proc", "sh", "-c", "for i in $(seq 40); do sleep 100$i & done; exec htop -d 3"],
             ["t", "\x1b[6~", "\x1b[B", " ", "M", "H", "/1007\r", "\x1bOQ", "\x1b[B", "\x1b[B", "\x1b[C", "\x1b[B", "q", "P", "I", "q"]),
    "tmux": (TMUX, ["seq 1 100\r", "\x02%", "ls --color=always\r", "\x02\"", "cat text.txt | head -50\r", "\x02z", "\x02z", "\x02o",
                    "\x02[", "\x1b[5~", "q", "vim -u NONE file.c\r", "\x06", ":q\r", "\x02:", "kill-server\r"]),
    "progress": (["sh", "-c", PROGRESS], []),
    "wide": (["sh", "-c", WIDE], []),
}


def read_for(master, seconds, found):
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([master], [], [], left)[0]:
            continue
        try:
            got = os.read(master, 65536)
        except OSError:  # the program is gone
            return False
        found.append(got)
    return True


def record(argv, keys, folder):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PS1": "$ ", "TMPDIR": folder,
                   "TMUX_TMPDIR": folder}
    with subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment, start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as program:
        os.close(slave)
        found = []
        alive = read_for(master, 0.7, found)
        for key in keys:
            if alive:
                os.write(master, key.encode())
                alive = read_for(master, 0.35, found)
        if alive:
            read_for(master, 1.5, found)
        program.kill()
        os.close(master)
    return b"".join(found)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name in sys.argv[1:] or RECORDINGS:
        argv, keys = RECORDINGS[name]
        with tempfile.TemporaryDirectory() as folder:
            for file, text in (("text.txt", TEXT), ("file.c", CODE), ("tmux.conf", TMUX_CONF)):
                with open(f"{folder}/{file}", "w") as opened:
                    opened.write(text)
            found = record(argv, keys, folder)
        with open(f"{FOLDER}/{name}-{COLUMNS}x{ROWS}.bin", "wb") as file:
            file.write(found)
        print(f"{name}: {len(found)} bytes")


main()
