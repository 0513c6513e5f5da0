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
    TAG_ARTIST = 0x13B,
    TAG_COPYRIGHT = 0x8298,
    TAG_IPTC = 0x83BB,
    TAG_EXIF = 0x8769,
    TAG_GPS = 0x8825,
    TAG_MAKER_NOTE = 0x927C,
    TAG_INTEROPERABILITY = 0xA005,
    TAG_WIDTH = 0xA002,
    TAG_HEIGHT = 0xA003,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIONAL = 5,
    TYPE_UNDEFINED = 7,
    TYPE_SIGNED_RATIONAL = 10,
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
    // Some files are cut after their last entry, or declare more entries than they contain.
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

// The number of bytes of a whole number that is stored in the entry itself; 0 for other entries.
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
        // The tags for the offset and the length: of a JPEG, and of uncompressed pixels.
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
        // Moves the later entries and the offset of the next directory to the position of the removed entry.
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

// MARK: - Copies

enum {
    MAX_VALUE_BYTES = 64 << 10,
    // The limit for each directory.
    MAX_COPIED_ENTRIES = 200,
};

// The tags of a first directory that describe the photo, in ascending order. The tags from 0x9C9B on are those of
// Windows.
static const uint32_t photo_tags[] = {
    0x10E, 0x10F, 0x110, 0x131, 0x132, TAG_ARTIST, 0x13C, 0x4746, 0x4749, TAG_COPYRIGHT, TAG_EXIF, TAG_GPS,
    0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, 0,
};
static const uint32_t copyright_tags[] = {TAG_ARTIST, TAG_COPYRIGHT, 0};
static const uint32_t iptc_tags[] = {TAG_IPTC, 0};

// An entry of a new directory.
struct copied_entry {
    const struct directory *from;
    size_t entry;
    // Whether the new directory is in the file of the entry, so that the value can keep its position.
    bool stays;
};

static bool is_pointer(uint32_t tag) { return tag == TAG_EXIF || tag == TAG_GPS; }

// The value of an entry; NULL if it cannot be copied.
static const uint8_t *value_of(const struct directory *directory, size_t entry, size_t *bytes) {
    uint32_t type = number(directory, entry + 2, 2);
    if (type == 0 || type >= sizeof type_bytes) return NULL;
    *bytes = (size_t)number(directory, entry + 4, 4) * type_bytes[type];
    if (*bytes == 0 || *bytes > MAX_VALUE_BYTES) return NULL;
    if (*bytes <= 4) return directory->tiff + entry + 8;
    size_t offset = number(directory, entry + 8, 4);
    return offset <= directory->size && *bytes <= directory->size - offset ? directory->tiff + offset : NULL;
}

static bool is_wanted(const struct directory *directory, size_t entry, const uint32_t *tags) {
    uint32_t tag = number(directory, entry, 2);
    size_t bytes;
    if (!value_of(directory, entry, &bytes)) return false;
    // In a subdirectory, all tags are wanted, except pointers to other directories, and maker notes.
    if (!tags) return !is_pointer(tag) && tag != TAG_MAKER_NOTE && tag != TAG_INTEROPERABILITY;
    while (*tags && *tags != tag) tags++;
    struct directory part = *directory;
    bool is_valid = !is_pointer(tag) || (number(directory, entry + 2, 2) == TYPE_LONG && bytes == 4 &&
                                         open_directory(&part, number(directory, entry + 8, 4)));
    return *tags && is_valid;
}

static bool contains_tag(const GArray *entries, uint32_t tag) {
    for (guint i = 0; i < entries->len; i++) {
        const struct copied_entry *other = &g_array_index(entries, struct copied_entry, i);
        if (number(other->from, other->entry, 2) == tag) return true;
    }
    return false;
}

// Adds the entries with these tags, or all entries if `tags` is NULL. Of entries with the same tag, only the first is added.
static void collect(GArray *entries, const struct directory *directory, const uint32_t *tags) {
    guint most = entries->len + MAX_COPIED_ENTRIES;
    for (size_t i = 0; i < directory->entry_count && entries->len < most; i++) {
        struct copied_entry copied = {.from = directory, .entry = directory->entries + i * ENTRY_BYTES};
        bool is_added = is_wanted(directory, copied.entry, tags) && !contains_tag(entries, number(directory, copied.entry, 2));
        if (is_added) g_array_append_val(entries, copied);
    }
}

static gint by_tag(gconstpointer a, gconstpointer b) {
    const struct copied_entry *first = a, *second = b;
    return (gint)number(first->from, first->entry, 2) - (gint)number(second->from, second->entry, 2);
}

