#include "Exif.h"

#include <string.h>

enum {
    ENTRY_BYTES = 12,
    TAG_STRIP = 0x111,
    TAG_ORIENTATION = 0x112,
    TAG_STRIP_BYTES = 0x117,
    TAG_ACROSS = 0x11A,
    TAG_DOWN = 0x11B,
    TAG_UNIT = 0x128,
    TAG_THUMBNAIL = 0x201,
    TAG_THUMBNAIL_BYTES = 0x202,
    TAG_EXIF = 0x8769,
    TAG_GPS = 0x8825,
    TAG_WIDTH = 0xA002,
    TAG_HEIGHT = 0xA003,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIONAL = 5,
};

// The bytes of one value of each type of TIFF.
static const uint8_t type_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};

// A directory in the TIFF part of EXIF. Its entries are completely within the bytes.
struct directory {
    const uint8_t *tiff;
    size_t size;
    bool big_endian;
    size_t start, entries, entry_count;
};

static uint32_t number(const struct directory *directory, size_t offset, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        int position = directory->big_endian ? i : bytes - 1 - i;
        value = value << 8 | directory->tiff[offset + (size_t)position];
    }
    return value;
}

static void set_number(const struct directory *directory, uint8_t *tiff, size_t offset, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        tiff[offset + (size_t)(directory->big_endian ? bytes - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

static bool open_directory(struct directory *directory, size_t start) {
    if (start < 8 || start > directory->size - 2) return false;
    directory->start = start;
    directory->entries = start + 2;
    directory->entry_count = number(directory, start, 2);
    // Some files are cut after their last entry, or count more entries than they have.
    size_t most = (directory->size - directory->entries) / ENTRY_BYTES;
    if (directory->entry_count > most) directory->entry_count = most;
    return true;
}

// The offset of the TIFF header; `count` if there is none.
static size_t header(const uint8_t *exif, size_t count) {
    size_t skipped = count >= 6 && memcmp(exif, "Exif\0", 5) == 0 ? 6 : 0;
    if (count < skipped + 10) return count;
    bool is_tiff = memcmp(exif + skipped, "MM\0*", 4) == 0 || memcmp(exif + skipped, "II*\0", 4) == 0;
    return is_tiff ? skipped : count;
}

bool darkroom_is_exif(const uint8_t *exif, size_t count) { return header(exif, count) < count; }

static bool open_first_directory(const uint8_t *exif, size_t count, struct directory *directory) {
    size_t skipped = header(exif, count);
    if (skipped == count) return false;
    *directory = (struct directory){.tiff = exif + skipped, .size = count - skipped};
    directory->big_endian = directory->tiff[0] == 'M';
    return open_directory(directory, number(directory, 4, 4));
}

static bool open_next_directory(const struct directory *directory, struct directory *next) {
    size_t link = directory->entries + directory->entry_count * ENTRY_BYTES;
    if (link + 4 > directory->size) return false;
    *next = *directory;
    return open_directory(next, number(directory, link, 4));
}

// The offset of the first entry with the tag; 0 if there is none.
static size_t find(const struct directory *directory, uint32_t tag) {
    for (size_t i = 0; i < directory->entry_count; i++) {
        size_t entry = directory->entries + i * ENTRY_BYTES;
        if (number(directory, entry, 2) == tag) return entry;
    }
    return 0;
}

// The number of bytes of a whole number that is stored in its entry; 0 for other entries.
static int whole_number_bytes(const struct directory *directory, size_t entry) {
    static const uint8_t whole[] = {0, 1, 0, 2, 4, 0, 1, 0, 2, 4};
    uint32_t type = number(directory, entry + 2, 2);
    return type < sizeof whole && number(directory, entry + 4, 4) <= 1 ? whole[type] : 0;
}

int darkroom_exif_orientation(const uint8_t *exif, size_t count) {
    struct directory directory;
    if (!open_first_directory(exif, count, &directory)) return 1;
    for (size_t i = 0; i < directory.entry_count; i++) {
        size_t entry = directory.entries + i * ENTRY_BYTES;
        if (number(&directory, entry, 2) != TAG_ORIENTATION) continue;
        int bytes = whole_number_bytes(&directory, entry);
        if (bytes == 0) continue;
        uint32_t orientation = number(&directory, entry + 8, bytes);
        return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
    }
    return 1;
}

// A rational number of a tag, rounded; 0 if there is none.
static int rational(const struct directory *directory, uint32_t tag) {
    size_t entry = find(directory, tag);
    if (entry == 0 || number(directory, entry + 2, 2) != TYPE_RATIONAL) return 0;
    size_t offset = number(directory, entry + 8, 4);
    if (offset > directory->size - 8) return 0;
    double value = (double)number(directory, offset, 4) / number(directory, offset + 4, 4);
    return value >= 1 && value <= 65535 ? (int)(value + 0.5) : 0;
}

bool darkroom_exif_density(const uint8_t *exif, size_t count, int density[3]) {
    struct directory directory;
    if (!open_first_directory(exif, count, &directory)) return false;
    size_t unit = find(&directory, TAG_UNIT);
    // 2 stands for inches, which is the default, and 3 for centimetres.
    int stored = unit ? (int)number(&directory, unit + 8, 2) : 2;
    if (stored != 2 && stored != 3) return false;
    density[0] = stored - 1;
    density[1] = rational(&directory, TAG_ACROSS);
    density[2] = rational(&directory, TAG_DOWN);
    return density[1] > 0 && density[2] > 0;
}

void darkroom_exif_set_upright(uint8_t *exif, size_t count) {
    struct directory directory;
    if (!open_first_directory(exif, count, &directory)) return;
    uint8_t *tiff = exif + (directory.tiff - exif);
    for (size_t i = 0; i < directory.entry_count; i++) {
        size_t entry = directory.entries + i * ENTRY_BYTES;
        if (number(&directory, entry, 2) != TAG_ORIENTATION) continue;
        int bytes = whole_number_bytes(&directory, entry);
        if (bytes > 0) set_number(&directory, tiff, entry + 8, 1, bytes);
    }
}

size_t darkroom_exif_remove_thumbnail(uint8_t *exif, size_t count) {
    struct directory first, second;
    if (!open_first_directory(exif, count, &first)) return count;
    uint8_t *tiff = exif + (first.tiff - exif);
    size_t link = first.entries + first.entry_count * ENTRY_BYTES, kept = first.size;
    if (open_next_directory(&first, &second)) {
        // The place and the length of a JPEG, and of pixels that are not compressed.
        static const uint32_t tags[][2] = {{TAG_THUMBNAIL, TAG_THUMBNAIL_BYTES}, {TAG_STRIP, TAG_STRIP_BYTES}};
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            size_t offset = find(&second, tags[i][0]), bytes = find(&second, tags[i][1]);
            if (offset == 0 || bytes == 0) continue;
            size_t start = number(&second, offset + 8, 4), length = number(&second, bytes + 8, 4);
            if (start < link + 4 || start >= first.size) continue;
            if (length > first.size - start) length = first.size - start;
            memset(tiff + start, 0, length);
            if (start + length == first.size) kept = start;
        }
    }
    if (link + 4 <= first.size) memset(tiff + link, 0, 4);
    return (size_t)(first.tiff - exif) + kept;
}

void darkroom_exif_remove_gps(uint8_t *exif, size_t count) {
    struct directory first;
    if (!open_first_directory(exif, count, &first)) return;
    uint8_t *tiff = exif + (first.tiff - exif);
    for (size_t entry; (entry = find(&first, TAG_GPS)) > 0;) {
        struct directory gps = first;
        size_t start = number(&first, entry + 8, 4);
        if (open_directory(&gps, start) && start != first.start) {
            for (size_t i = 0; i < gps.entry_count; i++) {
                size_t field = gps.entries + i * ENTRY_BYTES;
                uint32_t type = number(&gps, field + 2, 2);
                size_t bytes = type < sizeof type_bytes ? (size_t)number(&gps, field + 4, 4) * type_bytes[type] : 0;
                size_t value = number(&gps, field + 8, 4);
                if (bytes > 4 && value >= 8 && value <= gps.size && bytes <= gps.size - value) memset(tiff + value, 0, bytes);
            }
            size_t end = gps.entries + gps.entry_count * ENTRY_BYTES;
            memset(tiff + start, 0, end - start);
        }
        // The later entries and the offset of the next directory take the place of the entry.
        size_t end = first.entries + first.entry_count * ENTRY_BYTES;
        size_t rest = (end + 4 <= first.size ? end + 4 : end) - (entry + ENTRY_BYTES);
        memmove(tiff + entry, tiff + entry + ENTRY_BYTES, rest);
        memset(tiff + entry + rest, 0, ENTRY_BYTES);
        first.entry_count--;
        set_number(&first, tiff, first.start, (uint32_t)first.entry_count, 2);
    }
}

static void set_side(const struct directory *directory, uint8_t *tiff, uint32_t tag, int value) {
    size_t entry = find(directory, tag);
    if (entry == 0) return;
    uint32_t type = number(directory, entry + 2, 2);
    if (type != TYPE_SHORT && type != TYPE_LONG) return;
    set_number(directory, tiff, entry + 8, (uint32_t)value, type == TYPE_SHORT ? 2 : 4);
}

void darkroom_exif_set_size(uint8_t *exif, size_t count, int width, int height) {
    struct directory directory;
    if (!open_first_directory(exif, count, &directory)) return;
    uint8_t *tiff = exif + (directory.tiff - exif);
    size_t entry = find(&directory, TAG_EXIF);
    if (entry == 0 || !open_directory(&directory, number(&directory, entry + 8, 4))) return;
    set_side(&directory, tiff, TAG_WIDTH, width);
    set_side(&directory, tiff, TAG_HEIGHT, height);
}
