"""The services of docker-compose.yml."""

import os
import re

import yaml

from paths import PROJECT

# ${NAME:-default}
VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def _expanded(value, variables):
    if isinstance(value, dict):
        return {key: _expanded(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [_expanded(item, variables) for item in value]
    if isinstance(value, str):
        return VARIABLE.sub(lambda match: variables.get(match[1], match[2]), value).replace("$$", "$")
    return value


class Compose:
    """docker-compose.yml with the values of its variables."""

    def __init__(self, **variables):
        text = (PROJECT / "docker-compose.yml").read_text()
        self.comment = text.split("\n\nx-")[0]
        self.variables = {match[1] for match in VARIABLE.finditer(text)}
        content = _expanded(yaml.safe_load(text), variables)
        self.services = content["services"]
        self.volumes = set(content["volumes"])
        self.secrets = {name: secret["file"] for name, secret in content["secrets"].items()}

    def process(self, service, places):
        """The command of a service with its environment, for a process of this machine.

        `places` has the replacements for folders and addresses of the container.
        """

        def placed(text):
            for inside, outside in places.items():
                text = text.replace(inside, str(outside))
            return text

        definition = self.services[service]
        environment = [f"{name}={placed(value)}" for name, value in definition.get("environment", {}).items()]
        return ["env", *environment], [placed(word) for word in definition["command"]]


def mounts(service):
    """(source, folder in the container) of each volume of a service."""
    return [tuple(volume.split(":")[:2]) for volume in service.get("volumes", [])]


def is_file_of_project(source):
    """Whether a volume is a file or folder of the project."""
    return source.startswith(f".{os.sep}")
