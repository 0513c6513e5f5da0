"""The base of all browser tests: one browser for the whole run, and a cluster for each test."""

import atexit
import unittest

from browser import Browser, Sheet
from cluster import Cluster

_browsers = {}


def shared_browser(scripts=True):
    """The browser of the run, with or without JavaScript. It starts when a test first needs it."""
    if scripts not in _browsers:
        _browsers[scripts] = Browser(scripts)
        atexit.register(_browsers[scripts].close)
    return _browsers[scripts]


class BrowserCase(unittest.TestCase):
    """A test with its own cluster and the browser, which is logged in."""

    scripts = True
    serve_options = ()

    def setUp(self):
        self.cluster = Cluster(*self.serve_options)
        self.addCleanup(self.cluster.close)
        self.browser = shared_browser(self.scripts)
        # The page of an earlier test would report that its server is gone.
        self.addCleanup(self.browser.reset)
        self.browser.log_in(self.cluster)

    def sheet(self, batch, query=""):
        """Opens the contact sheet of a batch."""
        return Sheet(self.browser, self.cluster, batch, query)

    def assert_no_complaints(self):
        """Chromium has reported no error of a script, and no violation of the content policy."""
        self.assertEqual([], self.browser.complaints())
