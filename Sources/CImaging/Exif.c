#include "Exif.h"

#include <stdbool.h>
#include <string.h>

enum {
    ENTRY_BYTES = 12,
    TAG_ORIENTATION = 0x112,
    TAG_EXIF = 0x8769,
    TAG_WIDTH = 0xA002,
    TAG_HEIGHT = 0xA003,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
};

// A directory in the TIFF part of an EXIF marker. It is completely within the bytes.
struct directory {
    const uint8_t *tiff;
    size_t size;
    bool big_endian;
    size_t entries, entry_count;
};

static uint32_t number(const struct directory *directory, size_t offset, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        int position = directory->big_endian ? i : bytes - 1 - i;
        value = value << 8 | directory->tiff[offset + (size_t)position];
    }
    return value;
}

static bool open_directory(struct directory *directory, size_t start) {
    if (start > directory->size - 2) return false;
    directory->entries = start + 2;
    directory->entry_count = number(directory, start, 2);
    // The four bytes after the entries are the offset of the next directory.
    return directory->entry_count * ENTRY_BYTES + 4 <= directory->size - directory->entries;
}

static bool open_first_directory(const uint8_t *marker, size_t count, struct directory *directory) {
    static const uint8_t header[6] = "Exif\0";
    if (count < sizeof header + 8 || memcmp(marker, header, sizeof header) != 0) return false;
    *directory = (struct directory){.tiff = marker + sizeof header, .size = count - sizeof header};
    directory->big_endian = memcmp(directory->tiff, "MM\0*", 4) == 0;
    if (!directory->big_endian && memcmp(directory->tiff, "II*\0", 4) != 0) return false;
    return open_directory(directory, number(directory, 4, 4));
}

// The offset of the first entry with the tag; 0 if there is none.
static size_t find(const struct directory *directory, uint32_t tag) {
    for (size_t i = 0; i < directory->entry_count; i++) {
        size_t entry = directory->entries + i * ENTRY_BYTES;
        if (number(directory, entry, 2) == tag) return entry;
    }
    return 0;
}

int darkroom_exif_orientation(const uint8_t *marker, size_t count) {
    struct directory directory;
    if (!open_first_directory(marker, count, &directory)) return 1;
    for (size_t i = 0; i < directory.entry_count; i++) {
        size_t entry = directory.entries + i * ENTRY_BYTES;
        if (number(&directory, entry, 2) != TAG_ORIENTATION || number(&directory, entry + 2, 2) != TYPE_SHORT) continue;
        uint32_t orientation = number(&directory, entry + 8, 2);
        return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
    }
    return 1;
}

void darkroom_exif_unlink_thumbnail(uint8_t *marker, size_t count) {
    struct directory directory;
    if (!open_first_directory(marker, count, &directory)) return;
    size_t next = (size_t)(directory.tiff - marker) + directory.entries + directory.entry_count * ENTRY_BYTES;
    memset(marker + next, 0, 4);
}

static void set_number(const struct directory *directory, uint8_t *marker, uint32_t tag, int value) {
    size_t entry = find(directory, tag);
    if (entry == 0) return;
    uint32_t type = number(directory, entry + 2, 2);
    if (type != TYPE_SHORT && type != TYPE_LONG) return;
    uint8_t *bytes = marker + (directory->tiff - marker) + entry + 8;
    int length = type == TYPE_SHORT ? 2 : 4;
    for (int i = 0; i < length; i++)
        bytes[directory->big_endian ? length - 1 - i : i] = (uint8_t)((uint32_t)value >> 8 * i);
}

void darkroom_exif_set_size(uint8_t *marker, size_t count, int width, int height) {
    struct directory directory;
    if (!open_first_directory(marker, count, &directory)) return;
    size_t entry = find(&directory, TAG_EXIF);
    if (entry == 0 || !open_directory(&directory, number(&directory, entry + 8, 4))) return;
    set_number(&directory, marker, TAG_WIDTH, width);
    set_number(&directory, marker, TAG_HEIGHT, height);
}
