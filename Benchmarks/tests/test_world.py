"""Each habit of a host behaves as its truth says, for a client of Python's standard library."""

import concurrent.futures
import http.client
import os
import pathlib
import shutil
import socket
import ssl
import struct
import tempfile
import time
import unittest
import urllib.parse

from webworld import plan, serve, world
from webworld.photos import SAMPLES

PHOTOS = ["coffee.jpg", "china.jpg"]
TOOLS = ["nginx", "openssl", "ip"]


def host(number, habit, secure=False, http2=False, delay=0.05, **more):
    address = {"unanswered": f"127.66.0.{number}", "other-certificate": plan.OTHER_CERTIFICATE}
    address["unknown-issuer"] = plan.UNKNOWN_ISSUER
    standard = "127.64.0.1" if http2 else f"127.1.0.{number}"
    facts = {
        "name": f"{habit}{number}.{plan.ZONES[0]}", "habit": habit, "secure": secure, "http2": http2,
        "address": address.get(habit, standard), "delay": delay, "name_delay": 0.05,
        "rate": plan.SLOW_RATE if habit == "slow" else 0, "target": "",
    }
    return plan.Host(**{**facts, **more})


class Client:
    """A GET request without redirects and retries."""

    def __init__(self, url, timeout=2.0):
        self.url = urllib.parse.urlsplit(url)
        self.timeout = timeout

    def get(self):
        """The status, the fields and the body."""
        secure = self.url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        more = {"context": ssl.create_default_context(capath=world.CERTIFICATES)} if secure else {}
        connection = kind(self.url.hostname, self.url.port, timeout=self.timeout, **more)
        try:
            connection.request("GET", self.url.path)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()


