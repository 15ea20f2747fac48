"""Tests that run in the guest alone, with the fixtures of tests/system."""

import importlib.util
import pathlib
import sys

SYSTEM = pathlib.Path(__file__).resolve().parents[1] / "system"

sys.path.insert(0, str(SYSTEM))
spec = importlib.util.spec_from_file_location("system_conftest", SYSTEM / "conftest.py")
system_conftest = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = system_conftest
spec.loader.exec_module(system_conftest)

programs, start_server, bounded = system_conftest.programs, system_conftest.start_server, system_conftest.bounded
pytest_configure = system_conftest.pytest_configure
