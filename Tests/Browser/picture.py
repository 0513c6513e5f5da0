"""Makes the picture of the contact sheet for the documentation, from a real batch with photos in all states.

    /usr/bin/python3 Tests/Browser/picture.py FILE

The photos are those of Tests/Samples, whole and in parts; their licences allow the publication.
"""

import pathlib
import sys

from browser import Browser, Sheet
from cluster import JPEGS, Cluster
from processes import SAMPLES, run

WIDTH, HEIGHT = 1280, 930

# Parts of the samples, so that the photos differ.
PARTS = [
    "none", "crop=300x300,gravity:northwest", "flop", "crop=280x280,gravity:southeast",
    "crop=220x220,gravity:attention",
]

# The largest file for the documentation.
MOST_BYTES = 300_000


def make_photos(cluster):
    """Writes the photos to the folder of the photo server, and returns their names in the order of the list."""
    cluster.photos.folder = cluster.folder / "sources"
    cluster.photos.folder.mkdir()
    names = []
    for number, chain in enumerate(PARTS):
        for sample in [*JPEGS, "hubble_deep_field.jpg"]:
            name = f"{sample[:-4]}{number or ''}.jpg"
            run(["develop", SAMPLES / sample, cluster.photos.folder / name, "--filter", chain], cluster.folder)
            names.append(name)
    return names


def develop(cluster, names):
    """Submits the photos, and returns the batch when it has photos in all states."""
    url = cluster.photos.url
    filtered = [(name, url(f"samples/{name}")) for name in names[:24]]
    filtered[5] = ("lighthouse.jpg", url("none.jpg"))
    filtered[14] = ("sunset.jpg", "NO URL")
    downloaded = [(name, url(f"held/downloaded/{name}")) for name in names[24:31]]
    running = [(name, url(f"held/running/{name}")) for name in names[31:]]
    # A custom filter that waits while a file exists: so photos stay downloaded.
    held = cluster.folder / "held"
    gate = f"gate=sh -c 'while [ -e {held} ]; do sleep 0.1; done; cat'"
    cluster.start_worker("--per-host", 100, "--downloads", 16, "--custom-filter", gate)
    batch = cluster.submit(
        [*filtered, *downloaded, *running, *running * 60], "--name", "Holidays", "--filter", "sepia x:gate",
        "--originals", cluster.outputs / "originals", "--operation-size", 4)
    cluster.wait_for_fact(batch, "count.filtered", "22")
    held.touch()
    cluster.photos.release("downloaded")
    cluster.wait_for_fact(batch, "count.downloaded", "7")
    return batch


def main(path):
    """Writes the picture."""
    cluster = Cluster()
    browser = Browser(width=WIDTH, height=HEIGHT)
    try:
        batch = develop(cluster, make_photos(cluster))
        browser.log_in(cluster)
        sheet = Sheet(browser, cluster, batch)
        browser.wait(lambda: list(sheet.kinds().values()).count("downloaded") == 7, "the downloaded photos")
        sheet.wait_for_all_images()
        # The socket of Redis is in a temporary folder.
        browser.script("document.querySelector('.cluster').hidden = true")
        shot = cluster.folder / "shot.png"
        browser.driver.save_screenshot(str(shot))
        run(["develop", shot, path, "--filter", "none", "--palette", "--effort", 9, "--force"], cluster.folder)
    finally:
        (cluster.folder / "held").unlink(missing_ok=True)
        browser.close()
        cluster.close()
    size = path.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{path} has {size} bytes, more than {MOST_BYTES}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
