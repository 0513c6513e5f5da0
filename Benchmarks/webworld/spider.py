"""Scrapy with its images pipeline for a list of URLs: `scrapy runspider spider.py -a urls=FILE -s IMAGES_STORE=FOLDER`."""

import scrapy
from scrapy.pipelines.images import ImagesPipeline


class SmallImagesPipeline(ImagesPipeline):
    """Stores each photo once, with at most 256 × 256 pixels. The pipeline itself also stores the photo in its full size."""

    def convert_image(self, image, size=None, *, response_body):
        return super().convert_image(image, size or (256, 256), response_body=response_body)


class PhotoSpider(scrapy.Spider):
    name = "photos"
    custom_settings = {
        "ITEM_PIPELINES": {SmallImagesPipeline: 1},
        "CONCURRENT_REQUESTS": 256,
        "REACTOR_THREADPOOL_MAXSIZE": 100,
        "DOWNLOAD_TIMEOUT": 15,
        "RETRY_TIMES": 2,
        "MEDIA_ALLOW_REDIRECTS": True,
        "LOG_LEVEL": "INFO",
        "TELNETCONSOLE_ENABLED": False,
    }

    async def start(self):
        with open(self.urls, encoding="utf-8") as urls:
            for url in urls:
                yield {"image_urls": [url.strip()]}
