#include "SignalledColours.h"

#include "HDR.h"

#include <math.h>
#include <string.h>

// MARK: - Primaries

static const struct {
    int code;
    double chromaticities[8];
} all_primaries[] = {
    {1, {0.640, 0.330, 0.300, 0.600, 0.150, 0.060, 0.3127, 0.3290}},
    {4, {0.670, 0.330, 0.210, 0.710, 0.140, 0.080, 0.3100, 0.3160}},
    {5, {0.640, 0.330, 0.290, 0.600, 0.150, 0.060, 0.3127, 0.3290}},
    {6, {0.630, 0.340, 0.310, 0.595, 0.155, 0.070, 0.3127, 0.3290}},
    {7, {0.630, 0.340, 0.310, 0.595, 0.155, 0.070, 0.3127, 0.3290}},
    {8, {0.681, 0.319, 0.243, 0.692, 0.145, 0.049, 0.3100, 0.3160}},
    {9, {0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290}},
    {10, {1, 0, 0, 1, 0, 0, 1 / 3.0, 1 / 3.0}},
    {11, {0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3140, 0.3510}},
    {12, {0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3127, 0.3290}},
    {22, {0.630, 0.340, 0.295, 0.605, 0.155, 0.077, 0.3127, 0.3290}},
};

enum { SRGB_PRIMARIES = 1, PAL = 5, NTSC = 6, NTSC_240M = 7 };

struct darkroom_colours darkroom_coded_colours(int primaries, int transfer) {
    struct darkroom_colours colours = {.transfer = transfer};
    size_t chosen = 0;
    for (size_t i = 0; i < sizeof all_primaries / sizeof all_primaries[0]; i++)
        if (all_primaries[i].code == primaries) chosen = i;
    memcpy(colours.primaries, all_primaries[chosen].chromaticities, sizeof colours.primaries);
    int code = all_primaries[chosen].code;
    bool is_video = code == SRGB_PRIMARIES || code == PAL || code == NTSC || code == NTSC_240M;
    switch (transfer) {
    case DARKROOM_TRANSFER_709:
    case 6:   // BT.601
    case 14:  // BT.2020 with 10 bits
    case 15:  // BT.2020 with 12 bits
        // Encoders of video write the numbers of BT.709 and BT.601 for photos that are sRGB, and viewers show such
        // photos as sRGB.
        if (is_video) return darkroom_coded_colours(SRGB_PRIMARIES, DARKROOM_TRANSFER_SRGB);
        colours.transfer = DARKROOM_TRANSFER_709;
        break;
    case 11:  // xvYCC and BT.1361 are BT.709 between 0 and 1.
    case 12:
        colours.transfer = DARKROOM_TRANSFER_709;
        break;
    case 4:
        colours.transfer = DARKROOM_TRANSFER_GAMMA;
        colours.gamma = 2.2;
        break;
    case 5:
        colours.transfer = DARKROOM_TRANSFER_GAMMA;
        colours.gamma = 2.8;
        break;
    case 17:  // SMPTE ST 428, with white at 1.
        colours.transfer = DARKROOM_TRANSFER_GAMMA;
        colours.gamma = 2.6;
        break;
    case DARKROOM_TRANSFER_240M:
    case DARKROOM_TRANSFER_LINEAR:
    case DARKROOM_TRANSFER_LOG_100:
    case DARKROOM_TRANSFER_LOG_316:
    case DARKROOM_TRANSFER_PQ:
    case DARKROOM_TRANSFER_HLG:
        break;
    default:
        colours.transfer = DARKROOM_TRANSFER_SRGB;
    }
    return colours;
}

bool darkroom_is_srgb(const struct darkroom_colours *colours) {
    for (size_t i = 0; i < 8; i++)
        if (fabs(colours->primaries[i] - all_primaries[0].chromaticities[i]) > 0.001) return false;
    return colours->transfer == DARKROOM_TRANSFER_SRGB;
}

static void multiply(const double a[9], const double b[9], double product[9]) {
    for (int i = 0; i < 9; i++) {
        product[i] = 0;
        for (int k = 0; k < 3; k++) product[i] += a[i / 3 * 3 + k] * b[k * 3 + i % 3];
    }
}