def ask(name):
    """The code and the address that the name server answers, or None after a second."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as questions:
        questions.settimeout(1)
        questions.sendto(struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1", (serve.NAME_SERVER, 53))
        try:
            answer = questions.recv(512)
        except TimeoutError:
            return None
    code = answer[3] & 15
    return code, socket.inet_ntoa(answer[-4:]) if code == 0 else None


@unittest.skipUnless(os.environ.get("BENCHMARK_NAMESPACE"), "needs root and namespaces: start Benchmarks/test as root")
@unittest.skipUnless(all(map(shutil.which, TOOLS)), f"needs {', '.join(TOOLS)}: deploy/dependencies benchmark")
class WorldTests(unittest.TestCase):
    """A world with one host for each habit."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="darkroom-benchmark-test-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        world.isolate(folder)
        cls.addClassCleanup(world.run, "umount", "--lazy", folder)
        common = folder / "common"
        (common / "photos").mkdir(parents=True)
        for name in PHOTOS:
            shutil.copy(SAMPLES / name, common / "photos" / name)
        world.make_certificates(common)
        good = host(1, "good", delay=0.3)
        cls.hosts = {
            "good": good, "secure": host(2, "good", secure=True), "http2": host(3, "good", secure=True, http2=True),
            "limited": host(4, "good", rate=30_000), "moved": host(5, "moved", target=good.name),
            **{
                habit: host(number, habit, secure=habit in ("other-certificate", "unknown-issuer"))
                for number, habit in enumerate((one for one in plan.HABITS if one != "moved"), 10)
            },
        }
        cls.entries = {}
        for name, one in {**cls.hosts, **{fate: good for fate in plan.FATES}}.items():
            fate = name if name in plan.FATES else ""
            truth = plan.FATES[fate][1] if fate else plan.HABITS[name].truth if name in plan.HABITS else plan.PHOTO
            url = f"{one.origin}/2020/{len(cls.entries)}/{PHOTOS[0]}"
            cls.entries[name] = plan.Entry(url, one.name, PHOTOS[0], fate, one.delay, truth)
        cls.body = (SAMPLES / PHOTOS[0]).read_bytes()
        cls.world = world.World(plan.Plan(1, list(cls.hosts.values()), list(cls.entries.values())), folder / "world", common)
        cls.enterClassContext(cls.world)

    def get(self, name, **more):
        return Client(self.entries[name].url, **more).get()

    def assert_photo(self, answer):
        status, fields, body = answer
        self.assertEqual((status, fields["Content-Type"], body == self.body), (200, "image/jpeg", True))

    def test_good_hosts_send_the_photo_after_their_delay(self):
        for name in ("good", "secure", "http2"):
            start = time.monotonic()
            self.assert_photo(self.get(name))
            self.assertGreaterEqual(time.monotonic() - start, self.hosts[name].delay)

    def test_http2_is_offered_by_its_hosts_alone(self):
        for name, expected in (("http2", "h2"), ("secure", "http/1.1")):
            context = ssl.create_default_context(capath=world.CERTIFICATES)
            context.set_alpn_protocols(["h2", "http/1.1"])
            one = self.hosts[name]
            with socket.create_connection((one.address, 443), 2) as plain:
                with context.wrap_socket(plain, server_hostname=one.name) as connection:
                    self.assertEqual(connection.selected_alpn_protocol(), expected)

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_http2_sends_the_photo(self):
        # curl reads the file with all certificates.
        output = world.run(
            "curl", "--silent", "--http2", "-o", "/dev/null", "-w", "%{http_version} %{size_download}", self.entries["http2"].url
        )
        self.assertEqual(output, f"2 {len(self.body)}")

    def test_limited_hosts_send_with_their_rate(self):
        start = time.monotonic()
        self.assert_photo(self.get("limited", timeout=5))
        # nginx sends the bytes of the first second at once.
        self.assertGreaterEqual(time.monotonic() - start, 0.5)

    def test_slow_hosts_send_slowly(self):
        connection = http.client.HTTPConnection(self.hosts["slow"].address, timeout=3)
        connection.request("GET", urllib.parse.urlsplit(self.entries["slow"].url).path, headers={"Host": self.hosts["slow"].name})
        start = time.monotonic()
        with connection.getresponse() as response:
            response.read(3 * plan.SLOW_RATE)
        self.assertTrue(1 < time.monotonic() - start < 5)
        connection.close()

    def test_redirects_lead_to_the_photo(self):
        status, fields, _ = self.get("https-only")
        self.assertEqual(status, 301)
        self.assert_photo(Client(fields["Location"]).get())
        status, fields, _ = self.get("moved")
        self.assertEqual((status, urllib.parse.urlsplit(fields["Location"]).hostname), (302, self.hosts["good"].name))
        self.assert_photo(Client(fields["Location"]).get())

    def test_busy_hosts_refuse_with_a_retry_after(self):
        with concurrent.futures.ThreadPoolExecutor(3 * plan.BUSY_RATE) as threads:
            answers = list(threads.map(lambda _: self.get("busy"), range(3 * plan.BUSY_RATE)))
        self.assertIn(sum(status == 200 for status, _, _ in answers), range(2 * plan.BUSY_RATE, 3 * plan.BUSY_RATE))
        refused = [fields for status, fields, _ in answers if status == 429]
        self.assertEqual({fields["Retry-After"] for fields in refused}, {str(plan.BUSY_PAUSE)})
        time.sleep(plan.BUSY_PAUSE)
        self.assert_photo(self.get("busy"))

    def test_recovering_hosts_recover(self):
        self.assertEqual(self.get("recovering")[0], 503)
        time.sleep(plan.RECOVERY)
        self.assert_photo(self.get("recovering"))

    def test_names(self):
        for name, code in (("unknown-name", 3), ("broken-name", 2)):
            self.assertEqual(ask(self.hosts[name].name), (code, None))
            with self.assertRaises(socket.gaierror):
                self.get(name)
        self.assertIsNone(ask(self.hosts["silent-name"].name))
        start = time.monotonic()
        self.assertEqual(ask(self.hosts["good"].name), (0, self.hosts["good"].address))
        self.assertGreaterEqual(time.monotonic() - start, self.hosts["good"].name_delay)
        self.assertEqual(ask("elsewhere.example"), (3, None))

    def test_connects_do_not_end_or_are_refused(self):
        with self.assertRaises(TimeoutError):
            self.get("unanswered", timeout=1)
        with self.assertRaises(ConnectionRefusedError):
            self.get("refused")

    def test_wrong_certificates_are_found(self):
        for name in ("other-certificate", "unknown-issuer"):
            with self.assertRaises(ssl.SSLCertVerificationError):
                self.get(name)

    def test_silent_and_stalling_hosts_send_nothing_more(self):
        with self.assertRaises(TimeoutError):
            self.get("silent", timeout=1)
        connection = http.client.HTTPConnection(self.hosts["stalling"].name, timeout=1)
        connection.request("GET", urllib.parse.urlsplit(self.entries["stalling"].url).path)
        response = connection.getresponse()
        third = len(self.body) // 3
        self.assertEqual(response.read(third), self.body[:third])
        with self.assertRaises(TimeoutError):
            response.read(1)
        response.close()
        connection.close()

    def test_cut_bodies_are_shorter_than_their_length(self):
        with self.assertRaises(http.client.IncompleteRead) as caught:
            self.get("cut")
        self.assertEqual(caught.exception.partial, self.body[: len(self.body) // 3])

    def test_refusals_and_pages(self):
        for name, expected in (("missing", 404), ("gone", 410), ("forbidden", 403)):
            self.assertEqual(self.get(name)[0], expected)
        status, fields, _ = self.get("page")
        self.assertEqual((status, fields["Content-Type"]), (200, "text/html; charset=utf-8"))

    def test_every_habit_has_a_test(self):
        self.assertEqual(set(self.hosts) - {"good", "secure", "http2", "limited"}, set(plan.HABITS))


if __name__ == "__main__":
    unittest.main()
