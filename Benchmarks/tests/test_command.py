"""The command: its errors, a run, and what remains after Ctrl-C."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from webworld.usage import descendants

FOLDER = pathlib.Path(__file__).resolve().parents[1]
MEASURE = FOLDER / "measure"
DARKROOM = os.environ.get("DARKROOM_PROGRAM", str(FOLDER.parent / ".build/release/darkroom"))
CAN_RUN = "BENCHMARK_NAMESPACE" in os.environ and all(map(shutil.which, ["nginx", "openssl", "ip"]))


class CommandTests(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        # The temporary folders of the command are in this folder.
        (self.folder / "tmp").mkdir()

    def start(self, *arguments, path=None):
        environment = dict(os.environ, TMPDIR=str(self.folder / "tmp"))
        if path is not None:
            environment["PATH"] = path
        return subprocess.Popen(
            [sys.executable, "-B", MEASURE, *map(str, arguments)], env=environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True,
        )

    def run_command(self, *arguments, path=None):
        process = self.start(*arguments, path=path)
        output, errors = process.communicate(timeout=300)
        return process.returncode, output, errors

    def assert_nothing_remains(self):
        # Darkroom remembers in this folder when it has warned that it works as root.
        self.assertEqual(set(os.listdir(self.folder / "tmp")) - {f"darkroom-{os.geteuid()}"}, set())

    def test_values_are_checked(self):
        for arguments, message in (
            (["--rounds", "0"], "--rounds: must be at least 1"), (["--urls", "-1"], "--urls: must be at least 1"),
            (["--programs", "wget"], "'wget' is none of darkroom, img2dataset, scrapy"),
        ):
            status, _, errors = self.run_command("-o", self.folder / "new", *arguments)
            self.assertEqual(status, 2)
            self.assertIn(message, errors)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_missing_things_are_named(self):
        status, _, errors = self.run_command("-o", self.folder / "new", path="/nonexistent")
        self.assertEqual(status, 1)
        self.assertIn("missing: nginx, openssl, iproute2", errors)

    @unittest.skipUnless(CAN_RUN, "needs root, namespaces and nginx")
    def test_folders_and_programs_are_checked(self):
        (self.folder / "old").mkdir()
        for arguments, message in (
            (["-o", self.folder / "old", "--darkroom", sys.executable], "old exists; give a new folder"),
            (["-o", self.folder / "no/new", "--darkroom", sys.executable], "no is not a folder"),
            (["-o", self.folder / "new", "--darkroom", self.folder], "is not a program; build it"),
        ):
            status, _, errors = self.run_command(*arguments)
            self.assertEqual(status, 1)
            self.assertIn(message, errors)
        self.assert_nothing_remains()

    @unittest.skipUnless(CAN_RUN and os.access(DARKROOM, os.X_OK), "needs root, namespaces, nginx and the program darkroom")
    def test_a_calm_run_has_all_photos(self):
        results = self.folder / "results"
        status, output, errors = self.run_command(
            "-o", results, "--urls", 40, "--rounds", 1, "--calm", "--programs", "darkroom", "--darkroom", DARKROOM
        )
        self.assertEqual(status, 0, errors)
        (run,) = json.loads((results / "results.json").read_text())["runs"]
        self.assertEqual((run["photos"], run["available"], run["other_files"], run["status"]), (40, 40, 0, 0))
        self.assertEqual((run["requests"], run["early"]), (40, 0))
        self.assertTrue(0 < run["seconds_50"] <= run["seconds_99"] <= run["seconds"])
        self.assertTrue(run["processor_seconds"] > 0 and run["peak_memory"] > 0)
        self.assertIn("| seconds until 95 % of the photos |", output)
        self.assertEqual(
            sorted(os.listdir(results)), ["darkroom-1.log", "photos.svg", "results.json", "results.md"]
        )
        self.assert_nothing_remains()

    @unittest.skipUnless(CAN_RUN and os.access(DARKROOM, os.X_OK), "needs root, namespaces, nginx and the program darkroom")
    def test_nothing_remains_after_signals(self):
        # SIGINT goes to all processes of the terminal, SIGTERM to the command alone.
        for number, (signal_number, kill) in enumerate(((signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill))):
            results = self.folder / f"results-{number}"
            process = self.start("-o", results, "--urls", 2000, "--programs", "darkroom", "--darkroom", DARKROOM)
            log = results / "darkroom-1.log"
            while not (log.exists() and "downloaded" in log.read_text()):
                self.assertIsNone(process.poll(), "the command ended before the signal")
                time.sleep(0.05)
            below = descendants(process.pid)
            self.assertGreater(len(below), 3)
            kill(process.pid, signal_number)
            process.communicate(timeout=30)
            self.assertEqual(process.returncode, {signal.SIGINT: 130, signal.SIGTERM: 143}[signal_number])
            for _ in range(100):
                if not (left := [one for one in below if is_running(one)]):
                    break
                time.sleep(0.05)
            self.assertEqual(left, [])
            self.assert_nothing_remains()


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
