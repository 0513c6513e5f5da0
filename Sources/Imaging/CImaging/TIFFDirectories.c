#include "TIFFDirectories.h"

#include <math.h>
#include <string.h>

enum {
    TAG_NEW_SUBFILE_TYPE = 254,
    TAG_SUBFILE_TYPE = 255,
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_MAKE = 271,
    TAG_SAMPLES = 277,
    TAG_SUBIFDS = 330,
    TAG_INK_SET = 332,
    TAG_EXTRA_SAMPLES = 338,
    TAG_SAMPLE_FORMAT = 339,
    TAG_SMIN = 340,
    TAG_SMAX = 341,
    TAG_DNG_VERSION = 50706,

    // NewSubfileType: bits for a reduced copy, a mask, and a depth map (DNG). Bit 1 marks one page of several.
    NOT_THE_PICTURE = 1 | 4 | 8,
    SUBFILE_REDUCED = 2,

    PHOTOMETRIC_CFA = 32803,
    PHOTOMETRIC_LINEAR_RAW = 34892,

    // The numbers of directories that are examined. Files with more directories are also read.
    MAX_PAGES = 64,
    MAX_SUBIFDS = 16,
    MAX_ENTRIES = 4096,
    // The limit for all directories together.
    MAX_ENTRIES_READ = 20000,
    MAX_SAMPLES = 64,
};

// The compressions of sensor data that cameras write, excluding those of TIFF: Kodak, Sony, Epson, Samsung, Nikon,
// Pentax.
static const uint32_t raw_compressions[] = {262, 32767, 32769, 32770, 32772, 34713, 65000, 65535};

struct reader {
    const uint8_t *bytes;
    size_t count;
    bool is_big_endian, is_big_tiff;
    // The number of entries that may still be read.
    uint64_t entries_left;
};

// Returns 0 for a number that is not completely within the file.
static uint64_t number(const struct reader *reader, uint64_t offset, unsigned size) {
    uint64_t value = 0;
    if (offset > reader->count || size > reader->count - offset) return 0;
    for (unsigned i = 0; i < size; i++) {
        unsigned position = reader->is_big_endian ? i : size - 1 - i;
        value = value << 8 | reader->bytes[offset + position];
    }
    return value;
}

struct entry {
    uint32_t tag, type;
    uint64_t count;
    // The offset of the values.
    uint64_t values;
};

