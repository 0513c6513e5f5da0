"""The alert rules and the Compose project, without a cluster."""

import re
import subprocess
import unittest

import yaml

from paths import OBSERVABILITY, PROJECT
from compose import Compose, is_file_of_project, mounts
from prometheus import configuration, promtool


class RuleTests(unittest.TestCase):
    """alerts.yml, alerts.test.yml and the page of the documentation."""

    def setUp(self):
        groups = yaml.safe_load((OBSERVABILITY / "alerts.yml").read_text())["groups"]
        self.rules = [rule for group in groups for rule in group["rules"]]
        self.names = [rule["alert"] for rule in self.rules]

    def test_promtool_accepts_configuration_and_rules(self):
        promtool("check", "config", "--syntax-only", OBSERVABILITY / "prometheus.yml")
        promtool("check", "rules", OBSERVABILITY / "alerts.yml")

    def test_rules_fire_as_their_tests_say(self):
        promtool("test", "rules", OBSERVABILITY / "alerts.test.yml")

    def test_each_rule_is_tested_and_says_what_to_do(self):
        self.assertEqual(len(self.names), len(set(self.names)))
        tests = yaml.safe_load((OBSERVABILITY / "alerts.test.yml").read_text())["tests"]
        for rule in self.rules:
            with self.subTest(rule["alert"]):
                own = [test for test in tests if test["name"] == rule["alert"]]
                self.assertEqual(1, len(own))
                samples = [bool(check["exp_samples"]) for check in own[0]["promql_expr_test"]]
                self.assertEqual([False, True], samples[:2])
                self.assertEqual({"summary", "description"}, set(rule["annotations"]))
                self.assertIn(rule["labels"]["severity"], ["critical", "warning"])

    def test_documentation_lists_the_rules(self):
        page = (PROJECT / "Sources/Surfaces/Darkroom/Darkroom.docc/Observability.md").read_text()
        self.assertEqual(self.names, re.findall(r"^\| `(Darkroom\w+)` \|", page, re.MULTILINE))


class ComposeTests(unittest.TestCase):
    """docker-compose.yml fits its files and itself."""

    def setUp(self):
        self.compose = Compose()

    def test_services_are_confined(self):
        for name, service in self.compose.services.items():
            with self.subTest(name):
                self.assertTrue(service["read_only"])
                self.assertEqual(["ALL"], service["cap_drop"])
                self.assertEqual(["no-new-privileges:true"], service["security_opt"])
                self.assertNotEqual("0", service["user"].split(":")[0])
                self.assertTrue(service["mem_limit"] and service["pids_limit"])
                for port in service.get("ports", []):
                    self.assertTrue(port.startswith("127.0.0.1:"), port)
                if "build" not in service:
                    self.assertRegex(service["image"], r":v?\d")

    def test_references_have_targets(self):
        for name, service in self.compose.services.items():
            with self.subTest(name):
                self.assertLessEqual(set(service.get("depends_on", {})), set(self.compose.services))
                self.assertLessEqual(set(service.get("secrets", [])), set(self.compose.secrets))
                for source, _ in mounts(service):
                    if is_file_of_project(source):
                        self.assertTrue((PROJECT / source).exists(), source)
                    else:
                        self.assertIn(source, self.compose.volumes)

    def test_head_of_the_file_explains_the_variables(self):
        explained = set(re.findall(r"^# (DARKROOM_\w+) ", self.compose.comment, re.MULTILINE))
        missing = {name for name in self.compose.variables - explained if name not in self.compose.comment}
        self.assertEqual(set(), missing)
        self.assertLessEqual(explained, self.compose.variables)

    def test_default_services_need_no_profile(self):
        profiles = {name: service.get("profiles") for name, service in self.compose.services.items()}
        self.assertEqual({"redis", "worker", "serve"}, {name for name, own in profiles.items() if own is None})
        self.assertEqual(["observability"], profiles["prometheus"])
        self.assertEqual(["observability"], profiles["grafana"])

    def test_prometheus_scrapes_the_services(self):
        jobs = {job["job_name"]: job for job in configuration()["scrape_configs"]}
        commands = {name: service.get("command", []) for name, service in self.compose.services.items()}
        self.assertEqual([{"targets": ["serve:8080"]}], jobs["darkroom-serve"]["static_configs"])
        self.assertEqual("0.0.0.0:8080", commands["serve"][commands["serve"].index("--listen") + 1])
        token = commands["serve"][commands["serve"].index("--metrics-token-file") + 1]
        self.assertEqual({"credentials_file": token}, jobs["darkroom-serve"]["authorization"])
        (discovery,) = jobs["darkroom-worker"]["dns_sd_configs"]
        self.assertEqual((["worker"], "A"), (discovery["names"], discovery["type"]))
        port = commands["worker"][commands["worker"].index("--metrics") + 1].split(":")[1]
        self.assertEqual(int(port), discovery["port"])

    def test_grafana_finds_its_files(self):
        places = {folder: source for source, folder in mounts(self.compose.services["grafana"])}
        folder = OBSERVABILITY / "grafana"
        (source,) = yaml.safe_load((folder / "datasources/prometheus.yml").read_text())["datasources"]
        self.assertEqual("http://prometheus:9090", source["url"])
        self.assertEqual(f"{configuration()['global']['scrape_interval']}", source["jsonData"]["timeInterval"])
        (provider,) = yaml.safe_load((folder / "providers/darkroom.yml").read_text())["providers"]
        self.assertEqual("./deploy/observability/grafana/dashboards", places[provider["options"]["path"]])
        home = self.compose.services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
        self.assertTrue((folder / "dashboards" / home.removeprefix(provider["options"]["path"] + "/")).is_file())

    def test_scripts_are_valid(self):
        for service in self.compose.services.values():
            kind, *words = service.get("healthcheck", {"test": ["CMD"]})["test"]
            script = words[0] if kind == "CMD-SHELL" else words[2] if words[:2] == ["bash", "-c"] else ""
            subprocess.run(["bash", "-n", "-c", script], check=True)


if __name__ == "__main__":
    unittest.main()
