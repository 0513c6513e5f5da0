"""The services of docker-compose.yml as processes of this machine, and a Prometheus that scrapes them."""

import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile

from paths import PROJECT
from compose import Compose
from photo_server import PhotoServer
from processes import PROGRAM, OwnedProcess, run, wait_until
from prometheus import Prometheus

WORKERS = 2


def free_port():
    """A TCP port that no program uses. It is lower than the ports of outgoing connections, one of which could
    take it."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as unused:
            try:
                unused.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass  # A program uses this port; try another one.


class ComposeCluster:
    """Redis with its users, the web server, workers, a server with photos, and Prometheus."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="darkroom-observability-"))
        self.secrets = self.folder / "secrets"
        subprocess.run([PROJECT / "deploy/acl/passwords", self.secrets], check=True)
        for name in ["photos", "cache"]:
            (self.folder / name).mkdir()
        self._redis = f"127.0.0.1:{free_port()}"
        self.compose = Compose(DARKROOM_REDIS=self._redis)
        self._places = {
            "/run/secrets": self.secrets, "/photos": self.folder / "photos", "/cache": self.folder / "cache",
            "/acl/": f"{PROJECT}/deploy/acl/", "0.0.0.0:8080": "127.0.0.1:0", "0.0.0.0:9464": "127.0.0.1:0",
        }
        self._closing = []
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        environment, command = self.compose.process("redis", self._places)
        port = self._redis.split(":")[1]
        self._own(
            "redis", [*environment, f"DARKROOM_SECRETS={self.secrets}", f"TMPDIR={self.folder}"],
            [*command, "--port", port, "--bind", "127.0.0.1", "--dir", self.folder],
        )
        wait_until(self._redis_answers, "Redis answers")
        serve = self._darkroom("serve")
        self.serve_port = int(re.search(r":(\d+)/", serve.line())[1])
        workers = [self._darkroom("worker", "--allow-private", "--retries", 0, "--patience", "0s") for _ in range(WORKERS)]
        ports = [wait_until(lambda worker=worker: metrics_port(worker), "metrics of a worker") for worker in workers]
        addresses = {
            "darkroom-serve": [f"127.0.0.1:{self.serve_port}"],
            "darkroom-worker": [f"127.0.0.1:{port}" for port in ports],
        }
        self.prometheus = Prometheus(self.folder, addresses, self.secrets / "metrics")
        self._closing.append(self.prometheus.stop)
        self.photos = PhotoServer()
        self._closing.append(self.photos.close)

    def _own(self, name, environment, command):
        process = OwnedProcess([str(word) for word in [*environment, *command]], self.folder, name)
        self._closing.append(process.stop)
        return process

    def _darkroom(self, service, *options):
        environment, command = self.compose.process(service, self._places)
        return self._own(f"{service}-{len(self._closing)}", environment, [PROGRAM, *command, *options])

    def _redis_answers(self):
        try:
            return self.coordinator("batches") is not None
        except AssertionError:
            return False

    def coordinator(self, *arguments):
        """Runs a command of the program as a coordinator, and returns what it printed."""
        redis = ["--redis", f"redis://darkroom-coordinator@{self._redis}"]
        return run([*arguments, *redis, "--redis-password-file", self.secrets / "coordinator"], self.folder)

    def submit(self, urls):
        """Submits a batch, and returns its id."""
        (self.folder / "list.txt").write_text("\n".join(urls) + "\n")
        return self.coordinator("submit", "list.txt", "-o", self.folder / "photos/batch").split()[0]

    def close(self):
        """Ends all processes, and removes the folder."""
        for close in reversed(self._closing):
            close()
        shutil.rmtree(self.folder, ignore_errors=True)


def metrics_port(worker):
    """The port of the metrics of a worker; None before the worker serves them."""
    match = re.search(r"metrics are served url=http://127\.0\.0\.1:(\d+)/metrics", worker.errors)
    return match and int(match[1])
