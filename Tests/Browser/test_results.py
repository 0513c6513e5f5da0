"""The results of a filter: far from each other, live, and while the filter changes."""

import json
import unittest

from case import BrowserCase
from cluster import sample, samples
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from test_follow import BOX
from processes import wait_until
from traffic import Traffic


# Between two results.
DISTANCE = 15


class DistantResultsTests(BrowserCase):
    """A screen of results that are spread over more photos than the states that a page may watch."""

    def setUp(self):
        super().setUp()
        names = ["needle" if index % DISTANCE == 0 else "hay" for index in range(1000 * DISTANCE)]
        self.batch = self.cluster.submit([(name, sample("china.jpg")) for name in names])
        # About 500 photos are on the screen.
        self.browser.script("localStorage.setItem('size', 0)")
        self.addCleanup(self.browser.script, "localStorage.clear()")

    def wait_for_focus(self, condition, what):
        """Waits until the first and the last photo of the focus in Redis meet a condition."""
        def focus():
            facts = self.cluster.facts(self.batch)
            return int(facts["focus.first"]), int(facts["focus.last"])

        wait_until(lambda: "focus.first" in self.cluster.facts(self.batch) and condition(*focus()), what)

    def test_states_change(self):
        # A photo that no longer matches stays, until the filter is applied again.
        for query in ("?name=needle", "?name=needle&state=new"):
            with self.subTest(query=query):
                sheet = self.sheet(self.batch, query)
                # A position that is visible, and so far from the first one that the stream does not send its state.
                position = 350
                self.browser.wait(lambda sheet=sheet: sheet.kinds().get(position) == "new", "a screen of results")
                index = int(sheet.cell(position).get_attribute("aria-label").split()[1].rstrip(","))
                self.cluster.command("cancel", self.batch, "--photos", index)
                self.browser.wait(lambda sheet=sheet: sheet.kinds()[position] == "cancelled", "the cancelled photo")
                self.assertIn(f"Photo {index},", sheet.cell(position).get_attribute("aria-label"))

    def test_change_during_a_reading_is_not_lost(self):
        """The results are read again if the batch changes while they are read."""
        traffic = Traffic(self.browser, from_start=True)
        again = "/photos\\?name=needle&first=0&limit=(?!200$)"
        sheet = self.sheet(self.batch, "?name=needle")
        position = 350
        self.browser.wait(lambda: sheet.kinds().get(position) == "new", "a screen of results")
        # The first reading after the page has opened.
        traffic.wait_for(again, replied=True)
        traffic.hold_replies(again)
        self.cluster.command("prioritize", self.batch, "high")
        traffic.wait_for(again, 2, replied=True)
        index = int(sheet.cell(position).get_attribute("aria-label").split()[1].rstrip(","))
        self.cluster.command("cancel", self.batch, "--photos", index)
        self.browser.wait(lambda: self.browser.text('[data-count="cancelled"]') == "1", "the cancelled photo in the counts")
        traffic.release()
        self.browser.wait(lambda: sheet.kinds()[position] == "cancelled", "the cancelled photo")

    def test_final_photos_are_not_read_again(self):
        """A result that is final and no longer matches is read once in a round."""
        traffic = Traffic(self.browser, from_start=True)
        sheet = self.sheet(self.batch, "?name=needle&state=new")
        position = 350
        self.browser.wait(lambda: sheet.kinds().get(position) == "new", "a screen of results")
        index = int(sheet.cell(position).get_attribute("aria-label").split()[1].rstrip(","))
        self.cluster.command("cancel", self.batch, "--photos", index)
        self.browser.wait(lambda: sheet.kinds()[position] == "cancelled", "the cancelled photo")
        results = "/photos\\?state=new&name=needle"
        sent = len(traffic.requests(results))
        for width in (1279, 1278):
            self.browser.resize(width, 900)
            sent += 1
            traffic.wait_for(results, sent, replied=True)
        self.assertEqual(1, len(traffic.requests(f"/photos/{index}$")))

    def test_focus_does_not_contain_the_photos_between(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new")
        with self.cluster.subscribe() as events:
            self.browser.find(BOX).click()
            self.wait_for_focus(lambda first, last: first == 0 and last > 300, "a focus on the first screen")
            field = self.browser.find('#filter [name="name"]')
            field.send_keys("needle", Keys.ENTER)
            self.browser.wait_for_text("far from each other", "#notice")
            wait_until(lambda: "focus.first" not in self.cluster.facts(self.batch), "no focus")
            # The page still wants a focus, and sets it as soon as the photos on the screen are near each other.
            field.clear()
            field.send_keys(Keys.ENTER)
            self.wait_for_focus(lambda first, last: first == 0, "a focus on the first screen")
            received = [json.loads(event) for event in events.received()]
        self.assertEqual("", sheet.notice())
        self.assertTrue(self.browser.find(BOX).is_selected())
        focuses = [event for event in received if event["event"] == "focus" and event["first"] is not None]
        self.assertEqual([], [event for event in focuses if event["last"] - event["first"] >= 5000])


class HugeWindowTests(BrowserCase):
    """More photos are on the screen than a page may watch with one screen before and after, or at all."""

    def setUp(self):
        super().setUp()
        self.batch = self.cluster.submit([("a", sample("china.jpg"))] * 9000)
        self.browser.script("localStorage.setItem('size', 0)")
        self.addCleanup(self.browser.script, "localStorage.clear()")

    def test_states_of_all_visible_photos(self):
        self.browser.resize(3000, 1900)
        sheet = self.sheet(self.batch, "?first=4000")
        self.browser.wait(lambda: sheet.first_visible() > 3000, "later photos")
        self.assertGreater(len(sheet.kinds()), 2900)
        self.browser.wait(lambda: self.visible_kinds() == {"new"}, "the states of all visible photos")

    def visible_kinds(self):
        """The kinds of the photos that are on the screen."""
        return set(self.browser.script(
            """
            const { top, bottom } = document.querySelector(".grid").getBoundingClientRect();
            return [...document.querySelectorAll(".cell[data-position]")].filter((cell) => {
                const box = cell.getBoundingClientRect();
                return box.bottom > top && box.top < bottom;
            }).map((cell) => cell.className.match(/is-(?!active)(\w+)/)[1]);
            """
        ))

    def test_focus_is_limited(self):
        self.browser.resize(3840, 2600)
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new")
        self.assertGreater(len(sheet.kinds()), 5300)
        self.browser.find(BOX).click()
        wait_until(lambda: self.cluster.facts(self.batch).get("focus.last") == "4999", "a focus on 5,000 photos")
        self.assertEqual("0", self.cluster.facts(self.batch)["focus.first"])
        self.assertEqual("", sheet.notice())


class ChangingFilterTests(BrowserCase):
    """The filter changes while the page waits for results."""

    def choose_state(self, state):
        """Chooses a state in the filter."""
        Select(self.browser.find('#filter select[name="state"]')).select_by_visible_text(state)

    def shown_names(self):
        """The names of the photos in the grid."""
        return self.browser.script(
            "return [...document.querySelectorAll('.cell[data-position] .name')].map((name) => name.textContent)")

    def test_results_of_the_earlier_filter_are_not_added(self):
        batch = self.cluster.submit([*samples(3), ("nothing.jpg", "nonsense")])
        self.cluster.start_worker()
        self.cluster.wait_for_fact(batch, "state", "finished")
        traffic = Traffic(self.browser, from_start=True)
        earlier, later = "/photos\\?state=filtered&.*limit", "/photos\\?state=failed&.*limit"
        sheet = self.sheet(batch, "?state=filtered")
        sheet.wait_for_kinds("filtered", "filtered", "filtered")
        # The results that the page shows are read again.
        traffic.hold(earlier)
        sent = len(traffic.requests(earlier))
        self.browser.resize(1270, 900)
        traffic.wait_for(earlier, sent + 1)
        self.choose_state("failed")
        self.browser.wait(lambda: self.shown_names() == ["nothing.jpg"], "the failed photo")
        traffic.release()
        # The page reads the results of the new filter again after it has handled the held reply.
        self.browser.resize(1280, 900)
        traffic.wait_for(later, 2, replied=True)
        self.browser.wait(lambda: sheet.kinds() == {0: "failed"}, "the failed photo only")
        self.assertEqual(["nothing.jpg"], self.shown_names())

    def test_filter_ends_while_results_are_read(self):
        batch = self.cluster.submit(samples(450))
        sheet = self.sheet(batch, "?name=jpg")
        sheet.wait_for_kinds("new")
        traffic = Traffic(self.browser)
        more = "/photos\\?name=jpg&first=200&"
        traffic.hold(more)
        sheet.scroll_to(100_000)
        traffic.wait_for(more)
        field = self.browser.find('#filter [name="name"]')
        field.clear()
        field.send_keys(Keys.ENTER)
        self.browser.wait(lambda: sheet.grid.get_attribute("aria-rowcount") == str(-(-450 // sheet.columns())), "all")
        traffic.release()
        traffic.wait_for(more, replied=True)
        sheet.scroll_to(100_000)
        sheet.cell(449)
        self.assert_no_complaints()


if __name__ == "__main__":
    unittest.main()
