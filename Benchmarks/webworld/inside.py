"""The part of the command that runs in the namespaces: makes the worlds, and runs the programs in turns.

`python3 -m webworld.inside` reads its settings as JSON from the environment variable BENCHMARK_SETTINGS.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from . import plan, report
from .errors import BenchmarkError
from .programs import PROGRAMS, Paths
from .usage import children_seconds, machine_seconds
from .verdict import verdict
from .world import World, isolate, make_common

LIMIT = 3600
"""Seconds after which a program is killed. Its figures up to this time count."""


@dataclasses.dataclass(frozen=True)
class Settings:
    seed: int
    urls: int
    rounds: int
    calm: bool
    programs: list
    darkroom: str
    python: str
    work: str
    results: str


def measure(program, the_plan, work, common, log):
    """Runs a program in a new world and returns its figures."""
    folder, output = work / "world", work / "output"
    usage = work / "usage.json"
    before = time.monotonic(), machine_seconds(), children_seconds()
    with World(the_plan, folder, common) as world:
        output.mkdir()
        command = [*program.command(world.list, len(the_plan.entries), output)]
        gauge = [sys.executable, "-B", "-m", "webworld.usage", usage, LIMIT, log, *command]
        runner = subprocess.Popen(list(map(str, gauge)), stdin=subprocess.DEVNULL)
        if runner.wait() != 0:
            raise BenchmarkError(f"{program.name} was not measured; see above")
    elapsed, machine, children = time.monotonic() - before[0], machine_seconds() - before[1], children_seconds() - before[2]
    figures = verdict(program, output, world, json.loads(usage.read_text()))
    figures["world_processor_seconds"] = children - figures["processor_seconds"]
    figures["other_share"] = max(0.0, machine - children) / (elapsed * len(os.sched_getaffinity(0)))
    shutil.rmtree(output)
    shutil.rmtree(folder)
    return figures


def run(settings):
    work, results = pathlib.Path(settings.work), pathlib.Path(settings.results)
    isolate(work)
    sizes = make_common(work / "common", settings.darkroom)
    paths = Paths(settings.darkroom, settings.python)
    programs = [PROGRAMS[name](paths) for name in settings.programs]
    facts = report.Facts(settings.seed, settings.urls, settings.rounds, settings.calm, report.machine(), [], len(sizes))
    facts.programs += [report.ProgramFacts(one.name, one.version(), one.settings) for one in programs]
    for program in programs:
        program.warm()
    outcomes = []
    for number in range(settings.rounds):
        the_plan = plan.make_plan(settings.seed + number, settings.urls, sorted(sizes), settings.calm)
        # Each round begins with another program.
        first = number % len(programs)
        for program in programs[first:] + programs[:first]:
            log = results / f"{program.name}-{number + 1}.log"
            figures = measure(program, the_plan, work, work / "common", log)
            outcomes.append({"program": program.name, "round": number + 1, "seed": the_plan.seed, **figures})
            print(report.line(outcomes[-1]), file=sys.stderr, flush=True)
            report.write(facts, outcomes, results)
    print((results / "results.md").read_text())


def main():
    # The first process of a PID namespace ignores signals without a handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        run(Settings(**json.loads(os.environ["BENCHMARK_SETTINGS"])))
    except BenchmarkError as error:
        sys.exit(f"measure: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
