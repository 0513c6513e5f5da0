"""Every page in every state worth looking at, for the tests of accessibility and layout."""

from browser import Sheet
from cluster import sample, samples


class Pages:
    """Opens the pages of a cluster with a batch whose photos have all states."""

    def __init__(self, browser, cluster):
        self._browser = browser
        self._cluster = cluster
        held = [(f"held {index}.jpg", cluster.photos.url("held/0/flower.jpg")) for index in range(20)]
        failing = [("missing.jpg", cluster.photos.url("none.jpg")), ("nonsense", "nonsense")]
        url = cluster.photos.url
        first = [("china.jpg", url("samples/china.jpg")), ("hubble.jpg", sample("hubble_deep_field.jpg"))]
        self.batch = cluster.submit(
            [*first, *failing, *samples(40), *held], "--name", "Holidays in Rome, all photos",
            "--operation-size", "10", "--originals", cluster.outputs / "originals",
        )
        self.waiting = cluster.submit(samples(3), "--after", self.batch, output="waiting")
        cluster.start_worker()
        cluster.wait_for_fact(self.batch, "count.filtered", "42")
        cluster.command("cancel", self.batch, "--photos", "60-63")
        path = f"/batches/{self.batch}"
        self._openers = {
            "batches": lambda: self._open("/", "#batches tbody"),
            "sheet": self._sheet,
            "large": self._large,
            "failure": lambda: self._open(f"{path}/photos/2", "h1"),
            "photo": self._photo,
            "cancel": lambda: self._open(f"{path}/cancel", "form"),
            "retry": lambda: self._open(f"{path}/retry", "form"),
            "forget": lambda: self._open(f"{path}/forget", "form"),
            "workers": lambda: self._open("/workers", "#workers tbody"),
            "cluster": lambda: self._open("/cluster", "form"),
            "submit": lambda: self._open("/submit", "form"),
            "problem": lambda: self._open("/batches/none", ".problem"),
        }

    @property
    def names(self):
        """The names of all pages."""
        return list(self._openers)

    def open(self, name):
        """Opens a page, and waits until all of it is there."""
        self._openers[name]()

    def _open(self, path, awaited):
        self._browser.driver.get(self._cluster.url + path)
        self._browser.find(awaited)

    def _images_are_loaded(self, selector):
        self._browser.wait(
            lambda: self._browser.script(
                "return [...document.querySelectorAll(arguments[0])].every((image) => image.naturalWidth > 0)",
                selector,
            ),
            "all pictures",
        )

    def _photo(self):
        self._open(f"/batches/{self.batch}/photos/0", "img")
        self._images_are_loaded("main img")

    def _sheet(self):
        Sheet(self._browser, self._cluster, self.batch).wait_for_all_images()

    def _large(self):
        self._sheet()
        self._browser.find("#cell-0").click()
        self._browser.find("dialog img.before")
        self._images_are_loaded("dialog img")
