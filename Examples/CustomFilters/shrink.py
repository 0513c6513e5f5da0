#!/usr/bin/python3
"""A custom filter: makes a photo at most 400 pixels wide and high, with Pillow.

    darkroom worker --custom-filter shrink=/path/to/shrink.py
    darkroom submit photos.csv -o developed --filter x:shrink
"""

import io
import sys

from PIL import Image

photo = Image.open(io.BytesIO(sys.stdin.buffer.read()))
photo.thumbnail((400, 400))
photo.convert("RGB").save(sys.stdout.buffer, "JPEG", quality=85)
