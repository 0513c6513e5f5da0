#define _GNU_SOURCE  // memmem(3)

#include "Segments.h"

#include <stdlib.h>
#include <string.h>

enum {
    MARKER_SCAN = 0xDA,
    MARKER_END = 0xD9,
    APP0 = 0xE0,
    APP1 = 0xE1,
    APP2 = 0xE2,
    APP13 = 0xED,
};

static const char xmp_name[] = "http://ns.adobe.com/xap/1.0/", resources_name[] = "Photoshop 3.0";
// XMP specification part 3, 1.1.3.1: the name is followed by the identifier, the length of the whole extended XMP, and the
// position of this part.
static const char extended_name[] = "http://ns.adobe.com/xmp/extension/";

enum {
    EXTENDED_GUID = sizeof extended_name,
    EXTENDED_LENGTH = EXTENDED_GUID + XMP_GUID_DIGITS,
    EXTENDED_POSITION = EXTENDED_LENGTH + 4,
    EXTENDED_TEXT = EXTENDED_POSITION + 4,
};

static bool starts_with(const struct darkroom_segment *segment, const char *name, size_t count) {
    return segment->count >= count && memcmp(segment->bytes, name, count) == 0;
}

#define STARTS_WITH(segment, name) starts_with(segment, name, sizeof name)

enum darkroom_segment_kind darkroom_segment_kind(const struct darkroom_segment *segment) {
    switch (segment->marker) {
    case APP0:
        return STARTS_WITH(segment, "JFIF") && segment->count >= 12 ? SEGMENT_JFIF : SEGMENT_OTHER;
    case APP1:
        if (segment->count > 6 && STARTS_WITH(segment, "Exif")) return SEGMENT_EXIF;
        if (STARTS_WITH(segment, xmp_name)) return SEGMENT_XMP;
        return STARTS_WITH(segment, extended_name) && segment->count >= EXTENDED_TEXT ? SEGMENT_EXTENDED_XMP : SEGMENT_OTHER;
    case APP2:
        if (STARTS_WITH(segment, "ICC_PROFILE")) return SEGMENT_PROFILE;
        if (STARTS_WITH(segment, "MPF")) return SEGMENT_PICTURES;
        return STARTS_WITH(segment, "urn:iso:std:iso:ts:21496:-1") ? SEGMENT_GAIN_MAP : SEGMENT_OTHER;
    case APP13:
        return STARTS_WITH(segment, resources_name) ? SEGMENT_RESOURCES : SEGMENT_OTHER;
    default:
        return SEGMENT_OTHER;
    }
}

bool darkroom_next_segment(const uint8_t *file, size_t count, size_t *position, struct darkroom_segment *segment) {
    size_t at = *position;
    // Bytes between segments, and bytes of value 255 before a marker, are skipped.
    for (;;) {
        const uint8_t *found = at < count ? memchr(file + at, 0xFF, count - at) : NULL;
        if (!found) return false;
        at = (size_t)(found - file) + 1;
        while (at < count && file[at] == 0xFF) at++;
        if (at == count) return false;
        if (file[at] != 0) break;
    }
    int marker = file[at];
    if (marker == MARKER_SCAN || marker == MARKER_END || count - at < 3) return false;
    size_t length = (size_t)file[at + 1] << 8 | file[at + 2];
    if (length < SEGMENT_LENGTH_BYTES || length > count - at - 1) return false;
    *segment = (struct darkroom_segment){marker, (uint8_t *)file + at + 1 + SEGMENT_LENGTH_BYTES, length - SEGMENT_LENGTH_BYTES};
    *position = at + 1 + length;
    return true;
}

uint8_t *darkroom_segment_xmp(const struct darkroom_segment *segment, size_t *count) {
    *count = segment->count - sizeof xmp_name;
    return segment->bytes + sizeof xmp_name;
}

const uint8_t *darkroom_segment_resources(const struct darkroom_segment *segment, size_t *count) {
    *count = segment->count - sizeof resources_name;
    return segment->bytes + sizeof resources_name;
}

// MARK: - Extended XMP

