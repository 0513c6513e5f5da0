"""Measures how fast the contact sheet is, and prints a table.

    /usr/bin/python3 Tests/Browser/measure.py [change] [million] [focus]

change    the time from a change of a state in Redis to the cell on the page, with at least 200 visible cells
million   a batch of 1,000,000 photos: the first rows, the script time of each frame while scrolling, and the memory
          of `darkroom serve`
focus     the time from scrolling into an unstarted part of a batch of 100,000 photos, with an idle worker and the box
          "Visible photos run first", until the filtered photo is on the screen

Without arguments, all of them. DARKROOM_PROGRAM names the program, by default .build/release/darkroom. The browser,
Redis and the program are on this machine, so the times have one clock. Other work on the machine makes them worse.
"""

import json
import os
import pathlib
import random
import statistics
import sys
import time

# Before the import of `processes`, whose default is a debug build.
os.environ.setdefault("DARKROOM_PROGRAM", str(pathlib.Path(__file__).resolve().parents[2] / ".build/release/darkroom"))

# pylint: disable=wrong-import-position
from browser import Browser, Sheet  # noqa: E402
from cluster import NAMESPACE, Cluster, sample, samples  # noqa: E402
from frames import Frames  # noqa: E402

RUNS = 3


def percentile(values, share):
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(what, values, unit, limit, share=0.99):
    """Prints a line of the table."""
    worst = percentile(values, share)
    verdict = "" if limit is None else f"{'<=' if worst <= limit else '>'} {limit} {unit}"
    figures = f"{statistics.median(values):9.1f} {worst:9.1f} {max(values):9.1f}"
    print(f"{what:64} {len(values):6} {figures} {unit:3} {verdict}", flush=True)


def heading():
    """Prints the names of the columns."""
    print(f"{'measured':64} {'values':>6} {'median':>9} {'p99':>9} {'most':>9}")


