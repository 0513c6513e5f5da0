"""Everything can be done with the keyboard alone, and the focus is always visible."""

import unittest

from case import BrowserCase
from cluster import samples
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


class KeyboardTests(BrowserCase):
    """No test here uses the mouse."""

    def setUp(self):
        super().setUp()
        self.batch = self.cluster.submit([*samples(60), ("nowhere", "nonsense")])

    def press(self, *keys):
        """Presses keys one after the other, wherever the focus is."""
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def tab_stops(self):
        """Presses Tab until the focus is where it was; returns (description, has a visible focus) for each element."""
        stops = []
        while True:
            self.press(Keys.TAB)
            stop = self.browser.script(
                """
                const element = document.activeElement, style = getComputedStyle(element);
                const box = element.getBoundingClientRect();
                const hasOutline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
                const name = element.getAttribute("aria-label") || (element.labels?.[0] ?? element).innerText.trim();
                return [element === document.body ? "" : `${element.localName} ${name}`.trim(),
                        hasOutline && box.right > 0 && box.left < innerWidth];
                """
            )
            if not stop[0] or stop in stops:
                return stops
            stops.append(stop)

    def test_every_function_of_the_sheet_has_a_tab_stop(self):
        self.sheet(self.batch).wait_for_kinds("new")
        stops = self.tab_stops()
        names = [name for name, _ in stops]
        for expected in [
            "a Skip to the content", "a Darkroom", "a Batches", "a Workers", "a Hosts", "a Cluster", "a Submit", "button Suspend",
            "button Suspend downloads", "button Suspend filtrations", "button Set", "a Cancel...", "a Forget...",
            "summary All facts", "button Show", "button Go", "input Size", "input Visible photos run first",
            "div Contact sheet",
        ]:
            self.assertIn(expected, names)
        for field in ["select Priority", "select State", "select Reason", "input Name contains", "input From index"]:
            self.assertTrue(any(name.startswith(field) for name in names), f"{field} in {names}")
        self.assertEqual([], [name for name, is_visible in stops if not is_visible], "stops without a visible focus")

    def test_every_page_shows_its_focus(self):
        batch = f"/batches/{self.batch}"
        pages = ["/", "/workers", "/hosts", "/cluster", "/submit", f"{batch}/cancel", f"{batch}/forget", f"{batch}/photos/0"]
        for page in pages:
            with self.subTest(page=page):
                self.browser.driver.get(self.cluster.url + page)
                stops = self.tab_stops()
                self.assertGreater(len(stops), 5)
                self.assertEqual([], [name for name, is_visible in stops if not is_visible])

    def test_skips_the_navigation(self):
        self.sheet(self.batch).wait_for_kinds("new")
        self.press(Keys.TAB, Keys.ENTER)
        self.browser.wait(lambda: self.browser.focused().tag_name == "main", "the focus on the content")

    def test_moves_in_the_grid(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new")
        self.browser.script("document.querySelector('.grid').focus()")
        columns = sheet.columns()
        moves = [
            (Keys.ARROW_RIGHT, 1), (Keys.ARROW_DOWN, 1 + columns), (Keys.ARROW_LEFT, columns),
            (Keys.END, 2 * columns - 1), (Keys.HOME, columns), (Keys.ARROW_UP, 0), (Keys.ARROW_UP, 0),
            (Keys.PAGE_DOWN, None), (Keys.PAGE_UP, 0),
        ]
        for key, position in moves:
            self.press(key)
            if position is not None:
                self.wait_for_active(position)
        ActionChains(self.browser.driver).key_down(Keys.CONTROL).send_keys(Keys.END).key_up(Keys.CONTROL).perform()
        self.wait_for_active(60)
        self.browser.wait(lambda: "nowhere" in sheet.cell(60).get_attribute("aria-label"), "the name of the last photo")

    def wait_for_active(self, position):
        """Waits until a cell is the current one, and is visible."""
        self.browser.wait(
            lambda: self.browser.script(
                """
                const grid = document.querySelector(".grid"), room = grid.getBoundingClientRect();
                const cell = document.getElementById(grid.getAttribute("aria-activedescendant"));
                if (!cell) return "";
                const box = cell.getBoundingClientRect();
                const isVisible = box.top >= room.top && box.bottom <= room.bottom;
                return isVisible && cell.classList.contains("is-active") && cell.ariaSelected === "true" ? cell.id : "";
                """
            ) == f"cell-{position}",
            f"the current photo {position}",
        )

    def test_opens_and_leaves_the_large_view(self):
        """Escape returns the focus to the grid, at the photo that was shown last."""
        self.sheet(self.batch).wait_for_kinds("new")
        self.browser.script("document.querySelector('.grid').focus()")
        self.press(Keys.ARROW_RIGHT, Keys.ENTER)
        self.browser.wait_for_text("00001 chelsea.jpg", "dialog h1")
        self.press(Keys.ARROW_RIGHT)
        self.browser.wait_for_text("00002 china.jpg", "dialog h1")
        self.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        self.browser.wait_for_text("00000 astronaut.jpg", "dialog h1")
        self.assertTrue(self.browser.script("return document.querySelector('dialog').contains(document.activeElement)"))
        self.press(Keys.ESCAPE)
        self.browser.wait(lambda: self.browser.focused().get_attribute("role") == "grid", "the focus in the grid")
        self.wait_for_active(0)

    def test_shortcuts(self):
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new")
        width = sheet.cell(0).size["width"]
        self.browser.script("document.querySelector('.grid').focus()")
        self.press("+")
        self.browser.wait(lambda: sheet.cell(0).size["width"] > width, "larger cells")
        self.press("-", "-")
        self.browser.wait(lambda: sheet.cell(0).size["width"] < width, "smaller cells")
        self.browser.script("localStorage.clear()")
        self.press("g")
        self.assertEqual("first", self.browser.focused().get_attribute("name"))
        self.press("40", Keys.ENTER)
        self.wait_for_active(40)
        self.press("/")
        self.assertEqual("name", self.browser.focused().get_attribute("name"))
        self.press("china+g", Keys.ENTER)
        self.assertEqual("china+g", self.browser.focused().get_attribute("value"), "shortcuts do not work in fields")

    def test_shortcuts_act_only_in_the_grid(self):
        """WCAG 2.1.4: single keys do nothing elsewhere on the page."""
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new")
        width = sheet.cell(0).size["width"]
        button = self.browser.button("Suspend")
        self.browser.script("arguments[0].focus()", button)
        self.press("g", "/", "+")
        self.assertEqual(button, self.browser.focused())
        self.browser.script("document.querySelector('.grid').focus()")
        self.press(Keys.ARROW_RIGHT)
        self.wait_for_active(1)
        self.assertEqual(width, sheet.cell(0).size["width"])

    def test_controls_keep_the_focus(self):
        """The button that has the focus is replaced by its opposite, which then has the focus."""
        self.sheet(self.batch).wait_for_kinds("new")
        self.browser.script("arguments[0].focus()", self.browser.button("Suspend downloads"))
        self.press(Keys.ENTER)
        self.browser.wait(lambda: self.browser.focused().text == "Resume downloads", "the focus on Resume")
        self.press(Keys.SPACE)
        self.browser.wait(lambda: self.browser.focused().text == "Suspend downloads", "the focus on Suspend")

    def test_tables_keep_the_focus(self):
        """The list of batches is read again every two seconds, without moving the focus."""
        self.browser.driver.get(self.cluster.url)
        self.browser.script("arguments[0].focus()", self.browser.find("#batches td a"))
        self.cluster.command("prioritize", self.batch, "veryHigh")
        self.browser.wait_for_text("veryHigh", "#batches")
        self.assertEqual("a", self.browser.focused().tag_name)
        self.press(Keys.ENTER)
        self.browser.find(".grid")


if __name__ == "__main__":
    unittest.main()
