"""The grid fills while a real batch runs."""

import unittest

from case import BrowserCase
from cluster import sample, samples


# Draws the grid again and again, as a busy batch does, and records when the picture of photo 0 could not be read.
REDRAW = """
window.failures = [];
addEventListener("error", ({ target }) => {
    if (target.closest?.("#cell-0")) failures.push(performance.now());
}, true);
const keys = ["ArrowRight", "ArrowLeft"];
setInterval(() => {
    keys.reverse();
    document.querySelector(".grid")?.dispatchEvent(new KeyboardEvent("keydown", { key: keys[0] }));
}, 20);
"""


class GridTests(BrowserCase):
    """Each state of a photo has its cell."""

    def test_fills_while_a_batch_runs(self):
        """Placeholder, in progress, downloaded with its original, filtered thumbnail, failure with its reason."""
        url = self.cluster.photos.url
        photos = [("held.jpg", url("held/0/china.jpg")), ("missing.jpg", url("none.jpg"))]
        originals = self.cluster.outputs / "originals"
        batch = self.cluster.submit(photos, "--originals", originals, "--name", "two photos")
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("new", "new")
        self.assertIn("new", sheet.cell(0).text)

        self.cluster.command("suspend", batch, "--filtrations")
        self.cluster.start_worker()
        sheet.wait_for_kinds("progress", "failed")
        self.assertEqual("http-4xx", sheet.cell(1).text.splitlines()[0])

        self.cluster.photos.release()
        sheet.wait_for_kinds("downloaded", "failed")
        sheet.wait_for_image(0)

        self.cluster.command("resume", batch, "--filtrations")
        sheet.wait_for_kinds("filtered", "failed")
        sheet.wait_for_image(0)
        self.browser.wait_for_text("finished", "#facts")
        self.browser.wait_for_text("http-4xx 1", "#facts")
        self.assertEqual("1", self.browser.text('[data-count="filtered"]'))

    def test_shows_cancelled_photos(self):
        batch = self.cluster.submit(samples(3))
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("new", "new", "new")
        self.cluster.command("cancel", batch, "--photos", "1")
        sheet.wait_for_kinds("new", "cancelled", "new")
        self.cluster.command("cancel", batch)
        sheet.wait_for_kinds("cancelled", "cancelled", "cancelled")
        self.browser.wait_for_text("cancelled", "#facts .state")

    def test_grows_with_the_list(self):
        """Photos that are fed while the page is open get cells."""
        path = self.cluster.folder / "list.txt"
        path.write_text("\n".join([sample("china.jpg")] * 3) + "\n")
        output = self.cluster.outputs / "grown"
        batch = self.cluster.command("submit", path, "-o", output, "--operation-size", "1").split()[0]
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("new", "new", "new")
        path.write_text("\n".join([sample("china.jpg")] * 5) + "\n")
        self.cluster.command("submit", path, "--resume", batch)
        sheet.wait_for_kinds("new", "new", "new", "new", "new")

    def test_shows_a_retried_photo_anew(self):
        """A retry makes new cells, and the new thumbnail."""
        missing = self.cluster.outputs.parent / "later.jpg"
        batch = self.cluster.submit([("later.jpg", missing.as_uri()), ("a.jpg", sample("china.jpg"))])
        self.cluster.start_worker("--files-under", self.cluster.folder)
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("failed", "filtered")
        missing.write_bytes(self.cluster.photos.photo("/samples/rocket.jpg"))
        self.cluster.command("retry", batch)
        sheet.wait_for_kinds("filtered", "filtered")
        sheet.wait_for_image(0)

    def test_waits_before_it_reads_a_picture_again(self):
        """A file that the server sees late appears, and the page does not use up its attempts before."""
        batch = self.cluster.submit(samples(2))
        self.cluster.start_worker()
        self.cluster.wait_for_fact(batch, "state", "finished")
        file = self.cluster.outputs / "photos" / "000000-00000 astronaut.jpg"
        hidden = file.rename(self.cluster.folder / "hidden.jpg")
        self.browser.script_before_pages(REDRAW)
        sheet = self.sheet(batch)
        self.browser.wait(lambda: self.browser.script("return failures.length") >= 2, "two failed readings")
        first, second, *_ = self.browser.script("return failures")
        self.assertGreater(second - first, 900)
        hidden.rename(file)
        sheet.wait_for_image(0)

    def test_shows_states_only_for_other_folders(self):
        """The files of a batch outside of the folders of the server are not shown."""
        outside = self.cluster.folder / "outside"
        batch = self.cluster.submit(samples(2), output=outside)
        self.cluster.start_worker("--outputs-under", outside)
        sheet = self.sheet(batch)
        sheet.wait_for_kinds("filtered", "filtered")
        self.assertEqual([0, 0], [sheet.image_width(position) for position in (0, 1)])
        self.assertIn("filtered", sheet.cell(0).get_attribute("aria-label"))
        self.assertIn("filtered", sheet.cell(0).text)
        self.assertIn("is not in a folder that this server may show", self.browser.text("main"))
        self.assert_no_complaints()


if __name__ == "__main__":
    unittest.main()
