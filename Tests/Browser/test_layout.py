"""The pages at 400, 1,280 and 2,560 pixels, light and dark: nothing overflows, and no text is cut.

The pictures are in .build/browser-tests/pages, or in the folder DARKROOM_PICTURES. Look at them after each change of a
page.
"""

import os
import pathlib
import unittest

from case import BrowserCase
from pages import Pages
from processes import PROJECT

PICTURES = pathlib.Path(os.environ.get("DARKROOM_PICTURES", PROJECT / ".build/browser-tests/pages"))
SIZES = [(400, 900), (1280, 900), (2560, 1440)]

# Returns a line for each defect. Elements that scroll by themselves may be wider inside; captions and numbers of cells
# end with an ellipsis, since they are complete in the large view.
DEFECTS = """
const defects = [];
const describe = (element) => `${element.localName}.${element.className} "${element.textContent.trim().slice(0, 40)}"`;
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) defects.push(`the page is ${root.scrollWidth} wide`);
for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(".skip, caption, option, datalist, .cell .name")) continue;
    const box = element.getBoundingClientRect();
    const isInScroller = element.closest(".wide, .grid") !== null && !element.matches(".wide, .grid");
    if (!isInScroller && box.width > 0 && (box.left < -1 || box.right > root.clientWidth + 1)) {
        defects.push(`outside of the page: ${describe(element)}`);
    }
    if (element.matches("dialog, .photo, main, .grid") && element.scrollWidth > element.clientWidth) {
        defects.push(`scrolls sideways: ${describe(element)}`);
    }
    const style = getComputedStyle(element);
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const isCut = (overflow, size, room) => overflow !== "visible" && overflow !== "auto" && size > room + 1;
    if (hasText && (isCut(style.overflowX, element.scrollWidth, element.clientWidth)
            || isCut(style.overflowY, element.scrollHeight, element.clientHeight))) {
        defects.push(`cut: ${describe(element)}`);
    }
    if (element.matches("button, .button, select") && element.scrollWidth > element.clientWidth + 1) {
        defects.push(`cut: ${describe(element)}`);
    }
}
return defects;
"""


class LayoutTests(BrowserCase):
    """Automatic checks of the layout, and pictures for people."""

    def test_pages_fit_all_widths(self):
        pages = Pages(self.browser, self.cluster)
        PICTURES.mkdir(parents=True, exist_ok=True)
        for width, height in SIZES:
            self.browser.resize(width, height)
            for page in pages.names:
                pages.open(page)
                for scheme in ("light", "dark"):
                    with self.subTest(page=page, width=width, scheme=scheme):
                        self.browser.prefer(scheme)
                        self.browser.driver.save_screenshot(str(PICTURES / f"{page}-{width}-{scheme}.png"))
                        self.assertEqual([], self.browser.script(DEFECTS))

    def test_narrow_sheet_has_space_for_photos(self):
        """On a phone, the first screen shows photos, and the panels open on demand."""
        pages = Pages(self.browser, self.cluster)
        self.browser.resize(400, 900)
        pages.open("sheet")
        self.assertGreater(self.browser.find(".grid").size["height"], 350)
        self.assertEqual([False, False], self.open_panels())
        for summary in self.browser.all("summary"):
            summary.click()
        self.assertEqual([True, True], self.open_panels())
        self.assertTrue(self.browser.button("Suspend").is_displayed())
        self.assertEqual([], self.browser.script(DEFECTS))
        for summary in self.browser.all("summary"):
            summary.click()
        self.browser.resize(1280, 900)
        self.browser.wait(lambda: self.open_panels() == [True, True], "open panels")

    def open_panels(self):
        """Whether each panel is open."""
        return self.browser.script("return [...document.querySelectorAll('.panel')].map((panel) => panel.open)")


if __name__ == "__main__":
    unittest.main()
