#define _GNU_SOURCE  // memmem(3)

#include "Boxes.h"
#include "Segments.h"

#include <string.h>

static bool contains(const uint8_t *bytes, size_t count, const char *text) {
    return memmem(bytes, count, text, strlen(text)) != NULL;
}

// Whether the bytes contain a text that identifies a gain map: of Adobe or Ultra HDR, of ISO 21496-1, or of Apple.
static bool is_announced(const uint8_t *bytes, size_t count) {
    static const char *const texts[] = {
        "http://ns.adobe.com/hdr-gain-map/1.0/", "urn:iso:std:iso:ts:21496:-1", "http://ns.apple.com/HDRGainMap/1.0/",
        "urn:com:apple:photo:2020:aux:hdrgainmap",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (contains(bytes, count, texts[i])) return true;
    return false;
}

// The end of the picture whose first scan is at or after `position`; `count` if the picture has no end. In a scan, the
// byte 255 is followed by 0 or by the code of a restart marker.
static size_t end_of_picture(const uint8_t *file, size_t count, size_t position) {
    for (;;) {
        const uint8_t *found = position < count ? memchr(file + position, 0xFF, count - position) : NULL;
        if (!found || found + 1 == file + count) return count;
        size_t at = (size_t)(found - file);
        int marker = file[at + 1];
        position = at + (marker == 0xFF ? 1 : 2);
        if (marker == 0xD9) return position;
        bool has_length = marker >= 0xC0 && !(marker >= 0xD0 && marker <= 0xD8);
        if (has_length && count - position >= 2) position += (size_t)file[position] << 8 | file[position + 1];
    }
}

static bool jpeg_has_gain_map(const uint8_t *file, size_t count) {
    size_t position = 2;
    bool has_pictures = false;
    for (struct darkroom_segment segment; darkroom_next_segment(file, count, &position, &segment);) {
        enum darkroom_segment_kind kind = darkroom_segment_kind(&segment);
        has_pictures = has_pictures || kind == SEGMENT_PICTURES || kind == SEGMENT_GAIN_MAP ||
                       (kind == SEGMENT_XMP && is_announced(segment.bytes, segment.count)) ||
                       (kind == SEGMENT_XMP && contains(segment.bytes, segment.count, "GainMap"));
    }
    // A file without an announcement is not searched, because a search would take a part of the time of decoding.
    if (!has_pictures) return false;
    for (size_t start = end_of_picture(file, count, position); start < count;) {
        static const uint8_t begin[] = {0xFF, 0xD8, 0xFF};
        const uint8_t *found = memmem(file + start, count - start, begin, sizeof begin);
        if (!found) return false;
        start = position = (size_t)(found - file) + 2;
        for (struct darkroom_segment segment; darkroom_next_segment(file, count, &position, &segment);)
            if (is_announced(segment.bytes, segment.count)) return true;
        start = position;
    }
    return false;
}

static bool heif_has_gain_map(const uint8_t *file, size_t count) {
    struct darkroom_box_content meta;
    uint32_t item;
    if (!darkroom_find_meta(file, count, &meta)) return false;
    return darkroom_find_item(file, meta, "tmap", &item) || is_announced(file + meta.start, meta.end - meta.start);
}

static bool png_has_gain_map(const uint8_t *file, size_t count) {
    for (size_t start = 8; count >= 12 && start <= count - 12;) {
        size_t length = (size_t)file[start] << 24 | (size_t)file[start + 1] << 16 | (size_t)file[start + 2] << 8 | file[start + 3];
        if (!memcmp(file + start + 4, "gdAT", 4)) return true;
        if (length > count - 12 - start) return false;
        start += 12 + length;
    }
    return false;
}

bool darkroom_has_gain_map(const struct darkroom_input *input) {
    struct darkroom_box_content box;
    switch (input->format) {
    case DARKROOM_JPEG:
        return jpeg_has_gain_map(input->bytes, input->byte_count);
    case DARKROOM_AVIF:
    case DARKROOM_HEIC:
        return heif_has_gain_map(input->bytes, input->byte_count);
    case DARKROOM_JXL:
        return darkroom_find_box(input->bytes, 0, input->byte_count, "jhgm", &box);
    case DARKROOM_PNG:
        return png_has_gain_map(input->bytes, input->byte_count);
    case DARKROOM_WEBP:
    case DARKROOM_TIFF:
    case DARKROOM_GIF:
        return false;
    }
    return false;
}
