"""Where the sanitizers of a test's programs write, and whether they did."""

import glob
import os
import shutil

OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


MARKS = ("runtime error:", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer")
SHOWN = 40  # lines of a report


class Logs:
    def __init__(self, name):
        self.folder = os.path.abspath(f"build/asan/logs/{name}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o1777)  # programs that have changed their user write here, too

    def environment(self):
        return {variable: f"{options}:log_path={self.folder}/report" for variable, options in OPTIONS.items()}

    def check(self, report, name, output):
        """What was reported to a log; and to stderr, whose text is in OUTPUT: gcc's UBSan does not go by log_path where AddressSanitizer is
        there, too, and a forked child that it ends need not make a test fail."""
        lines = (output or "").splitlines()
        found = [number for number, line in enumerate(lines) if any(mark in line for mark in MARKS)]
        if found:
            report.failed(f"{name}/a sanitizer's report", "\n".join(lines[found[0]:found[0] + SHOWN]))
        for path in sorted(glob.glob(self.folder + "/report*")):
            with open(path, errors="replace") as file:
                report.failed(f"{name}/{os.path.basename(path)}", file.read())
