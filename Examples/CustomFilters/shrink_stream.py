#!/usr/bin/python3
"""The custom filter of shrink.py as a kept process, so that Python and Pillow start only once.

    darkroom worker --custom-filter shrink=/path/to/shrink_stream.py --custom-filter-style stream
    darkroom submit photos.csv -o developed --filter x:shrink
"""

import io
import json
import sys

from PIL import Image


def shrink(photo):
    image = Image.open(io.BytesIO(photo))
    image.thumbnail((400, 400))
    result = io.BytesIO()
    image.convert("RGB").save(result, "JPEG", quality=85)
    return result.getvalue()


def answer(header, result=b""):
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + result)
    sys.stdout.buffer.flush()


for line in sys.stdin.buffer:
    header = json.loads(line)
    photo = sys.stdin.buffer.read(header["bytes"])
    try:
        result = shrink(photo)
        answer({"photo": header["photo"], "bytes": len(result)}, result)
    except Exception as error:
        answer({"photo": header["photo"], "error": str(error)})
