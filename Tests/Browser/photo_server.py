"""A web server for the photos of a test. Photos can wait until the test lets them go."""

import http.server
import sys
import threading

from processes import SAMPLES


class Server(http.server.ThreadingHTTPServer):
    """Does not wait for its connections, and does not report that a worker has closed one."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """Workers that are stopped reset their connections."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class PhotoServer:
    """Serves the photos of a folder, by default the sample photos.

    /samples/NAME       a photo
    /held/GROUP/NAME    a photo, as soon as its group, or all groups, are released
    every other path    status 404
    """

    def __init__(self):
        self.folder = SAMPLES
        self._released = set()
        self._change = threading.Condition()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers one connection."""

            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                """Sends a photo or status 404."""
                body = server.photo(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                """Logs nothing."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def photo(self, path):
        """The bytes of a photo; None if there is no such photo."""
        _, kind, *rest = path.split("/")
        if kind not in ("samples", "held"):
            return None
        with self._change:
            self._change.wait_for(lambda: kind == "samples" or {"all", rest[0]} & self._released, 60)
        file = self.folder / rest[-1]
        return file.read_bytes() if file.is_file() else None

    def url(self, path):
        """The address of a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"

    def release(self, group="all"):
        """Lets the held photos of a group go, now and from now on."""
        with self._change:
            self._released.add(group)
            self._change.notify_all()

    def close(self):
        """Ends the server."""
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
