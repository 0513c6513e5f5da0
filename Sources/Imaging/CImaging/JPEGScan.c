// DESIGN: If data of a JPEG are corrupt, a decoder of Huffman codes usually continues with wrong codes, and decodes the
// last block before or after the end of the data. Therefore libjpeg finds stray bytes both in sound files and in
// corrupt files. The decoder in this file distinguishes these files. The data are corrupt if coefficients are out of
// range, if the bits after the last block are not the padding of a byte, or if the stray bytes are whole blocks: after
// some wrong codes, the codes are right again, and blocks are left over at the end. The decoder only reads the
// coefficients. The tables are those of ITU T.81, annexes B and F.

#include "JPEGScan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct huffman {
    // Indexed by the length of a code: the largest code of this length plus one, shifted to 16 bits; and the difference
    // between the index of a code's value and the code.
    uint32_t limits[17];
    int32_t offsets[17];
    uint8_t values[256];
    bool is_defined;
};

struct component {
    int id, across, down, quantizer, dc, ac, predictor;
};

struct scan {
    struct huffman tables[2][4];
    int quantizers[4][64];
    struct component components[4];
    int component_count, width, height, restart_interval;
};

struct bits {
    const uint8_t *next, *end;
    uint32_t byte;
    int left;
    bool is_over;
};

// MARK: - Codes

static void read_bit_byte(struct bits *bits) {
    if (bits->end - bits->next < 1 || (*bits->next == 0xFF && (bits->end - bits->next < 2 || bits->next[1] != 0))) {
        bits->is_over = true;
        bits->byte = 0;
    } else {
        bits->byte = *bits->next;
        bits->next += *bits->next == 0xFF ? 2 : 1;
    }
    bits->left = 8;
}

static uint32_t read_bit(struct bits *bits) {
    if (bits->left == 0) read_bit_byte(bits);
    bits->left--;
    return bits->byte >> bits->left & 1;
}

// Reads a number with its sign (F.2.2.1).
static int read_number(struct bits *bits, int length) {
    int value = 0;
    for (int i = 0; i < length; i++) value = value << 1 | (int)read_bit(bits);
    return length > 0 && value < 1 << (length - 1) ? value - (1 << length) + 1 : value;
}

// Returns -1 if there is no such code.
static int read_code(struct bits *bits, const struct huffman *table) {
    uint32_t code = 0;
    for (int length = 1; length <= 16; length++) {
        code = code << 1 | read_bit(bits);
        if (code << (16 - length) < table->limits[length]) return table->values[(int)code + table->offsets[length]];
    }
    return -1;
}

// MARK: - Blocks

// A sample has 8 bits, so the mean of a block is at most 1024 in the unit of the coefficients. The limits are higher
// because of rounding, and of encoders that exceed the range of the samples on purpose.
static bool is_in_range(int value, int quantizer, bool is_mean) {
    return (int64_t)abs(value) * quantizer <= (is_mean ? 1280 : 1536) + quantizer;
}

static bool read_block(struct bits *bits, const struct scan *scan, struct component *component) {
    const int *quantizers = scan->quantizers[component->quantizer];
    int length = read_code(bits, &scan->tables[0][component->dc]);
    if (length < 0 || length > 11) return false;
    component->predictor += read_number(bits, length);
    if (!is_in_range(component->predictor, quantizers[0], true)) return false;
    for (int i = 1; i < 64; i++) {
        int code = read_code(bits, &scan->tables[1][component->ac]);
        if (code < 0) return false;
        length = code & 15;
        if (length == 0 && code != 0xF0) return code == 0;
        i += code >> 4;
        if (i > 63 || length > 10 || !is_in_range(read_number(bits, length), quantizers[i], false)) return false;
    }
    return !bits->is_over;
}

static bool read_unit(struct bits *bits, struct scan *scan) {
    for (int i = 0; i < scan->component_count; i++) {
        struct component *component = &scan->components[i];
        // A scan of one component has one block in each unit (A.2.2).
        int blocks = scan->component_count == 1 ? 1 : component->across * component->down;
        for (int block = 0; block < blocks; block++)
            if (!read_block(bits, scan, component)) return false;
    }
    return !bits->is_over;
}

