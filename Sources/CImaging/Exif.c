#include "Exif.h"

#include <stdbool.h>
#include <string.h>

enum { ENTRY_BYTES = 12, TAG_ORIENTATION = 0x112, TYPE_SHORT = 3 };

// The TIFF part of an EXIF marker. Its first directory was found and is completely within the bytes.
struct directory {
    const uint8_t *tiff;
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

static bool open_directory(const uint8_t *marker, size_t count, struct directory *directory) {
    static const uint8_t header[6] = "Exif\0";
    if (count < sizeof header + 8 || memcmp(marker, header, sizeof header) != 0) return false;
    size_t size = count - sizeof header;
    *directory = (struct directory){.tiff = marker + sizeof header};
    directory->big_endian = memcmp(directory->tiff, "MM\0*", 4) == 0;
    if (!directory->big_endian && memcmp(directory->tiff, "II*\0", 4) != 0) return false;

    size_t start = number(directory, 4, 4);
    if (start > size - 2) return false;
    directory->entries = start + 2;
    directory->entry_count = number(directory, start, 2);
    // The four bytes after the entries are the offset of the next directory.
    return directory->entry_count * ENTRY_BYTES + 4 <= size - directory->entries;
}

int darkroom_exif_orientation(const uint8_t *marker, size_t count) {
    struct directory directory;
    if (!open_directory(marker, count, &directory)) return 1;
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
    if (!open_directory(marker, count, &directory)) return;
    size_t next = (size_t)(directory.tiff - marker) + directory.entries + directory.entry_count * ENTRY_BYTES;
    memset(marker + next, 0, 4);
}
