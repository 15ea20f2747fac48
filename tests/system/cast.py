"""asciicast v3, read as its specification has it (https://docs.asciinema.org/manual/asciicast/v3/): what is not valid raises."""

import json
import re

CODES = {"o", "i", "m", "r", "x"}


class Cast:
    """A recording: its header, and its events as (time, code, data), times from the beginning."""

    def __init__(self, data):
        lines = data.decode("utf-8").splitlines()
        assert lines and not lines[0].startswith("#"), "the first line is the header"
        self.header = json.loads(lines[0])
        self.check_header()
        self.events = []
        now = 0.0
        for line in lines[1:]:
            if line.startswith("#"):
                continue
            event = json.loads(line)
            self.check_event(event)
            now += event[0]
            self.events.append((now, event[1], event[2]))
        exits = [at for at, event in enumerate(self.events) if event[1] == "x"]
        assert not exits or exits == [len(self.events) - 1], "the exit is the last event"

    def check_header(self):
        header = self.header
        assert header["version"] == 3 and isinstance(header["version"], int)
        assert all(isinstance(header["term"][side], int) and header["term"][side] > 0 for side in ("cols", "rows"))
        assert all(isinstance(header["term"].get(key, ""), str) for key in ("type", "version"))
        assert isinstance(header.get("timestamp", 0), int)
        assert all(isinstance(header.get(key, ""), str) for key in ("command", "title"))

    def check_event(self, event):
        assert isinstance(event, list) and len(event) == 3, event
        interval, code, data = event
        assert isinstance(interval, (int, float)) and interval >= 0 and isinstance(code, str) and isinstance(data, str), event
        if code == "r":
            assert re.fullmatch(r"[1-9]\d*x[1-9]\d*", data), event
        elif code == "x":
            assert re.fullmatch(r"\d+", data), event
        elif code not in CODES:
            assert "." in code, f"a code of our own must not be one that the format may give a meaning: {event}"

    def of(self, code):
        return [data for _, kind, data in self.events if kind == code]

    @property
    def output(self):
        return "".join(self.of("o"))

    @property
    def seconds(self):
        return self.events[-1][0] if self.events else 0.0
