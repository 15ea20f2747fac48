"""The one sequence that every stream of the soak carries, so that any piece of it can be checked by its offset alone:
lines of eight bytes that count, from the beginning again after a million."""

LINE = 8
LINES = 1_000_000
WHOLE = b"".join(b"%07d\n" % number for number in range(LINES))
PRINT = "seq -f %07.0f {first} {last}"
FOREVER = f"while :; do seq -f %07.0f 0 {LINES - 1}; done"


def piece(offset, length):
    offset %= len(WHOLE)
    part = WHOLE[offset:offset + length]
    return part if len(part) == length else part + piece(0, length - len(part))


def printing(lines):
    """A shell command that prints the first LINES lines."""
    return PRINT.format(first=0, last=lines - 1)
