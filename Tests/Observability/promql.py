"""The metrics and labels in an expression of Prometheus. Knows only what alerts and dashboards use."""

import re

FUNCTIONS = {"count", "histogram_quantile", "increase", "max", "rate", "sum", "time", "vector"}
OPERATORS = {"and", "or", "unless"}

_GROUPING = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
_SELECTOR = re.compile(r"\b([a-zA-Z_:][\w:]*)\b\s*(\{[^}]*\})?")
_ALTERNATIVES = re.compile(r'=~"([\w-]+(?:\|[\w-]+)+)"')


def selectors(expression):
    """The selectors of an expression. A selector with `=~"a|b"` becomes one with "a" and one with "b"."""
    text = re.sub(r"\[[^\]]*\]", "", _GROUPING.sub("", expression))
    found = [(match[1], match[2] or "") for match in _SELECTOR.finditer(text)]
    found = [name + labels for name, labels in found if name not in FUNCTIONS | OPERATORS]
    return [one for selector in found for one in _split(selector)]


def _split(selector):
    match = _ALTERNATIVES.search(selector)
    if not match:
        return [selector]
    parts = [selector[: match.start()] + f'="{word}"' + selector[match.end() :] for word in match[1].split("|")]
    return [one for part in parts for one in _split(part)]


def grouping_labels(expression):
    """The labels in `by (...)` and `on (...)`."""
    return {label.strip() for match in _GROUPING.finditer(expression) for label in match[1].split(",")}
