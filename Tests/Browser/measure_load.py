"""Measures what the web server and the metrics cost while workers are at full load, and prints a table.

    /usr/bin/python3 Tests/Browser/measure_load.py [watch] [scrape] [thumbnails]

watch       photos/s of a worker while 1,000 clients watch its batch, divided by the photos/s before and after. The worker
            and Redis run on one processor core, `darkroom serve` and the clients on another core, so the ratio is without
            the processor time of the server. Also the memory of the server.
scrape      photos/s of a worker while its metrics are read every second, divided by the photos/s before and after; the
            processor time of a scrape
thumbnails  thumbnails/s of `darkroom serve` for photos without cached thumbnails, divided by the thumbnails/s of a loop
            over the functions of libvips, with as many threads; both use all processor cores

Without arguments, all of them. DARKROOM_PROGRAM names the program, by default .build/release/darkroom. PHOTOS names the
folder with the photos, by default the samples. Other work on the machine makes the ratios worse.
"""

import asyncio
import contextlib
import ctypes
import itertools
import os
import pathlib
import random
import statistics
import sys
import threading
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

# Before the import of `processes`, whose default is a debug build.
os.environ.setdefault("DARKROOM_PROGRAM", str(pathlib.Path(__file__).resolve().parents[2] / ".build/release/darkroom"))

# pylint: disable=wrong-import-position
from cluster import TOKEN, Cluster  # noqa: E402
from processes import SAMPLES, wait_until  # noqa: E402

PHOTOS = pathlib.Path(os.environ.get("PHOTOS", SAMPLES)).resolve()
JPEGS = sorted(path for path in PHOTOS.iterdir() if path.suffix.lower() in (".jpg", ".jpeg"))
ROUNDS = 7
SECONDS = 15
WATCHERS = 1000

# Ahead of the photos that are done, so that the watched states change during the measurement.
WATCHED = 5000


def peak_memory(pid):
    """The peak memory use of a process, in MB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def processor_time(pid):
    """In seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pin(pid, core):
    """Lets all threads of a process run on one core only."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {core})


class Load:
    """A worker that is at full load for the whole measurement."""

    def __init__(self):
        self.cluster = Cluster()
        lines = (f"{path.as_uri()}?{index}\n" for index, path in zip(range(1_000_000), itertools.cycle(JPEGS)))
        path = self.cluster.folder / "list.txt"
        path.write_text("".join(lines))
        self.batch = self.cluster.command(
            "submit", path, "-o", self.cluster.outputs / "load", "--window", 100_000, "--filter", "resize=128x128"
        ).split()[0]
        self.worker = self.cluster.start_worker("--metrics", "127.0.0.1:0", "--files-under", PHOTOS)
        wait_until(self.done, "the first photos")
        self._cores = os.sched_getaffinity(0)
        for pid in (self.worker.pid, self.cluster.redis.pid):
            pin(pid, 0)
        for pid in (self.cluster.serve.pid, os.getpid()):
            pin(pid, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.sched_setaffinity(0, self._cores)
        self.cluster.close()

    def done(self):
        """The number of finished photos."""
        facts = self.cluster.facts(self.batch)
        assert facts.get("count.failed", "0") == "0", "photos fail"
        return int(facts.get("count.filtered", 0))

    def rate(self):
        """Photos per second."""
        before, began = self.done(), time.monotonic()
        time.sleep(SECONDS)
        return (self.done() - before) / (time.monotonic() - began)

    def ratios(self, disturbance):
        """The ratios of the photos/s with a disturbance, and those before and after."""
        for _ in range(ROUNDS):
            before = self.rate()
            with disturbance():
                during = self.rate()
            yield 2 * during / (before + self.rate())


def report(what, values):
    """Prints a line of the table."""
    values = list(values)
    print(f"{what:64} {len(values):6} {min(values):9.3f} {statistics.median(values):9.3f} {max(values):9.3f}", flush=True)


def in_background(main):
    """Runs a coroutine in a thread until the end of the `with` statement."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(main)

    def run():
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()

    @contextlib.contextmanager
    def until_end():
        try:
            yield
        finally:
            loop.call_soon_threadsafe(task.cancel)
            thread.join()
            if not task.cancelled():
                task.result()

    return until_end()


# --- Watching clients -------------------------------------------------------------------------------------------------


async def watch(url, batch, first, opening):
    """Reads the events of 200 photos until it is cancelled. `opening` limits how many clients open a stream at once."""
    address = urllib.parse.urlsplit(url)
    async with opening:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(
            f"GET /api/v1/batches/{batch}/events?first={first}&count=200 HTTP/1.1\r\n"
            f"Host: {address.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
        )
        head = await reader.readline()
    try:
        assert b" 200 " in head, f"the server has refused a stream: {head}"
        while await reader.read(1 << 16):
            pass
        raise AssertionError("the server has ended a stream")
    finally:
        # Otherwise the connection stays open until Python collects garbage, and counts as a watching client.
        writer.transport.abort()


