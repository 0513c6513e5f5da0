"""A real Prometheus scrapes a real cluster while a batch runs."""

import json
import re
import subprocess
import unittest
import urllib.error
import urllib.request

from paths import OBSERVABILITY
from cluster_of_compose import WORKERS, ComposeCluster
from processes import wait_until
from promql import grouping_labels, selectors

DASHBOARDS = ["cluster", "workers"]

# In a cluster without alerts, Prometheus has no ALERTS.
SERIES_OF_ALERTS = "ALERTS"


def dashboard(name):
    """A dashboard of Grafana."""
    return json.loads((OBSERVABILITY / f"grafana/dashboards/{name}.json").read_text())


def targets(content):
    """(title of the panel, target) of each query of a dashboard."""
    return [(panel["title"], target) for panel in content["panels"] for target in panel.get("targets", [])]


def with_values(expression):
    """A query of a dashboard with values for the variables that Grafana replaces."""
    return expression.replace("$__rate_interval", "10m").replace("$instance", ".*")


class ObservabilityTests(unittest.TestCase):
    """All tests read the same cluster: a batch of 24 photos has finished, and half of them failed."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = ComposeCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.prometheus = cls.cluster.prometheus
        # A rate needs a value before the batch.
        wait_until(lambda: cls.value("count(up == 1)") == WORKERS + 1, "Prometheus has scraped everything")
        photos = cls.cluster.photos
        cls.cluster.submit(
            [photos.url(f"{kind}/{number}/astronaut.jpg") for number in range(12) for kind in ("samples", "missing")]
        )
        wait_until(lambda: cls.value("sum(darkroom_photos_total)") == 24, "the metrics of the workers", 30)
        wait_until(lambda: cls.value("sum(darkroom_cluster_photos_total)") == 24, "the metrics of the server")

    @classmethod
    def value(cls, expression):
        """The value of an expression without labels; None without a value."""
        samples = cls.prometheus.query(expression)
        return samples[0][1] if samples else None

    def check_names(self, expression):
        """The cluster has each metric of an expression, with these labels."""
        found = set()
        for selector in selectors(expression):
            if not selector.startswith(SERIES_OF_ALERTS):
                series = self.prometheus.query(selector)
                self.assertTrue(series, f"no series {selector} of: {expression}")
                found |= {label for labels, _ in series for label in labels}
        self.assertLessEqual(grouping_labels(expression), found, expression)

    def test_counts_are_those_of_the_batch(self):
        samples = self.prometheus.query("darkroom_cluster_photos_total")
        by_result = {labels["result"]: value for labels, value in samples}
        self.assertEqual({"filtered": 12, "failed": 12, "cancelled": 0}, by_result)
        self.assertEqual(WORKERS, self.value("darkroom_workers"))

    def test_rules_are_evaluated(self):
        def evaluated():
            groups = self.prometheus.api("rules")["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            return rules if all(rule["health"] != "unknown" for rule in rules) else None

        rules = wait_until(evaluated, "Prometheus has evaluated the rules")
        self.assertTrue(rules)
        for rule in rules:
            with self.subTest(rule["name"]):
                self.assertEqual("ok", rule["health"], rule.get("lastError"))
                self.assertNotEqual("firing", rule["state"], rule["alerts"])
                self.check_names(rule["query"])

    def test_queries_of_dashboards_have_data(self):
        for name in DASHBOARDS:
            for title, target in targets(dashboard(name)):
                with self.subTest(f"{name}: {title} {target['refId']}"):
                    expression = with_values(target["expr"])
                    self.assertNotIn("$", expression)
                    samples = self.prometheus.query(expression)
                    self.check_names(expression)
                    if expression.startswith(SERIES_OF_ALERTS):
                        continue
                    self.assertTrue(samples, "no data")
                    self.assertTrue(any(value == value for _, value in samples), "only NaN")
                    labels = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
                    self.assertTrue(all(labels <= set(found) for found, _ in samples), f"{labels} in {samples}")

    def test_variables_of_dashboards_have_values(self):
        for name in DASHBOARDS:
            for variable in dashboard(name)["templating"]["list"]:
                with self.subTest(f"{name}: {variable['name']}"):
                    match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
                    samples = self.prometheus.query(match[1])
                    self.assertEqual(WORKERS, len({labels[match[2]] for labels, _ in samples}))

    def test_panels_have_places_and_texts(self):
        for name in DASHBOARDS:
            content = dashboard(name)
            identifiers = [panel["id"] for panel in content["panels"]]
            self.assertEqual(len(identifiers), len(set(identifiers)))
            taken = set()
            for panel in content["panels"]:
                with self.subTest(f"{name}: {panel['title']}"):
                    place = panel["gridPos"]
                    cells = {
                        (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
                    }
                    self.assertFalse(cells & taken)
                    self.assertLessEqual(place["x"] + place["w"], 24)
                    taken |= cells
                    if panel["type"] != "row":
                        self.assertTrue(panel["description"])
                        self.assertEqual({"type": "prometheus", "uid": "darkroom-prometheus"}, panel["datasource"])

    def test_metrics_need_the_token(self):
        (target,) = [
            one for one in self.prometheus.api("targets")["activeTargets"] if one["labels"]["job"] == "darkroom-serve"
        ]
        self.assertEqual("up", target["health"])
        with self.assertRaises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(target["scrapeUrl"], timeout=10)
        with refusal.exception as error:
            self.assertEqual(401, error.code)

    def test_health_check_of_the_server_succeeds(self):
        _, *command = self.cluster.compose.services["serve"]["healthcheck"]["test"]
        command[-1] = command[-1].replace("/8080", f"/{self.cluster.serve_port}")
        subprocess.run(command, check=True, timeout=10)


if __name__ == "__main__":
    unittest.main()
