"""The plot of photos over time as SVG. Its colours follow the light or dark mode of the reader, and it loads no fonts."""

import dataclasses
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 24, 62
COLOURS = ["#b3402a", "#2f6690", "#7a6a1e", "#5b4a8a"]
DARK_COLOURS = ["#f08a72", "#7bb4e3", "#d9c25a", "#b7a4ee"]
DASHES = ["", "7 4", "2 4", "10 4 2 4"]


@dataclasses.dataclass(frozen=True)
class Curve:
    label: str
    points: list
    """(seconds, percent), in ascending order."""
    share: float
    """The photos at the end, in percent."""
    end: float
    """The time at which the program exited, in seconds."""


def draw(curves):
    """The plot of the curves. The axis of the time is logarithmic, because the programs differ by an order of magnitude."""
    latest = max((curve.end for curve in curves), default=10)
    first, last = 1.0, max(10.0, latest * 1.15)

    def x(seconds):
        share = math.log(max(seconds, first) / first) / math.log(last / first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(percent):
        return round(HEIGHT - BOTTOM - percent / 100 * (HEIGHT - TOP - BOTTOM), 1)

    parts = []
    for percent in range(0, 101, 20):
        parts.append(f'<path class="grid" d="M{LEFT} {y(percent)}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 10}" y="{y(percent) + 5}" text-anchor="end">{percent} %</text>')
    for seconds in ticks(last):
        parts.append(f'<path class="grid" d="M{x(seconds)} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{x(seconds)}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{seconds:,}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">seconds since the start of the program '
        "(logarithmic)</text>"
    )
    centre = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="16" y="{centre}" text-anchor="middle" transform="rotate(-90 16 {centre})">'
        "photos, in percent of those that can be had</text>"
    )
    for number, curve in enumerate(curves):
        points, height = [], 0
        for seconds, percent in curve.points:
            # The curve has steps: it reaches a share at the time of the share.
            points += [f"{x(seconds)} {y(height)}", f"{x(seconds)} {y(percent)}"]
            height = percent
        points.append(f"{x(curve.end)} {y(height)}")
        kind = f"curve c{number % len(COLOURS)}"
        parts.append(f'<path class="{kind}" d="M{x(0)} {y(0)}L{"L".join(points)}"/>')
        parts.append(f'<circle class="end c{number % len(COLOURS)}" cx="{x(curve.end)}" cy="{y(height)}" r="4"/>')
        row = TOP + 24 + number * 24
        parts.append(f'<path class="{kind}" d="M{LEFT + 16} {row - 5}h34"/>')
        text = f"{curve.label}: {curve.share:.1f} %, end after {curve.end:,.0f} s"
        parts.append(f'<text x="{LEFT + 60}" y="{row}">{escape(text)}</text>')
    styles = "\n".join(
        f"    .c{number} {{ stroke: {colour}; stroke-dasharray: {DASHES[number] or 'none'} }}\n"
        f"    .end.c{number} {{ fill: {colour} }}"
        for number, colour in enumerate(COLOURS)
    )
    dark = "\n".join(
        f"      .c{number} {{ stroke: {colour} }}\n      .end.c{number} {{ fill: {colour} }}"
        for number, colour in enumerate(DARK_COLOURS)
    )
    summary = "; ".join(
        f"{curve.label}: {curve.share:.1f} % of the photos, end after {curve.end:,.0f} s" for curve in curves
    )
    body = "\n  ".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="14">
  <title id="title">Photos over time</title>
  <desc id="description">{escape(summary)}.</desc>
  <style>
    .panel {{ fill: #fbfaf7; stroke: #d0d0d0 }}
    .grid {{ stroke: #dddddd; fill: none }}
    .curve {{ fill: none; stroke-width: 2.2; stroke-linejoin: round }}
    text {{ fill: #222222 }}
{styles}
    @media (prefers-color-scheme: dark) {{
      .panel {{ fill: #161b22; stroke: #30363d }}
      .grid {{ stroke: #30363d }}
      text {{ fill: #e6edf3 }}
{dark}
    }}
  </style>
  <rect class="panel" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="12"/>
  {body}
</svg>
"""


def ticks(last):
    """1, 2, 5, 10, 20, 50, ... up to a number of seconds."""
    result, decade = [], 1
    while decade <= last:
        result += [decade * step for step in (1, 2, 5) if decade * step <= last]
        decade *= 10
    return result
