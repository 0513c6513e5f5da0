// The chunks of a PNG (Portable Network Graphics Specification, Third Edition, section 5.3).

#include "Damage.h"
#include "ImageMetadata.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <zlib.h>

enum {
    SIGNATURE_BYTES = 8,
    // Length, type and check value.
    FRAME_BYTES = 12,
    // The limit for all texts and the profile together. libpng keeps all texts in memory, up to 8 MB for each text;
    // libvips 8.15 and newer reject more than 60 MB in all.
    MAX_INFLATED_BYTES = 48 << 20,
};

struct chunk {
    const uint8_t *type, *data;
    size_t length;
};

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

// Reads the chunk at `start`. Returns false if the file does not contain the whole chunk.
static bool read_chunk(const struct darkroom_input *input, size_t start, struct chunk *chunk) {
    if (input->byte_count < FRAME_BYTES || start > input->byte_count - FRAME_BYTES) return false;
    const uint8_t *bytes = input->bytes + start;
    *chunk = (struct chunk){.type = bytes + 4, .data = bytes + 8, .length = big_endian(bytes)};
    return chunk->length <= input->byte_count - FRAME_BYTES - start;
}

static bool is_type(const struct chunk *chunk, const char *type) { return memcmp(chunk->type, type, 4) == 0; }

// MARK: - Compressed texts

// The compressed data of a chunk: after the keyword, a NUL and one byte (zTXt, iCCP); in an iTXt chunk, also after the
// method, the language and the translated keyword (section 11.3.3).
static bool find_packed(const struct chunk *chunk, const uint8_t **packed, size_t *count) {
    bool is_international = is_type(chunk, "iTXt");
    if (!is_international && !is_type(chunk, "zTXt") && !is_type(chunk, "iCCP")) return false;
    const uint8_t *end = chunk->data + chunk->length, *at = memchr(chunk->data, 0, chunk->length);
    if (!at || end - at < 2 || (is_international && (at[1] == 0 || end - at < 3))) return false;
    at += is_international ? 3 : 2;
    for (int i = 0; is_international && i < 2; i++) {
        at = memchr(at, 0, (size_t)(end - at));
        if (!at) return false;
        at++;
    }
    *packed = at;
    *count = (size_t)(end - at);
    return true;
}

// The number of bytes to which data inflate. Stops counting soon after `limit`.
static size_t inflated_bytes(const uint8_t *packed, size_t count, size_t limit) {
    uint8_t buffer[16384];
    z_stream stream = {.next_in = (uint8_t *)packed, .avail_in = (uInt)count};
    if (inflateInit(&stream) != Z_OK) return limit + 1;
    int result = Z_OK;
    while (result == Z_OK && stream.total_out <= limit) {
        stream.next_out = buffer;
        stream.avail_out = sizeof buffer;
        result = inflate(&stream, Z_NO_FLUSH);
    }
    size_t inflated = stream.total_out;
    inflateEnd(&stream);
    return inflated;
}

bool darkroom_png_inflates_to_little(struct darkroom_session *session, const struct darkroom_input *input) {
    struct chunk chunk;
    size_t inflated = 0;
    for (size_t start = SIGNATURE_BYTES; read_chunk(input, start, &chunk); start += FRAME_BYTES + chunk.length) {
        const uint8_t *packed;
        size_t count;
        if (!find_packed(&chunk, &packed, &count)) continue;
        inflated += inflated_bytes(packed, count, MAX_INFLATED_BYTES - inflated);
        if (inflated <= MAX_INFLATED_BYTES) continue;
        g_snprintf(session->detail, sizeof session->detail, "its compressed texts inflate to more than %d MiB",
                   MAX_INFLATED_BYTES >> 20);
        return false;
    }
    return true;
}

// MARK: - Metadata that libvips does not read

// The text of a chunk after its keyword, the NUL and, in an iTXt chunk, the language (section 11.3.3). Returns NULL if
// the chunk has no text, or more than `limit` bytes of text. The caller frees the result with g_free. A NUL follows the
// text.
static uint8_t *copy_text(const struct chunk *chunk, size_t limit, size_t *count) {
    const uint8_t *data, *end = chunk->data + chunk->length, *keyword_end = memchr(chunk->data, 0, chunk->length);
    bool is_international = is_type(chunk, "iTXt");
    if (!keyword_end) return NULL;
    if (find_packed(chunk, &data, count)) {
        size_t inflated = inflated_bytes(data, *count, limit);
        if (inflated == 0 || inflated > limit) return NULL;
        uint8_t *text = g_malloc(inflated + 1);
        uLongf length = inflated;
        bool is_whole = uncompress(text, &length, data, *count) == Z_OK;
        text[length] = 0;
        *count = length;
        if (is_whole) return text;
        g_free(text);
        return NULL;
    }
    if (!is_international && !is_type(chunk, "tEXt")) return NULL;
    data = keyword_end + 1;
    // Skips the flag and the method, the language, and the translated keyword.
    if (is_international) data = end - data >= 2 ? data + 2 : end;
    for (int i = 0; is_international && i < 2; i++) {
        data = memchr(data, 0, (size_t)(end - data));
        if (!data) return NULL;
        data++;
    }
    *count = (size_t)(end - data);
    if (*count > limit) return NULL;
    uint8_t *text = g_malloc(*count + 1);
    memcpy(text, data, *count);
    text[*count] = 0;
    return text;
}

