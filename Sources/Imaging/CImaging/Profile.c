#include "Profile.h"

#include <math.h>
#include <string.h>

enum { HEADER_BYTES = 128, MAX_TAGS = 100, CURVE_ENTRIES = 1024 };

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// MARK: - Reading

// Finds the data of a tag. Returns NULL if there is no such tag, or if its data are not within the profile.
static const uint8_t *find_tag(const uint8_t *profile, size_t count, const char *signature, size_t *tag_bytes) {
    uint32_t tags = number(profile + HEADER_BYTES);
    for (size_t i = 0; i < tags && i < MAX_TAGS && HEADER_BYTES + 4 + (i + 1) * 12 <= count; i++) {
        const uint8_t *entry = profile + HEADER_BYTES + 4 + i * 12;
        size_t offset = number(entry + 4), length = number(entry + 8);
        if (memcmp(entry, signature, 4) || offset > count || length > count - offset || length < 8) continue;
        *tag_bytes = length;
        return profile + offset;
    }
    return NULL;
}

static bool has_tag(const uint8_t *profile, size_t count, const char *signature) {
    size_t length;
    return find_tag(profile, count, signature, &length) != NULL;
}

static bool has_header(const uint8_t *profile, size_t count) {
    return count >= HEADER_BYTES + 4 && number(profile) <= count && number(profile) >= HEADER_BYTES + 4 &&
           memcmp(profile + 36, "acsp", 4) == 0;
}

uint32_t darkroom_profile_space(const uint8_t *profile, size_t count) {
    if (!has_header(profile, count)) return 0;
    // Other classes connect profiles or name colours, and do not describe pixels (ICC.1, 7.2.5).
    static const char classes[][5] = {"scnr", "mntr", "prtr", "spac"};
    bool is_for_pixels = false;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        is_for_pixels = is_for_pixels || memcmp(profile + 12, classes[i], 4) == 0;
    if (!is_for_pixels) return 0;
    uint32_t space = number(profile + 16);
    bool has_table = has_tag(profile, count, "A2B0") || has_tag(profile, count, "D2B0");
    bool has_matrix = space == DARKROOM_SPACE('R', 'G', 'B', ' ') && has_tag(profile, count, "rXYZ") &&
                      has_tag(profile, count, "gXYZ") && has_tag(profile, count, "bXYZ") &&
                      has_tag(profile, count, "rTRC") && has_tag(profile, count, "gTRC") && has_tag(profile, count, "bTRC");
    bool has_curve = space == DARKROOM_SPACE('G', 'R', 'A', 'Y') && has_tag(profile, count, "kTRC");
    return has_table || has_matrix || has_curve ? space : 0;
}

// Copies the ASCII characters of the description: the first record of a multilingual text, or a text of version 2.
static void get_description(const uint8_t *profile, size_t count, char *text, size_t capacity) {
    size_t length = 0, used = 0;
    const uint8_t *tag = find_tag(profile, count, "desc", &length);
    bool is_wide = tag && length >= 28 && memcmp(tag, "mluc", 4) == 0;
    bool is_plain = tag && length >= 12 && memcmp(tag, "desc", 4) == 0;
    size_t start = is_wide ? number(tag + 24) : 12, bytes = is_wide ? number(tag + 20) : is_plain ? number(tag + 8) : 0;
    if (start > length) bytes = 0;
    if (bytes > length - start) bytes = length - start;
    for (size_t i = is_wide ? 1 : 0; i < bytes && used + 1 < capacity; i += is_wide ? 2 : 1)
        if (tag[start + i] > 0 && tag[start + i] < 128) text[used++] = (char)tag[start + i];
    text[used] = 0;
}

bool darkroom_profile_is_hdr(const uint8_t *profile, size_t count, struct darkroom_colours *colours) {
    if (!has_header(profile, count)) return false;
    size_t length = 0;
    const uint8_t *tag = find_tag(profile, count, "cicp", &length);
    struct darkroom_colours found;
    if (tag && length >= 12 && memcmp(tag, "cicp", 4) == 0) {
        found = darkroom_coded_colours(tag[8], tag[9]);
    } else {
        char name[80];
        get_description(profile, count, name, sizeof name);
        bool is_2100 = strstr(name, "2100") != NULL, is_of_jxl = memcmp(profile + 4, "jxl ", 4) == 0;
        bool is_pq = (is_2100 && strstr(name, "PQ")) || (is_of_jxl && strstr(name, "_PeQ"));
        bool is_hlg = !is_pq && strstr(name, "HLG") && (is_2100 || is_of_jxl);
        if (!is_pq && !is_hlg) return false;
        int primaries = is_of_jxl && strstr(name, "_SRG_") ? 1 : is_of_jxl && strstr(name, "_DCI_") ? 12 : 9;
        found = darkroom_coded_colours(primaries, is_pq ? DARKROOM_TRANSFER_PQ : DARKROOM_TRANSFER_HLG);
    }
    if (!darkroom_is_hdr(&found)) return false;
    *colours = found;
    return true;
}

// MARK: - Writing

struct writer {
    uint8_t *bytes;
    size_t count, tags;
};

static void put(struct writer *writer, uint32_t value, size_t size) {
    for (size_t i = 0; i < size; i++) writer->bytes[writer->count++] = (uint8_t)(value >> 8 * (size - 1 - i));
}

static void put_text(struct writer *writer, const char *text) {
    size_t length = strlen(text);
    memcpy(writer->bytes + writer->count, text, length);
    writer->count += length;
}

