"""Each control does what it says, seen in Redis."""

import unittest

from case import BrowserCase
from cluster import NAMESPACE, samples
from selenium.webdriver.support.ui import Select


class BatchControlTests(BrowserCase):
    """The controls above the contact sheet."""

    def open(self, *options, photos=4):
        """Submits a batch without a worker, and opens its contact sheet."""
        self.batch = self.cluster.submit(samples(photos), *options)
        sheet = self.sheet(self.batch)
        sheet.wait_for_kinds("new")
        return sheet

    def test_suspends_and_resumes_each_part(self):
        self.open()
        for part, field in [
            ("", "flag.suspended"),
            (" downloads", "flag.downloads.suspended"),
            (" filtrations", "flag.filtrations.suspended"),
        ]:
            with self.subTest(part=part):
                self.browser.button(f"Suspend{part}").click()
                self.cluster.wait_for_fact(self.batch, field, "1")
                self.browser.wait_for_text("suspended", "#facts .state")
                self.browser.button(f"Resume{part}").click()
                self.cluster.wait_for_fact(self.batch, field, None)
                self.browser.wait(lambda: "suspended" not in self.browser.text("#facts .state"), "no suspension")
        self.assert_no_complaints()

    def test_sends_each_control_once(self):
        self.open()
        self.browser.button("Suspend").click()
        self.browser.button("Resume").click()
        self.browser.button("Suspend")
        calls = self.browser.script(
            "return performance.getEntriesByType('resource').map((entry) => entry.name.split('/').pop())")
        self.assertEqual(["suspend", "resume"], [call for call in calls if call in ("suspend", "resume")])

    def test_shows_controls_of_others(self):
        """The page shows the controls of the batch, also those that other programs have set."""
        self.open()
        self.cluster.command("suspend", self.batch)
        self.browser.button("Resume")
        self.cluster.command("prioritize", self.batch, "veryLow")
        priority = Select(self.browser.find('select[name="priority"]'))
        self.browser.wait(lambda: priority.first_selected_option.text == "veryLow", "the priority veryLow")

    def test_sets_the_priority(self):
        self.open()
        Select(self.browser.find('select[name="priority"]')).select_by_visible_text("veryHigh")
        self.browser.button("Set").click()
        self.cluster.wait_for_fact(self.batch, "priority", "veryHigh")

    def test_asks_before_it_cancels(self):
        self.open(photos=7)
        self.browser.button("Cancel...").click()
        self.browser.wait_for_text("7 photos of 7 will not be developed", "main")
        self.browser.button("Back").click()
        self.browser.find(".grid")
        self.assertNotEqual("1", self.cluster.facts(self.batch).get("flag.cancelled"))
        self.browser.button("Cancel...").click()
        self.browser.find('[name="reason"]').send_keys("wrong list")
        self.browser.button("Cancel 7 photos").click()
        self.cluster.wait_for_fact(self.batch, "flag.cancelled", "1")
        self.assertEqual("wrong list", self.cluster.facts(self.batch)["cancelled.reason"])
        self.browser.wait_for_text("cancelled", "#facts .state")

    def test_retries_the_photos_of_a_reason(self):
        photos = [("a.jpg", self.cluster.photos.url("none.jpg")), ("b.jpg", "nonsense"), ("c.jpg", "nonsense")]
        batch = self.cluster.submit(photos)
        worker = self.cluster.start_worker()
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("failed", "failed", "failed")
        self.cluster.wait_for_fact(batch, "state", "finished")
        worker.stop()
        self.browser.button("Retry failed photos...").click()
        self.browser.wait_for_text("not-a-url: 2 photos", "form")
        self.browser.find('[value="not-a-url"]').click()
        self.browser.button("Retry").click()
        self.cluster.wait_for_states(batch, "iNN")
        self.browser.wait_for_text("2 failed photos run again.", "main")

    def test_cancelled_batch_is_not_retried(self):
        batch = self.cluster.submit([*samples(1), ("b.jpg", "nonsense")])
        self.cluster.command("suspend", batch, "--filtrations")
        self.cluster.start_worker()
        self.sheet(batch).wait_for_kinds("downloaded", "failed")
        self.browser.button("Retry failed photos...")
        self.cluster.command("cancel", batch)
        for _ in range(2):
            self.browser.wait_for_text("cancelled", "#facts .state")
            self.browser.wait(
                lambda: not self.browser.find('a[href$="/retry"]').is_displayed(), "no link to retry")
            self.browser.driver.refresh()

    def test_forgets_a_batch(self):
        self.open()
        self.browser.button("Forget...").click()
        self.browser.wait_for_text("will not be developed", "main")
        self.browser.button("Forget").click()
        self.browser.wait_for_text("There is no batch", "main")
        self.assertEqual({}, self.cluster.facts(self.batch))


