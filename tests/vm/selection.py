"""A pytest plugin: failures are told at once, since a guest may not live to tell them at the end; and which of the system
tests do not run in the guest, and why. There a processor is emulated, ten times slower than this one. Tests that do a thing
many times do it there as many times less (SLOWNESS in tests/system/wire.py)."""

import re

LEFT_OUT = {
    "test_own_source": "builds the whole tree: a compiler in the guest, and an hour",
    "test_suite": "is the runner of the tests, which is not there",
    "test_dev": "is the developer's command, on the developer's host",
    "test_fairness": "how the gateway shares a connection, measured in milliseconds: load, and the same on any kernel",
    "test_config": "text, and flags",
    "test_document": "text",
    "test_prove": "the client's way to the probes that test_probes runs there",
    "test_survive": "minutes of waiting; the system tests end what clings there, too",
    "test_programs": "compilers, interpreters and editors, of which the guest has few",
    "test_tls": "OpenSSL's and the gateway's affair",
    "test_tokens": "the gateway's",
    "test_crowd": "a hundred viewers, and a flood for each: load, and the same on any kernel",
    "test_stalled": "a hundred megabytes before who does not read: the same",
    "test_recording": "recordings played in real time, beside an editor: the terminal core's and the client's",
    "test_readme": "a walk in three windows: the client's",
    "test_absence": "a minute in which nothing happens",
    "test_fallbacks": "strace, thirty servers one after the other: minutes",
    "test_a_quick_program_is_never_silent": "starts three hundred",
    "test_hostile": "thousands of connections and of descriptors, of which an ordinary Debian process has 1,024",
    "test_run_survives_cuts": "starts four hundred programs one after the other: minutes",
    "test_the_gateway_is_replaced": "starts two thousand",
    "test_commands_one_after_the_other": "starts three thousand",
    "test_numbers_that_cannot_be": "what a file says, in ninety sessions",
    "test_silence_ends_nothing": "a minute in which nothing happens, on any kernel",
}


def pytest_ignore_collect(collection_path):
    """A module that is left out whole is not even imported: what it needs may not be there."""
    return collection_path.stem in LEFT_OUT or None


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if any(name in re.split("[/:.]", item.nodeid) for name in LEFT_OUT)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_runtest_logreport(report):
    if report.failed:
        print(f"\n{report.longreprtext[-3000:]}", flush=True)
