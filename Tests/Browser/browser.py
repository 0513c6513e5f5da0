"""A headless Chromium, driven through Debian's chromedriver, and the contact sheet as tests see it."""

import os

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from cluster import TOKEN


class Browser:
    """One browser window. All methods wait for what they need, so tests need no pauses."""

    def __init__(self, scripts=True, width=1280, height=900):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en", "--no-first-run"]
        # Chromium's sandbox does not work for root.
        arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
        for argument in arguments:
            options.add_argument(argument)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self._scripts = []
        self.resize(width, height)

    def close(self):
        """Ends the browser and its driver."""
        self.driver.quit()

    def reset(self):
        """Closes all other windows, and leaves the page."""
        for identifier in self._scripts:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})
        self._scripts = []
        first, *others = self.driver.window_handles
        for other in others:
            self.driver.switch_to.window(other)
            self.driver.close()
        self.driver.switch_to.window(first)
        self.driver.get("about:blank")
        self.resize(1280, 900)
        self.prefer("light")
        self.complaints()

    # The window.

    def resize(self, width, height):
        """Sets the size of the page in pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open_window(self):
        """Opens another window, and makes it the window of all further calls."""
        self.driver.switch_to.new_window("window")
        self.resize(1280, 900)

    def prefer(self, scheme):
        """Chooses between "light" and "dark"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def log_in(self, cluster):
        """Opens the first page with the token of the server."""
        self.driver.get(f"{cluster.url}/login?token={TOKEN}")

    def complaints(self):
        """What Chromium has written to its console since the last call: errors and warnings."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    # The page.

    def script(self, text, *arguments):
        """Runs a script in the page, and returns its result."""
        return self.driver.execute_script(text, *arguments)

    def wait(self, condition, what, timeout=15):
        """Returns the first true value of `condition()`. The failure names what was awaited."""

        def holds(_):
            try:
                return condition() or False
            except WebDriverException as error:
                if not was_replaced(error):
                    raise
                return False

        wait = WebDriverWait(self.driver, timeout, 0.02)
        return wait.until(holds, f"waited {timeout} s for: {what}")

    def script_before_pages(self, text):
        """Runs a script in each further page of this window, before the scripts of the page. Ends with the test."""
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": text})
        self._scripts.append(made["identifier"])

    def find(self, selector):
        """The first element that matches a CSS selector, as soon as there is one."""
        return self.wait(lambda: next(iter(self.all(selector)), None), selector)

    def all(self, selector):
        """All elements that match a CSS selector now."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector="body"):
        """The visible text of an element. If the page replaces the element during the call, it is read
        again."""
        return self.wait(lambda: [element.text for element in self.all(selector)[:1]], selector)[0]

    def button(self, text, within="body"):
        """The visible button or link with this text."""
        def visible():
            elements = self.all(f":is({within}) :is(button, a.button)")
            return next((element for element in elements if element.text == text and element.is_displayed()), None)

        return self.wait(visible, f'the button "{text}"')

    def wait_for_text(self, text, selector="body", timeout=15):
        """Waits until an element contains a text."""
        self.wait(lambda: text in self.text(selector), f'"{text}" in {selector}', timeout)

    def focused(self):
        """The element with the keyboard focus."""
        return self.driver.switch_to.active_element


def was_replaced(error):
    """Whether a call failed because the page had replaced the element. Chromium has two errors for it."""
    return isinstance(error, StaleElementReferenceException) or "does not belong to the document" in str(error)


class Sheet:
    """The contact sheet of a batch in a browser."""

    def __init__(self, browser, cluster, batch, query=""):
        self.browser = browser
        browser.driver.get(f"{cluster.url}/batches/{batch}{query}")
        self.grid = browser.find(".grid")

    def kinds(self):
        """The kinds of the visible photos by position: "filtered", "failed", ..."""
        pairs = self.browser.script(
            "return [...document.querySelectorAll('.cell[data-position]')]"
            ".map((cell) => [Number(cell.dataset.position), cell.className.match(/is-(?!active)(\\w+)/)[1]])"
        )
        return dict(pairs)

    def wait_for_kinds(self, *kinds):
        """Waits until the first photos have these kinds."""
        def shown():
            found = self.kinds()
            return [found.get(position) for position in range(len(kinds))] == list(kinds)

        self.browser.wait(shown, f"the kinds {kinds}")

    def cell(self, position):
        """The cell of a photo."""
        return self.browser.find(f"#cell-{position}")

    def image_width(self, position):
        """The width of the picture that a cell shows in its own pixels; 0 while there is none."""
        return self.browser.script(
            "const image = document.querySelector(arguments[0] + ' img');"
            "return image?.complete ? image.naturalWidth : 0", f"#cell-{position}"
        )

    def wait_for_image(self, position):
        """Waits until the picture of a cell is loaded."""
        self.browser.wait(lambda: self.image_width(position) > 0, f"the picture of photo {position}")

    def wait_for_all_images(self):
        """Waits until all visible cells show their names, and the pictures that their states have."""
        self.browser.wait(
            lambda: self.browser.script(
                """
                const bottom = document.querySelector(".grid").getBoundingClientRect().bottom;
                const cells = [...document.querySelectorAll(".cell[data-position]")].filter((cell) => {
                    const box = cell.getBoundingClientRect();
                    return box.bottom > 0 && box.top < bottom;
                });
                return cells.length > 0 && cells.every((cell) => cell.querySelector(".name").textContent
                    && (!cell.matches(".is-filtered, .is-downloaded") || cell.querySelector("img").naturalWidth > 0));
                """
            ),
            "all visible pictures",
        )

    def wait_for_first(self, position):
        """Waits until a photo is in the first row."""
        def is_first():
            first = self.first_visible()
            return 0 <= first <= position < first + self.columns()

        self.browser.wait(is_first, f"photo {position} in the first row")

    def columns(self):
        """The number of photos in a row."""
        return int(self.grid.get_attribute("aria-colcount"))

    def first_visible(self):
        """The position of the photo in the upper left corner; -1 while the grid is drawn."""
        return self.browser.script(
            """
            const top = document.querySelector(".grid").getBoundingClientRect().top;
            const cells = [...document.querySelectorAll(".cell[data-position]")]
                .filter((cell) => cell.getBoundingClientRect().bottom > top + 6);
            return cells.length > 0 ? Math.min(...cells.map((cell) => Number(cell.dataset.position))) : -1;
            """
        )

    def scroll_to(self, top):
        """Sets the position of the scroll bar in pixels."""
        self.browser.script("document.querySelector('.grid').scrollTop = arguments[0]", top)

    def notice(self):
        """The message above the page."""
        return self.browser.text("#notice") if self.browser.all("#notice") else ""
