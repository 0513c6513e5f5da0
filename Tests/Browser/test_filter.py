"""Finding photos: by state and reason, by name, by index; and the sizes of the grid."""

import unittest

from case import BrowserCase
from cluster import sample, samples
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


class FilterTests(BrowserCase):
    """The fields above the contact sheet, on a batch that has finished."""

    def setUp(self):
        super().setUp()
        photos = [*samples(10), ("nowhere.jpg", self.cluster.photos.url("none")), ("text.jpg", "nonsense")]
        self.batch = self.cluster.submit(photos + [("Chelsea again.jpg", sample("chelsea.jpg"))])
        self.cluster.start_worker()
        self.cluster.wait_for_fact(self.batch, "state", "finished")

    def choose(self, name, value):
        """Chooses a word in a list of words."""
        Select(self.browser.find(f'#filter select[name="{name}"]')).select_by_visible_text(value)

    def wait_for_names(self, *names):
        """Waits until the grid shows exactly these names."""
        shown = """
            return [...document.querySelectorAll(".cell[data-position] .name")].map((name) => name.textContent).sort();
            """
        self.browser.wait(lambda: self.browser.script(shown) == sorted(names), f"the names {names}")

    def test_filters_by_state_and_reason(self):
        self.sheet(self.batch).wait_for_kinds("filtered")
        self.choose("state", "failed")
        self.wait_for_names("nowhere.jpg", "text.jpg")
        self.assertIn("state=failed", self.browser.driver.current_url)
        self.choose("reason", "not-a-url")
        self.wait_for_names("text.jpg")
        self.choose("reason", "timeout")
        self.browser.wait_for_text("No photo matches", "#notice")
        self.choose("reason", "all reasons")
        self.choose("state", "all states")
        self.browser.wait(lambda: self.browser.text("#notice") == "", "no message")
        self.assert_no_complaints()

    def test_searches_names(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("filtered")
        field = self.browser.find('#filter [name="name"]')
        field.send_keys("CHELSEA", Keys.ENTER)
        self.wait_for_names("00001 chelsea.jpg", "00008 chelsea.jpg", "Chelsea again.jpg")
        sheet.wait_for_image(2)
        # The large view walks through the results only.
        sheet.cell(1).click()
        self.browser.wait_for_text("00008 chelsea.jpg", "dialog h1")
        self.browser.button("Next", "dialog").click()
        self.browser.wait_for_text("Chelsea again.jpg", "dialog h1")

    def test_address_of_a_filter_can_be_kept(self):
        self.sheet(self.batch, "?state=failed&reason=not-a-url")
        self.wait_for_names("text.jpg")

    def test_results_are_live(self):
        """Photos that begin to match appear, and the states of shown results change."""
        held = self.cluster.photos.url("held/0/china.jpg")
        batch = self.cluster.submit([("held 1", held), ("other", held), ("held 2", held)], output="live")
        sheet = self.sheet(batch, "?name=held")
        sheet.wait_for_kinds("progress", "progress")
        self.cluster.photos.release()
        sheet.wait_for_kinds("filtered", "filtered")
        self.wait_for_names("held 1", "held 2")

    def test_jumps_to_an_index(self):
        batch = self.cluster.submit(samples(2000), output="many")
        sheet = self.sheet(batch)
        self.browser.find('#jump [name="first"]').send_keys("1234", Keys.ENTER)
        sheet.wait_for_first(1234)
        self.assertIn("is-active", sheet.cell(1234).get_attribute("class"))
        self.assertEqual("grid", self.browser.focused().get_attribute("role"))

    def test_other_indexes_are_refused(self):
        sheet = self.sheet(self.batch, "?first=3")
        sheet.wait_for_kinds("filtered")
        field = self.browser.find('#jump [name="first"]')
        for text in ("", "99999", "-1", "1.5"):
            with self.subTest(text=text):
                field.clear()
                field.send_keys(text, Keys.ENTER)
                self.assertFalse(self.browser.script("return arguments[0].checkValidity()", field))
                self.assertIn("is-active", sheet.cell(3).get_attribute("class"))

    def test_begins_with_an_index(self):
        batch = self.cluster.submit(samples(2000), output="many")
        self.sheet(batch, "?first=700").wait_for_first(700)
        self.sheet(batch, "?operation=11").wait_for_first(500)

    def test_sizes(self):
        """From a dense grid to one photo in each row; the size is kept, and the first photo stays."""
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("filtered")
        size = self.browser.find('.tools [type="range"]')
        size.send_keys(Keys.HOME)
        self.browser.wait(lambda: sheet.cell(0).size["width"] < 45, "small cells")
        self.assertIn("is-dense", sheet.grid.get_attribute("class"))
        self.assertEqual("smallest", size.get_attribute("aria-valuetext"))
        size.send_keys(Keys.END)
        self.browser.wait(lambda: sheet.cell(0).size["width"] > 700, "large cells")
        sheet.wait_for_image(0)
        self.assertGreater(sheet.image_width(0), 300)
        self.assertEqual(1, self.browser.script("return document.querySelectorAll('.row')[0].children.length"))
        self.assertLess(sheet.cell(0).size["height"], sheet.grid.size["height"])
        image = sheet.cell(0).find_element("css selector", "img")
        self.assertEqual("contain", image.value_of_css_property("object-fit"))
        self.sheet(self.batch).wait_for_kinds("filtered")
        self.assertGreater(sheet.cell(0).size["width"], 700)
        self.browser.script("localStorage.clear()")


if __name__ == "__main__":
    unittest.main()
