// DESIGN: The decoders of PNG, WebP and GIF differ in the defects that they accept, also from version to version.
// Therefore the code here finds the defects outside of the pixels, and the decoders get a copy of the file without
// these defects. If a decoder still fails, the defect is in the pixels. JPEGs are not copied: libjpeg reports each
// defect as a warning, and StripsDamage.c decides which defects lose pixels.

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
    // The end of the last complete chunk, excluding its padding.
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
        // Another file follows.
        if (!memcmp(bytes + start, "RIFF", 4)) break;
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
    // A cut animation may lack its last frames.
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

// A sequence of blocks of data (GIF89a, section 15).
struct gif_blocks {
    // The position after the last complete block, excluding the terminator.
    size_t end;
    // The position after the terminator; 0 if the file ends before the terminator.
    size_t next;
};

static struct gif_blocks read_blocks(const uint8_t *bytes, size_t count, size_t position) {
    while (position < count) {
        size_t length = bytes[position];
        if (length == 0) return (struct gif_blocks){.end = position, .next = position + 1};
        if (length > count - position - 1) break;
        position += 1 + length;
    }
    return (struct gif_blocks){.end = position < count ? position : count};
}

static size_t colour_table_bytes(uint8_t flags) { return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0; }

// Whether the variable-length codes in blocks (GIF89a, appendix F) stand for at least this number of pixels. Counts the
// pixels of each code without decoding them. `start` is the position of the first code size.
static bool has_pixels(const uint8_t *bytes, size_t start, size_t end, int64_t pixels) {
    enum { MAX_CODE_BITS = 12 };
    uint32_t lengths[1 << MAX_CODE_BITS], buffer = 0;
    unsigned first_bits = bytes[start], bits = first_bits + 1, filled = 0;
    if (first_bits < 1 || first_bits >= MAX_CODE_BITS) return false;
    unsigned clear = 1u << first_bits, next = clear + 2, before = clear;
    int64_t found = 0;
    for (unsigned i = 0; i < clear; i++) lengths[i] = 1;
    for (size_t position = start + 1; position < end && found < pixels;) {
        size_t block_end = position + 1 + bytes[position];
        for (position++; position < block_end && found < pixels; position++) {
            buffer |= (uint32_t)bytes[position] << filled;
            for (filled += 8; filled >= bits && found < pixels;) {
                unsigned code = buffer & ((1u << bits) - 1);
                buffer >>= bits;
                filled -= bits;
                if (code == clear) {
                    bits = first_bits + 1;
                    next = clear + 2;
                    before = clear;
                    continue;
                }
                bool is_new = code == next && before != clear;
                if (code == clear + 1 || (code >= next && !is_new)) return false;
                // A new code stands for the pixels of the previous code and one more pixel.
                if (before != clear && next < 1u << MAX_CODE_BITS) lengths[next++] = lengths[before] + 1;
                if (next == 1u << bits && bits < MAX_CODE_BITS) bits++;
                found += lengths[code];
                before = code;
            }
        }
    }
    return found >= pixels;
}

// A frame or an extension of a GIF.
struct gif_part {
    bool is_frame;
    int64_t pixels;
    // Whether the file contains all pixels of the frame.
    bool is_whole;
    // The position after the last whole block of the data.
    size_t end;
    // The position after the part; 0 if the file ends within the part.
    size_t next;
};

// Returns false if no part begins at this position.
static bool read_part(const uint8_t *bytes, size_t count, size_t position, struct gif_part *part) {
    *part = (struct gif_part){.is_frame = bytes[position] == 0x2C};
    if (!part->is_frame && bytes[position] != 0x21) return false;
    if (part->is_frame && count - position < 11) return true;
    size_t start = position + 2;
    if (part->is_frame) start = position + 10 + colour_table_bytes(bytes[position + 9]);
    if (start >= count) return true;
    struct gif_blocks blocks = read_blocks(bytes, count, part->is_frame ? start + 1 : start);
    part->end = blocks.end;
    part->next = blocks.next;
    if (!part->is_frame) return true;
    const uint8_t *size = bytes + position + 5;
    part->pixels = (int64_t)(size[0] | size[1] << 8) * (size[2] | size[3] << 8);
    part->is_whole = has_pixels(bytes, start, blocks.end, part->pixels);
    return true;
}

// Adds the missing end of a file whose frames are complete. If the last pixels of a frame are missing, libnsgif shows
// the frame without them or omits the frame, and reports no error.
enum darkroom_status darkroom_mend_gif(
    struct darkroom_session *session, const struct darkroom_input *input, struct darkroom_file *mended) {
    static const uint8_t ending[] = {0, 0x3B};
    const uint8_t *bytes = input->bytes;
    size_t count = input->byte_count;
    if (count < 13) return DARKROOM_DONE;
    size_t position = 13 + colour_table_bytes(bytes[10]);
    struct gif_part part = {0};
    int frames = 0;
    while (position < count) {
        // The trailer, or data that the decoder rejects.
        if (!read_part(bytes, count, position, &part)) return DARKROOM_DONE;
        if (part.is_frame) frames++;
        if (part.is_frame && !part.is_whole) {
            // A picture that is too large fails with another error.
            if (input->damage == DARKROOM_ACCEPT_DAMAGED || part.pixels > session->max_pixels) return DARKROOM_DONE;
            g_snprintf(session->detail, sizeof session->detail, "frame %d lacks pixels", frames);
            return DARKROOM_DAMAGED;
        }
        if (part.next == 0) break;
        position = part.next;
    }
    if (frames == 0 || position > count) return DARKROOM_DONE;
    if (!darkroom_tolerate(session, input, "the end of the file is missing")) return DARKROOM_DAMAGED;
    // Adds the trailer, and before it the terminator of the blocks if the file ends in a frame.
    bool is_open = part.next == 0 && part.is_frame;
    size_t kept = is_open ? part.end : position, skipped = is_open ? 0 : 1;
    mended->bytes = malloc(kept + sizeof ending);
    if (!mended->bytes) return DARKROOM_OUT_OF_MEMORY;
    memcpy(mended->bytes, bytes, kept);
    memcpy(mended->bytes + kept, ending + skipped, sizeof ending - skipped);
    mended->byte_count = kept + sizeof ending - skipped;
    return DARKROOM_DONE;
}
