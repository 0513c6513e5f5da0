"""The figures of a run, the medians and the plot."""

import hashlib
import os
import pathlib
import tempfile
import types
import unittest
import xml.etree.ElementTree

from webworld import plan, plot, report, verdict
from webworld.programs import PROGRAMS, Paths


def entry(number, truth=plan.PHOTO):
    return plan.Entry(f"http://a.test/2020/{number}/x.jpg", "a.test", "x.jpg", "", 0.1, truth)


class VerdictTests(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def requests(self, *lines):
        """A log: (start, end, host, status, connection)."""
        log = self.folder / "access.log"
        log.write_text(
            "".join(
                f"{end:.3f} {end - start:.3f} {host} {status} {connection} HTTP/1.1 100 /x\n"
                for start, end, host, status, connection in lines
            )
        )
        return verdict.Requests(log)

    def test_requests_at_once_count_for_each_host(self):
        log = self.requests(
            (0, 2, "a", 200, 1), (1, 3, "a", 200, 2), (1, 3, "b", 200, 3), (2.5, 4, "a", 200, 1), (3.5, 4, "a", 200, 2)
        )
        self.assertEqual((log.most_at_once, log.connections), (2, 3))

    def test_requests_during_a_retry_after_are_early(self):
        # The second request began before the refusal, the third during the pause, the others after it or elsewhere.
        log = self.requests(
            (10, 10.1, "a", 429, 1), (10, 10.2, "a", 200, 2), (11, 11.1, "a", 200, 1), (12.2, 12.3, "a", 200, 1),
            (11, 11.1, "b", 200, 3),
        )
        self.assertEqual(log.early, 1)

    def test_arrivals_are_the_times_of_photos_that_can_be_had(self):
        the_plan = plan.Plan(1, [], [entry(0), entry(1, "certificate"), entry(2), entry(3)])
        files = []
        for index, seconds in ((0, 104.0), (1, 102.0), (2, 101.5)):
            file = self.folder / f"{index}.jpg"
            file.write_bytes(b"photo")
            os.utime(file, (seconds, seconds))
            files.append((file, index))
        program = types.SimpleNamespace(files=lambda output, urls: files)
        self.assertEqual(verdict.arrivals(program, self.folder, the_plan, 100.0), ({0: 4.0, 2: 1.5}, 1))

    def test_missing_photos_are_counted_by_habit(self):
        host = plan.Host("a.test", "busy", False, False, "127.1.0.1", 0.1, 0.1, 0, "")
        the_plan = plan.Plan(1, [host], [entry(0), entry(1, "certificate"), entry(2), entry(3)])
        self.assertEqual(verdict.missing(the_plan, {0: 4.0}), {"busy": 2})

    def test_a_share_that_was_not_reached_has_no_time(self):
        self.assertEqual(verdict.seconds_until([1, 2, 3], 4, 50), 2)
        self.assertEqual(verdict.seconds_until([1, 2, 3], 4, 75), 3)
        self.assertIsNone(verdict.seconds_until([1, 2, 3], 4, 99))

    def test_files_of_the_programs_belong_to_their_urls(self):
        urls = [f"http://a.test/{index}" for index in range(3)]
        paths = Paths("darkroom", "venv")
        names = {
            "darkroom": "000002-x.jpg", "img2dataset": "00001/000010000.jpg",
            "scrapy": f"full/{hashlib.sha1(urls[2].encode()).hexdigest()}.jpg",
        }
        for name, path in names.items():
            file = self.folder / name / path
            file.parent.mkdir(parents=True)
            file.write_bytes(b"photo")
            file.with_suffix(".json").write_text('{"url": "http://a.test/2"}')
            if name == "darkroom":
                file.with_suffix(".json").unlink()
            found = list(PROGRAMS[name](paths).files(self.folder / name, urls))
            self.assertEqual(found, [(file, 2)], name)


class ReportTests(unittest.TestCase):
    def outcome(self, program, number, seconds):
        return {
            "program": program, "round": number, "seed": number, "available": 100, "photos": 90, "other_files": 0,
            **{f"seconds_{share}": seconds for share in verdict.SHARES}, "seconds_first": 1.0, "seconds_99": None,
            "seconds": 2 * seconds, "status": 0, "processor_seconds": 1.0, "peak_memory": 50_000_000, "other_share": 0.1 * number, "requests": 120,
            "connections": 60, "most_at_once": 6, "early": 0, "names": 50, "questions": 75,
            "curve": [seconds * (index + 1) / 180 if index < 180 else None for index in range(200)],
        }

    def setUp(self):
        programs = [report.ProgramFacts("fast", "1", "defaults"), report.ProgramFacts("late", "2", "defaults")]
        self.facts = report.Facts(1, 130, 2, False, "a machine", programs, 9)
        self.outcomes = [
            self.outcome("fast", 1, 10.0), self.outcome("late", 1, 30.0), self.outcome("late", 2, 60.0),
            self.outcome("fast", 2, 12.0),
        ]

    def test_table_has_medians(self):
        text = report.table(self.facts, self.outcomes)
        self.assertIn("| seconds until 90 % of the photos | 11.0 | 45.0 |", text)
        self.assertIn("| seconds until 99 % of the photos | not reached | not reached |", text)

    def test_page_names_the_load_of_other_programs(self):
        self.assertIn("used at most 20 % of its processors", report.page(self.facts, self.outcomes))

    def test_ratios_compare_runs_of_the_same_round(self):
        text = report.ratios(self.facts, self.outcomes)
        self.assertIn("late 2: 50 %: 4.00 (3.00 to 5.00)", text)
        self.assertIn("99 %: not reached in each round", text)

    def test_plot_is_an_svg_with_units_and_both_modes(self):
        text = plot.draw(report.curves(self.facts, self.outcomes))
        xml.etree.ElementTree.fromstring(text)
        for part in ("seconds since the start", "percent of those that can be had", "prefers-color-scheme: dark", "late 2"):
            self.assertIn(part, text)

    def test_plot_without_photos_is_drawn(self):
        xml.etree.ElementTree.fromstring(plot.draw([plot.Curve("none", [], 0.0, 3.0)]))


if __name__ == "__main__":
    unittest.main()