// Whether the rest of the current byte is padding: encoders write ones (F.1.2.3) or zeros.
static bool is_padded(const struct bits *bits) {
    uint32_t mask = (1u << bits->left) - 1, rest = bits->byte & mask;
    return bits->left == 8 || rest == 0 || rest == mask;
}

// Moves to the position after the next marker, and returns the code of the marker; 0 at the end of the file.
static int next_marker(struct bits *bits) {
    for (; bits->end - bits->next >= 2; bits->next++) {
        if (bits->next[0] != 0xFF || bits->next[1] == 0 || bits->next[1] == 0xFF) continue;
        bits->next += 2;
        return bits->next[-1];
    }
    return 0;
}

// The number of intervals with stray bytes after their last unit, and the number of intervals whose stray bytes are
// units.
struct ends {
    int64_t stray, further;
};

// Checks the end of an interval, where up to `most` stray bytes are allowed.
static bool check_end(const struct bits *bits, const struct scan *scan, size_t most, struct ends *ends) {
    if (!is_padded(bits)) return false;
    const uint8_t *end = bits->next;
    while (bits->end - end >= 2 && (end[0] != 0xFF || end[1] == 0)) end++;
    const uint8_t *same = bits->next;
    while (same < end && *same == *bits->next) same++;
    // Bytes of one value are padding.
    if (same == end) return true;
    if ((size_t)(end - bits->next) > most) return false;
    struct bits further = *bits;
    struct scan rest = *scan;
    bool has_further = false;
    while (!has_further && read_unit(&further, &rest)) has_further = further.next == end && is_padded(&further);
    ends->stray++;
    ends->further += has_further;
    return true;
}

// Bytes that a camera has added before each restart marker look like units only by chance.
static bool are_sound(const struct ends *ends) { return ends->further * 4 <= ends->stray; }

static int divided_up(int number, int by) { return (number + by - 1) / by; }

static enum darkroom_scan check_data(struct scan *scan, struct bits *bits) {
    int across = 1, down = 1;
    for (int i = 0; i < scan->component_count; i++) {
        const struct component *component = &scan->components[i];
        across = component->across > across ? component->across : across;
        down = component->down > down ? component->down : down;
    }
    if (scan->component_count == 1) across = down = 1;
    struct ends ends = {0};
    int64_t units = (int64_t)divided_up(scan->width, 8 * across) * divided_up(scan->height, 8 * down);
    for (int64_t unit = 0, interval = 0; unit < units; unit++) {
        if (scan->restart_interval > 0 && unit > 0 && unit % scan->restart_interval == 0) {
            if (!check_end(bits, scan, DARKROOM_MOST_STRAY_BYTES, &ends) || next_marker(bits) != 0xD0 + (int)(interval++ % 8)) return DARKROOM_SCAN_CORRUPT;
            bits->left = 0;
            for (int i = 0; i < scan->component_count; i++) scan->components[i].predictor = 0;
        }
        if (!read_unit(bits, scan)) return DARKROOM_SCAN_CORRUPT;
    }
    return check_end(bits, scan, SIZE_MAX, &ends) && are_sound(&ends) ? DARKROOM_SCAN_SOUND : DARKROOM_SCAN_CORRUPT;
}

// MARK: - Segments. The functions return false if the segment is invalid.

static bool read_huffman(struct scan *scan, const uint8_t *data, size_t count) {
    while (count >= 17) {
        int kind = data[0] >> 4, id = data[0] & 15;
        size_t total = 0;
        for (int i = 1; i <= 16; i++) total += data[i];
        if (kind > 1 || id > 3 || total > 256 || count < 17 + total) return false;
        struct huffman *table = &scan->tables[kind][id];
        memcpy(table->values, data + 17, total);
        uint32_t code = 0;
        int32_t value = 0;
        for (int length = 1; length <= 16; length++) {
            table->offsets[length] = value - (int32_t)code;
            code += data[length];
            value += data[length];
            if (code > 1u << length) return false;
            table->limits[length] = code << (16 - length);
            code <<= 1;
        }
        table->is_defined = true;
        data += 17 + total;
        count -= 17 + total;
    }
    return count == 0;
}

