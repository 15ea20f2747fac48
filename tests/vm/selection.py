"""A pytest plugin: which of the system tests do not run in the guest, and why. There a processor is emulated, ten times
slower than this one. Tests that do a thing many times do it there as many times less (SLOWNESS in tests/system/wire.py)."""

import re

LEFT_OUT = {
    "test_own_source": "builds the whole tree: a compiler in the guest, and an hour",
    "test_dev": "is the developer's command, on the developer's host",
    "test_silence_ends_nothing": "a minute in which nothing happens, on any kernel",
}


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if any(name in re.split("[/:.]", item.nodeid) for name in LEFT_OUT)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
