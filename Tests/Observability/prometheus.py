"""Debian's Prometheus with the configuration of deploy/observability."""

import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import yaml

from paths import OBSERVABILITY
from processes import OwnedProcess, wait_until


def promtool(*arguments):
    """Runs promtool. Failures contain its output."""
    done = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"promtool {arguments[0]} {arguments[1]}: {done.stdout}{done.stderr}")


def configuration():
    """prometheus.yml."""
    return yaml.safe_load((OBSERVABILITY / "prometheus.yml").read_text())


class Prometheus:
    """A server that scrapes the given addresses once a second.

    Its configuration is prometheus.yml with other addresses, another interval and another path of the token, because
    the names of the services exist only in a Compose project.
    """

    def __init__(self, folder, addresses, token_file):
        content = configuration()
        content["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        content["rule_files"] = [str(OBSERVABILITY / name) for name in content["rule_files"]]
        for job in content["scrape_configs"]:
            job.pop("dns_sd_configs", None)
            job["static_configs"] = [{"targets": addresses[job["job_name"]]}]
            if "authorization" in job:
                job["authorization"]["credentials_file"] = str(token_file)
        path = folder / "prometheus.yml"
        path.write_text(yaml.safe_dump(content))
        promtool("check", "config", path)
        self._process = OwnedProcess(
            [
                "prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder / 'prometheus'}",
                "--web.listen-address=127.0.0.1:0",
            ],
            folder, "prometheus",
        )
        self._url = wait_until(self._listening, "Prometheus listens")
        wait_until(self._is_ready, "Prometheus is ready")

    def _listening(self):
        match = re.search(r'Listening on"?.* address=(127\.0\.0\.1:\d+)', self._process.errors)
        return match and f"http://{match[1]}"

    def _is_ready(self):
        try:
            with urllib.request.urlopen(f"{self._url}/-/ready", timeout=10):
                return True
        except urllib.error.HTTPError:
            return False

    def api(self, path, **parameters):
        """The data of an answer of the HTTP API: https://prometheus.io/docs/prometheus/latest/querying/api/"""
        url = f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from error

    def query(self, expression):
        """The (labels, value) pairs of an expression now."""
        return [(one["metric"], float(one["value"][1])) for one in self.api("query", query=expression)["result"]]

    def stop(self):
        """Ends the server."""
        self._process.stop()
