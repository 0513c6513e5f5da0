"""What is on screen runs first: the focus in Redis follows the page."""

import json
import unittest

from case import BrowserCase
from browser import Sheet
from cluster import samples
from processes import wait_until

BOX = '.tools [type="checkbox"]'

# Moves the scroll bar to its end in 60 frames. Returns how often the browser stopped between two frames for so long that
# the page had to take it for a rest, which happens on a busy machine.
DRAG = """
const done = arguments[arguments.length - 1], grid = document.querySelector(".grid");
const end = grid.scrollHeight - grid.clientHeight;
let frame = 0, stops = 0, last = performance.now();
const step = () => {
    const now = performance.now();
    if (now - last > 100) stops++;
    last = now;
    grid.scrollTop = (end * ++frame) / 60;
    if (frame < 60) requestAnimationFrame(step);
    else done(stops);
};
step();
"""


class FollowTests(BrowserCase):
    """The box "Visible photos run first"."""

    def setUp(self):
        super().setUp()
        self.batch = self.cluster.submit(samples(3000))
        self.page = self.sheet(self.batch)
        self.page.wait_for_kinds("new")

    def focus(self, batch=None):
        """The focus of a batch in Redis as (first, last); None without a focus."""
        facts = self.cluster.facts(batch or self.batch)
        return (int(facts["focus.first"]), int(facts["focus.last"])) if facts.get("focus.first") else None

    def wait_for_focus(self, condition, what):
        """Waits until the focus meets a condition."""
        return wait_until(lambda: condition(self.focus()) and (self.focus() or True), f"{what}, not {self.focus()}")

    def let_server_finish(self):
        """Waits until the server has applied all earlier changes of focuses.

        One thread applies them, one round after the other. Therefore two later changes, of which the second waits
        for the first, come after all of them.
        """
        window = self.browser.driver.current_window_handle
        self.browser.open_window()
        other = self.cluster.submit(samples(3), output="other")
        Sheet(self.browser, self.cluster, other).wait_for_kinds("new", "new", "new")
        self.browser.find(BOX).click()
        wait_until(lambda: self.focus(other), "a focus of the other batch")
        self.browser.find(BOX).click()
        wait_until(lambda: not self.focus(other), "no focus of the other batch")
        self.browser.driver.close()
        self.browser.driver.switch_to.window(window)

    def leave(self, watching):
        """Leaves the page, and waits until the server has noticed that this number of pages is left."""
        self.browser.driver.get("about:blank")
        wait_until(lambda: self.cluster.watching_pages() == watching, f"{watching} watching pages")

    def test_focus_follows_the_page(self):
        self.browser.find(BOX).click()
        first, last = self.wait_for_focus(lambda focus: focus and focus[0] == 0, "a focus that begins with photo 0")
        self.assertTrue(20 <= last < 100, f"the focus {first}-{last} is not one screen")
        self.page.scroll_to(5000)
        self.wait_for_focus(lambda focus: focus and focus[0] == self.page.first_visible(), "the first visible photo")
        self.browser.find(BOX).click()
        self.wait_for_focus(lambda focus: focus is None, "no focus")

    def test_does_not_follow_by_itself(self):
        self.page.scroll_to(5000)
        self.browser.wait(lambda: self.page.first_visible() > 100, "a later photo")
        # The server sends these states when it knows what the page shows.
        self.browser.wait(lambda: set(self.page.kinds().values()) == {"new"}, "the states of later photos")
        self.let_server_finish()
        self.assertIsNone(self.focus())
        self.browser.find(BOX).click()
        self.wait_for_focus(lambda focus: focus and focus[0] == self.page.first_visible(), "the first visible photo")

    def test_second_page_takes_over(self):
        """The newest page wins, and the first page says so."""
        self.browser.find(BOX).click()
        self.wait_for_focus(lambda focus: focus and focus[0] == 0, "a focus that begins with photo 0")
        first_window = self.browser.driver.current_window_handle
        self.browser.open_window()
        second = Sheet(self.browser, self.cluster, self.batch, "?first=2000")
        second.wait_for_first(2000)
        self.browser.find(BOX).click()
        self.wait_for_focus(lambda focus: focus and focus[0] > 1900, "the photos of the second page")
        second_window = self.browser.driver.current_window_handle
        self.browser.driver.switch_to.window(first_window)
        self.browser.wait_for_text("Somebody else has changed the focus", "#notice")
        self.assertFalse(self.browser.find(BOX).is_selected())

        # The page that has lost the focus does not take it away again by scrolling or closing.
        self.page.scroll_to(1000)
        self.browser.wait(lambda: self.page.first_visible() > 10, "a later photo")
        self.browser.wait(lambda: set(self.page.kinds().values()) == {"new"}, "the states of later photos")
        self.leave(watching=1)
        self.let_server_finish()
        self.browser.driver.switch_to.window(second_window)
        self.assertGreater(self.focus()[0], 1900)

        self.browser.driver.close()
        self.browser.driver.switch_to.window(first_window)
        self.wait_for_focus(lambda focus: focus is None, "no focus after the page was closed")

    def test_keeps_the_focus_of_another_user(self):
        """Closing the page does not clear a focus that a command has set since the page set its focus."""
        self.browser.find(BOX).click()
        self.wait_for_focus(lambda focus: focus and focus[0] == 0, "a focus that begins with photo 0")
        self.cluster.command("focus", self.batch, "--photos", "7-9")
        self.leave(watching=0)
        self.let_server_finish()
        self.assertEqual((7, 9), self.focus())

    def test_dragging_starts_nothing_in_between(self):
        """The scroll bar is dragged through everything: only the photos at both ends run first."""
        self.browser.find(BOX).click()
        self.wait_for_focus(lambda focus: focus and focus[0] == 0, "a focus that begins with photo 0")
        with self.cluster.subscribe() as events:
            stops = self.browser.driver.execute_async_script(DRAG)
            self.wait_for_focus(lambda focus: focus and focus[1] == 2999, "the last photos")
            received = [json.loads(event) for event in events.received()]
        focuses = [event["first"] for event in received if event["event"] == "focus"]
        self.assertEqual(self.focus()[0], focuses[-1])
        self.assertLessEqual(len(focuses), 1 + stops, focuses)


if __name__ == "__main__":
    unittest.main()
