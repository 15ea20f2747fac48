"""The parts of docs/security.md and docs/programs.md that come from the tables of the probes, the abuse and the programs.

python3 tests/containment/document.py PATH-OF-sandbar-probe     writes them anew; test_document.py looks whether they are."""

import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/security.md"
EXAMPLES = 6

# What stops an attempt, as the probes call it: how it is built. In the order in which one would put it on.
CONTROLS = {
    "namespace": "user, pid, mount, network, ipc, uts and cgroup namespaces of its own",
    "network": "an empty network namespace: nothing routes, and names of sockets are its own",
    "root": "a root of its own, cloned from a tree that holds what is meant to be seen and nothing else",
    "mount": "everything of the host read-only; nosuid and nodev everywhere, noexec where nothing is to be run",
    "dev": "six harmless device nodes, and terminals of its own",
    "proc mask": "/proc without what tells of the machine, and nothing of the machine's to be written",
    "descriptors": "nothing inherited but 0 to 2, opened for this process",
    "environment": "a short environment that is made, not inherited",
    "credentials": "one user id inside, that no other sandbox has (as root), without groups",
    "capabilities": "none: effective, permitted, inheritable, bounding and ambient sets are empty, and locked",
    "no_new_privs": "no program gives more than its caller has",
    "rlimits": "limits of each process that cannot be raised",
    "init": "process 1 is another user, or out of reach: undumpable, with guards for calls that ask only for the same user",
    "landlock": "what may be opened or made where, whatever mounts and modes say",
    "seccomp": "an allow-list of system calls, with the arguments that matter; foreign ABIs are killed",
    "kernel": "the kernel's own rule, without any right that would lift it",
    "shared inode": "nothing yet: see below",
}


def table_of(program, word, columns):
    told = subprocess.run([program, word], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in told.splitlines()]
    assert rows and all(len(row) == columns for row in rows)
    return rows


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def markdown(headings, rows):
    yield "| " + " | ".join(headings) + " |"
    yield "| " + " | ".join("---" for _ in headings) + " |"
    for row in rows:
        yield "| " + " | ".join(cell(str(text)) for text in row) + " |"


def examples(rows):
    """From as many groups as there are, those that name what they were learnt from first."""
    ordered = sorted(rows, key=lambda row: "CVE" not in row[6])
    groups = list(dict.fromkeys(row[1] for row in ordered))
    taken = [next(row for row in ordered if row[1] == group) for group in groups][:EXAMPLES]
    taken += [row for row in ordered if row not in taken][:EXAMPLES - len(taken)]
    return "; ".join(row[6] for row in taken)


def of_controls(program):
    rows = table_of(program, "list", 7)
    for control, built in CONTROLS.items():
        own = [row for row in rows if row[3] == control]
        yield f"**{control}**: {built}", examples(own), len(own)


def of_groups(program):
    rows = table_of(program, "list", 7)
    for group in dict.fromkeys(row[1] for row in rows):
        own = [row for row in rows if row[1] == group]
        yield f"`{group}`", len(own), ", ".join(dict.fromkeys(row[3] for row in own)), f"tests/containment/probe/{group}.c"


def of_accepted(program):
    return [(f"`{row[2]}`", row[6]) for row in table_of(program, "list", 7) if row[5] == "accepted"]


def of_abuse(program):
    return [(f"`{name}`", attempt, control, expected.replace("EALREADY", "no error").replace("|", ", "))
            for name, control, _, expected, attempt in table_of(program, "abuses", 5)]


PARTS = {
    "controls": lambda program: markdown(["control", "stops, for example", "probes"], of_controls(program)),
    "groups": lambda program: markdown(["group", "probes", "controls", "source"], of_groups(program)),
    "accepted": lambda program: markdown(["probe", "what it sees"], of_accepted(program)),
    "abuse": lambda program: markdown(["abuse", "what it does", "control", "what the program sees"], of_abuse(program)),
}


def with_parts(text, program):
    """TEXT, with what stands between <!-- NAME --> and <!-- end --> as the tables say."""
    for name, make in PARTS.items():
        pattern = re.compile(rf"(<!-- {name} -->\n)(?:.*?\n)??(<!-- end -->)", re.S)
        assert len(pattern.findall(text)) == 1, name
        text = pattern.sub(lambda match: match[1] + "\n".join(make(program)) + "\n" + match[2], text)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_parts(PAGE.read_text(), sys.argv[1]))
