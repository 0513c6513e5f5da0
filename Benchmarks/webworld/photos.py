"""The photos of the worlds. Darkroom makes them from the sample photos of the project."""

import pathlib
import subprocess

from .errors import BenchmarkError

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Tests/Samples"

SIDES = [120, 160, 200, 240, 300, 320, 400, 450, 500, 560, 600, 640, 700, 760, 800, 900, 1000, 1200, 1500, 1800]
"""The longest sides of the photos, in pixels."""


def recipe():
    """The renditions of each sample: one of each size, with different ratios, formats and qualities."""
    lines = []
    for number, side in enumerate(SIDES):
        ratio = ["4:3", "3:2", "1:1", "2:3"][number % 4]
        kind = "webp" if number % 8 == 5 else "png" if side == 240 else "jpeg"
        quality = "" if kind == "png" else f"; quality={[75, 82, 88, 93][number // 2 % 4]}"
        lines.append(f"s{side} = crop={ratio} resize={side}x{side},inside; format={kind}{quality}\n")
    return "".join(lines)


def make_photos(darkroom, folder, scratch):
    """Writes the photos into an empty folder and returns their sizes in bytes by file name."""
    (scratch / "recipe.txt").write_text(recipe())
    made = scratch / "made"
    command = [darkroom, "run", SAMPLES, "-o", made, "--recipe", scratch / "recipe.txt", "--metadata", "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise BenchmarkError(f"{darkroom} could not make the photos of the world:\n{done.stderr}{done.stdout}")
    folder.mkdir()
    for file in sorted(made.glob("s*/*")):
        # "000004-flower.jpg" in the folder "s300" becomes "flower-300.jpg".
        name = file.stem.split("-", 1)[1]
        file.rename(folder / f"{name}-{file.parent.name[1:]}{file.suffix}")
    return {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
