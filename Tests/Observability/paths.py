"""The folders of the project. Importing this module makes the modules of the browser tests available."""

import pathlib
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
OBSERVABILITY = PROJECT / "deploy/observability"

sys.path.append(str(PROJECT / "Tests/Browser"))