static void put_number(GByteArray *out, bool big_endian, size_t offset, size_t value, int bytes) {
    for (int i = 0; i < bytes; i++) out->data[offset + (size_t)(big_endian ? bytes - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

// Writes a value of this type in the byte order of the new directory.
static void put_value(GByteArray *out, size_t offset, const uint8_t *value, size_t bytes, uint32_t type, bool is_swapped) {
    size_t unit = type == TYPE_RATIONAL || type == TYPE_SIGNED_RATIONAL ? 4 : type_bytes[type];
    for (size_t i = 0; i < bytes; i++)
        out->data[offset + i] = value[is_swapped && type != TYPE_UNDEFINED ? i - i % unit + unit - 1 - i % unit : i];
}

static size_t append_space(GByteArray *out, size_t bytes) {
    size_t start = out->len + out->len % 2;
    guint before = out->len;
    g_byte_array_set_size(out, (guint)(start + bytes));
    memset(out->data + before, 0, out->len - before);
    return start;
}

// Returns the offset of the directory.
static size_t append_directory(GByteArray *out, bool big_endian, GArray *entries, uint32_t next) {
    g_array_sort(entries, by_tag);
    size_t start = append_space(out, 2 + ENTRY_BYTES * (size_t)entries->len + 4);
    put_number(out, big_endian, start, entries->len, 2);
    put_number(out, big_endian, start + 2 + ENTRY_BYTES * (size_t)entries->len, next, 4);
    for (guint i = 0; i < entries->len; i++) {
        struct copied_entry copied = g_array_index(entries, struct copied_entry, i);
        const struct directory *from = copied.from;
        size_t at = start + 2 + ENTRY_BYTES * (size_t)i, bytes = 0;
        uint32_t tag = number(from, copied.entry, 2), type = number(from, copied.entry + 2, 2);
        put_number(out, big_endian, at, tag, 2);
        put_number(out, big_endian, at + 2, type, 2);
        put_number(out, big_endian, at + 4, number(from, copied.entry + 4, 4), 4);
        if (copied.stays) {
            memcpy(out->data + at + 8, from->tiff + copied.entry + 8, 4);
            continue;
        }
        const uint8_t *value = value_of(from, copied.entry, &bytes);
        bool is_swapped = from->big_endian != big_endian;
        if (is_pointer(tag)) {
            struct directory part = *from;
            GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct copied_entry));
            if (open_directory(&part, number(from, copied.entry + 8, 4))) collect(parts, &part, NULL);
            size_t offset = append_directory(out, big_endian, parts, 0);
            put_number(out, big_endian, at + 8, offset, 4);
            g_array_free(parts, TRUE);
        } else if (bytes <= 4) {
            put_value(out, at + 8, value, bytes, type, is_swapped);
        } else {
            size_t offset = append_space(out, bytes);
            put_value(out, offset, value, bytes, type, is_swapped);
            put_number(out, big_endian, at + 8, offset, 4);
        }
    }
    return start;
}

static GByteArray *copy_tags(const uint8_t *bytes, size_t count, const uint32_t *tags) {
    struct directory directory;
    if (!open_first_directory(bytes, count, &directory)) return NULL;
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct copied_entry));
    GByteArray *out = NULL;
    collect(entries, &directory, tags);
    if (entries->len > 0) {
        out = g_byte_array_new();
        g_byte_array_append(out, directory.tiff, 4);
        append_space(out, 4);
        size_t start = append_directory(out, directory.big_endian, entries, 0);
        put_number(out, directory.big_endian, 4, start, 4);
    }
    g_array_free(entries, TRUE);
    return out;
}

GByteArray *darkroom_exif_from_tiff(const uint8_t *tiff, size_t count) { return copy_tags(tiff, count, photo_tags); }

GByteArray *darkroom_exif_copyright(const uint8_t *exif, size_t count) { return copy_tags(exif, count, copyright_tags); }

// Makes a TIFF with a single tag, which contains the IPTC records.
static GByteArray *tiff_of_records(const uint8_t *records, size_t count) {
    enum { VALUE_OFFSET = 8 + 2 + ENTRY_BYTES + 4 };
    GByteArray *tiff = g_byte_array_new();
    g_byte_array_append(tiff, (const uint8_t *)"MM\0*\0\0\0\10\0\1", 10);
    append_space(tiff, ENTRY_BYTES + 4);
    put_number(tiff, true, 10, TAG_IPTC, 2);
    put_number(tiff, true, 12, TYPE_UNDEFINED, 2);
    put_number(tiff, true, 14, count, 4);
    put_number(tiff, true, 18, VALUE_OFFSET, 4);
    g_byte_array_append(tiff, records, (guint)count);
    return tiff;
}

GByteArray *darkroom_exif_add_to_tiff(const uint8_t *tiff, size_t tiff_count, const uint8_t *exif, size_t count,
                                      const uint8_t *records, size_t records_count) {
    struct directory own, added, iptc;
    if (!open_first_directory(tiff, tiff_count, &own)) return NULL;
    size_t link = own.entries + own.entry_count * ENTRY_BYTES;
    if (own.tiff != tiff || link + 4 > own.size || tiff_count > UINT32_MAX / 2) return NULL;
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct copied_entry));
    for (size_t i = 0; i < own.entry_count; i++) {
        struct copied_entry kept = {.from = &own, .entry = own.entries + i * ENTRY_BYTES, .stays = true};
        g_array_append_val(entries, kept);
    }
    if (exif && open_first_directory(exif, count, &added)) collect(entries, &added, photo_tags);
    // A value of up to four bytes would be stored in the directory entry itself, so such records are left out.
    bool has_records = records && records_count > 4 && records_count <= MAX_VALUE_BYTES;
    GByteArray *holder = has_records ? tiff_of_records(records, records_count) : NULL;
    if (holder && open_first_directory(holder->data, holder->len, &iptc)) collect(entries, &iptc, iptc_tags);
    GByteArray *out = NULL;
    if (entries->len > own.entry_count && entries->len <= UINT16_MAX) {
        out = g_byte_array_sized_new((guint)(tiff_count + count + records_count + 4096));
        g_byte_array_append(out, tiff, (guint)tiff_count);
        size_t start = append_directory(out, own.big_endian, entries, number(&own, link, 4));
        put_number(out, own.big_endian, 4, start, 4);
    }
    g_array_free(entries, TRUE);
    if (holder) g_byte_array_free(holder, TRUE);
    return out;
}
