"""The stream of a page: its view reaches the server, and the page says why the stream is refused."""

import json
import unittest

from case import BrowserCase
from cluster import samples
from test_follow import BOX
from traffic import Traffic

VIEW = "PUT .*/view$"

KEEP_STREAM = """
window.EventSource = class extends EventSource {
    constructor(address) { super(address); window.events = this; }
};
"""

# Addresses of streams that the server refuses, while `refusesStreams` is set.
REFUSE_STREAMS = """
window.refusesStreams = true;
window.EventSource = class extends EventSource {
    constructor(address) { super(refusesStreams ? address.replace("/events", "/nothing") : address); }
};
"""


class ViewTests(BrowserCase):
    """The photos whose states the page wants."""

    def setUp(self):
        super().setUp()
        self.batch = self.cluster.submit(samples(3000))
        self.page = self.sheet(self.batch)
        self.page.wait_for_kinds("new")
        self.traffic = Traffic(self.browser)

    def test_refused_view_is_sent_again(self):
        self.traffic.refuse(VIEW)
        self.page.scroll_to(5000)
        self.traffic.wait_for(VIEW, replied=True)
        self.assertEqual({"unknown"}, set(self.page.kinds().values()))
        self.traffic.refuse(None)
        self.browser.wait(lambda: set(self.page.kinds().values()) == {"new"}, "the states of the visible photos")

    def test_one_view_is_sent_at_a_time(self):
        """Two views could arrive in the wrong order. The last one is sent after the reply to the first."""
        # The page may have sent a view just before, and may send one before it is scrolled.
        earlier = self.traffic.hold(VIEW)
        self.page.scroll_to(5000)
        self.traffic.wait_for(VIEW, count=earlier + 1)
        for top in (10000, 15000):
            self.page.scroll_to(top)
            self.browser.wait(lambda top=top: self.page.first_visible() > top / 20, "a later photo")
            # The page reads the names when it has decided which states it wants.
            self.browser.wait(lambda: self.page.cell(self.page.first_visible()).text, "names")
        self.assertEqual(earlier + 1, len(self.traffic.requests(VIEW)))
        self.traffic.release()
        self.browser.wait(lambda: set(self.page.kinds().values()) == {"new"}, "the states of the visible photos")
        views = [json.loads(request["body"]) for request in self.traffic.requests(VIEW)[earlier:]]
        self.assertEqual(2, len(views), views)
        self.assertGreater(views[1]["first"], views[0]["first"])


class LostFocusTests(BrowserCase):
    """Messages about the focus that overtake the reply to a view."""

    def test_focus_is_lost_before_the_reply(self):
        self.browser.script_before_pages(KEEP_STREAM)
        page = self.sheet(self.cluster.submit(samples(3)))
        page.wait_for_kinds("new", "new", "new")
        traffic = Traffic(self.browser)
        traffic.hold(VIEW)
        self.browser.find(BOX).click()
        traffic.wait_for(VIEW)
        self.browser.script("events.dispatchEvent(new MessageEvent('follow', { data: '{\"following\": false}' }))")
        traffic.release()
        self.browser.wait_for_text("Somebody else has changed the focus", "#notice")
        self.assertFalse(self.browser.find(BOX).is_selected())


class RefusedStreamTests(BrowserCase):
    """The server answers, but refuses the stream of the page."""

    def setUp(self):
        super().setUp()
        self.batch = self.cluster.submit(samples(3))

    def test_asks_for_the_new_token(self):
        self.sheet(self.batch).wait_for_kinds("new", "new", "new")
        (self.cluster.folder / "token").write_text("another-token-for-browser-tests\n")
        self.cluster.restart_serve()
        self.browser.wait_for_text("Log in", "h1")

    def test_batch_is_forgotten_during_an_interruption(self):
        self.sheet(self.batch).wait_for_kinds("new", "new", "new")
        self.cluster.serve.stop()
        self.cluster.command("forget", self.batch, "--force")
        self.cluster.restart_serve()
        self.browser.wait_for_text("The batch was forgotten.", "#notice")

    def test_server_has_too_many_streams(self):
        self.browser.script_before_pages(REFUSE_STREAMS)
        page = self.sheet(self.batch)
        self.browser.wait_for_text("too many pages may be open", "#notice")
        self.browser.script("refusesStreams = false")
        page.wait_for_kinds("new", "new", "new")
        self.browser.wait(lambda: page.notice() == "", "no message")

    def test_results_without_a_stream(self):
        """The states come with the results, which are read again."""
        self.browser.script_before_pages(REFUSE_STREAMS)
        page = self.sheet(self.batch, "?name=jpg")
        page.wait_for_kinds("new", "new", "new")
        self.cluster.command("cancel", self.batch)
        self.browser.resize(1270, 900)
        page.wait_for_kinds("cancelled", "cancelled", "cancelled")


if __name__ == "__main__":
    unittest.main()
