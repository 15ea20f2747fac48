"""A disk of its own for a server, that can be filled to the last byte and emptied again."""

import contextlib
import os
import subprocess


class Disk:
    def __init__(self, folder):
        self.folder = folder
        self.ballast = folder / "ballast"

    def fill(self):
        with open(self.ballast, "ab", buffering=0) as file:
            for piece in (65536, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(piece))

    def empty(self):
        self.ballast.unlink()


@contextlib.contextmanager
def small_disk(folder, size="20m"):
    """A file system of SIZE at FOLDER. Needs root."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "disk-test", str(folder)], check=True)
    try:
        (folder / "state").mkdir(mode=0o700)
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def start_on(disk, start_server, *flags):
    """A server whose state is on DISK."""
    server = start_server(*flags, "--state", str(disk.folder / "state"))
    server.state = disk.folder / "state"
    return server


needs_root = os.geteuid() != 0
