"""A whole cluster of a test: Redis, the web server, workers and a server with photos, in a separate folder."""

import csv
import pathlib
import re
import shutil
import tempfile
import urllib.request

from photo_server import PhotoServer
from processes import PROGRAM, SAMPLES, OwnedProcess, run, wait_until
from redis import RedisServer, Subscription

NAMESPACE = "{darkroom}"
TOKEN = "a-token-for-browser-tests"


class Cluster:
    """Starts Redis and `darkroom serve`. Workers start when a test asks for them."""

    def __init__(self, *serve_options):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="darkroom-browser-"))
        self.outputs = self.folder / "outputs"
        self.outputs.mkdir()
        self.redis = RedisServer(self.folder)
        self.photos = PhotoServer()
        self._workers = []
        (self.folder / "token").write_text(TOKEN + "\n")
        self._serve_options = serve_options
        self.url = None
        self.serve = self._start_serve("127.0.0.1:0")

    def _start_serve(self, address):
        submitting = [] if "--read-only" in self._serve_options else ["--outputs-under", self.outputs]
        serve = self._start(
            "serve", "--listen", address, "--token-file", self.folder / "token", *submitting,
            "--photos-under", self.outputs, "--cache", self.folder / "cache", "--allow-private", *self._serve_options,
        )
        self.url = serve.line().split()[-1].split("/login")[0].rstrip("/")
        return serve

    def restart_serve(self):
        """Stops the web server, and starts it with the same address."""
        self.serve.stop()
        self.serve = self._start_serve(self.url.split("/")[2])

    def watching_pages(self):
        """The number of pages that watch a batch, from the metrics of the web server."""
        request = urllib.request.Request(f"{self.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request) as reply:
            return int(re.search(rb"^darkroom_watching_pages (\d+)", reply.read(), re.MULTILINE)[1])

    def close(self):
        """Ends all processes, and removes the folder."""
        for worker in self._workers:
            worker.stop()
        self.serve.stop()
        self.photos.close()
        self.redis.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, command, *options):
        arguments = [PROGRAM, command, "--redis", self.redis.url, *options]
        return OwnedProcess([str(argument) for argument in arguments], self.folder, command)

    def start_worker(self, *options):
        """Starts a worker, which may read photos from this machine."""
        worker = self._start(
            "worker", "--outputs-under", self.outputs, "--files-under", SAMPLES, "--allow-private", "--retries", 0, "--patience", "0s",
            *options,
        )
        self._workers.append(worker)
        return worker

    def command(self, command, *arguments):
        """Runs a command of the program with the Redis of this cluster."""
        return run([command, *arguments, "--redis", self.redis.url], self.folder)

    def submit(self, photos, *options, output="photos", feeds_all=True):
        """Submits (name, URL) pairs as a batch, and returns its id."""
        path = self.folder / f"{output}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("name", "url"), *photos])
        window = [] if feeds_all else ["--window", 2]
        printed = self.command("submit", path, "-o", self.outputs / output, *window, *options)
        return printed.split()[0]

    # What Redis contains.

    def facts(self, batch):
        """The hash of a batch."""
        pairs = self.redis("HGETALL", f"{NAMESPACE}:batch:{batch}")
        return dict(zip(pairs[::2], pairs[1::2]))

    def states(self, batch):
        """The state codes of a batch."""
        return self.redis("GET", f"{NAMESPACE}:batch:{batch}:states")

    def subscribe(self):
        """The events of the cluster from now on, as JSON."""
        return Subscription(self.redis.path, f"{NAMESPACE}:events")

    def wait_for_states(self, batch, states):
        """Waits until the photos of a batch have these state codes."""
        wait_until(lambda: self.states(batch) == states, f"states {states}, not {self.states(batch)}")

    def wait_for_fact(self, batch, name, value):
        """Waits until a field of a batch has a value; None waits for its removal."""
        wait_until(lambda: self.facts(batch).get(name) == value, f"{name} is {value} in {self.facts(batch)}")


def sample(name):
    """The file: URL of a sample photo."""
    return (SAMPLES / name).as_uri()


JPEGS = ["astronaut.jpg", "chelsea.jpg", "china.jpg", "coffee.jpg", "flower.jpg", "grace_hopper.jpg", "rocket.jpg"]


def samples(count):
    """(name, URL) pairs of sample photos, which repeat."""
    return [(f"{index:05} {JPEGS[index % 7]}", sample(JPEGS[index % 7])) for index in range(count)]
