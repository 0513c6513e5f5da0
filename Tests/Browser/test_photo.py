"""The large view of a photo, and its page."""

import unittest
import urllib.request

from case import BrowserCase
from cluster import TOKEN, samples
from selenium.webdriver.common.keys import Keys
from traffic import Traffic


class LargeViewTests(BrowserCase):
    """The dialog that a click opens."""

    def setUp(self):
        super().setUp()
        names = ["china.jpg", "coffee.jpg"]
        photos = [(name, self.cluster.photos.url(f"samples/{name}")) for name in names]
        photos += [("nowhere.jpg", self.cluster.photos.url("none"))]
        originals = self.cluster.outputs / "originals"
        self.batch = self.cluster.submit(photos, "--filter", "sepia", "--originals", originals)
        self.cluster.start_worker()
        self.page = self.sheet(self.batch)
        self.page.wait_for_kinds("filtered", "filtered", "failed")

    def loaded(self, selector):
        """Waits until a picture is loaded."""
        is_loaded = "return document.querySelector(arguments[0])?.naturalWidth > 0"
        self.browser.wait(lambda: self.browser.script(is_loaded, selector), selector)

    def test_shows_before_and_after(self):
        self.page.cell(0).click()
        self.browser.wait_for_text("china.jpg", "dialog h1")
        self.loaded("dialog img:not(.before)")
        self.loaded("dialog img.before")
        before = self.browser.find("dialog img.before")
        self.assertIn("50%", before.value_of_css_property("clip-path"))
        self.browser.find(".compare").send_keys(*[Keys.ARROW_RIGHT] * 10)
        self.assertIn("40%", before.value_of_css_property("clip-path"))
        boxes = [image.rect for image in self.browser.all("dialog img")]
        self.assertEqual(boxes[0], boxes[1], "both pictures have the same place")

    def test_shows_the_manifest_line(self):
        self.page.cell(0).click()
        self.browser.wait_for_text("sepia=0.8", "dialog .facts")
        facts = self.browser.text("dialog .facts")
        url = self.cluster.photos.url("samples/china.jpg")
        for expected in ["SHA-256", "640 x 427", " kB", "000000-china.jpg", "time of download", url]:
            self.assertIn(expected, facts)

    def test_walks_to_the_previous_and_next_photo(self):
        self.page.cell(0).click()
        steps = [("Next", "coffee.jpg"), ("Next", "nowhere.jpg"), ("Next", "nowhere.jpg"), ("Previous", "coffee.jpg")]
        for button, title in steps:
            self.browser.button(button, "dialog").click()
            self.browser.wait_for_text(title, "dialog h1")
        self.browser.button("Close", "dialog").click()
        self.assertIn("is-active", self.page.cell(1).get_attribute("class"))

    def test_late_failure_of_another_photo_is_not_shown(self):
        traffic = Traffic(self.browser)
        traffic.hold("/photos/0$")
        self.page.cell(0).click()
        traffic.wait_for("/photos/0$")
        self.browser.button("Next", "dialog").click()
        self.browser.wait_for_text("coffee.jpg", "dialog h1")
        traffic.release(fail=True)
        self.assertEqual("coffee.jpg", self.browser.text("dialog h1"))

    def test_explains_a_failure(self):
        self.page.cell(2).click()
        self.browser.wait_for_text("HTTP status 404", "dialog .facts")
        self.browser.wait_for_text("failed: http-4xx", "dialog .stage")
        self.assertEqual([], [link for link in self.browser.all("dialog [href*=download]") if link.is_displayed()])

    def test_downloads_the_file(self):
        self.page.cell(0).click()
        address = self.browser.button("Download", "dialog").get_attribute("href")
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request) as reply:
            body = reply.read()
            disposition = reply.headers["Content-Disposition"]
        self.assertEqual((self.cluster.outputs / "photos" / "000000-china.jpg").read_bytes(), body)
        self.assertEqual("attachment; filename*=UTF-8''000000-china.jpg", disposition)

    def test_changes_with_the_photo(self):
        """The view of a photo in progress shows the photo as soon as it is filtered."""
        batch = self.cluster.submit([("held", self.cluster.photos.url("held/0/china.jpg"))], output="held")
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("progress")
        sheet.cell(0).click()
        self.browser.wait_for_text("in progress", "dialog .stage")
        self.cluster.photos.release()
        self.loaded("dialog img")

    def test_has_a_page(self):
        self.page.cell(0).click()
        self.browser.button("Details", "dialog").click()
        self.browser.wait_for_text("china.jpg", "h1")
        self.loaded("main img.large")
        self.browser.button("Next").click()
        self.browser.wait_for_text("coffee.jpg", "h1")
        self.browser.find("main a").click()
        self.browser.find(".grid")
        self.assert_no_complaints()


class ManySamplesTests(BrowserCase):
    """Pictures are read only where the grid rests."""

    def test_reads_no_pictures_that_only_pass(self):
        batch = self.cluster.submit(samples(400))
        self.cluster.start_worker()
        self.cluster.wait_for_fact(batch, "state", "finished")
        sheet = self.sheet(batch)
        sheet.wait_for_image(0)
        self.browser.driver.execute_async_script(
            """
            const done = arguments[arguments.length - 1], grid = document.querySelector(".grid");
            performance.clearResourceTimings();
            const end = grid.scrollHeight;
            const step = () => {
                grid.scrollTop += 200;
                if (grid.scrollTop + grid.clientHeight < end - 2) requestAnimationFrame(step);
                else done();
            };
            step();
            """
        )
        sheet.wait_for_image(399)
        read = self.browser.script(
            r"""
            return performance.getEntriesByType("resource").map((entry) => entry.name.match(/photos\/(\d+)\/thumb/))
                .filter(Boolean).map((match) => Number(match[1]));
            """
        )
        # The first and the last screen, with some rows around them.
        self.assertEqual([], [index for index in read if 100 <= index < 300])


if __name__ == "__main__":
    unittest.main()