def watchers(load):
    """Clients that watch different parts of the batch."""
    done, url = load.done(), load.cluster.url

    async def all_watchers():
        opening = asyncio.Semaphore(100)
        firsts = (random.randrange(done, done + WATCHED) for _ in range(WATCHERS))
        await asyncio.gather(*(watch(url, load.batch, first, opening) for first in firsts))

    wait_until(lambda: load.cluster.watching_pages() == 0, "the end of earlier clients")
    clients = in_background(all_watchers())
    wait_until(lambda: load.cluster.watching_pages() == WATCHERS, "all watching clients")
    return clients


def measure_watch():
    """Prints what watching costs the worker."""
    with Load() as load:
        report(f"photos/s with {WATCHERS:,} watching clients, ratio", load.ratios(lambda: watchers(load)))
        report("    memory of serve, MB", [peak_memory(load.cluster.serve.pid)])


# --- Metrics of a worker ----------------------------------------------------------------------------------------------


def measure_scrape():
    """Prints what a scrape in each second costs the worker."""
    with Load() as load:
        url = load.worker.errors.split("metrics are served url=")[1].split()[0]

        def scrape():
            with urllib.request.urlopen(url) as reply:
                return reply.read()

        async def every_second():
            while True:
                await asyncio.to_thread(scrape)
                await asyncio.sleep(1)

        report("photos/s with a scrape each second, ratio", load.ratios(lambda: in_background(every_second())))
        load.cluster.command("cancel", load.batch)
        load.cluster.wait_for_fact(load.batch, "state", "finished")
        before = processor_time(load.worker.pid)
        for _ in range(1000):
            scrape()
        report("    processor time of a scrape, ms", [processor_time(load.worker.pid) - before])


# --- Thumbnails -------------------------------------------------------------------------------------------------------


class Libvips:
    """The function with which other programs make thumbnails."""

    def __init__(self):
        self._vips = ctypes.CDLL("libvips.so.42")
        self._glib = ctypes.CDLL("libglib-2.0.so.0")
        self._vips.vips_init(b"measure_load")
        self._vips.vips_concurrency_set(1)
        self._vips.vips_cache_set_max(0)

    def thumbnail(self, path):
        """The JPEG of a thumbnail of at most 256 x 256 pixels."""
        data = path.read_bytes()
        image, jpeg, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        end = ctypes.c_void_p()
        failed = self._vips.vips_thumbnail_buffer(
            data, ctypes.c_size_t(len(data)), ctypes.byref(image), 256, b"height", 256, b"size", 2, end
        ) or self._vips.vips_jpegsave_buffer(image, ctypes.byref(jpeg), ctypes.byref(size), b"Q", 80, end)
        assert not failed, f"libvips fails for {path}"
        self._vips.g_object_unref(image)
        self._glib.g_free(jpeg)
        return size.value


class WebClients:
    """Clients of the web server, each with its own connection."""

    def __init__(self, cluster, batch):
        self._cluster, self._batch = cluster, batch
        self._local = threading.local()

    def thumbnail(self, index):
        """Asks for the thumbnail of a photo."""
        if not hasattr(self._local, "connection"):
            self._local.connection = HTTPConnection(urllib.parse.urlsplit(self._cluster.url).netloc)
        connection = self._local.connection
        path = f"/api/v1/batches/{self._batch}/photos/{index}/thumbnail?width=256"
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
        reply = connection.getresponse()
        jpeg = reply.read()
        assert reply.status == 200, f"photo {index}: {reply.status} {jpeg}"


def per_second(call, values, threads):
    """How often threads can call a function."""
    began = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(call, values):
            pass
    return len(values) / (time.monotonic() - began)


def measure_thumbnails():
    """Prints the ratio of the server and the loop."""
    cores = len(os.sched_getaffinity(0))
    cluster = Cluster()
    try:
        path = cluster.folder / "list.txt"
        path.write_text("".join(f"{path.as_uri()}\n" for path in JPEGS))
        output = cluster.outputs / "photos"
        batch = cluster.command("submit", path, "-o", output, "--filter", "none").split()[0]
        cluster.start_worker("--files-under", PHOTOS)
        wait_until(lambda: cluster.facts(batch)["state"] == "finished", "all photos", 120)
        files = sorted(path for path in output.iterdir() if path.suffix == ".jpg")
        assert len(files) == len(JPEGS), f"{len(files)} files of {len(JPEGS)} photos"
        libvips = Libvips()
        rates, ratios = [], []
        for _ in range(ROUNDS):
            # A changed file has no thumbnail in the cache.
            for file in files:
                os.utime(file)
            rates.append(per_second(WebClients(cluster, batch).thumbnail, range(len(files)), 2 * cores))
            ratios.append(rates[-1] / per_second(libvips.thumbnail, files, cores))
        report("thumbnails/s of serve", rates)
        report("    divided by those of libvips", ratios)
    finally:
        cluster.close()


def main():
    """Runs the measurements that the command line names."""
    known = {"watch": measure_watch, "scrape": measure_scrape, "thumbnails": measure_thumbnails}
    names = sys.argv[1:] or list(known)
    if not set(names) <= set(known):
        sys.exit(__doc__)
    print(f"{'measured':64} {'values':>6} {'least':>9} {'median':>9} {'most':>9}")
    for name in names:
        known[name]()


if __name__ == "__main__":
    main()
