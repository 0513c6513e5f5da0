"""What the page says when a batch, Redis or the server is gone, and how it recovers."""

import os
import signal
import unittest

from case import BrowserCase
from cluster import samples
from traffic import Traffic


# Makes the timers of a page 20 times faster.
FAST = """
for (const name of ["setTimeout", "setInterval"]) {
    const slow = window[name].bind(window);
    window[name] = (act, time = 0, ...others) => slow(act, time / 20, ...others);
}
"""

# Waits for 10 turns of a timer that is as fast as the timer of the page.
TEN_TURNS = """
const done = arguments[arguments.length - 1];
let turns = 0;
setInterval(() => { if (++turns === 10) done(); }, 2000);
"""


class FaultTests(BrowserCase):
    """Faults while a contact sheet is open."""

    def setUp(self):
        super().setUp()
        held = self.cluster.photos.url("held/0/china.jpg")
        self.batch = self.cluster.submit([*samples(2), ("held.jpg", held)], "--lease", "6s")

    def test_batch_is_forgotten(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new", "new", "new")
        self.cluster.command("forget", self.batch, "--force")
        self.browser.wait_for_text("The batch was forgotten.", "#notice")
        sheet.wait_for_kinds("new", "new", "new")
        self.assertFalse(self.browser.find('a[href$="/forget"]').is_displayed())
        sheet.cell(0).click()
        self.browser.wait_for_text("no batch", "dialog .facts")
        shown = [part.text for part in self.browser.all("dialog :is(a, input)") if part.is_displayed()]
        self.assertEqual([], shown)
        self.browser.driver.refresh()
        self.browser.wait_for_text("Not found", "h1")
        self.browser.find('main a[href="/"]').click()
        self.browser.wait_for_text("There is no batch", "main")

    def test_redis_stops_and_starts_again(self):
        """The sheet says that Redis is away, and then shows what has happened during the outage."""
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new", "new", "new")
        self.cluster.redis.stop()
        self.browser.wait_for_text("Redis", "#notice")
        self.browser.button("Suspend").click()
        self.browser.wait(lambda: len(sheet.notice().splitlines()) == 2, "messages about the sheet and the control")
        self.cluster.redis.start()
        self.browser.wait(lambda: sheet.notice() == "", "no message", 30)
        self.cluster.start_worker()
        sheet.wait_for_kinds("filtered", "filtered", "progress")
        sheet.wait_for_image(0)
        self.browser.button("Suspend").click()
        self.browser.button("Resume")

    def test_lists_recover_from_an_outage(self):
        for page, part in [("/", "#batches"), ("/workers", "#workers"), ("/cluster", "#cluster")]:
            with self.subTest(page=page):
                self.browser.driver.get(self.cluster.url + page)
                self.browser.find(part)
                self.cluster.redis.stop()
                self.browser.wait_for_text("Redis", "#notice")
                self.assertTrue(self.browser.find(part).is_displayed())
                self.cluster.redis.start()
                self.browser.wait(lambda: self.browser.text("#notice") == "", "no message", 30)

    def test_lists_wait_for_a_slow_server(self):
        """A page that is read again every two seconds has one request at a time."""
        self.browser.script_before_pages(FAST)
        traffic = Traffic(self.browser, from_start=True)
        self.browser.driver.get(self.cluster.url)
        traffic.wait_for("GET", replied=True)
        traffic.hold("GET")
        answered = len([request for request in traffic.requests("GET") if request["status"]])
        traffic.wait_for("GET", answered + 1)
        self.browser.driver.execute_async_script(TEN_TURNS)
        self.assertEqual(1, len([request for request in traffic.requests("GET") if not request["status"]]))
        traffic.release()
        traffic.wait_for("GET", answered + 3, replied=True)

    def test_page_opens_while_redis_is_away(self):
        self.cluster.redis.stop()
        for page in ["/", f"/batches/{self.batch}", "/workers", "/cluster"]:
            self.browser.driver.get(self.cluster.url + page)
            self.browser.wait_for_text("Not available", "h1")
            self.browser.wait_for_text("Redis", ".problem")
        self.cluster.redis.start()

    def test_server_stops_and_starts_again(self):
        """The browser connects again by itself, and the sheet is updated again."""
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new", "new", "new")
        self.cluster.restart_serve()
        self.cluster.start_worker()
        sheet.wait_for_kinds("filtered", "filtered", "progress")
        self.browser.wait(lambda: sheet.notice() == "", "no message")

    def test_worker_is_lost(self):
        """The photos of a lost worker go back to waiting, and another worker develops them."""
        sheet = self.sheet(self.batch)
        worker = self.cluster.start_worker()
        sheet.wait_for_kinds("filtered", "filtered", "progress")
        os.kill(worker.pid, signal.SIGKILL)
        self.cluster.photos.release()
        self.cluster.start_worker()
        sheet.wait_for_kinds("filtered", "filtered", "filtered")


if __name__ == "__main__":
    unittest.main()