static unsigned size_of_type(uint32_t type) {
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

static uint64_t directory_entries(const struct reader *reader, uint64_t directory) {
    return number(reader, directory, reader->is_big_tiff ? 8 : 2);
}

static struct entry entry_at(const struct reader *reader, uint64_t directory, uint64_t index) {
    unsigned word = reader->is_big_tiff ? 8 : 4;
    uint64_t start = directory + (reader->is_big_tiff ? 8 + index * 20 : 2 + index * 12);
    struct entry entry = {
        .tag = (uint32_t)number(reader, start, 2),
        .type = (uint32_t)number(reader, start + 2, 2),
        .count = number(reader, start + 4, word),
        .values = start + 4 + word,
    };
    bool fits = entry.count <= word && entry.count * size_of_type(entry.type) <= word;
    if (!fits) entry.values = number(reader, entry.values, word);
    return entry;
}

static uint64_t whole_value(const struct reader *reader, const struct entry *entry, uint64_t index) {
    unsigned size = size_of_type(entry->type);
    return index < entry->count ? number(reader, entry->values + index * size, size) : 0;
}

static double real_value(const struct reader *reader, const struct entry *entry, uint64_t index) {
    uint64_t bits = whole_value(reader, entry, index);
    uint32_t half = (uint32_t)bits;
    float single;
    double value;
    switch (entry->type) {
    case 6: return (int8_t)bits;
    case 8: return (int16_t)bits;
    case 9: return (int32_t)bits;
    case 11: memcpy(&single, &half, sizeof single); return single;
    case 12: memcpy(&value, &bits, sizeof value); return value;
    case 17: return (double)(int64_t)bits;
    default: return (double)bits;
    }
}

// The least or the greatest value of an entry.
static double extreme(const struct reader *reader, const struct entry *entry, bool is_least) {
    double found = NAN;
    for (uint64_t i = 0; i < entry->count && i < MAX_SAMPLES; i++) {
        double value = real_value(reader, entry, i);
        found = is_least ? fmin(found, value) : fmax(found, value);
    }
    return found;
}

struct directory {
    struct darkroom_tiff_page page;
    struct entry subifds, make;
    bool is_dng;
    uint64_t next;
};

static bool differs(const struct reader *reader, const struct entry *entry) {
    for (uint64_t i = 1; i < entry->count && i < MAX_SAMPLES; i++)
        if (whole_value(reader, entry, i) != whole_value(reader, entry, 0)) return true;
    return false;
}

static void take_entry(const struct reader *reader, const struct entry *entry, struct directory *directory,
                       double range[2]) {
    struct darkroom_tiff_page *page = &directory->page;
    uint32_t value = (uint32_t)whole_value(reader, entry, 0);
    switch (entry->tag) {
    case TAG_NEW_SUBFILE_TYPE: page->is_full = page->is_full && !(value & NOT_THE_PICTURE); break;
    case TAG_SUBFILE_TYPE: page->is_full = page->is_full && value != SUBFILE_REDUCED; break;
    case TAG_WIDTH: page->width = value; break;
    case TAG_HEIGHT: page->height = value; break;
    case TAG_COMPRESSION: page->compression = value; break;
    case TAG_PHOTOMETRIC: page->photometric = value; break;
    case TAG_SAMPLES: page->samples = value; break;
    case TAG_INK_SET: page->ink_set = value; break;
    case TAG_BITS:
        for (uint64_t i = 0; i < entry->count && i < MAX_SAMPLES; i++) {
            uint32_t bits = (uint32_t)whole_value(reader, entry, i);
            if (i == 0 || bits > page->bits) page->bits = bits;
        }
        page->is_mixed = page->is_mixed || differs(reader, entry);
        break;
    case TAG_SAMPLE_FORMAT:
        page->sample_format = value;
        page->is_mixed = page->is_mixed || differs(reader, entry);
        break;
    case TAG_EXTRA_SAMPLES:
        page->extra_count = entry->count < TIFF_MAX_EXTRA_SAMPLES ? (uint32_t)entry->count : TIFF_MAX_EXTRA_SAMPLES;
        for (uint32_t i = 0; i < page->extra_count; i++) page->extras[i] = (uint32_t)whole_value(reader, entry, i);
        break;
    case TAG_SMIN: range[0] = extreme(reader, entry, true); break;
    case TAG_SMAX: range[1] = extreme(reader, entry, false); break;
    case TAG_SUBIFDS: directory->subifds = *entry; break;
    case TAG_MAKE: directory->make = *entry; break;
    case TAG_DNG_VERSION: directory->is_dng = true; break;
    default: break;
    }
}

// Returns false if there is no directory at the offset, or if the directories read so far, including this one, have too
// many entries.
static bool read_directory(struct reader *reader, uint64_t offset, struct directory *directory) {
    uint64_t entries = directory_entries(reader, offset);
    if (offset == 0 || entries == 0 || entries > MAX_ENTRIES || entries > reader->entries_left) return false;
    reader->entries_left -= entries;
    *directory = (struct directory){.page = {
        .bits = 1, .compression = 1, .photometric = UINT32_MAX, .samples = 1, .sample_format = TIFF_UNSIGNED,
        .ink_set = 1, .is_full = true}};
    double range[2] = {NAN, NAN};
    for (uint64_t i = 0; i < entries; i++) {
        struct entry entry = entry_at(reader, offset, i);
        take_entry(reader, &entry, directory, range);
    }
    struct darkroom_tiff_page *page = &directory->page;
    page->has_range = isfinite(range[0]) && isfinite(range[1]) && range[0] < range[1];
    if (page->has_range) {
        page->least = range[0];
        page->most = range[1];
    }
    uint64_t end = offset + (reader->is_big_tiff ? 8 + entries * 20 : 2 + entries * 12);
    directory->next = number(reader, end, reader->is_big_tiff ? 8 : 4);
    return true;
}

static bool is_raw(const struct darkroom_tiff_page *page) {
    if (page->photometric == PHOTOMETRIC_CFA || page->photometric == PHOTOMETRIC_LINEAR_RAW) return true;
    for (size_t i = 0; i < sizeof raw_compressions / sizeof raw_compressions[0]; i++)
        if (page->compression == raw_compressions[i]) return true;
    return false;
}

static uint64_t area(const struct darkroom_tiff_page *page) { return (uint64_t)page->width * page->height; }

static void consider(struct darkroom_tiff *tiff, const struct darkroom_tiff_page *page, int page_index, int subifd_index) {
    tiff->is_raw = tiff->is_raw || is_raw(page);
    bool is_first = page_index == 0 && subifd_index == -1;
    bool is_better = page->is_full ? !tiff->page.is_full : !tiff->page.is_full && area(page) > area(&tiff->page);
    if (!is_first && !is_better) return;
    tiff->page = *page;
    tiff->page_index = page_index;
    tiff->subifd_index = subifd_index;
}

static bool open_reader(const uint8_t *bytes, size_t count, struct reader *reader) {
    if (count < 8) return false;
    bool is_big_endian = bytes[0] == 'M';
    uint8_t order = is_big_endian ? 'M' : 'I';
    uint8_t version = bytes[is_big_endian ? 3 : 2];
    if (bytes[0] != order || bytes[1] != order || bytes[is_big_endian ? 2 : 3] != 0 || (version != 42 && version != 43))
        return false;
    *reader = (struct reader){
        .bytes = bytes,
        .count = count,
        .is_big_endian = is_big_endian,
        .is_big_tiff = version == 43,
        .entries_left = MAX_ENTRIES_READ};
    return true;
}

static uint64_t first_directory(const struct reader *reader) {
    return reader->is_big_tiff ? number(reader, 8, 8) : number(reader, 4, 4);
}

bool darkroom_tiff_read(const uint8_t *bytes, size_t count, struct darkroom_tiff *tiff) {
    struct reader reader;
    struct directory directory;
    if (!open_reader(bytes, count, &reader)) return false;
    if (!read_directory(&reader, first_directory(&reader), &directory)) return false;
    *tiff = (struct darkroom_tiff){.is_dng = directory.is_dng};
    if (directory.make.values < count && directory.make.count <= count - directory.make.values) {
        tiff->make = (const char *)bytes + directory.make.values;
        tiff->make_length = (size_t)directory.make.count;
    }
    // A directory may be its own successor, so the number of pages is limited.
    for (int page = 0; page < MAX_PAGES; page++) {
        consider(tiff, &directory.page, page, -1);
        for (int i = 0; i < MAX_SUBIFDS && (uint64_t)i < directory.subifds.count; i++) {
            struct directory subifd;
            if (read_directory(&reader, whole_value(&reader, &directory.subifds, (uint64_t)i), &subifd))
                consider(tiff, &subifd.page, page, i);
        }
        if (!read_directory(&reader, directory.next, &directory)) break;
    }
    tiff->is_raw = tiff->is_raw || tiff->is_dng;
    return true;
}

// MARK: - Metadata

// The values of an entry; NULL if they are not within the file.
static const uint8_t *value_bytes(const struct reader *reader, const struct entry *entry, size_t *count) {
    unsigned size = size_of_type(entry->type);
    if (size == 0 || entry->count == 0 || entry->values > reader->count) return NULL;
    if (entry->count > (reader->count - entry->values) / size) return NULL;
    *count = (size_t)entry->count * size;
    return reader->bytes + entry->values;
}

const uint8_t *darkroom_tiff_value(const uint8_t *bytes, size_t count, uint32_t tag, size_t *value_count) {
    struct reader reader;
    if (!open_reader(bytes, count, &reader)) return NULL;
    uint64_t directory = first_directory(&reader), entries = directory_entries(&reader, directory);
    for (uint64_t i = 0; directory > 0 && i < entries && i < MAX_ENTRIES; i++) {
        struct entry entry = entry_at(&reader, directory, i);
        if (entry.tag == tag) return value_bytes(&reader, &entry, value_count);
    }
    return NULL;
}

static void append_number(GByteArray *out, bool is_big_endian, uint64_t value, unsigned size) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++) bytes[is_big_endian ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
    g_byte_array_append(out, bytes, size);
}

