"""Runs a program and measures the processor time and the memory of the program and all its descendants.

`python3 -m webworld.usage FIGURES LIMIT LOG COMMAND...` writes FIGURES as JSON. After LIMIT seconds, the program and its
descendants are killed. The processes are descendants of this process even after their parents have ended, because this process
is a subreaper (prctl(2)).
"""

import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
INTERVAL = 0.5
"""Seconds between two measurements of the memory."""


def descendants(root):
    """The descendants of a process."""
    children = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the process, in parentheses, can contain spaces. The parent is the second field after the name.
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(status.parent.name))
    found, pending = [], [root]
    while pending:
        more = children.get(pending.pop(), [])
        found += more
        pending += more
    return found


def memory(process):
    """The proportional set size of a process in bytes. Memory that processes share counts once."""
    try:
        lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def machine_seconds():
    """The processor time that all processes of the machine have used, in seconds."""
    # user, nice, system, idle, iowait, irq, softirq: proc(5)
    times = list(map(int, pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:8]))
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """The processor time of the descendants of this process that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class MemoryGauge(threading.Thread):
    """Measures the memory of all descendants of this process at intervals."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak = 0
        self._stopped = threading.Event()

    def run(self):
        while not self._stopped.wait(INTERVAL):
            self.peak = max(self.peak, sum(map(memory, descendants(os.getpid()))))

    def stop(self):
        self._stopped.set()
        self.join()


def kill_descendants():
    """Kills all descendants, also those that start while others are killed, and waits for them."""
    while found := descendants(os.getpid()):
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        time.sleep(0.01)


def main():
    figures, limit, log, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    gauge = MemoryGauge()
    gauge.start()
    # Other variables could change the settings of a program, for example its certificates.
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    start = time.time()
    with open(log, "wb") as output:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment,
            start_new_session=True,
        )
    try:
        status = program.wait(float(limit))
    except subprocess.TimeoutExpired:
        status = None
    end = time.time()
    gauge.stop()
    kill_descendants()
    result = {
        "start": start, "seconds": end - start, "status": status, "processor_seconds": children_seconds(),
        "peak_memory": gauge.peak,
    }
    pathlib.Path(figures).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
