"""A pytest plugin of CI, whose machines stall: a test that fails runs once more, and one that passes then is told as unsteady, beside
what it failed of. It counts as passed, and as a fault whose cause nobody has seen yet. What fails before or after the test itself
(what a server left, what a sanitizer reported) is failed at once."""

from _pytest.runner import runtestprotocol

UNSTEADY = "unsteady"  # a property of the test in junit's report


def has_failed(reports):
    return any(report.failed for report in reports if report.when == "call")


def is_final(reports):
    return any(report.failed for report in reports if report.when != "call")


def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if has_failed(reports) and not is_final(reports):
        item._initrequest()
        seen, reports = reports, runtestprotocol(item, log=False, nextitem=nextitem)
        if not has_failed(reports):
            tell(item, [report for report in seen if report.failed], reports)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def tell(item, failures, reports):
    for report in failures:
        print(f"\n{UNSTEADY}: {item.nodeid} passed when it ran again; first it failed:\n{report.longreprtext[-3000:]}", flush=True)
    for report in reports:
        report.user_properties.append((UNSTEADY, "failed, then passed"))