bool darkroom_invert_matrix(const double m[9], double inverse[9]) {
    double cofactors[9];
    for (int i = 0; i < 9; i++) {
        int row1 = (i / 3 + 1) % 3, row2 = (i / 3 + 2) % 3, column1 = (i % 3 + 1) % 3, column2 = (i % 3 + 2) % 3;
        cofactors[i] = m[row1 * 3 + column1] * m[row2 * 3 + column2] - m[row1 * 3 + column2] * m[row2 * 3 + column1];
    }
    double determinant = m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2];
    if (!(fabs(determinant) > 1e-6)) return false;
    for (int i = 0; i < 9; i++) inverse[i] = cofactors[i % 3 * 3 + i / 3] / determinant;
    return true;
}

static void xyz_of(const double xy[2], double xyz[3]) {
    xyz[0] = xy[0] / xy[1];
    xyz[1] = 1;
    xyz[2] = (1 - xy[0] - xy[1]) / xy[1];
}

static void apply(const double matrix[9], const double vector[3], double result[3]) {
    for (int i = 0; i < 3; i++)
        result[i] = matrix[i * 3] * vector[0] + matrix[i * 3 + 1] * vector[1] + matrix[i * 3 + 2] * vector[2];
}

bool darkroom_adaptation(const double from[2], const double to[2], double matrix[9]) {
    static const double bradford[9] = {0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296};
    double xyz[3], from_cones[3], to_cones[3], inverse[9], scaled[9];
    xyz_of(from, xyz);
    apply(bradford, xyz, from_cones);
    xyz_of(to, xyz);
    apply(bradford, xyz, to_cones);
    if (!darkroom_invert_matrix(bradford, inverse)) return false;
    for (int i = 0; i < 9; i++) scaled[i] = bradford[i] * to_cones[i / 3] / from_cones[i / 3];
    multiply(inverse, scaled, matrix);
    return true;
}

bool darkroom_to_xyz(const double primaries[8], const double white[2], double matrix[9]) {
    // The columns are the primaries as X, Y and Z with X + Y + Z = 1; the columns are scaled so that their sum is
    // white.
    double columns[9], inverse[9], xyz[3], scales[3], adaptation[9], scaled[9];
    for (int i = 0; i < 3; i++) {
        columns[i] = primaries[i * 2];
        columns[3 + i] = primaries[i * 2 + 1];
        columns[6 + i] = 1 - primaries[i * 2] - primaries[i * 2 + 1];
    }
    if (!(primaries[7] > 0.01) || !darkroom_invert_matrix(columns, inverse)) return false;
    xyz_of(primaries + 6, xyz);
    apply(inverse, xyz, scales);
    for (int i = 0; i < 9; i++) scaled[i] = columns[i] * scales[i % 3];
    if (!(scales[0] > 0 && scales[1] > 0 && scales[2] > 0)) return false;
    if (!darkroom_adaptation(primaries + 6, white, adaptation)) return false;
    multiply(adaptation, scaled, matrix);
    return true;
}

double darkroom_light(const struct darkroom_colours *colours, double value) {
    switch (colours->transfer) {
    case DARKROOM_TRANSFER_GAMMA: return pow(value, colours->gamma);
    case DARKROOM_TRANSFER_LINEAR: return value;
    case DARKROOM_TRANSFER_709:
        return value < 4.5 * 0.018053968510807 ? value / 4.5 : pow((value + 0.099296826809442) / 1.099296826809442, 1 / 0.45);
    case DARKROOM_TRANSFER_240M: return value < 4 * 0.0228 ? value / 4 : pow((value + 0.1115) / 1.1115, 1 / 0.45);
    case DARKROOM_TRANSFER_LOG_100: return value > 0 ? pow(10, 2 * (value - 1)) : 0;
    case DARKROOM_TRANSFER_LOG_316: return value > 0 ? pow(10, 2.5 * (value - 1)) : 0;
    case DARKROOM_TRANSFER_PQ: return darkroom_pq_light(value) / 10000;
    case DARKROOM_TRANSFER_HLG: return darkroom_hlg_light(value);
    default: return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
    }
}

// MARK: - PNG

