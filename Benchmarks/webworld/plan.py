"""The hosts of a world, their habits, and the list of URLs. The seed alone determines all of them."""

import dataclasses
import math
import random

PHOTO = "photo"
"""The truth of a URL whose photo a patient client gets."""


@dataclasses.dataclass(frozen=True)
class Habit:
    """The behaviour of a host towards every client."""

    share: float
    """The share of the hosts."""
    truth: str
    """What a patient client gets from the host: ``PHOTO``, or the reason why there is no photo."""


HABITS = {
    # Photos that can be downloaded.
    "https-only": Habit(0.050, PHOTO),  # http is redirected to https on the same host
    "moved": Habit(0.020, PHOTO),  # 302 to another host
    "busy": Habit(0.015, PHOTO),  # more than BUSY_RATE requests/s: 429 with Retry-After
    "recovering": Habit(0.015, PHOTO),  # 503 for RECOVERY seconds from the first request on
    "slow": Habit(0.007, PHOTO),  # the body arrives with SLOW_RATE
    # Photos that cannot be downloaded.
    "unknown-name": Habit(0.030, "name"),  # NXDOMAIN
    "broken-name": Habit(0.007, "name"),  # SERVFAIL
    "silent-name": Habit(0.010, "name"),  # no answer of the name server
    "unanswered": Habit(0.025, "connection"),  # connects never end
    "refused": Habit(0.010, "connection"),  # a closed port
    "other-certificate": Habit(0.008, "certificate"),  # the certificate of another name
    "unknown-issuer": Habit(0.004, "certificate"),  # a self-signed certificate
    "silent": Habit(0.010, "silence"),  # the request gets no answer
    "stalling": Habit(0.010, "silence"),  # a third of the body, then nothing
    "gone": Habit(0.025, "status"),  # 410
    "forbidden": Habit(0.015, "status"),  # 403
    "page": Habit(0.010, "content"),  # an HTML page with status 200
}
"""All habits except "good", the habit of the other hosts."""

FATES = {"missing": (0.050, "status"), "cut": (0.010, "cut")}
"""Single URLs of good hosts without a photo: 404, and a body that ends before its Content-Length. Share and truth."""

BUSY_RATE = 4
"""Requests in a second that a busy host answers; twice as many at once after a pause."""
BUSY_PAUSE = 2
"""The Retry-After of a busy host, in seconds."""
RECOVERY = 3.0
"""Seconds for which a recovering host answers 503, beginning with its first request."""
SLOW_RATE = 8192
"""Bytes in a second that a slow host sends."""

ZONES = ["albums.test", "archive.test", "gallery.test", "market.test", "news.test", "travel.test"]
WORDS = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow"]

LARGEST_GOOD = 10
"""This many of the largest hosts are good. Otherwise one host would decide the result of a small world."""
LARGEST_FAST = 20
"""This many of the largest hosts are neither busy nor slow."""

SHARED_ADDRESSES = 32
"""Hosts with HTTP/2 share this number of addresses, as hosts behind a content delivery network do."""
OTHER_CERTIFICATE = "127.65.0.1"
UNKNOWN_ISSUER = "127.65.0.2"


@dataclasses.dataclass(frozen=True)
class Host:
    name: str
    habit: str
    secure: bool
    http2: bool
    address: str
    delay: float
    """The median time from the request to the answer, in seconds."""
    name_delay: float
    """The delay of the name server for the name of the host, in seconds."""
    rate: int
    """Bytes in a second of each answer; 0 without a limit."""
    target: str
    """The host to which a moved host redirects."""

    @property
    def origin(self):
        """The beginning of the host's URLs."""
        port = {True: ":8443", False: ":8080"}[self.secure] if self.habit == "refused" else ""
        return f"{'https' if self.secure else 'http'}://{self.name}{port}"