static bool read_quantizers(struct scan *scan, const uint8_t *data, size_t count) {
    while (count >= 65) {
        int wide = data[0] >> 4, id = data[0] & 15;
        size_t total = wide ? 129 : 65;
        if (wide > 1 || id > 3 || count < total) return false;
        for (int i = 0; i < 64; i++)
            scan->quantizers[id][i] = wide ? data[1 + 2 * i] << 8 | data[2 + 2 * i] : data[1 + i];
        data += total;
        count -= total;
    }
    return count == 0;
}

static bool read_frame(struct scan *scan, const uint8_t *data, size_t count) {
    if (count < 6 || data[0] != 8 || data[5] < 1 || data[5] > 4 || count < 6 + 3 * (size_t)data[5]) return false;
    scan->height = data[1] << 8 | data[2];
    scan->width = data[3] << 8 | data[4];
    scan->component_count = data[5];
    for (int i = 0; i < scan->component_count; i++) {
        const uint8_t *entry = data + 6 + 3 * i;
        scan->components[i] = (struct component){
            .id = entry[0], .across = entry[1] >> 4, .down = entry[1] & 15, .quantizer = entry[2]};
        const struct component *component = &scan->components[i];
        if (component->across < 1 || component->across > 4 || component->down < 1 || component->down > 4) return false;
        if (component->quantizer > 3) return false;
    }
    return scan->width > 0 && scan->height > 0;
}

static bool read_scan(struct scan *scan, const uint8_t *data, size_t count) {
    if (scan->component_count == 0 || count < 1 + 2 * (size_t)scan->component_count) return false;
    if (data[0] != scan->component_count) return false;
    for (int i = 0; i < scan->component_count; i++) {
        struct component *component = &scan->components[i];
        if (data[1 + 2 * i] != component->id) return false;
        component->dc = data[2 + 2 * i] >> 4;
        component->ac = data[2 + 2 * i] & 15;
        if (component->dc > 3 || component->ac > 3) return false;
        if (!scan->tables[0][component->dc].is_defined || !scan->tables[1][component->ac].is_defined) return false;
    }
    return true;
}

static enum darkroom_scan check(struct scan *scan, struct bits *bits) {
    enum { SOF0 = 0xC0, SOF1 = 0xC1, DHT = 0xC4, SOI = 0xD8, SOS = 0xDA, DQT = 0xDB, DRI = 0xDD };
    for (int marker; (marker = next_marker(bits)) != 0;) {
        if (marker == SOI) continue;
        size_t rest = (size_t)(bits->end - bits->next), length = rest < 2 ? 0 : (size_t)(bits->next[0] << 8 | bits->next[1]);
        if (length < 2 || length > rest) return DARKROOM_SCAN_UNKNOWN;
        const uint8_t *data = bits->next + 2;
        bits->next += length;
        length -= 2;
        bool is_frame = marker >= SOF0 && marker <= 0xCF && marker != DHT && marker != 0xC8 && marker != 0xCC;
        bool is_valid = true;
        if (is_frame) is_valid = (marker == SOF0 || marker == SOF1) && read_frame(scan, data, length);
        if (marker == DHT) is_valid = read_huffman(scan, data, length);
        if (marker == DQT) is_valid = read_quantizers(scan, data, length);
        if (marker == DRI) is_valid = length == 2;
        if (marker == DRI && is_valid) scan->restart_interval = data[0] << 8 | data[1];
        if (marker == SOS && read_scan(scan, data, length)) return check_data(scan, bits);
        if (!is_valid || marker == SOS) return DARKROOM_SCAN_UNKNOWN;
    }
    return DARKROOM_SCAN_UNKNOWN;
}

enum darkroom_scan darkroom_check_jpeg_scan(const uint8_t *bytes, size_t count) {
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan) return DARKROOM_SCAN_UNKNOWN;
    struct bits bits = {.next = bytes, .end = bytes + count};
    enum darkroom_scan found = check(scan, &bits);
    free(scan);
    return found;
}