class AllFactsTests(BrowserCase):
    """The facts under "All facts"."""

    def test_are_live(self):
        batch = self.cluster.submit(samples(4))
        self.sheet(batch).wait_for_kinds("new")
        self.browser.find(".more summary").click()
        self.browser.wait_for_text("normal", "#all-facts")
        self.cluster.command("prioritize", batch, "veryLow")
        self.browser.wait_for_text("veryLow", "#all-facts")
        self.assert_no_complaints()


class ClusterControlTests(BrowserCase):
    """The controls of the page of the cluster."""

    def control(self, field):
        """A field of the state of the cluster."""
        return self.cluster.redis("HGET", f"{NAMESPACE}:control", field)

    def test_suspends_and_resumes_all_workers(self):
        for part, field in [
            ("everything", "suspended"), ("downloads", "downloads.suspended"), ("filtrations", "filtrations.suspended"),
        ]:
            with self.subTest(part=part):
                for action, value in [("Suspend", "1"), ("Resume", None)]:
                    self.browser.driver.get(f"{self.cluster.url}/cluster")
                    form = f'form[action$="/{action.lower()}"]'
                    Select(self.browser.find(f"{form} select")).select_by_visible_text(part)
                    self.browser.button(action, form).click()
                    self.browser.wait(lambda: self.control(field) == value, f"{field} is {value}")

    def test_sets_and_removes_limits(self):
        def set_limits(downloads, filtrations):
            self.browser.driver.get(f"{self.cluster.url}/cluster")
            for name, value in [("downloads", downloads), ("filtrations", filtrations)]:
                field = self.browser.find(f'input[name="{name}"]')
                field.clear()
                field.send_keys(value)
            self.browser.button("Set the limits").click()
            wanted = [downloads or None, filtrations or None]
            names = ["downloads.limit", "filtrations.limit"]
            self.browser.wait(lambda: [self.control(name) for name in names] == wanted, f"the limits {wanted}")

        set_limits("3", "2")
        set_limits("", "5")
        set_limits("", "")

    def test_charts_have_keys_and_text_of_one_size(self):
        sizes = []
        for width in (1280, 2560):
            self.browser.resize(width, 900)
            self.browser.driver.get(f"{self.cluster.url}/cluster")
            self.assertEqual(
                [["is-filtered", "is-failed"], ["is-downloaded", "is-filtered"], ["is-progress"]],
                self.browser.script(
                    "return [...document.querySelectorAll('.chart')].map((chart) =>"
                    " [...chart.querySelectorAll('.key')].map((key) => key.classList[1]))"))
            sizes.append([self.browser.find(selector).size["height"] for selector in (".chart svg", ".chart .axis")])
        self.assertEqual(sizes[0], sizes[1])


class ReadOnlyTests(BrowserCase):
    """A server that was started with --read-only."""

    serve_options = ("--read-only",)

    def test_offers_no_controls(self):
        batch = self.cluster.submit(samples(2))
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("new", "new")
        self.assertEqual([], self.browser.all(".controls > form"))
        self.assertEqual([], [box for box in self.browser.all('.tools [type="checkbox"]') if box.is_displayed()])
        for page in ["/", "/cluster"]:
            self.browser.driver.get(self.cluster.url + page)
            self.assertEqual([], self.browser.all('form[method="post"]'))


if __name__ == "__main__":
    unittest.main()