// s15Fixed16Number.
static void put_fixed(struct writer *writer, double value) { put(writer, (uint32_t)(int32_t)lround(value * 65536), 4); }

enum { TAG_COUNT = 10, TABLE_END = HEADER_BYTES + 4 + TAG_COUNT * 12 };

// Enters the data from `start` to the end into the table of tags.
static void put_tag(struct writer *writer, const char *signature, size_t start) {
    struct writer table = {.bytes = writer->bytes, .count = HEADER_BYTES + 4 + writer->tags++ * 12};
    put_text(&table, signature);
    put(&table, (uint32_t)start, 4);
    put(&table, (uint32_t)(writer->count - start), 4);
}

static void put_words(struct writer *writer, const char *signature, const char *text) {
    size_t start = writer->count;
    put_text(writer, "mluc");
    put(writer, 0, 4);
    put(writer, 1, 4);
    put(writer, 12, 4);
    put_text(writer, "enUS");
    put(writer, (uint32_t)strlen(text) * 2, 4);
    put(writer, 28, 4);
    for (; *text; text++) put(writer, (uint8_t)*text, 2);
    put_tag(writer, signature, start);
    while (writer->count % 4) put(writer, 0, 1);
}

static void put_xyz(struct writer *writer, const char *signature, double x, double y, double z) {
    size_t start = writer->count;
    put_text(writer, "XYZ ");
    put(writer, 0, 4);
    put_fixed(writer, x);
    put_fixed(writer, y);
    put_fixed(writer, z);
    put_tag(writer, signature, start);
}

// A parametric curve (ICC.1, 10.18): a power if `count` is 1, otherwise a power with a linear part.
static void put_parameters(struct writer *writer, const double *values, size_t count) {
    put_text(writer, "para");
    put(writer, 0, 4);
    put(writer, count == 1 ? 0 : 3, 2);
    put(writer, 0, 2);
    for (size_t i = 0; i < count; i++) put_fixed(writer, values[i]);
}

static void put_curve(struct writer *writer, const struct darkroom_colours *colours) {
    const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    const double bt709[] = {1 / 0.45, 1 / 1.099296826809442, 0.099296826809442 / 1.099296826809442, 1 / 4.5,
                            4.5 * 0.018053968510807};
    const double smpte240[] = {1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 1 / 4.0, 4 * 0.0228};
    const double linear = 1;
    switch (colours->transfer) {
    case DARKROOM_TRANSFER_GAMMA: put_parameters(writer, &colours->gamma, 1); return;
    case DARKROOM_TRANSFER_LINEAR: put_parameters(writer, &linear, 1); return;
    case DARKROOM_TRANSFER_SRGB: put_parameters(writer, srgb, 5); return;
    case DARKROOM_TRANSFER_709: put_parameters(writer, bt709, 5); return;
    case DARKROOM_TRANSFER_240M: put_parameters(writer, smpte240, 5); return;
    default: break;
    }
    put_text(writer, "curv");
    put(writer, 0, 4);
    put(writer, CURVE_ENTRIES, 4);
    for (int i = 0; i < CURVE_ENTRIES; i++)
        put(writer, (uint32_t)lround(darkroom_light(colours, i / (double)(CURVE_ENTRIES - 1)) * 65535), 2);
}

size_t darkroom_profile_write(const struct darkroom_colours *colours, uint8_t profile[DARKROOM_MAX_PROFILE_BYTES]) {
    // The white of D50 as in ICC.1, 7.2.16: its X, Y and Z are 0.9642, 1 and 0.8249.
    const double sum = 0.9642 + 1 + 0.8249, d50[2] = {0.9642 / sum, 1 / sum};
    double matrix[9], adaptation[9];
    if (!darkroom_to_xyz(colours->primaries, d50, matrix)) return 0;
    if (!darkroom_adaptation(colours->primaries + 6, d50, adaptation)) return 0;

    struct writer writer = {.bytes = profile, .count = TABLE_END};
    memset(profile, 0, TABLE_END);
    put_words(&writer, "desc", "Darkroom");
    put_words(&writer, "cprt", "CC0");
    put_xyz(&writer, "wtpt", 0.9642, 1, 0.8249);
    size_t start = writer.count;
    put_text(&writer, "sf32");
    put(&writer, 0, 4);
    for (int i = 0; i < 9; i++) put_fixed(&writer, adaptation[i]);
    put_tag(&writer, "chad", start);
    put_xyz(&writer, "rXYZ", matrix[0], matrix[3], matrix[6]);
    put_xyz(&writer, "gXYZ", matrix[1], matrix[4], matrix[7]);
    put_xyz(&writer, "bXYZ", matrix[2], matrix[5], matrix[8]);
    start = writer.count;
    put_curve(&writer, colours);
    put_tag(&writer, "rTRC", start);
    put_tag(&writer, "gTRC", start);
    put_tag(&writer, "bTRC", start);

    struct writer header = {.bytes = profile};
    put(&header, (uint32_t)writer.count, 4);
    put(&header, 0, 4);
    put(&header, 0x04300000, 4);
    put_text(&header, "mntrRGB XYZ ");
    // The creation date must be valid. A constant date is used, so that equal photos give equal files.
    const uint16_t date[] = {2026, 1, 1, 0, 0, 0};
    for (size_t i = 0; i < 6; i++) put(&header, date[i], 2);
    put_text(&header, "acsp");
    header.count = 68;
    put_fixed(&header, 0.9642);
    put_fixed(&header, 1);
    put_fixed(&header, 0.8249);
    header.count = HEADER_BYTES;
    put(&header, TAG_COUNT, 4);
    return writer.count;
}
