"""The requests of a page's scripts, which tests can hold, refuse and look at."""

# Replaces `fetch`. A request is described by a line such as "GET /api/v1/batches".
WATCH = """
window.traffic = { requests: [], waiting: [], held: null, heldReplies: null, refused: null };
const released = () => new Promise((resolve, reject) => traffic.waiting.push({ resolve, reject }));
const send = window.fetch.bind(window);
window.fetch = async (address, options = {}) => {
    const request = { line: `${options.method ?? "GET"} ${address}`, body: options.body ?? null, status: 0 };
    traffic.requests.push(request);
    if (traffic.held?.test(request.line)) await released();
    const isRefused = traffic.refused?.test(request.line);
    const reply = isRefused ? new Response("{}", { status: 503 }) : await send(address, options);
    request.status = reply.status;
    if (traffic.heldReplies?.test(request.line)) await released();
    return reply;
};
"""


class Traffic:
    """Watches the requests of the page that a browser shows."""

    def __init__(self, browser, from_start=False):
        """With `from_start`, watches the pages that are opened from now on, from their first request."""
        self._browser = browser
        if from_start:
            browser.script_before_pages(WATCH)
        else:
            browser.script(WATCH)

    def hold(self, pattern):
        """From now on, requests whose line matches a regular expression wait until they are released.

        Returns the number of the earlier requests whose line matches."""
        return self._browser.script(
            """
            traffic.held = new RegExp(arguments[0]);
            return traffic.requests.filter(({ line }) => traffic.held.test(line)).length;
            """,
            pattern)

    def hold_replies(self, pattern):
        """Requests whose line matches are sent, but their replies wait until they are released."""
        self._browser.script("traffic.heldReplies = new RegExp(arguments[0])", pattern)

    def release(self, fail=False):
        """Releases what waits, or lets it fail, and holds nothing else. Returns when failures are handled."""
        self._browser.driver.execute_async_script(
            """
            const [fail, done] = arguments;
            traffic.held = traffic.heldReplies = null;
            for (const { resolve, reject } of traffic.waiting.splice(0)) {
                if (fail) reject(new TypeError("test"));
                else resolve();
            }
            setTimeout(done);
            """,
            fail,
        )

    def refuse(self, pattern):
        """From now on, requests whose line matches a regular expression get status 503. None refuses nothing."""
        self._browser.script("traffic.refused = arguments[0] && new RegExp(arguments[0])", pattern)

    def requests(self, pattern):
        """The requests whose line matches: {"line", "body", "status"}; the status is 0 until there is a reply."""
        return self._browser.script(
            "return traffic.requests.filter(({ line }) => new RegExp(arguments[0]).test(line))", pattern)

    def wait_for(self, pattern, count=1, replied=False):
        """Waits until this number of requests has been sent, or has been answered."""
        def sent():
            return [request for request in self.requests(pattern) if request["status"] or not replied]

        self._browser.wait(lambda: len(sent()) >= count, f"{count} requests {pattern}")
