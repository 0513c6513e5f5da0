#include "Boxes.h"

#include <stdlib.h>
#include <string.h>

enum {
    // The version and the flags of a full box.
    FULL_BOX_BYTES = 4,
};

static uint64_t number(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

static void set_number(uint8_t *bytes, size_t count, uint64_t value) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

bool darkroom_next_box(const uint8_t *file, size_t end, size_t *position, struct darkroom_box_content *box) {
    size_t start = *position;
    if (start > end || end - start < 8) return false;
    uint64_t size = number(file + start, 4);
    size_t header = 8;
    if (size == 1) {
        if (end - start < 16) return false;
        size = number(file + start + 8, 8);
        header = 16;
    } else if (size == 0) {
        size = end - start;
    }
    if (size < header || size > end - start) return false;
    memcpy(box->type, file + start + 4, 4);
    box->start = start + header;
    box->end = *position = start + size;
    return true;
}

bool darkroom_find_box(
    const uint8_t *file, size_t start, size_t end, const char *type, struct darkroom_box_content *box) {
    while (darkroom_next_box(file, end, &start, box))
        if (!memcmp(box->type, type, 4)) return true;
    return false;
}

bool darkroom_find_meta(const uint8_t *file, size_t count, struct darkroom_box_content *meta) {
    if (!darkroom_find_box(file, 0, count, "meta", meta) || meta->end - meta->start < FULL_BOX_BYTES) return false;
    meta->start += FULL_BOX_BYTES;
    return true;
}

bool darkroom_find_item(const uint8_t *file, struct darkroom_box_content meta, const char *type, uint32_t *item) {
    struct darkroom_box_content list, entry;
    if (!darkroom_find_box(file, meta.start, meta.end, "iinf", &list) || list.end - list.start < 8) return false;
    // In version 0, the number of items has two bytes.
    size_t position = list.start + FULL_BOX_BYTES + (file[list.start] == 0 ? 2 : 4);
    while (darkroom_next_box(file, list.end, &position, &entry)) {
        size_t bytes = entry.end - entry.start;
        if (memcmp(entry.type, "infe", 4) || bytes < FULL_BOX_BYTES) continue;
        int version = file[entry.start];
        size_t id = version == 2 ? 2 : 4;
        // The type follows the identifier and the protection.
        if (version < 2 || bytes < FULL_BOX_BYTES + id + 2 + 4) continue;
        const uint8_t *field = file + entry.start + FULL_BOX_BYTES;
        if (memcmp(field + id + 2, type, 4)) continue;
        *item = (uint32_t)number(field, id);
        return true;
    }
    return false;
}

// The position of an item in the file.
struct place {
    // The positions and the sizes in bytes of the fields that contain the item's offset and length.
    size_t offset_field, offset_bytes, length_field, length_bytes;
    uint64_t base;
};

// Looks up the position of an item in the box `iloc` (ISO 14496-12, 8.11.3). Only finds items that are stored in one
// piece.
static bool find_place(const uint8_t *file, struct darkroom_box_content meta, uint32_t item, struct place *place) {
    struct darkroom_box_content box;
    if (!darkroom_find_box(file, meta.start, meta.end, "iloc", &box)) return false;
    size_t at = box.start, end = box.end;
    if (end - at < FULL_BOX_BYTES + 2 + 2) return false;
    int version = file[at];
    at += FULL_BOX_BYTES;
    size_t offset_bytes = file[at] >> 4, length_bytes = file[at] & 15, base_bytes = file[at + 1] >> 4;
    size_t index_bytes = version == 0 ? 0 : file[at + 1] & 15;
    if (version > 2 || offset_bytes > 8 || length_bytes > 8 || base_bytes > 8 || index_bytes > 8) return false;
    at += 2;
    size_t id_bytes = version < 2 ? 2 : 4, extent_bytes = index_bytes + offset_bytes + length_bytes;
    if (end - at < id_bytes) return false;
    uint64_t items = number(file + at, id_bytes);
    at += id_bytes;
    size_t fixed = id_bytes + (version == 0 ? 0 : 2) + 2 + base_bytes + 2;
    for (; items > 0; items--) {
        if (end - at < fixed) return false;
        const uint8_t *fields = file + at;
        uint32_t id = (uint32_t)number(fields, id_bytes);
        int construction = version == 0 ? 0 : file[at + id_bytes + 1] & 15;
        uint64_t base = number(fields + fixed - 2 - base_bytes, base_bytes);
        size_t extents = (size_t)number(fields + fixed - 2, 2);
        at += fixed;
        if ((end - at) / (extent_bytes > 0 ? extent_bytes : 1) < extents) return false;
        if (id == item && construction == 0 && extents == 1) {
            size_t field = at + index_bytes;
            *place = (struct place){field, offset_bytes, field + offset_bytes, length_bytes, base};
            return true;
        }
        at += extents * extent_bytes;
    }
    return false;
}

static bool fits(uint64_t value, size_t bytes) { return bytes >= 8 || value >> 8 * bytes == 0; }

bool darkroom_set_heif_exif(struct darkroom_file *file, const uint8_t *exif, size_t count) {
    // The distance from the end of this field to the TIFF header, and the name (ISO 23008-12, A.2.1).
    static const uint8_t name[] = {0, 0, 0, 6, 'E', 'x', 'i', 'f', 0, 0};
    struct darkroom_box_content meta;
    struct place place;
    uint32_t item;
    if (!darkroom_find_meta(file->bytes, file->byte_count, &meta)) return true;
    if (!darkroom_find_item(file->bytes, meta, "Exif", &item)) return true;
    if (!find_place(file->bytes, meta, item, &place)) return true;
    uint64_t old_offset = place.base + number(file->bytes + place.offset_field, place.offset_bytes);
    uint64_t old_length = number(file->bytes + place.length_field, place.length_bytes);
    if (old_offset > file->byte_count || old_length > file->byte_count - old_offset) return true;

    size_t length = sizeof name + count, start = (size_t)old_offset;
    if (length > old_length) {
        // The new EXIF is in another box, at the end of the file.
        size_t box = file->byte_count;
        start = box + 8;
        if (start < place.base || !fits(start - place.base, place.offset_bytes) || !fits(length, place.length_bytes) ||
            !fits(length + 8, 4))
            return true;
        uint8_t *larger = realloc(file->bytes, start + length);
        if (!larger) return false;
        file->bytes = larger;
        file->byte_count = start + length;
        set_number(larger + box, 4, length + 8);
        memcpy(larger + box + 4, "mdat", 4);
        set_number(larger + place.offset_field, place.offset_bytes, start - place.base);
    }
    memset(file->bytes + old_offset, 0, (size_t)old_length);
    set_number(file->bytes + place.length_field, place.length_bytes, length);
    memcpy(file->bytes + start, name, sizeof name);
    memcpy(file->bytes + start + sizeof name, exif, count);
    return true;
}