class Session:
    """A cluster, and a browser that is logged in."""

    def __init__(self, width=1280, height=900):
        self.cluster = Cluster()
        self.browser = Browser(width=width, height=height)
        self.browser.log_in(self.cluster)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.cluster.close()

    def memory(self):
        """The peak memory use of `serve`, in MB."""
        with open(f"/proc/{self.cluster.serve.pid}/status", encoding="ascii") as file:
            peak = next(line for line in file if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1000


# --- From Redis to the cell -------------------------------------------------------------------------------------------

# Writes a state code and publishes the event of a worker, as one step.
CHANGE = """
redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2])
redis.call('PUBLISH', KEYS[2], ARGV[3])
"""

VISIBLE = """
const bottom = document.querySelector(".grid").getBoundingClientRect().bottom;
return [...document.querySelectorAll(".cell[data-position]")].filter((cell) => cell.getBoundingClientRect().bottom <= bottom)
    .map((cell) => Number(cell.dataset.position));
"""

OBSERVE = """
window.changes = {};
new MutationObserver((records) => {
    const now = performance.timeOrigin + performance.now();
    for (const { target } of records) {
        if (target.matches(".cell.is-failed")) changes[target.dataset.position] ??= now;
    }
}).observe(document.querySelector(".grid"), { subtree: true, attributes: true, attributeFilter: ["class"] });
"""


def change(per_second):
    """Changes the visible photos one by one, at random times. Returns the times until the cells show it."""
    with Session(1600, 1200) as session:
        browser, cluster = session.browser, session.cluster
        batch = cluster.submit(samples(1000))
        browser.script("localStorage.setItem('size', 1)")
        sheet = Sheet(browser, cluster, batch)
        sheet.wait_for_kinds("new")
        visible = browser.script(VISIBLE)
        assert len(visible) >= 200, f"only {len(visible)} cells are visible"
        browser.script(OBSERVE)
        random.shuffle(visible)
        made = {}
        for index in visible:
            event = {"event": "photos", "time": 0, "batch": batch, "worker": "w", "photos": {str(index): "g"}}
            keys = [f"{NAMESPACE}:batch:{batch}:states", f"{NAMESPACE}:events"]
            made[index] = time.time() * 1000
            cluster.redis("EVAL", CHANGE, 2, *keys, index, "g", json.dumps(event))
            time.sleep(random.expovariate(per_second))
        browser.wait(lambda: browser.script("return Object.keys(changes).length") == len(visible), "all changes")
        shown = browser.script("return changes")
    return [shown[str(index)] - at for index, at in made.items()]


def measure_change():
    """Prints the latencies at two rates."""
    for rate in (20, 300):
        times = [value for _ in range(RUNS) for value in change(rate)]
        report(f"change in Redis to cell, {rate} changes/s", times, "ms", 300)


# --- A million photos -------------------------------------------------------------------------------------------------

FIRST_ROWS = """
new MutationObserver((_, observer) => {
    const cells = [...document.querySelectorAll(".cell[data-position]")];
    if (!cells.some((cell) => cell.className.includes("is-new") && cell.querySelector(".name").textContent)) return;
    window.firstRows = performance.now();
    observer.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
"""


def measure_million():
    """Prints what a large batch costs."""
    with Session() as session:
        browser, cluster = session.browser, session.cluster
        path = cluster.folder / "million.txt"
        url = sample("china.jpg")
        path.write_text("".join(f"{url}?{index}\n" for index in range(1_000_000)))
        batch = cluster.command("submit", path, "-o", cluster.outputs / "million", "--window", 100_000).split()[0]
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": FIRST_ROWS})
        times = []
        for _ in range(10):
            Sheet(browser, cluster, batch)
            times.append(browser.wait(lambda: browser.script("return window.firstRows"), "the first rows"))
        report("1,000,000 photos: first rows with names", times, "ms", 1000, 1)
        frames = Frames(browser)
        ways = [("wheel", frames.wheel), ("dragging the scroll bar", frames.drag), ("paging", frames.page)]
        for name, scroll in ways:
            times = [value for _ in range(RUNS) for value in scroll()]
            report(f"1,000,000 photos: script time per frame, {name}", times, "ms", 8)
        report("1,000,000 photos: memory of serve", [session.memory()], "MB", 150)


# --- Visible photos run first -----------------------------------------------------------------------------------------

JUMP = """
const [index, done] = arguments;
const now = () => performance.timeOrigin + performance.now();
const form = document.querySelector("#jump");
const began = now();
document.querySelector(".tools [type=checkbox]").click();
form.elements.first.value = index;
form.requestSubmit();
const look = () => {
    const image = document.querySelector(`#cell-${index} img`);
    if (image?.complete && image.naturalWidth > 0) done([began, now()]);
    else requestAnimationFrame(look);
};
look();
"""


def measure_focus():
    """Prints the time until a photo far away is on the screen, and its parts."""
    parts = {"scrolling to focus": [], "focus to claim": [], "claim to thumbnail": []}
    with Session() as session:
        browser, cluster = session.browser, session.cluster
        cluster.start_worker()
        for run in range(10):
            cluster.command("suspend", "--all")
            batch = cluster.submit(samples(100_000), output=f"run-{run}")
            # Only the first photo may run, so the worker is idle and the rest of the batch is unstarted.
            cluster.command("focus", batch, "--photos", "0-0", "--only")
            cluster.command("resume", "--all")
            sheet = Sheet(browser, cluster, batch)
            sheet.wait_for_image(0)
            index = 50_000 + run
            with cluster.subscribe() as subscription:
                began, ended = browser.driver.execute_async_script(JUMP, index)
                events = [json.loads(message) for message in subscription.received()]
            focus = next(event["time"] for event in events if event["event"] == "focus")
            claim = next(event["time"] for event in events if event["event"] == "claimed" and event["time"] >= focus)
            for part, first, last in zip(parts, (began, focus, claim), (focus, claim, ended)):
                parts[part].append(last - first)
            cluster.command("forget", batch, "--force")
    report("scrolling to thumbnail, idle worker", [sum(times) for times in zip(*parts.values())], "ms", 1000, 1)
    for part, times in parts.items():
        report(f"    {part}", times, "ms", None, 1)


def main():
    """Runs the measurements that the command line names."""
    known = {"change": measure_change, "million": measure_million, "focus": measure_focus}
    names = sys.argv[1:] or list(known)
    if not set(names) <= set(known):
        sys.exit(__doc__)
    heading()
    for name in names:
        known[name]()


if __name__ == "__main__":
    main()
