"""The process behind nginx: the habits of the hosts, the name server, and the addresses at which connects never complete.

`python3 -m webworld.serve FOLDER` reads FOLDER/plan.json, prints "ready", and serves until SIGTERM. Then it writes
FOLDER/names.json.

nginx terminates TLS, HTTP/2 and HTTP/1.1, and passes each request to this process over a Unix socket. After the delay of
the URL, this process answers with X-Accel-Redirect, and nginx sends the photo itself. This process sends only the bodies
that end too early or stall.
"""

import asyncio
import collections
import json
import pathlib
import signal
import socket
import struct
import sys

from . import plan

NAME_SERVER = "127.255.0.53"
PAGE = b"<!doctype html><html><body><h1>Our photos have a new home</h1><a href='/'>Home</a></body></html>"
TYPES = {".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}


class State:
    """The state that the hosts keep about earlier requests."""

    def __init__(self, folder):
        stored = json.loads((folder / "plan.json").read_text())
        self.hosts = {one["name"]: plan.Host(**one) for one in stored["hosts"]}
        self.entries = [plan.Entry(**one) for one in stored["entries"]]
        self.photos = folder / "photos"
        self.first_requests = {}
        self.tokens = {}

    def admits(self, host, now):
        """Whether a busy host answers a request: a token bucket."""
        level, at = self.tokens.get(host, (2 * plan.BUSY_RATE, now))
        level = min(2 * plan.BUSY_RATE, level + (now - at) * plan.BUSY_RATE)
        self.tokens[host] = (level - 1 if level >= 1 else level, now)
        return level >= 1

    def is_recovering(self, host, now):
        return now < self.first_requests.setdefault(host, now) + plan.RECOVERY


def head(status, fields, length):
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields), f"Content-Length: {length}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Connection(asyncio.Protocol):
    """A connection from nginx. nginx sends the next request after the answer."""

    def __init__(self, state):
        self.state = state
        self.received = b""
        self.timer = None

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, _):
        if self.timer:
            self.timer.cancel()

    def data_received(self, data):
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        lines = self.received[:end].decode("latin1").split("\r\n")
        self.received = self.received[end + 4 :]
        fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        self.request(lines[0].split(" ")[1], fields["World-Host"], fields["World-Scheme"] == "https")

    def after(self, delay, answer):
        self.timer = asyncio.get_running_loop().call_later(delay, self.transport.write, answer)

    def request(self, path, name, secure):
        now = asyncio.get_running_loop().time()
        parts = path.split("/")
        host = self.state.hosts.get(name)
        if host is None or len(parts) != 4 or not parts[2].isdigit() or int(parts[2]) >= len(self.state.entries):
            return self.after(0, head("404 Not Found", [], 0))
        entry = self.state.entries[int(parts[2])]
        # If another host redirects to this host, this host answers by its own habit, not by the habit of the URL.
        habit = entry.fate or host.habit
        if habit == "silent":
            return None
        if habit == "busy" and not self.state.admits(name, now):
            return self.after(0.01, head("429 Too Many Requests", [("Retry-After", plan.BUSY_PAUSE)], 0))
        if habit == "recovering" and self.state.is_recovering(name, now):
            return self.after(0.02, head("503 Service Unavailable", [], 0))
        if habit == "https-only" and not secure:
            return self.after(0.03, head("301 Moved Permanently", [("Location", f"https://{name}{path}")], 0))
        if habit == "moved":
            return self.after(0.05, head("302 Found", [("Location", f"http://{host.target}{path}")], 0))
        return self.after(entry.delay, self.answer(habit, host, entry))

    def answer(self, habit, host, entry):
        refusals = {"missing": "404 Not Found", "gone": "410 Gone", "forbidden": "403 Forbidden"}
        if habit in refusals:
            return head(refusals[habit], [], 0)
        if habit == "page":
            return head("200 OK", [("Content-Type", "text/html; charset=utf-8")], len(PAGE)) + PAGE
        kind = ("Content-Type", TYPES[pathlib.PurePath(entry.photo).suffix])
        if habit in ("cut", "stalling"):
            body = (self.state.photos / entry.photo).read_bytes()
            if habit == "cut":
                # When this connection closes, nginx has a part of the body, and closes the connection to the client.
                asyncio.get_running_loop().call_later(entry.delay + 0.2, self.transport.close)
            return head("200 OK", [kind], len(body)) + body[: len(body) // 3]
        fields = [kind, ("X-Accel-Redirect", f"/photos/{entry.photo}")]
        if host.rate:
            fields.append(("X-Accel-Limit-Rate", host.rate))
        return head("200 OK", fields, 0)


class Names(asyncio.DatagramProtocol):
    """A name server that answers after the delay of each name, with IPv4 addresses."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.questions = collections.Counter()

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, peer):
        position, labels = 12, []
        while data[position]:
            labels.append(data[position + 1 : position + 1 + data[position]].decode("latin1"))
            position += 1 + data[position]
        (kind,) = struct.unpack("!H", data[position + 1 : position + 3])
        question = data[12 : position + 5]
        name = ".".join(labels).lower()
        is_address = kind == 1
        if is_address:
            self.questions[name] += 1
        host = self.hosts.get(name)
        habit = host.habit if host else "unknown-name"
        if habit == "silent-name":
            return
        code = {"unknown-name": 3, "broken-name": 2}.get(habit, 0)
        records = b""
        if is_address and code == 0:
            records = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 300, 4) + socket.inet_aton(host.address)
        answer = data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, bool(records), 0, 0) + question + records
        asyncio.get_running_loop().call_later(host.name_delay if host else 0.02, self.transport.sendto, answer, peer)


def occupy(address, port):
    """Sockets with full queues. The kernel ignores connects to their addresses, so these connects wait forever."""
    listener = socket.socket()
    # nginx listens on all addresses with the same option. The kernel prefers the listener of the address.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, port))
    listener.listen(0)
    sockets = [listener]
    for _ in range(3):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex((address, port))
        sockets.append(client)
    return sockets


async def serve(folder):
    state = State(folder)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    unanswered = {host.address for host in state.hosts.values() if host.habit == "unanswered"}
    occupied = [occupy(address, port) for address in sorted(unanswered) for port in (80, 443)]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    datagrams.bind((NAME_SERVER, 53))
    _, names = await loop.create_datagram_endpoint(lambda: Names(state.hosts), sock=datagrams)
    await loop.create_unix_server(lambda: Connection(state), str(folder / "habits.socket"), backlog=4096)
    print("ready", flush=True)
    await stopped.wait()
    (folder / "names.json").write_text(json.dumps(names.questions))
    del occupied


if __name__ == "__main__":
    asyncio.run(serve(pathlib.Path(sys.argv[1])))
