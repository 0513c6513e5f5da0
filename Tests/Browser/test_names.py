"""Names and reasons are text, never markup."""

import unittest

from case import BrowserCase
from cluster import sample

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "</script></style></title>&lt;b&gt;&amp;",
    "line\nbreak\r\ttab",
    "right \u202e gpj.exe",
    "zero\u200bwidth\u2066isolate",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
    "\u0627\u0644\u0635\u0648\u0631\u0629 \u05e6\u05d9\u05dc\u05d5\u05dd",
    "${1+1} {{1+1}} %s javascript:alert(1)",
    "long " + "x" * 200,
]

# How the pages show them: characters without a visible form are escaped.
SHOWN = [
    *HOSTILE[:4],
    "line\\nbreak\\r\\ttab",
    "right \\u{202e} gpj.exe",
    "zero\\u{200b}width\\u{2066}isolate",
    *HOSTILE[7:],
]


class NameTests(BrowserCase):
    """A photo and a batch with a hostile name."""

    def setUp(self):
        super().setUp()
        photos = [(name, sample("china.jpg") if index % 2 == 0 else "nonsense") for index, name in enumerate(HOSTILE)]
        self.batch = self.cluster.submit(photos, "--name", HOSTILE[0])
        self.cluster.start_worker()
        self.cluster.wait_for_fact(self.batch, "state", "finished")

    def assert_nothing_ran(self):
        """No dialog is open, no element comes from a name, and the content policy was not violated."""
        self.assertEqual("complete", self.browser.script("return document.readyState"))
        found = self.browser.all("main img[onerror], main svg[onload], main script, main b > b, title ~ script")
        self.assertEqual([], found)
        self.assert_no_complaints()

    def title(self, selector):
        """The text of a heading, with its white space."""
        return self.browser.script("return document.querySelector(arguments[0]).textContent", selector)

    def test_sheet_shows_names_as_text(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_image(0)
        self.browser.wait(lambda: sheet.cell(len(HOSTILE) - 1).text, "the last name")
        names = [
            self.browser.script(f"return document.querySelector('#cell-{position} .name').textContent")
            for position in range(len(HOSTILE))
        ]
        self.assertEqual(SHOWN, names)
        self.assertIn(HOSTILE[0], self.browser.text("h1"))
        self.assert_nothing_ran()

    def test_large_view_shows_names_as_text(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_image(0)
        sheet.cell(0).click()
        for position, name in enumerate(SHOWN):
            self.browser.wait(lambda name=name: self.title("dialog h1") == name, name)
            self.assert_nothing_ran()
            if position + 1 < len(SHOWN):
                self.browser.button("Next", "dialog").click()

    def test_pages_show_names_as_text(self):
        path = f"/batches/{self.batch}"
        for page in ["/", f"{path}/cancel", f"{path}/retry", f"{path}/forget"]:
            self.browser.driver.get(self.cluster.url + page)
            self.browser.wait_for_text(HOSTILE[0], "main")
            self.assert_nothing_ran()
        for position, name in enumerate(SHOWN):
            self.browser.driver.get(f"{self.cluster.url}{path}/photos/{position}")
            # Pages keep line feeds, which browsers show as spaces.
            self.assertEqual(name, self.title("h1").replace("\n", "\\n"))
            self.assert_nothing_ran()

    def test_search_takes_names_as_text(self):
        self.sheet(self.batch)
        self.browser.find('#filter [name="name"]').send_keys("<script>\n")
        self.browser.wait(
            lambda: [name.text for name in self.browser.all(".name") if name.text] == SHOWN[:1], "one result")
        self.browser.driver.refresh()
        self.assertEqual("<script>", self.browser.find('#filter [name="name"]').get_attribute("value"))
        self.assert_nothing_ran()


if __name__ == "__main__":
    unittest.main()
