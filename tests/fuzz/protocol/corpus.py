#!/usr/bin/env python3
"""Make the corpus of the fuzz target `message` from protocol/vectors: one file a vector, long ones left out."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
LONGEST = 4096


def part_bytes(part):
    if "hex" in part:
        return bytes.fromhex(part["hex"]) * part.get("times", 1)
    before, after = bytes.fromhex(part["before"]), bytes.fromhex(part["after"])
    return b"".join(before + b"%04d" % i + after for i in range(part["numbers"]))


def message(vector):
    parts = vector.get("parts") or [{"hex": vector["hex"]}]
    return b"".join(part_bytes(part) for part in parts)


def main():
    folder = ROOT / "tests/fuzz/corpus/message"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "protocol/vectors").glob("*.json")):
        for number, vector in enumerate(json.loads(path.read_text()), 1):
            data = message(vector)
            if 0 < len(data) <= LONGEST:
                (folder / f"{path.stem}-{number:03}").write_bytes(data)


if __name__ == "__main__":
    main()
