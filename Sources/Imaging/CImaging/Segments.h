// The segments before the first scan of a JPEG (ISO 10918-1, B.1.1.4).

#ifndef CIMAGING_SEGMENTS_H
#define CIMAGING_SEGMENTS_H

#include "XMP.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `bytes` are the bytes after the length of the segment.
struct darkroom_segment {
    int marker;
    uint8_t *bytes;
    size_t count;
};

enum darkroom_segment_kind {
    SEGMENT_OTHER,
    SEGMENT_JFIF,
    SEGMENT_EXIF,
    SEGMENT_XMP,
    SEGMENT_EXTENDED_XMP,
    SEGMENT_PROFILE,
    // Resources of Photoshop, IPTC among them.
    SEGMENT_RESOURCES,
    // The index of further pictures in the same file (CIPA DC-007).
    SEGMENT_PICTURES,
    // The version of a gain map (ISO 21496-1, annex C).
    SEGMENT_GAIN_MAP,
};

enum {
    // The size of the length field of a segment; the length includes this field.
    SEGMENT_LENGTH_BYTES = 2,
    SEGMENT_MAX_BYTES = 65533,
};

enum darkroom_segment_kind darkroom_segment_kind(const struct darkroom_segment *segment);

// Reads the segment at or after `*position`, and sets `*position` to the end of the segment. The first position is 2.
// Returns false at the first scan, or if the file is damaged.
bool darkroom_next_segment(const uint8_t *file, size_t count, size_t *position, struct darkroom_segment *segment);

// The bytes of XMP in a segment of the kind SEGMENT_XMP.
uint8_t *darkroom_segment_xmp(const struct darkroom_segment *segment, size_t *count);

// The bytes of resources in a segment of the kind SEGMENT_RESOURCES.
const uint8_t *darkroom_segment_resources(const struct darkroom_segment *segment, size_t *count);

// Applies darkroom_xmp_settle to the packet, and to the extended XMP if it is complete.
void darkroom_settle_segments(struct darkroom_segment *segments, size_t count);

// Assembles the extended XMP. The caller frees the result with free. Returns NULL if there is no extended XMP, if a
// part is missing, or if memory runs out.
uint8_t *darkroom_extended_xmp(const struct darkroom_segment *segments, size_t count, size_t *extended_count);

// Calls `write` with the segments of an extended XMP.
void darkroom_write_extended_xmp(
    const uint8_t *extended, size_t count, void (*write)(void *context, const uint8_t *bytes, size_t count), void *context);

#endif
