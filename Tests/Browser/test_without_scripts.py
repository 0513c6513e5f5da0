"""Without JavaScript the pages are tables and forms that work."""

import unittest

from case import BrowserCase
from cluster import samples
from selenium.webdriver.support.ui import Select


class WithoutScriptsTests(BrowserCase):
    """Chromium does not run scripts in these tests."""

    scripts = False

    def test_sheet_is_a_table(self):
        batch = self.cluster.submit([*samples(150), ("bad", "nonsense")])
        self.cluster.start_worker()
        self.cluster.wait_for_fact(batch, "state", "finished")
        self.browser.driver.get(f"{self.cluster.url}/batches/{batch}")
        self.assertEqual([], self.browser.all(".grid"))
        self.assertEqual(100, len(self.browser.all("#photos tbody tr")))
        first = self.browser.find("#photos tbody tr")
        self.assertIn("00000 astronaut.jpg filtered", first.text)
        image = first.find_element("css selector", "img")
        self.browser.wait(lambda: int(image.get_property("naturalWidth")) > 0, "the thumbnail")
        self.browser.find('a[rel="next"]').click()
        self.browser.wait_for_text("00149 china.jpg", "#photos")
        self.browser.wait_for_text("bad failed not-a-url", "#photos")
        self.browser.find("#photos tbody a").click()
        self.browser.wait_for_text("00100", "h1")

    def test_filters_and_jumps(self):
        batch = self.cluster.submit(samples(30))
        self.browser.driver.get(f"{self.cluster.url}/batches/{batch}")
        self.browser.find('#filter [name="name"]').send_keys("china")
        self.browser.button("Show").click()
        self.browser.wait(lambda: len(self.browser.all("#photos tbody tr")) == 4, "4 photos")
        self.browser.driver.get(f"{self.cluster.url}/batches/{batch}?name=nothing")
        self.browser.wait_for_text("No photo matches the filter.", "#photos")
        self.browser.driver.back()
        self.assertEqual("china", self.browser.find('#filter [name="name"]').get_attribute("value"))
        self.browser.find('#jump [name="first"]').send_keys("25")
        self.browser.button("Go").click()
        self.browser.wait(lambda: len(self.browser.all("#photos tbody tr")) == 5, "5 photos")

    def test_controls_are_forms(self):
        batch = self.cluster.submit(samples(3))
        self.browser.driver.get(f"{self.cluster.url}/batches/{batch}")
        self.browser.button("Suspend downloads").click()
        self.browser.wait_for_text("downloads suspended", "#facts")
        self.assertEqual("1", self.cluster.facts(batch)["flag.downloads.suspended"])
        self.browser.button("Resume downloads").click()
        self.cluster.wait_for_fact(batch, "flag.downloads.suspended", None)
        Select(self.browser.find('select[name="priority"]')).select_by_visible_text("low")
        self.browser.button("Set").click()
        self.cluster.wait_for_fact(batch, "priority", "low")
        self.browser.button("Cancel...").click()
        self.browser.button("Cancel 3 photos").click()
        self.browser.wait_for_text("cancelled", "#facts .state")
        self.browser.button("Forget...").click()
        self.browser.button("Forget").click()
        self.browser.wait_for_text("There is no batch", "main")

    def test_submits_an_upload(self):
        path = self.cluster.folder / "upload.csv"
        path.write_text("name,url\n" + "".join(f"{name},{url}\n" for name, url in samples(4)))
        self.cluster.start_worker()
        self.browser.driver.get(f"{self.cluster.url}/submit")
        self.browser.find('input[type="file"]').send_keys(str(path))
        self.browser.find('[name="output"]').send_keys("uploaded")
        self.browser.find('[name="name"]').send_keys("An upload")
        self.browser.find('[name="filter"]').send_keys("grayscale")
        self.browser.button("Submit", "main").click()
        self.browser.wait_for_text("An upload", "h1")
        batch = self.browser.driver.current_url.rsplit("/", 1)[-1]
        self.cluster.wait_for_states(batch, "FFFF")
        self.assertEqual("grayscale=1", self.cluster.facts(batch)["filters"])
        self.assertEqual(4, len(list((self.cluster.outputs / "uploaded").glob("*.jpg"))))

    def test_lists_batches_and_workers(self):
        batch = self.cluster.submit(samples(2), "--name", "A name")
        self.cluster.start_worker()
        self.cluster.wait_for_fact(batch, "state", "finished")
        self.browser.driver.get(self.cluster.url)
        self.browser.wait_for_text("2 filtered", "#batches")
        self.browser.find(".filter a:nth-of-type(4)").click()
        self.browser.wait_for_text("There is no batch", "main")
        self.browser.driver.get(f"{self.cluster.url}/workers")
        self.assertEqual(1, len(self.browser.all("#workers tbody tr")))


if __name__ == "__main__":
    unittest.main()
