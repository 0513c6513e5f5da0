"""The results of all rounds: results.json, results.md with medians, and the plot photos.svg."""

import collections
import dataclasses
import json
import os
import pathlib
import platform
import statistics

from .plot import Curve, draw

ROWS = [
    ("seconds until the first photo", "seconds_first", 1),
    *((f"seconds until {share} % of the photos", f"seconds_{share}", 1) for share in (50, 90, 95, 99)),
    ("seconds until the end of the program", "seconds", 1),
    ("photos, in percent of those that can be had", "share", 1),
    ("most requests at once to one host", "most_at_once", 0),
    ("requests during a Retry-After", "early", 0),
    ("questions to the name server for each name", "questions_per_name", 2),
    ("requests", "requests", 0),
    ("connections with requests", "connections", 0),
    ("processor time in seconds", "processor_seconds", 1),
    ("peak memory in MB", "megabytes", 0),
]


@dataclasses.dataclass
class ProgramFacts:
    name: str
    version: str
    settings: str

    @property
    def label(self):
        return f"{self.name} {self.version}"


@dataclasses.dataclass
class Facts:
    """The settings of the measurement."""

    seed: int
    urls: int
    rounds: int
    calm: bool
    machine: str
    programs: list
    photos: int
    """The number of different photos in the worlds."""


def machine():
    """Processor, cores, memory, kernel and Python of this machine."""
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return (
        f"{cores} cores ({model}), {memory:.0f} GiB of memory, Linux {platform.release()}, Python {platform.python_version()}"
    )


def derived(outcome):
    """The figures of a run, including those that are computed from other figures."""
    return {
        **outcome,
        "share": 100 * outcome["photos"] / max(1, outcome["available"]),
        "questions_per_name": outcome["questions"] / max(1, outcome["names"]),
        "megabytes": outcome["peak_memory"] / 1e6,
    }


def line(outcome):
    """A line about a run that has just ended."""
    figures = derived(outcome)
    reached = ", ".join(
        f"{share} % " + ("never" if figures[f"seconds_{share}"] is None else f"after {figures[f'seconds_{share}']:.1f} s")
        for share in (50, 90, 95, 99)
    )
    return (
        f"round {outcome['round']}, {outcome['program']}: {outcome['photos']} of {outcome['available']} photos "
        f"({figures['share']:.1f} %): {reached}; end after {outcome['seconds']:.1f} s; other programs of the machine used "
        f"{100 * outcome['other_share']:.0f} % of its processors"
    )


def median(values):
    """The median of times; a run that did not reach the share counts as infinite. None if the median is infinite."""
    ordered = sorted(float("inf") if value is None else value for value in values)
    middle = statistics.median(ordered)
    return None if middle == float("inf") else middle


def number(value, digits):
    return "not reached" if value is None else f"{value:,.{digits}f}"


def by_program(outcomes):
    grouped = collections.defaultdict(list)
    for outcome in outcomes:
        grouped[outcome["program"]].append(derived(outcome))
    return grouped


def table(facts, outcomes):
    """A Markdown table with a column for each program."""
    grouped = by_program(outcomes)
    programs = [one for one in facts.programs if one.name in grouped]
    lines = [
        "| | " + " | ".join(one.label for one in programs) + " |",
        "| --- |" + " ---: |" * len(programs),
    ]
    for title, key, digits in ROWS:
        cells = [number(median([figures[key] for figures in grouped[one.name]]), digits) for one in programs]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ratios(facts, outcomes):
    """For each program but the first: its times in proportion to those of the first program in the same round."""
    grouped = by_program(outcomes)
    base = facts.programs[0]
    lines = []
    for one in facts.programs[1:]:
        parts = []
        for share in (50, 90, 95, 99):
            key = f"seconds_{share}"
            pairs = [
                (mine[key], theirs[key]) for mine in grouped[one.name] for theirs in grouped[base.name]
                if mine["round"] == theirs["round"]
            ]
            quotients = sorted(mine / theirs for mine, theirs in pairs if mine is not None and theirs is not None)
            if not quotients or len(quotients) < len(pairs):
                parts.append(f"{share} %: not reached in each round")
            else:
                spread = f" ({quotients[0]:.2f} to {quotients[-1]:.2f})" if len(quotients) > 1 else ""
                parts.append(f"{share} %: {statistics.median(quotients):.2f}{spread}")
        lines.append(f"- {one.label}: " + "; ".join(parts))
    return "\n".join(lines)


def page(facts, outcomes):
    """The results as Markdown."""
    last = facts.seed + facts.rounds - 1
    seeds = f"seed {facts.seed}" if facts.rounds == 1 else f"seeds {facts.seed} to {last}"
    available = sorted({outcome["available"] for outcome in outcomes})
    spread = f"{available[0]:,}" if len(available) == 1 else f"{available[0]:,} to {available[-1]:,}"
    kind = "calm worlds, without habits" if facts.calm else "worlds with habits"
    text = [
        f"{facts.rounds} round{'s' if facts.rounds > 1 else ''}, {seeds}, {facts.urls:,} URLs, {kind}; "
        f"{spread} photos can be had. {facts.machine}.",
        "![Photos over time](photos.svg)",
        table(facts, outcomes),
    ]
    if len(facts.programs) > 1:
        text += [
            f"The time until a share of the photos was there, in proportion to that of {facts.programs[0].label} in the same "
            "round: median (least to most).",
            ratios(facts, outcomes),
        ]
    text += ["\n".join(f"- {one.label}: {one.settings}" for one in facts.programs)]
    busiest = max(outcome["other_share"] for outcome in outcomes)
    text += [f"Other programs of the machine used at most {100 * busiest:.0f} % of its processors during a run."]
    return "\n\n".join(text) + "\n"


def curves(facts, outcomes):
    """The curve of each program: the median times of all rounds."""
    grouped = by_program(outcomes)
    result = []
    for one in facts.programs:
        runs = grouped.get(one.name, [])
        if runs:
            times = [median(values) for values in zip(*(figures["curve"] for figures in runs))]
            points = [(time, (index + 1) / 2) for index, time in enumerate(times) if time is not None]
            share, end = (median([figures[key] for figures in runs]) for key in ("share", "seconds"))
            result.append(Curve(one.label, points, share, end))
    return result


def write(facts, outcomes, folder):
    """Writes the results of the runs so far."""
    content = {"facts": dataclasses.asdict(facts), "runs": outcomes}
    (folder / "results.json").write_text(json.dumps(content, indent=1) + "\n")
    (folder / "results.md").write_text(page(facts, outcomes))
    (folder / "photos.svg").write_text(draw(curves(facts, outcomes)))
