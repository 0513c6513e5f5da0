"""The script time of each frame while a person scrolls, from Chromium's profiler."""

import bisect
import math

RECORD = """
window.frameTimes = [];
const record = () => {
    frameTimes.push(performance.now());
    window.nextFrame = requestAnimationFrame(record);
};
record();
"""

# The time between two samples of the profiler, in microseconds.
INTERVAL = 100

class Frames:
    """Scrolls with real input. Each method returns the script times in milliseconds of the frames with scripts."""

    def __init__(self, browser):
        self._browser = browser
        self._grid = browser.find(".grid").rect
        for command, options in [("Profiler.enable", {}), ("Performance.enable", {}),
                                 ("Profiler.setSamplingInterval", {"interval": INTERVAL})]:
            self._command(command, **options)

    def wheel(self):
        """Turns the wheel 120 times."""
        return self._profiled(lambda: [self._mouse("mouseWheel", 0.5, 0.5, deltaX=0, deltaY=120) for _ in range(120)])

    def drag(self):
        """Drags the scroll bar from its start to its end and back."""
        def moves():
            self._mouse("mousePressed", None, 0.05, button="left", clickCount=1)
            for step in range(121):
                share = 0.5 - math.cos(2 * math.pi * step / 120) / 2
                self._mouse("mouseMoved", None, 0.05 + 0.9 * share, button="left", buttons=1)
            self._mouse("mouseReleased", None, 0.05, button="left", clickCount=1)

        self._browser.script("document.querySelector('.grid').scrollTop = 0")
        return self._profiled(moves)

    def page(self):
        """Presses Page Down 60 times."""
        self._browser.script("document.querySelector('.grid').focus()")
        key = {"key": "PageDown", "code": "PageDown", "windowsVirtualKeyCode": 34}
        return self._profiled(lambda: [
            self._command("Input.dispatchKeyEvent", type=kind, **key)
            for _ in range(60) for kind in ("rawKeyDown", "keyUp")])

    def _command(self, name, **options):
        return self._browser.driver.execute_cdp_cmd(name, options)

    def _mouse(self, kind, across, down, **options):
        """Sends a mouse event to a place in the grid; `across` None is its scroll bar."""
        across = self._grid["width"] - 8 if across is None else self._grid["width"] * across
        place = {"x": self._grid["x"] + across, "y": self._grid["y"] + self._grid["height"] * down}
        self._command("Input.dispatchMouseEvent", type=kind, **place, **options)

    def _profiled(self, scroll):
        def positions():
            return self._browser.script("return document.querySelector('.cell[data-position]').dataset.position")

        before = positions()
        self._command("Profiler.start")
        self._browser.script(RECORD)
        scroll()
        frames = self._browser.script("cancelAnimationFrame(nextFrame); return frameTimes")
        profile = self._command("Profiler.stop")["profile"]
        if positions() == before:
            raise AssertionError("the input did not scroll the grid")
        metrics = {entry["name"]: entry["value"] for entry in self._command("Performance.getMetrics")["metrics"]}
        return self._script_times(profile, [metrics["NavigationStart"] * 1e6 + frame * 1000 for frame in frames])

    @staticmethod
    def _script_times(profile, frames):
        """The time of the samples in scripts of the page, by frame. Times of the profile are in microseconds."""
        own = own_nodes(profile["nodes"])
        times = [0.0] * (len(frames) + 1)
        now = profile["startTime"]
        # A delta is the time before its sample, and a sample counts until the next one.
        for sample, following in zip(profile["samples"], [*profile["timeDeltas"][1:], 0]):
            if sample in own:
                times[bisect.bisect(frames, now)] += following / 1000
            now += following
        return [time for time in times[1:-1] if time > 0]


def own_nodes(nodes):
    """The nodes of the call tree for scripts of the page and their callees, and the garbage collector; not those
    of the driver."""
    known = {node["id"]: node for node in nodes}
    own = set()

    def add(node, is_own):
        frame = node["callFrame"]
        is_own = is_own or "/static/" in frame["url"] or frame["functionName"] == "(garbage collector)"
        if is_own:
            own.add(node["id"])
        for child in node.get("children", []):
            add(known[child], is_own)

    add(nodes[0], False)
    return own
