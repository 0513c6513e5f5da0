"""The form that submits a list, and the login."""

import http.server
import threading
import unittest

from case import BrowserCase
from cluster import TOKEN, samples
from selenium.webdriver.support.ui import Select


class SubmitTests(BrowserCase):
    """The form, in a browser with scripts."""

    def submit(self, **fields):
        """Fills the form with texts, and sends it."""
        self.browser.driver.get(f"{self.cluster.url}/submit")
        for name, value in fields.items():
            element = self.browser.find(f'#{name}' if name in ("file", "address") else f'[name="{name}"]')
            if element.tag_name == "select":
                Select(element).select_by_visible_text(value)
            else:
                element.send_keys(value)
        self.browser.button("Submit", "main").click()

    def list_file(self):
        """Writes a list with two photos."""
        path = self.cluster.folder / "list.txt"
        path.write_text("\n".join(url for _, url in samples(2)) + "\n")
        return str(path)

    def test_submits_an_uploaded_list(self):
        self.submit(
            file=self.list_file(), output="one/two", name="Holidays", priority="high", format="webp", quality="70")
        self.browser.wait_for_text("Holidays", "h1")
        facts = self.cluster.facts(self.browser.find("#sheet").get_attribute("data-batch"))
        self.assertEqual(str(self.cluster.outputs / "one/two"), facts["output"])
        self.assertEqual(("high", "format=webp; quality=70"), (facts["priority"], facts["encoding"]))
        self.browser.wait_for_text("new", ".grid")

    def test_submits_the_address_of_a_list(self):
        text = "\n".join(url for _, url in samples(3)).encode()

        class ListHandler(http.server.BaseHTTPRequestHandler):
            """Sends the list."""

            def do_GET(self):  # pylint: disable=invalid-name
                """Answers each request with the list."""
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                """Logs nothing."""

        with http.server.HTTPServer(("127.0.0.1", 0), ListHandler) as server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
            self.submit(address=f"http://127.0.0.1:{server.server_address[1]}/list.txt", output="fetched")
            self.browser.find(".grid")
            server.shutdown()
        self.browser.wait(lambda: self.browser.text('[data-count="photos"]') == "3", "3 photos")

    def test_keeps_the_entries_of_a_refused_form(self):
        empty = self.cluster.folder / "empty.csv"
        empty.write_text("")
        self.submit(
            file=str(empty), output="one", name="Holidays", priority="high", filter="blur", format="webp", quality="70")
        self.browser.wait_for_text('the list "empty.csv" is empty', ".problem")
        self.browser.wait_for_text("Choose the file again.", "form")
        values = {
            name: self.browser.find(f'[name="{name}"]').get_property("value")
            for name in ("output", "name", "priority", "filter", "format", "quality")
        }
        self.assertEqual(
            {"output": "one", "name": "Holidays", "priority": "high", "filter": "blur", "format": "webp",
             "quality": "70"}, values)
        self.browser.find("#file").send_keys(self.list_file())
        self.browser.button("Submit", "main").click()
        self.browser.wait_for_text("Holidays", "h1")

    def test_explains_mistakes(self):
        for fields, text in [
            ({"output": "x"}, "there is no list"),
            ({"file": self.list_file(), "output": "../x"}, 'must not contain ".."'),
            ({"file": self.list_file(), "output": "x", "filter": "sepja"}, "sepja"),
            ({"file": str(self.cluster.folder / "token"), "output": "x"}, ""),
        ]:
            with self.subTest(fields=fields):
                self.submit(**fields)
                self.browser.wait_for_text(text, ".problem, #facts")


class LoginTests(BrowserCase):
    """The page that asks for the token."""

    def test_asks_for_the_token(self):
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(f"{self.cluster.url}/workers")
        self.browser.find("#token").send_keys("not the token, but long")
        self.browser.button("Log in").click()
        self.browser.wait_for_text("this is not the token", "main")
        self.assertNotIn("redis", self.browser.text())
        self.assertEqual([], self.browser.all("nav"))
        self.assertEqual("token", self.browser.focused().get_attribute("id"))
        self.browser.focused().send_keys(TOKEN)
        self.browser.button("Log in").click()
        self.browser.wait_for_text("Workers", "h1")
        port = self.cluster.url.rpartition(":")[2]
        self.assertTrue(self.browser.driver.get_cookie(f"darkroom-session-{port}")["httpOnly"])

    def test_token_does_not_stay_in_the_address(self):
        self.browser.log_in(self.cluster)
        self.assertNotIn(TOKEN, self.browser.driver.current_url)


if __name__ == "__main__":
    unittest.main()
