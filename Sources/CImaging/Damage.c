// DESIGN: The decoders of PNG, WebP and GIF differ in the defects that they accept, also from version to version. So
// defects outside of the pixels are found here, and the decoders get a copy of the file without them. The decoders then
// fail on any defect that is left, which is one of the pixels. JPEGs are not copied: libjpeg reports each defect as a
// warning, and StripsDamage.c decides which of them lose pixels.

#include "Damage.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

void darkroom_note(struct darkroom_session *session, const char *defect) {
    if (strstr(session->note, defect)) return;
    if (session->note[0]) g_strlcat(session->note, "; ", sizeof session->note);
    g_strlcat(session->note, defect, sizeof session->note);
}

bool darkroom_tolerate(struct darkroom_session *session, const struct darkroom_input *input, const char *defect) {
    if (input->damage == DARKROOM_FAIL_DAMAGED) {
        g_strlcpy(session->detail, defect, sizeof session->detail);
        return false;
    }
    darkroom_note(session, defect);
    return true;
}

enum darkroom_status darkroom_mend(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended) {
    *mended = (struct darkroom_file){.format = input->format};
    switch (input->format) {
    case DARKROOM_PNG:
        return darkroom_mend_png(session, input, mended);
    case DARKROOM_WEBP:
        return darkroom_mend_webp(session, input, mended);
    case DARKROOM_GIF:
        return darkroom_mend_gif(session, input, mended);
    default:
        return DARKROOM_DONE;
    }
}

// MARK: - WebP

static uint32_t little_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// The chunks of a WebP file (RFC 9649, section 2.3).
struct webp_chunks {
    // The end of the last chunk that the file contains whole, without its padding.
    size_t end;
    bool has_picture, is_animation;
    // Whether the file ends within a picture or a frame.
    bool is_picture_cut;
};

static bool is_name(const uint8_t *name) {
    for (int i = 0; i < 4; i++)
        if (name[i] < ' ' || name[i] > '~') return false;
    return true;
}

static struct webp_chunks read_webp(const uint8_t *bytes, size_t count) {
    struct webp_chunks chunks = {.end = 12};
    for (size_t start = 12; start + 8 <= count && is_name(bytes + start);) {
        size_t length = little_endian(bytes + start + 4);
        bool is_frame = memcmp(bytes + start, "ANMF", 4) == 0;
        bool is_picture = is_frame || memcmp(bytes + start, "VP8 ", 4) == 0 || memcmp(bytes + start, "VP8L", 4) == 0;
        if (length > count - start - 8) {
            chunks.is_picture_cut = is_picture;
            break;
        }
        chunks.end = start + 8 + length;
        chunks.has_picture = chunks.has_picture || is_picture;
        chunks.is_animation = chunks.is_animation || is_frame;
        start = chunks.end + (length & 1);
    }
    return chunks;
}

// Corrects the size in the header of a file whose picture is complete, and adds a missing padding byte.
enum darkroom_status darkroom_mend_webp(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended) {
    const uint8_t *bytes = input->bytes;
    size_t count = input->byte_count;
    if (count < 20) return DARKROOM_DONE;
    struct webp_chunks chunks = read_webp(bytes, count);
    uint64_t declared = 8 + (uint64_t)little_endian(bytes + 4);
    if (!chunks.has_picture || chunks.is_picture_cut) return DARKROOM_DONE;
    // Frames may be missing at the end of a cut animation.
    if (chunks.is_animation && declared > count + 1) return DARKROOM_DONE;
    if (declared <= count && declared >= chunks.end) return DARKROOM_DONE;

    char defect[100];
    g_snprintf(defect, sizeof defect, "the header says %llu bytes, but the file has %zu", (unsigned long long)declared, count);
    if (!darkroom_tolerate(session, input, defect)) return DARKROOM_DAMAGED;
    size_t even = chunks.end + (chunks.end & 1);
    mended->bytes = calloc(1, even);
    if (!mended->bytes) return DARKROOM_OUT_OF_MEMORY;
    memcpy(mended->bytes, bytes, chunks.end);
    for (int i = 0; i < 4; i++) mended->bytes[4 + i] = (uint8_t)((even - 8) >> 8 * i);
    mended->byte_count = even;
    return DARKROOM_DONE;
}

// MARK: - GIF

// The position after a sequence of blocks of data (GIF89a, section 15); 0 if the file ends before.
static size_t after_blocks(const uint8_t *bytes, size_t count, size_t position) {
    while (position < count) {
        size_t length = bytes[position++];
        if (length == 0) return position;
        position += length;
    }
    return 0;
}

static size_t colour_table_bytes(uint8_t flags) { return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0; }

// Adds the trailer to a file that ends after a whole frame.
enum darkroom_status darkroom_mend_gif(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended) {
    const uint8_t *bytes = input->bytes;
    size_t count = input->byte_count;
    if (count < 13) return DARKROOM_DONE;
    size_t position = 13 + colour_table_bytes(bytes[10]);
    bool has_frame = false;
    while (position < count) {
        if (bytes[position] == 0x21) {
            position = after_blocks(bytes, count, position + 2);
        } else if (bytes[position] == 0x2C && count - position > 10) {
            position = after_blocks(bytes, count, position + 11 + colour_table_bytes(bytes[position + 9]));
            has_frame = true;
        } else {
            // The trailer, or data that the decoder refuses.
            return DARKROOM_DONE;
        }
        if (position == 0) return DARKROOM_DONE;
    }
    if (!has_frame || position > count) return DARKROOM_DONE;
    if (!darkroom_tolerate(session, input, "the trailer is missing")) return DARKROOM_DAMAGED;
    mended->bytes = malloc(count + 1);
    if (!mended->bytes) return DARKROOM_OUT_OF_MEMORY;
    memcpy(mended->bytes, bytes, count);
    mended->bytes[count] = 0x3B;
    mended->byte_count = count + 1;
    return DARKROOM_DONE;
}
