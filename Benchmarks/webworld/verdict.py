"""The figures of one run: from the files that the program has written, and from the log of nginx."""

import collections
import json
import math

from . import plan

SHARES = (50, 90, 95, 99)
GRACE = 0.05
"""Seconds around the end of a Retry-After in which a request is not counted as early."""


def arrivals(program, output, the_plan, start):
    """The time at which each photo was written: the last change of its file, in seconds since the start of the program.

    Returns the times of the photos that can be downloaded, by the indexes of their URLs, and the number of other files,
    such as photos of hosts with a wrong certificate.
    """
    times, others = {}, 0
    urls = [entry.url for entry in the_plan.entries]
    for file, index in program.files(output, urls):
        facts = file.stat()
        if the_plan.entries[index].truth == plan.PHOTO and facts.st_size > 0:
            times[index] = facts.st_mtime - start
        else:
            others += 1
    return times, others


def missing(the_plan, times):
    """The number of photos that can be downloaded, but were not written, by the habits of their hosts."""
    habits = {host.name: host.habit for host in the_plan.hosts}
    return collections.Counter(
        habits[entry.host]
        for index, entry in enumerate(the_plan.entries)
        if entry.truth == plan.PHOTO and index not in times
    )


def seconds_until(times, available, share):
    """The time until a share (in percent) of the photos that can be downloaded was written, or None."""
    needed = math.ceil(available * share / 100)
    return times[needed - 1] if 0 < needed <= len(times) else None


class Requests:
    """The requests in the log of nginx, in the order in which they ended."""

    def __init__(self, log):
        self.requests = []
        for line in log.read_text().splitlines():
            end, duration, host, status, connection, *_ = line.split(" ")
            self.requests.append((float(end) - float(duration), float(end), host, int(status), connection))

    @property
    def connections(self):
        return len({connection for *_, connection in self.requests})

    @property
    def most_at_once(self):
        """The largest number of requests that one host had to answer at the same time."""
        steps = collections.defaultdict(list)
        for start, end, host, *_ in self.requests:
            steps[host] += [(start, 1), (end, -1)]
        most = 0
        for changes in steps.values():
            current = 0
            for _, change in sorted(changes):
                current += change
                most = max(most, current)
        return most

    @property
    def early(self):
        """Requests to a host after it had answered 429, before its Retry-After was over."""
        refusals = collections.defaultdict(list)
        for _, end, host, status, _ in self.requests:
            if status == 429:
                refusals[host].append(end)
        return sum(
            any(refusal + GRACE < start < refusal + plan.BUSY_PAUSE - GRACE for refusal in refusals[host])
            for start, _, host, *_ in self.requests
            if host in refusals
        )


def verdict(program, output, world, usage):
    """The figures of a run as a dictionary.

    - Parameter usage: the figures of ``webworld.usage``.
    """
    available = world.plan.available
    arrived, others = arrivals(program, output, world.plan, usage["start"])
    times = sorted(arrived.values())
    requests = Requests(world.folder / "access.log")
    # Names of other hosts do not count. img2dataset, for example, looks for new versions of its packages.
    hosts = {host.name for host in world.plan.hosts}
    questions = {
        name: count for name, count in json.loads((world.folder / "names.json").read_text()).items() if name in hosts
    }
    return {
        "available": available,
        "photos": len(times),
        "missing": missing(world.plan, arrived),
        "other_files": others,
        "seconds_first": times[0] if times else None,
        **{f"seconds_{share}": seconds_until(times, available, share) for share in SHARES},
        "seconds": usage["seconds"],
        "status": usage["status"],
        "processor_seconds": usage["processor_seconds"],
        "peak_memory": usage["peak_memory"],
        "requests": len(requests.requests),
        "connections": requests.connections,
        "most_at_once": requests.most_at_once,
        "early": requests.early,
        "names": len(questions),
        "questions": sum(questions.values()),
        # The curve of the plot: the seconds until each half percent of the photos was written.
        "curve": [seconds_until(times, available, half / 2) for half in range(1, 201)],
    }
