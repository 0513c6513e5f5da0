"""A Redis server of a test, and the few Redis commands with which tests look into it."""

import socket

from processes import OwnedProcess, wait_until


class RedisError(Exception):
    """An error reply of Redis."""


class RedisConnection:
    """A connection that sends one command at a time: https://redis.io/docs/latest/develop/reference/protocol-spec/"""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._replies = self._socket.makefile("rb")

    def close(self):
        """Closes the connection."""
        self._replies.close()
        self._socket.close()

    def __call__(self, *words):
        """Sends a command, and returns its reply: None, a number, a text or a list of these."""
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        lines = [b"*%d\r\n" % len(parts)] + [b"$%d\r\n%s\r\n" % (len(part), part) for part in parts]
        self._socket.sendall(b"".join(lines))
        return self.reply()

    def reply(self):
        """Reads the next reply, or the next message of a subscription."""
        line = self._replies.readline()
        if not line:
            raise RedisError("the server closed the connection")
        kind, text = line[:1], line[1:-2].decode()
        if kind == b"+":
            return text
        if kind == b"-":
            raise RedisError(text)
        if kind == b":":
            return int(text)
        if kind == b"$":
            return None if text == "-1" else self._replies.read(int(text) + 2)[:-2].decode(errors="replace")
        return None if text == "-1" else [self.reply() for _ in range(int(text))]


class Subscription:
    """The messages of a channel, from its creation on."""

    def __init__(self, path, channel):
        self._connection = RedisConnection(path)
        self._connection("SUBSCRIBE", channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.close()

    def received(self):
        """The messages that were published since the last call."""
        messages = []
        # Redis answers a PING after all messages before it.
        message = self._connection("PING")
        while message[0] != "pong":
            messages.append(message[2])
            message = self._connection.reply()
        return messages


class RedisServer:
    """A redis-server on a socket in the folder of the test. It keeps its data only when it is stopped and started."""

    def __init__(self, folder):
        self._folder = folder
        self.path = folder / "redis.sock"
        self._process = None
        self._connection = None
        self.start()

    @property
    def url(self):
        return f"unix://{self.path}"

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        """Starts the server with the data of the last stop."""
        arguments = ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--dir", self._folder]
        self._process = OwnedProcess([str(argument) for argument in arguments], self._folder, "redis")
        self._connection = wait_until(self._connect, "redis-server answers")

    def _connect(self):
        try:
            connection = RedisConnection(self.path)
        except OSError:
            return None
        try:
            connection("PING")
            return connection
        except (OSError, RedisError):
            connection.close()
            return None

    def stop(self):
        """Writes the data to the disk, and ends the server."""
        try:
            self("SHUTDOWN", "SAVE")
        except (OSError, RedisError):
            pass  # The server closes the connection instead of a reply.
        self._connection.close()
        self._process.stop()

    def __call__(self, *words):
        return self._connection(*words)
