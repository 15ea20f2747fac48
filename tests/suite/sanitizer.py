"""Where the sanitizers of a test's programs write, and whether they did."""

import glob
import os
import shutil

OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


class Logs:
    def __init__(self, name):
        self.folder = os.path.abspath(f"build/asan/logs/{name}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o1777)  # programs that have changed their user write here, too

    def environment(self):
        return {variable: f"{options}:log_path={self.folder}/report" for variable, options in OPTIONS.items()}

    def check(self, report, name):
        for path in sorted(glob.glob(self.folder + "/report*")):
            with open(path, errors="replace") as file:
                report.failed(f"{name}/{os.path.basename(path)}", file.read())
