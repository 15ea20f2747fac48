"""A pytest plugin: which of the system tests do not run in the guest, and why. There a processor is emulated, ten to
twenty times slower than this one: what is left out measures speed or moves masses of data, and says nothing about a kernel."""

LEFT_OUT = {
    "test_own_source": "builds the whole tree: a compiler in the guest, and an hour",
    "test_dev": "is the developer's command on the developer's host",
}


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if any(name in item.nodeid for name in LEFT_OUT)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
