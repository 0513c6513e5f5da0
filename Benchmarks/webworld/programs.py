"""The programs that download the list: their command lines, and the URL of each file that they write."""

import dataclasses
import hashlib
import json
import math
import pathlib
import subprocess

from .errors import BenchmarkError

SPIDER = pathlib.Path(__file__).resolve().parent / "spider.py"


@dataclasses.dataclass(frozen=True)
class Paths:
    """The paths of the programs."""

    darkroom: str
    python: str
    """The folder of the virtual environment with img2dataset and Scrapy."""


class Darkroom:
    name = "darkroom"
    settings = "defaults; `--filter resize=256x256,fit:outside --format jpeg`, since the others write JPEG"

    def __init__(self, paths):
        self.paths = paths

    def version(self):
        return _output(self.paths.darkroom, "--version").split()[-1]

    def warm(self):
        """Reads the files of the program, so that its first run is not slower than the others."""
        _output(self.paths.darkroom, "--help")

    def command(self, urls, _, output):
        size = "resize=256x256,fit:outside"
        return [self.paths.darkroom, "run", urls, "-o", output, "--allow-private", "--filter", size, "--format", "jpeg"]

    def files(self, output, _):
        """Pairs of a file and the index of its URL."""
        for file in output.iterdir():
            # "000012-flower-300.jpg"
            if file.is_file() and file.name.split("-")[0].isdigit():
                yield file, int(file.name.split("-")[0])


class Img2dataset:
    name = "img2dataset"
    settings = (
        "2 processes with 128 threads and one shard each; "
        "`--image_size 256 --resize_mode keep_ratio --output_format files`; "
        "otherwise defaults: 10 s time-out, no retries"
    )

    def __init__(self, paths):
        self.paths = paths

    def version(self):
        return _python_version(self.paths, "img2dataset")

    def warm(self):
        _output(f"{self.paths.python}/bin/python", "-c", "import img2dataset")

    def command(self, urls, count, output):
        # Each process downloads one shard at a time. With two shards, both processes have work until the end of their
        # shards.
        return [
            f"{self.paths.python}/bin/img2dataset", f"--url_list={urls}", f"--output_folder={output}",
            "--processes_count=2", "--thread_count=128", "--image_size=256", "--resize_mode=keep_ratio",
            "--output_format=files", f"--number_sample_per_shard={math.ceil(count / 2)}",
        ]

    def files(self, output, urls):
        indexes = {url: index for index, url in enumerate(urls)}
        for file in output.glob("*/*.jpg"):
            facts = json.loads(file.with_suffix(".json").read_text())
            yield file, indexes[facts["url"]]


class Scrapy:
    name = "scrapy"
    settings = (
        "the images pipeline, at most 256 × 256 pixels; 256 requests at once, 100 threads for names, 15 s time-out, 2 retries; "
        "otherwise defaults: 8 requests at once to a host, certificates are not checked"
    )

    def __init__(self, paths):
        self.paths = paths

    def version(self):
        return _python_version(self.paths, "scrapy")

    def warm(self):
        _output(f"{self.paths.python}/bin/python", "-m", "scrapy", "version")

    def command(self, urls, _, output):
        return [
            f"{self.paths.python}/bin/python", "-m", "scrapy", "runspider", SPIDER, "-a", f"urls={urls}",
            "-s", f"IMAGES_STORE={output}",
        ]

    def files(self, output, urls):
        indexes = {hashlib.sha1(url.encode()).hexdigest(): index for index, url in enumerate(urls)}
        for file in output.glob("full/*.jpg"):
            yield file, indexes[file.stem]


PROGRAMS = {program.name: program for program in (Darkroom, Img2dataset, Scrapy)}


def _output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise BenchmarkError(f"{command[0]} does not run: {error}") from error
    except subprocess.CalledProcessError as error:
        raise BenchmarkError(f"{error}:\n{error.stderr}") from error
    return done.stdout.strip()


def _python_version(paths, package):
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return _output(f"{paths.python}/bin/python", "-c", code)