static uint64_t number(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

struct png_colours {
    const uint8_t *cicp, *gamma, *chromaticities;
    bool has_profile, is_srgb, is_named_pq;
    double content_peak, display_peak;
};

static void take_chunk(struct png_colours *png, const uint8_t *type, const uint8_t *data, size_t length) {
    if (!memcmp(type, "cICP", 4) && length == 4) png->cicp = data;
    static const char pq_name[] = "ITUR_2100_PQ_FULL";
    if (!memcmp(type, "iCCP", 4)) {
        png->has_profile = true;
        png->is_named_pq = length > sizeof pq_name && !memcmp(data, pq_name, sizeof pq_name);
    }
    if (!memcmp(type, "sRGB", 4)) png->is_srgb = true;
    if (!memcmp(type, "gAMA", 4) && length == 4) png->gamma = data;
    if (!memcmp(type, "cHRM", 4) && length == 32) png->chromaticities = data;
    if (!memcmp(type, "cLLI", 4) && length == 8) png->content_peak = (double)number(data, 4) / 10000;
    if (!memcmp(type, "mDCV", 4) && length == 24) png->display_peak = (double)number(data + 16, 4) / 10000;
}

static struct png_colours read_png(const struct darkroom_input *input) {
    struct png_colours png = {0};
    const uint8_t *bytes = input->bytes;
    size_t count = input->byte_count;
    for (size_t start = 8; count >= 12 && start <= count - 12;) {
        size_t length = (size_t)number(bytes + start, 4);
        const uint8_t *type = bytes + start + 4;
        // These chunks precede the pixels (PNG, 5.6).
        if (length > count - 12 - start || !memcmp(type, "IDAT", 4)) break;
        take_chunk(&png, type, type + 4, length);
        start += 12 + length;
    }
    return png;
}

// The order of precedence is that of PNG, third edition, section 4.3.
static bool png_colours(const struct darkroom_input *input, struct darkroom_colours *colours) {
    struct png_colours png = read_png(input);
    if (png.cicp) {
        *colours = darkroom_coded_colours(png.cicp[0], png.cicp[1]);
        colours->is_narrow = png.cicp[3] == 0;
        colours->peak = png.content_peak > 0 ? png.content_peak : png.display_peak;
        colours->replaces_profile = true;
        return true;
    }
    // Before cICP existed, this name of a profile meant PQ (W3C, "High Dynamic Range and Wide Gamut Imaging on the
    // Web").
    if (png.is_named_pq) {
        *colours = darkroom_coded_colours(9, DARKROOM_TRANSFER_PQ);
        colours->peak = png.content_peak > 0 ? png.content_peak : png.display_peak;
        return true;
    }
    if (png.has_profile || png.is_srgb || !(png.gamma || png.chromaticities)) return false;
    *colours = darkroom_coded_colours(SRGB_PRIMARIES, DARKROOM_TRANSFER_SRGB);
    for (int i = 0; i < 4 && png.chromaticities; i++) {
        // The chunk starts with white.
        int place = (i + 3) % 4 * 2;
        colours->primaries[place] = (double)number(png.chromaticities + i * 8, 4) / 100000;
        colours->primaries[place + 1] = (double)number(png.chromaticities + i * 8 + 4, 4) / 100000;
    }
    double matrix[9];
    const double d65[2] = {0.3127, 0.3290};
    if (!darkroom_to_xyz(colours->primaries, d65, matrix))
        *colours = darkroom_coded_colours(SRGB_PRIMARIES, DARKROOM_TRANSFER_SRGB);
    // For the function of sRGB, programs write a gamma of 0.45455.
    double encoding = png.gamma ? (double)number(png.gamma, 4) / 100000 : 0;
    if (encoding > 0.01 && encoding <= 10 && fabs(encoding - 0.45455) > 0.005) {
        colours->transfer = DARKROOM_TRANSFER_GAMMA;
        colours->gamma = 1 / encoding;
    }
    return true;
}

// MARK: - AVIF and HEIC

struct box {
    const uint8_t *type, *data, *end;
};

// Reads the box at `*place`, and moves `*place` to the end of the box. Returns false if there is no complete box.
static bool next_box(const uint8_t **place, const uint8_t *end, struct box *box) {
    size_t left = (size_t)(end - *place), header = 8;
    if (left < header) return false;
    uint64_t size = number(*place, 4);
    if (size == 1 && left >= 16) {
        header = 16;
        size = number(*place + 8, 8);
    }
    if (size == 0) size = left;
    if (size < header || size > left) return false;
    *box = (struct box){.type = *place + 4, .data = *place + header, .end = *place + size};
    *place += size;
    return true;
}

static bool find_box(const uint8_t *start, const uint8_t *end, const char *type, struct box *box) {
    while (next_box(&start, end, box))
        if (!memcmp(box->type, type, 4)) return true;
    return false;
}

static size_t length_of(const struct box *box) { return (size_t)(box->end - box->data); }

struct heif {
    struct box properties, associations, references;
    bool has_references;
};

static bool open_heif(const struct darkroom_input *input, struct heif *heif, uint64_t *primary) {
    const uint8_t *end = input->bytes + input->byte_count;
    struct box meta, box, properties;
    if (!find_box(input->bytes, end, "meta", &meta) || length_of(&meta) < 4) return false;
    const uint8_t *start = meta.data + 4;
    if (!find_box(start, meta.end, "pitm", &box) || length_of(&box) < 6) return false;
    bool is_wide = box.data[0] > 0;
    if (is_wide && length_of(&box) < 8) return false;
    *primary = number(box.data + 4, is_wide ? 4 : 2);
    heif->has_references = find_box(start, meta.end, "iref", &heif->references) && length_of(&heif->references) >= 4;
    return find_box(start, meta.end, "iprp", &properties) &&
           find_box(properties.data, properties.end, "ipco", &heif->properties) &&
           find_box(properties.data, properties.end, "ipma", &heif->associations) && length_of(&heif->associations) >= 8;
}

struct heif_colours {
    const uint8_t *nclx;
    double content_peak, display_peak;
};

// The first property has index 1; 0 stands for no property.
static void take_property(const struct heif *heif, uint64_t index, struct heif_colours *found) {
    const uint8_t *place = heif->properties.data;
    struct box box;
    for (uint64_t i = 1; i <= index && next_box(&place, heif->properties.end, &box); i++) {
        if (i != index) continue;
        size_t length = length_of(&box);
        if (!memcmp(box.type, "colr", 4) && length >= 11 && !memcmp(box.data, "nclx", 4)) found->nclx = box.data + 4;
        if (!memcmp(box.type, "clli", 4) && length >= 4) found->content_peak = (double)number(box.data, 2);
        if (!memcmp(box.type, "mdcv", 4) && length >= 24) found->display_peak = (double)number(box.data + 16, 4) / 10000;
        return;
    }
}

// Reads the properties of an item (ISO 23008-12, 9.3).
static struct heif_colours colours_of_item(const struct heif *heif, uint64_t item) {
    struct heif_colours found = {0};
    const uint8_t *place = heif->associations.data, *end = heif->associations.end;
    size_t id_bytes = place[0] > 0 ? 4 : 2, index_bytes = place[3] & 1 ? 2 : 1;
    uint64_t entries = number(place + 4, 4);
    place += 8;
    for (uint64_t i = 0; i < entries && (size_t)(end - place) > id_bytes; i++) {
        uint64_t id = number(place, id_bytes);
        size_t count = place[id_bytes];
        place += id_bytes + 1;
        if (count * index_bytes > (size_t)(end - place)) break;
        for (size_t k = 0; k < count && id == item; k++) {
            uint64_t index = number(place + k * index_bytes, index_bytes);
            take_property(heif, index & (index_bytes == 2 ? 0x7FFF : 0x7F), &found);
        }
        // An item has one entry.
        if (id == item) break;
        place += count * index_bytes;
    }
    return found;
}

// The identifier of the first picture from which an item is made, such as the first tile of a grid; 0 if there is none.
static uint64_t source_of_item(const struct heif *heif, uint64_t item) {
    if (!heif->has_references) return 0;
    size_t id_bytes = heif->references.data[0] > 0 ? 4 : 2;
    const uint8_t *place = heif->references.data + 4;
    struct box box;
    while (next_box(&place, heif->references.end, &box))
        if (!memcmp(box.type, "dimg", 4) && length_of(&box) >= 2 * id_bytes + 2 && number(box.data, id_bytes) == item)
            return number(box.data + id_bytes + 2, id_bytes);
    return 0;
}

static bool heif_colours(const struct darkroom_input *input, struct darkroom_colours *colours) {
    struct heif heif;
    uint64_t primary = 0;
    if (!open_heif(input, &heif, &primary)) return false;
    struct heif_colours found = colours_of_item(&heif, primary);
    if (!found.nclx) {
        uint64_t source = source_of_item(&heif, primary);
        if (source) found = colours_of_item(&heif, source);
    }
    if (!found.nclx) return false;
    // libheif itself converts narrow ranges.
    *colours = darkroom_coded_colours((int)number(found.nclx, 2), (int)number(found.nclx + 2, 2));
    colours->peak = found.content_peak > 0 ? found.content_peak : found.display_peak;
    return true;
}

bool darkroom_signalled_colours(const struct darkroom_input *input, struct darkroom_colours *colours) {
    switch (input->format) {
    case DARKROOM_PNG: return png_colours(input, colours);
    case DARKROOM_AVIF:
    case DARKROOM_HEIC: return heif_colours(input, colours);
    default: return false;
    }
}