@dataclasses.dataclass(frozen=True)
class Entry:
    """A line of the list."""

    url: str
    host: str
    photo: str
    fate: str
    """A key of ``FATES``, or empty."""
    delay: float
    """The time from the request to the answer, in seconds."""
    truth: str


@dataclasses.dataclass(frozen=True)
class Plan:
    seed: int
    hosts: list
    entries: list

    @property
    def available(self):
        """The number of photos that can be downloaded."""
        return sum(entry.truth == PHOTO for entry in self.entries)


def make_plan(seed, urls, photos, calm=False):
    """A world with a number of URLs.

    - Parameter photos: the file names of the photos.
    - Parameter calm: all hosts are good, and all photos can be downloaded; hosts still have delays and rates.
    """
    random_numbers = random.Random(seed)
    count = max(12, int(urls * 0.4))
    good = [
        _host(random_numbers, number, "good" if calm else _habit(random_numbers, number), count)
        for number in range(count)
    ]
    targets = [host.name for host in good if host.habit == "good" and not host.secure]
    hosts = [
        dataclasses.replace(host, target=random_numbers.choice(targets)) if host.habit == "moved" else host
        for host in good
    ]
    # A few hosts have many photos of the list, and most hosts have one or two.
    weights = [(number + 1) ** -0.9 for number in range(count)]
    chosen = random_numbers.choices(hosts, weights, k=urls)
    entries = [_entry(random_numbers, number, host, photos, calm) for number, host in enumerate(chosen)]
    return Plan(seed, hosts, entries)


def _habit(random_numbers, number):
    names = ["good", *HABITS]
    shares = [habit.share for habit in HABITS.values()]
    habit = random_numbers.choices(names, [1 - sum(shares), *shares])[0]
    if number < LARGEST_GOOD or number < LARGEST_FAST and habit in ("busy", "slow"):
        return "good"
    return habit


def _host(random_numbers, number, habit, count):
    secure = random_numbers.random() < 0.75
    if habit in ("other-certificate", "unknown-issuer"):
        secure = True
    if habit == "https-only" or number == LARGEST_GOOD - 1:
        # The last of the large good hosts is a target for redirects in every world.
        secure = False
    http2 = secure and random_numbers.random() < 0.6
    address = f"127.{1 + number // 60000}.{number // 250 % 240}.{1 + number % 250}"
    if http2:
        address = f"127.64.0.{1 + random_numbers.randrange(SHARED_ADDRESSES)}"
    if habit == "unanswered":
        address = f"127.66.{number // 250 % 250}.{1 + number % 250}"
    address = {"other-certificate": OTHER_CERTIFICATE, "unknown-issuer": UNKNOWN_ISSUER}.get(habit, address)
    rate = int(random_numbers.lognormvariate(math.log(2_000_000), 1.2))
    return Host(
        name=f"{random_numbers.choice(WORDS)}{number}.{random_numbers.choice(ZONES)}",
        habit=habit,
        secure=secure,
        http2=http2,
        address=address,
        delay=round(min(4.0, random_numbers.lognormvariate(math.log(0.15), 0.9)), 4),
        name_delay=round(min(2.0, random_numbers.lognormvariate(math.log(0.03), 1.1)), 4),
        rate=SLOW_RATE if habit == "slow" else 0 if rate > 1_000_000 else max(60_000, rate),
        target="",
    )


def _entry(random_numbers, number, host, photos, calm):
    photo = random_numbers.choice(photos)
    delay = round(host.delay * random_numbers.uniform(0.7, 1.5), 4)
    chance = random_numbers.random()
    fate = ""
    if host.habit == "good" and not calm:
        for name, (share, _) in FATES.items():
            if chance < share and not fate:
                fate = name
            chance -= share
    truth = FATES[fate][1] if fate else HABITS[host.habit].truth if host.habit in HABITS else PHOTO
    year = random_numbers.randrange(2008, 2026)
    url = f"{host.origin}/{year}/{number}/{photo}"
    return Entry(url, host.name, photo, fate, delay, truth)