static void set_number(GByteArray *out, bool is_big_endian, size_t offset, uint64_t value) {
    for (unsigned i = 0; i < 4; i++) out->data[offset + (is_big_endian ? 3 - i : i)] = (uint8_t)(value >> 8 * i);
}

// Appends a directory of a BigTIFF in the form of a classic TIFF. If `is_first`, also appends the directories of EXIF
// and GPS that the directory leads to. The size is limited, because many entries may have the same value: values beyond
// the limit are left out. Returns the offset of the directory.
static size_t append_directory(GByteArray *out, const struct reader *reader, uint64_t offset, bool is_first) {
    enum { TAG_EXIF = 0x8769, TAG_GPS = 0x8825, TYPE_LONG = 4, TYPE_LONG8 = 16 };
    enum { MAX_COPIED = 200, MAX_BYTES = 64 << 10, MAX_ALL = 512 << 10 };
    bool is_big_endian = reader->is_big_endian;
    uint64_t entries = directory_entries(reader, offset);
    size_t start = out->len, copied = 0;
    if (entries > MAX_COPIED) entries = MAX_COPIED;
    g_byte_array_set_size(out, (guint)(start + 2 + entries * 12 + 4));
    memset(out->data + start, 0, out->len - start);
    for (uint64_t i = 0; i < entries; i++) {
        struct entry entry = entry_at(reader, offset, i);
        size_t at = start + 2 + copied * 12, bytes = 0;
        const uint8_t *value = value_bytes(reader, &entry, &bytes);
        bool is_pointer = entry.tag == TAG_EXIF || entry.tag == TAG_GPS;
        if (!value || bytes > MAX_BYTES || out->len > MAX_ALL) continue;
        if ((entry.type >= TYPE_LONG8 && !is_pointer) || (is_pointer && !is_first)) continue;
        GByteArray *fields = g_byte_array_new();
        append_number(fields, is_big_endian, entry.tag, 2);
        append_number(fields, is_big_endian, is_pointer ? TYPE_LONG : entry.type, 2);
        append_number(fields, is_big_endian, entry.count, 4);
        memcpy(out->data + at, fields->data, fields->len);
        g_byte_array_free(fields, TRUE);
        if (is_pointer) {
            uint64_t part = whole_value(reader, &entry, 0);
            if (part == 0) continue;
            set_number(out, is_big_endian, at + 8, append_directory(out, reader, part, false));
        } else if (bytes <= 4) {
            memcpy(out->data + at + 8, value, bytes);
        } else {
            set_number(out, is_big_endian, at + 8, out->len);
            g_byte_array_append(out, value, (guint)(bytes));
            if (bytes % 2) append_number(out, is_big_endian, 0, 1);
        }
        copied++;
    }
    out->data[start + (is_big_endian ? 1 : 0)] = (uint8_t)copied;
    return start;
}

GByteArray *darkroom_tiff_from_big_tiff(const uint8_t *bytes, size_t count) {
    struct reader reader;
    if (!open_reader(bytes, count, &reader) || !reader.is_big_tiff) return NULL;
    GByteArray *out = g_byte_array_new();
    g_byte_array_append(out, (const uint8_t *)(reader.is_big_endian ? "MM\0*" : "II*\0"), 4);
    append_number(out, reader.is_big_endian, 8, 4);
    append_directory(out, &reader, first_directory(&reader), true);
    return out;
}