static size_t number(const uint8_t *bytes) {
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

static void set_number(uint8_t *bytes, size_t number) {
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(number >> (24 - 8 * i));
}

static bool is_extended(const struct darkroom_segment *segment, const uint8_t *guid) {
    return darkroom_segment_kind(segment) == SEGMENT_EXTENDED_XMP &&
           memcmp(segment->bytes + EXTENDED_GUID, guid, XMP_GUID_DIGITS) == 0;
}

// The identifier that a packet refers to; NULL if the packet refers to no extended XMP.
static const uint8_t *referred_guid(const struct darkroom_segment *packet) {
    static const char name[] = "HasExtendedXMP";
    const uint8_t *end = packet->bytes + packet->count, *found = memmem(packet->bytes, packet->count, name, sizeof name - 1);
    if (!found) return NULL;
    found += sizeof name - 1;
    // The value follows `="` of an attribute or `>` of an element.
    while (found < end && strchr(" \t\r\n=\"'>", *found)) found++;
    return (size_t)(end - found) >= XMP_GUID_DIGITS ? found : NULL;
}

// The identifier of the extended XMP; the first one if the packet refers to none. NULL if there is no extended XMP.
static const uint8_t *extended_guid(const struct darkroom_segment *segments, size_t count) {
    const uint8_t *referred = NULL, *first = NULL;
    for (size_t i = 0; i < count && !referred; i++)
        if (darkroom_segment_kind(&segments[i]) == SEGMENT_XMP) referred = referred_guid(&segments[i]);
    for (size_t i = 0; i < count; i++) {
        if (referred && is_extended(&segments[i], referred)) return segments[i].bytes + EXTENDED_GUID;
        if (!first && darkroom_segment_kind(&segments[i]) == SEGMENT_EXTENDED_XMP) first = segments[i].bytes + EXTENDED_GUID;
    }
    return first;
}

// Copies the texts of the segments with this identifier into `text`. If `from` is true, copies in the other direction.
// Returns the number of bytes that were copied.
static size_t copy_parts(
    const struct darkroom_segment *segments, size_t count, const uint8_t *guid, uint8_t *text, size_t length, bool from) {
    size_t copied = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_extended(&segments[i], guid)) continue;
        size_t position = number(segments[i].bytes + EXTENDED_POSITION), bytes = segments[i].count - EXTENDED_TEXT;
        if (position > length || bytes > length - position) continue;
        uint8_t *part = segments[i].bytes + EXTENDED_TEXT;
        memcpy(from ? part : text + position, from ? text + position : part, bytes);
        copied += bytes;
    }
    return copied;
}

uint8_t *darkroom_extended_xmp(const struct darkroom_segment *segments, size_t count, size_t *extended_count) {
    const uint8_t *guid = extended_guid(segments, count);
    if (!guid) return NULL;
    size_t total = 0, length = number(guid + XMP_GUID_DIGITS);
    for (size_t i = 0; i < count; i++)
        if (is_extended(&segments[i], guid)) total += segments[i].count - EXTENDED_TEXT;
    // The comparison bounds the length, because all parts are in the file.
    if (length == 0 || length != total) return NULL;
    uint8_t *text = calloc(length, 1);
    // If parts overlap, other bytes of the text stay 0. XML contains no zeros.
    if (text && (copy_parts(segments, count, guid, text, length, false) != length || memchr(text, 0, length))) {
        free(text);
        return NULL;
    }
    *extended_count = length;
    return text;
}

void darkroom_settle_segments(struct darkroom_segment *segments, size_t count) {
    char new_guid[XMP_GUID_DIGITS + 1];
    bool is_renamed = false;
    const uint8_t *guid = extended_guid(segments, count);
    if (guid) {
        size_t length = 0;
        uint8_t *text = darkroom_extended_xmp(segments, count, &length);
        bool is_changed = text && darkroom_xmp_settle(text, length, DARKROOM_XMP_KEEP_EXTENSION, NULL);
        if (is_changed) {
            uint8_t old_guid[XMP_GUID_DIGITS];
            memcpy(old_guid, guid, sizeof old_guid);
            copy_parts(segments, count, old_guid, text, length, true);
            darkroom_xmp_guid(text, length, new_guid);
            is_renamed = true;
            for (size_t i = 0; i < count; i++)
                if (is_extended(&segments[i], old_guid)) memcpy(segments[i].bytes + EXTENDED_GUID, new_guid, XMP_GUID_DIGITS);
        }
        free(text);
    }
    for (size_t i = 0; i < count; i++) {
        if (darkroom_segment_kind(&segments[i]) != SEGMENT_XMP) continue;
        size_t bytes;
        uint8_t *packet = darkroom_segment_xmp(&segments[i], &bytes);
        darkroom_xmp_settle(packet, bytes, is_renamed ? DARKROOM_XMP_SET_EXTENSION : DARKROOM_XMP_KEEP_EXTENSION,
                            is_renamed ? new_guid : NULL);
    }
}

void darkroom_write_extended_xmp(
    const uint8_t *extended, size_t count, void (*write)(void *context, const uint8_t *bytes, size_t count), void *context) {
    enum { MAX_TEXT = 65000 };
    uint8_t segment[EXTENDED_TEXT + MAX_TEXT];
    char guid[XMP_GUID_DIGITS + 1];
    darkroom_xmp_guid(extended, count, guid);
    memcpy(segment, extended_name, sizeof extended_name);
    memcpy(segment + EXTENDED_GUID, guid, XMP_GUID_DIGITS);
    set_number(segment + EXTENDED_LENGTH, count);
    for (size_t position = 0; position < count; position += MAX_TEXT) {
        size_t bytes = count - position < MAX_TEXT ? count - position : MAX_TEXT;
        set_number(segment + EXTENDED_POSITION, position);
        memcpy(segment + EXTENDED_TEXT, extended + position, bytes);
        write(context, segment, EXTENDED_TEXT + bytes);
    }
}
