"""The processes that the tests start: they end with the test, and no other process is touched."""

import os
import pathlib
import select
import signal
import subprocess
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]

# A debug build by default; deploy/browser-tests sets the variable.
PROGRAM = os.environ.get("DARKROOM_PROGRAM", str(PROJECT / ".build/debug/darkroom"))

SAMPLES = PROJECT / "Tests/Samples"


def wait_until(condition, what, timeout=15, poll=0.02):
    """Returns the first true value of `condition()`. The failure names what was awaited."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s for: {what}")
        time.sleep(poll)


class OwnedProcess:
    """A child process. Its standard error goes to a file, which failures quote."""

    def __init__(self, arguments, folder, name):
        self._errors = folder / f"{name}.err"
        with open(self._errors, "ab") as errors:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, cwd=folder
            )

    @property
    def pid(self):
        return self._process.pid

    @property
    def errors(self):
        return self._errors.read_text(errors="replace")

    def line(self, timeout=15):
        """Returns the next line of standard output."""
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        line = self._process.stdout.readline().decode() if ready else ""
        if not line:
            raise AssertionError(f"{self._process.args[:2]} printed nothing; standard error: {self.errors}")
        return line.rstrip("\n")

    def stop(self):
        """Ends the process and waits for its end."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stdout.close()


def run(arguments, folder, timeout=60):
    """Runs a command of the program to its end, and returns what it printed."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], cwd=folder, timeout=timeout, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"darkroom {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done.stdout