void darkroom_png_other_metadata(const struct darkroom_input *input, darkroom_take_metadata take, void *context) {
    enum { MAX_TEXT_BYTES = 32 << 20 };
    struct chunk chunk;
    bool is_late = false;
    for (size_t start = SIGNATURE_BYTES; read_chunk(input, start, &chunk); start += FRAME_BYTES + chunk.length) {
        is_late = is_late || is_type(&chunk, "IDAT");
        // libspng ignores EXIF that begins as in a JPEG, and EXIF after the pixels.
        if (is_type(&chunk, "eXIf")) take(context, NULL, chunk.data, chunk.length);
        if (!is_late) continue;
        size_t count = 0;
        uint8_t *text = copy_text(&chunk, MAX_TEXT_BYTES, &count);
        if (text) take(context, (const char *)chunk.data, text, count);
        g_free(text);
    }
}

// MARK: - Mending

struct mending {
    struct darkroom_session *session;
    const struct darkroom_input *input;
    struct darkroom_file *mended;
};

// Notes a defect. The first time, copies the file up to `start`.
static enum darkroom_status note(struct mending *mending, size_t start, const char *defect) {
    struct darkroom_file *mended = mending->mended;
    if (!darkroom_tolerate(mending->session, mending->input, defect)) return DARKROOM_DAMAGED;
    if (mended->bytes) return DARKROOM_DONE;
    // Reserves memory for the header of a new last data chunk, and for IEND.
    mended->bytes = malloc(mending->input->byte_count + 2 * FRAME_BYTES);
    if (!mended->bytes) return DARKROOM_OUT_OF_MEMORY;
    memcpy(mended->bytes, mending->input->bytes, start);
    mended->byte_count = start;
    return DARKROOM_DONE;
}

static void append_number(struct darkroom_file *file, uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) file->bytes[file->byte_count++] = (uint8_t)(number >> shift);
}

static uint32_t check_value(const uint8_t *type, size_t length) { return (uint32_t)crc32(0, type, (uInt)(length + 4)); }

static void append_chunk(struct darkroom_file *file, const char *type, const uint8_t *data, size_t length) {
    append_number(file, (uint32_t)length);
    uint8_t *start = file->bytes + file->byte_count;
    memcpy(start, type, 4);
    if (length > 0) memcpy(start + 4, data, length);
    file->byte_count += 4 + length;
    append_number(file, check_value(start, length));
}

// Adds the missing end of a file without IEND. If pixels are also missing, the decoder fails later.
static enum darkroom_status mend_end(struct mending *mending, size_t start) {
    size_t rest = mending->input->byte_count - start;
    const uint8_t *bytes = mending->input->bytes + start;
    struct chunk chunk = {.type = bytes + 4, .data = bytes + 8};
    bool is_data = rest >= 8 && is_type(&chunk, "IDAT");
    // The decoder rejects other critical chunks.
    bool is_critical = rest >= 8 && !(chunk.type[0] & 0x20) && !is_data && !is_type(&chunk, "IEND");
    if (is_critical) return DARKROOM_DONE;
    enum darkroom_status status = note(mending, start, "the end of the file is missing");
    if (status != DARKROOM_DONE) return status;
    size_t length = is_data ? big_endian(bytes) : 0;
    if (is_data) append_chunk(mending->mended, "IDAT", chunk.data, length < rest - 8 ? length : rest - 8);
    append_chunk(mending->mended, "IEND", NULL, 0);
    return DARKROOM_DONE;
}

static enum darkroom_status mend(struct mending *mending) {
    const struct darkroom_input *input = mending->input;
    struct darkroom_file *mended = mending->mended;
    struct chunk chunk;
    bool has_data = false;
    size_t start = SIGNATURE_BYTES;
    for (; read_chunk(input, start, &chunk); start += FRAME_BYTES + chunk.length) {
        bool is_end = is_type(&chunk, "IEND"), is_ancillary = chunk.type[0] & 0x20;
        bool is_data = is_type(&chunk, "IDAT");
        has_data = has_data || is_data;
        bool is_checked = is_ancillary || is_end || (is_data && input->damage != DARKROOM_ACCEPT_DAMAGED);
        bool is_sound = !is_checked ||
                        check_value(chunk.type, chunk.length) == big_endian(chunk.data + chunk.length);
        if (!is_sound) {
            char defect[60];
            g_snprintf(defect, sizeof defect, "the check value of the chunk %.4s is wrong", (const char *)chunk.type);
            // The pixels are damaged. Some decoders do not check this value.
            if (is_data) {
                g_strlcpy(mending->session->detail, defect, sizeof mending->session->detail);
                return DARKROOM_DAMAGED;
            }
            enum darkroom_status status = note(mending, start, defect);
            if (status != DARKROOM_DONE) return status;
        }
        if (mended->bytes && is_sound) {
            memcpy(mended->bytes + mended->byte_count, input->bytes + start, FRAME_BYTES + chunk.length);
            mended->byte_count += FRAME_BYTES + chunk.length;
        }
        if (is_end && !is_sound) append_chunk(mended, "IEND", NULL, 0);
        if (is_end) return DARKROOM_DONE;
    }
    // The only chunk of data may be cut off.
    size_t rest = start <= input->byte_count ? input->byte_count - start : 0;
    has_data = has_data || (rest >= 8 && !memcmp(input->bytes + start + 4, "IDAT", 4));
    return has_data && start <= input->byte_count ? mend_end(mending, start) : DARKROOM_DONE;
}

enum darkroom_status darkroom_mend_png(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended) {
    enum darkroom_status status = mend(&(struct mending){.session = session, .input = input, .mended = mended});
    if (status != DARKROOM_DONE) {
        free(mended->bytes);
        mended->bytes = NULL;
    }
    return status;
}
