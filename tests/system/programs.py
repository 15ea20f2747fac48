"""Programs that tests start."""

# Says that it is up, and is gone with the first signal. A shell is not: between the words and its exec it has caught a signal (dash SIGINT,
# bash SIGQUIT), and what it becomes has never heard of it, at any terminal.
SLEEPER = ["python3", "-ISc", "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); print('up', flush=True); time.sleep(300)"]
