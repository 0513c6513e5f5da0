"""The rules of axe (https://www.deque.com/axe/) find nothing on any page, in light and dark."""

import os
import pathlib
import unittest

from case import BrowserCase
from cluster import samples
from pages import Pages
from processes import PROJECT

# deploy/browser-tests installs it.
AXE = pathlib.Path(os.environ.get("DARKROOM_AXE", PROJECT / ".build/browser-tests/axe_core_python/axe.min.js"))

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class AccessibilityTests(BrowserCase):
    """WCAG 2.2 A and AA, and axe's best practices."""

    def findings(self):
        """What axe finds on the page, a line for each element."""
        self.browser.script(AXE.read_text(encoding="utf-8"))
        result = self.browser.driver.execute_async_script(
            """
            const done = arguments[arguments.length - 1];
            const options = { runOnly: arguments[0], resultTypes: ["violations"] };
            axe.run(document, options).then(done, (error) => done({ error: String(error) }));
            """,
            STANDARDS,
        )
        self.assertNotIn("error", result)
        return [
            f"{violation['id']}: {violation['help']}: {node['html'][:200]}"
            for violation in result["violations"] for node in violation["nodes"]
        ]

    def test_axe_finds_nothing(self):
        pages = Pages(self.browser, self.cluster)
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            for page in pages.names:
                with self.subTest(page=page, scheme=scheme):
                    pages.open(page)
                    self.assertEqual([], self.findings())

    def test_axe_finds_nothing_on_a_narrow_sheet(self):
        """The panels of the sheet, closed and open."""
        pages = Pages(self.browser, self.cluster)
        self.browser.resize(400, 900)
        pages.open("sheet")
        self.assertEqual([], self.findings())
        for summary in self.browser.all("summary"):
            summary.click()
        self.assertEqual([], self.findings())

    def test_axe_finds_nothing_after_scrolling(self):
        """Rows that are kept for later use have no ids, and screen readers do not see them."""
        sheet = self.sheet(self.cluster.submit(samples(605)))
        sheet.wait_for_kinds("new")
        for top in (2000, 100_000, 0):
            sheet.scroll_to(top)
            self.browser.wait(
                lambda top=top: sheet.first_visible() >= 0 and (sheet.first_visible() > 0) == (top > 0),
                f"the photos at {top} pixels")
            self.assertEqual([], self.findings())
            rows, ids = self.browser.script(
                """
                const seen = [...document.querySelectorAll(".row")].filter((row) => row.checkVisibility());
                return [seen.map((row) => Number(row.ariaRowIndex)),
                        [...document.querySelectorAll(".grid [id]")].map((cell) => cell.id)];
                """
            )
            self.assertEqual(list(range(min(rows), max(rows) + 1)), sorted(rows))
            self.assertEqual(len(set(ids)), len(ids), "an id is there twice")
            shown = sheet.kinds()
            self.assertEqual(sorted(f"cell-{position}" for position in shown), sorted(ids))
            self.assertGreaterEqual(len(rows) * sheet.columns(), len(shown))

    def test_messages_have_a_place_from_the_beginning(self):
        """Screen readers announce only changes of an element that they know already."""
        self.sheet(self.cluster.submit(samples(2))).wait_for_kinds("new", "new")
        self.browser.driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = self.browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
        self.assertIn("status", roles)

    def test_axe_finds_nothing_on_the_login(self):
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(self.cluster.url)
        self.assertEqual([], self.findings())


if __name__ == "__main__":
    unittest.main()
