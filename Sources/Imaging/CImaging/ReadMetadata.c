#define _GNU_SOURCE  // memmem(3)

#include "Boxes.h"
#include "Exif.h"
#include "IPTC.h"
#include "ImageMetadata.h"
#include "Segments.h"
#include "TIFFDirectories.h"
#include "XMP.h"

#include <math.h>
#include <string.h>

#include <brotli/decode.h>

enum {
    // The limit in bytes for EXIF and XMP from a text of a PNG or a box of a JPEG XL.
    MAX_PROFILE = 8 << 20,
    // libvips fails on larger EXIF.
    MAX_EXIF = 1000000,
};

// MARK: - PNG

// ImageMagick, and programs older than the PNG chunk `eXIf`, write profiles as texts: a line feed, the kind of the profile,
// the number of bytes, and the bytes in hexadecimal digits. Returns memory to be freed with g_free; NULL if the text is not
// valid.
static uint8_t *decode_profile(const char *text, size_t *count) {
    const char *line = *text == '\n' ? text + 1 : text;
    const char *number = strchr(line, '\n');
    if (!number) return NULL;
    char *digits = NULL;
    guint64 length = g_ascii_strtoull(number, &digits, 10);
    // Each byte needs two digits.
    if (length == 0 || length > MAX_PROFILE || length > strlen(digits) / 2) return NULL;
    uint8_t *bytes = g_malloc(length);
    int high = -1;
    for (*count = 0; *count < length && *digits; digits++) {
        int digit = g_ascii_xdigit_value(*digits);
        if (digit < 0 && !g_ascii_isspace(*digits)) break;
        if (digit < 0) continue;
        if (high >= 0) bytes[(*count)++] = (uint8_t)(high << 4 | digit);
        high = high >= 0 ? -1 : digit;
    }
    if (*count == length) return bytes;
    g_free(bytes);
    return NULL;
}

static void set_missing_blob(VipsImage *image, const char *field, const uint8_t *bytes, size_t count) {
    if (!strcmp(field, VIPS_META_EXIF_NAME) && count > MAX_EXIF) return;
    if (!vips_image_get_typeof(image, field)) vips_image_set_blob_copy(image, field, bytes, count);
}

static void take_profile(VipsImage *image, const char *kind, const uint8_t *bytes, size_t count) {
    static const char xmp_name[] = "http://ns.adobe.com/xap/1.0/";
    GByteArray *resources;
    // A profile of the kind APP1 contains EXIF or XMP, preceded by its name as in a JPEG.
    if (count > sizeof xmp_name && !memcmp(bytes, xmp_name, sizeof xmp_name)) {
        set_missing_blob(image, VIPS_META_XMP_NAME, bytes + sizeof xmp_name, count - sizeof xmp_name);
    } else if (!strcmp(kind, "xmp")) {
        set_missing_blob(image, VIPS_META_XMP_NAME, bytes, count);
    } else if (darkroom_is_exif(bytes, count)) {
        set_missing_blob(image, VIPS_META_EXIF_NAME, bytes, count);
    } else if ((resources = darkroom_photoshop_resources(bytes, count))) {
        set_missing_blob(image, VIPS_META_IPTC_NAME, resources->data, resources->len);
        g_byte_array_free(resources, TRUE);
    }
}

// Takes the metadata from a text `Raw profile type KIND`. Returns false if the kind is unknown.
static bool take_text_profile(VipsImage *image, const char *kind, const char *text) {
    static const char *const kinds[] = {"exif", "APP1", "app1", "xmp", "iptc", "8bim", NULL};
    if (!g_strv_contains(kinds, kind)) return false;
    size_t count = 0;
    uint8_t *bytes = decode_profile(text, &count);
    if (bytes) take_profile(image, kind, bytes, count);
    g_free(bytes);
    return true;
}

// libvips has stored the texts of a PNG in fields, and would write the texts again. Therefore texts with profiles are
// removed.
static void take_png_profiles(VipsImage *image) {
    static const char name[] = "-Raw profile type ";
    char **fields = vips_image_get_fields(image);
    for (char **field = fields; *field; field++) {
        const char *kind = g_str_has_prefix(*field, "png-comment-") ? strstr(*field, name) : NULL, *text = NULL;
        if (!kind || vips_image_get_string(image, *field, &text)) continue;
        if (take_text_profile(image, kind + sizeof name - 1, text)) vips_image_remove(image, *field);
    }
    g_strfreev(fields);
}

// The picture that receives metadata that libvips has not read, and the number of texts in this picture.
struct png_metadata {
    VipsImage *image;
    int texts;
};

static int count_texts(const VipsImage *image) {
    char **fields = vips_image_get_fields((VipsImage *)image);
    int texts = 0;
    for (char **field = fields; *field; field++) texts += g_str_has_prefix(*field, "png-comment-");
    g_strfreev(fields);
    return texts;
}

// Adds a text in the same way as libvips adds texts that precede the pixels.
static void add_text(struct png_metadata *metadata, const char *keyword, const char *text) {
    enum { MAX_TEXTS = 1000, MAX_KEYWORD = 79 };
    if (metadata->texts >= MAX_TEXTS || strlen(keyword) > MAX_KEYWORD) return;
    char *field = g_strdup_printf("png-comment-%d-%s", metadata->texts++, keyword);
    vips_image_set_string(metadata->image, field, text);
    g_free(field);
}

static void take_other_metadata(void *context, const char *keyword, const uint8_t *bytes, size_t count) {
    static const char profile[] = "Raw profile type ";
    struct png_metadata *metadata = context;
    if (!keyword) {
        if (darkroom_is_exif(bytes, count)) set_missing_blob(metadata->image, VIPS_META_EXIF_NAME, bytes, count);
    } else if (!strcmp(keyword, "XML:com.adobe.xmp")) {
        if (count > 0 && count <= MAX_PROFILE) set_missing_blob(metadata->image, VIPS_META_XMP_NAME, bytes, count);
    } else if (g_str_has_prefix(keyword, profile)) {
        take_text_profile(metadata->image, keyword + sizeof profile - 1, (const char *)bytes);
    } else {
        add_text(metadata, keyword, (const char *)bytes);
    }
}

static void take_png_metadata(VipsImage *image, const struct darkroom_input *input) {
    // The fields of texts are numbered, so the texts are counted before some fields are removed.
    struct png_metadata metadata = {.image = image, .texts = count_texts(image)};
    take_png_profiles(image);
    darkroom_png_other_metadata(input, take_other_metadata, &metadata);
}

// MARK: - TIFF

// The IPTC field of a picture has the form that a JPEG uses: resources of Photoshop. A TIFF contains such resources, or
// records without resources around them. libvips returns records of the type LONG in another byte order.
static GByteArray *tiff_resources(const struct darkroom_input *input) {
    enum { TAG_RECORDS = 0x83BB, TAG_RESOURCES = 0x8649 };
    size_t count;
    const uint8_t *bytes = darkroom_tiff_value(input->bytes, input->byte_count, TAG_RECORDS, &count);
    GByteArray *resources = bytes ? darkroom_iptc_resources(bytes, count) : NULL;
    if (resources) return resources;
    bytes = darkroom_tiff_value(input->bytes, input->byte_count, TAG_RESOURCES, &count);
    return bytes && count <= MAX_PROFILE ? darkroom_photoshop_resources(bytes, count) : NULL;
}

static void take_tiff_metadata(VipsImage *image, const struct darkroom_input *input) {
    vips_image_remove(image, VIPS_META_IPTC_NAME);
    GByteArray *resources = tiff_resources(input);
    if (resources) set_missing_blob(image, VIPS_META_IPTC_NAME, resources->data, resources->len);
    if (resources) g_byte_array_free(resources, TRUE);
    GByteArray *classic = darkroom_tiff_from_big_tiff(input->bytes, input->byte_count);
    GByteArray *exif = classic ? darkroom_exif_from_tiff(classic->data, classic->len)
                               : darkroom_exif_from_tiff(input->bytes, input->byte_count);
    if (exif) vips_image_remove(image, VIPS_META_EXIF_NAME);
    if (exif) set_missing_blob(image, VIPS_META_EXIF_NAME, exif->data, exif->len);
    if (exif) g_byte_array_free(exif, TRUE);
    if (classic) g_byte_array_free(classic, TRUE);
}

// MARK: - JPEG XL

static void take_jxl_box(VipsImage *image, const char *type, const uint8_t *bytes, size_t count) {
    if (!memcmp(type, "Exif", 4) && count > 4) {
        // The EXIF begins with the number of bytes before its TIFF header.
        size_t skipped = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
        if (skipped < count - 4 && darkroom_is_exif(bytes + 4 + skipped, count - 4 - skipped))
            set_missing_blob(image, VIPS_META_EXIF_NAME, bytes + 4 + skipped, count - 4 - skipped);
    } else if (!memcmp(type, "xml ", 4) && count > 0) {
        set_missing_blob(image, VIPS_META_XMP_NAME, bytes, count);
    }
}

// Takes the content of a box that is compressed with Brotli; the type of the box precedes the compressed bytes (ISO
// 18181-2, 9.3).
static void take_packed_jxl_box(VipsImage *image, const uint8_t *bytes, size_t count) {
    size_t unpacked_count = MAX_PROFILE;
    uint8_t *unpacked = g_malloc(unpacked_count);
    if (BrotliDecoderDecompress(count - 4, bytes + 4, &unpacked_count, unpacked) == BROTLI_DECODER_RESULT_SUCCESS)
        take_jxl_box(image, (const char *)bytes, unpacked, unpacked_count);
    g_free(unpacked);
}

// libvips before 8.15 does not read the metadata boxes, and Loading.c hides these boxes from later versions.
static void take_jxl_boxes(VipsImage *image, const struct darkroom_input *input) {
    // The unpacked size of a compressed box is not known in advance, so only a few boxes of a file are unpacked.
    enum { MAX_PACKED_BOXES = 4 };
    struct darkroom_box_content box;
    size_t position = 0;
    int packed_boxes = 0;
    if (input->byte_count < 12 || memcmp(input->bytes + 4, "JXL ", 4)) return;
    while (darkroom_next_box(input->bytes, input->byte_count, &position, &box)) {
        const uint8_t *bytes = input->bytes + box.start;
        size_t count = box.end - box.start;
        if (count > MAX_PROFILE) continue;
        if (memcmp(box.type, "brob", 4)) {
            take_jxl_box(image, box.type, bytes, count);
        } else if (count > 4 && packed_boxes < MAX_PACKED_BOXES && (!memcmp(bytes, "Exif", 4) || !memcmp(bytes, "xml ", 4))) {
            packed_boxes++;
            take_packed_jxl_box(image, bytes, count);
        }
    }
}

// MARK: - HEIF

// libvips 8.14 does not recognize an XMP packet that begins with its wrapper, and stores it as other data.
static void take_heif_xmp(VipsImage *image) {
    char **fields = vips_image_get_fields(image);
    for (char **field = fields; *field; field++) {
        const void *bytes = NULL;
        size_t count = 0;
        if (!g_str_has_prefix(*field, "heif-mime-") || vips_image_get_blob(image, *field, &bytes, &count)) continue;
        if (memmem(bytes, count, "<x:xmpmeta", 10)) set_missing_blob(image, VIPS_META_XMP_NAME, bytes, count);
        // The loaded image owns the memory of this field, and may be freed before its copies.
        vips_image_remove(image, *field);
    }
    g_strfreev(fields);
}

// MARK: - JPEG

// The resources of Photoshop may be in several segments (Adobe XMP specification part 3, 1.1.3). libvips reads the
// first segment, and writes at most one. If the resources are too long for one segment, only the IPTC records are kept.
static void set_resources(VipsImage *image, const GByteArray *resources) {
    enum { MAX_WRITTEN = 65500 };
    if (resources->len == 0) return;
    GByteArray *whole = darkroom_photoshop_resources(resources->data, resources->len);
    if (whole && whole->len > MAX_WRITTEN) {
        size_t count = 0;
        const uint8_t *records = darkroom_iptc_records(whole->data, whole->len, &count);
        GByteArray *less = records ? darkroom_iptc_resources(records, count) : NULL;
        g_byte_array_free(whole, TRUE);
        whole = less;
    }
    if (!whole) return;
    vips_image_set_blob_copy(image, VIPS_META_IPTC_NAME, whole->data, whole->len);
    g_byte_array_free(whole, TRUE);
}

static void take_jpeg_segments(VipsImage *image, const struct darkroom_input *input) {
    GArray *segments = g_array_new(FALSE, FALSE, sizeof(struct darkroom_segment));
    GByteArray *resources = g_byte_array_new();
    struct darkroom_segment segment;
    for (size_t position = 2; darkroom_next_segment(input->bytes, input->byte_count, &position, &segment);) {
        enum darkroom_segment_kind kind = darkroom_segment_kind(&segment);
        if (kind == SEGMENT_JFIF && !vips_image_get_typeof(image, FIELD_DENSITY)) {
            const uint8_t *density = segment.bytes + 7;
            int values[3] = {density[0], density[1] << 8 | density[2], density[3] << 8 | density[4]};
            vips_image_set_array_int(image, FIELD_DENSITY, values, 3);
        }
        if (kind == SEGMENT_XMP || kind == SEGMENT_EXTENDED_XMP) g_array_append_val(segments, segment);
        if (kind == SEGMENT_RESOURCES && resources->len < MAX_PROFILE) {
            size_t bytes;
            const uint8_t *part = darkroom_segment_resources(&segment, &bytes);
            g_byte_array_append(resources, part, (guint)bytes);
        }
    }
    set_resources(image, resources);
    g_byte_array_free(resources, TRUE);
    size_t count = 0;
    uint8_t *extended = darkroom_extended_xmp((struct darkroom_segment *)(void *)segments->data, segments->len, &count);
    if (extended) {
        darkroom_xmp_settle(extended, count, DARKROOM_XMP_KEEP_EXTENSION, NULL);
        vips_image_set_blob_copy(image, FIELD_EXTENDED_XMP, extended, count);
    }
    free(extended);
    g_array_free(segments, TRUE);
}

// MARK: - All formats

static void settle_xmp(VipsImage *image) {
    const void *bytes = NULL;
    size_t count = 0;
    if (!vips_image_get_typeof(image, VIPS_META_XMP_NAME)) return;
    if (vips_image_get_blob(image, VIPS_META_XMP_NAME, &bytes, &count)) return;
    uint8_t *packet = g_memdup2(bytes, count);
    if (darkroom_xmp_settle(packet, count, DARKROOM_XMP_KEEP_EXTENSION, NULL))
        vips_image_set_blob_copy(image, VIPS_META_XMP_NAME, packet, count);
    g_free(packet);
}

// Returns the orientation of the EXIF.
static int settle_exif(VipsImage *image) {
    const void *bytes = NULL;
    size_t count = 0;
    if (!vips_image_get_typeof(image, VIPS_META_EXIF_NAME)) return 1;
    if (vips_image_get_blob(image, VIPS_META_EXIF_NAME, &bytes, &count) || !darkroom_is_exif(bytes, count)) return 1;
    int orientation = darkroom_exif_orientation(bytes, count);
    size_t skipped = memcmp(bytes, "Exif", 4) == 0 ? 6 : 0;
    uint8_t *exif = g_memdup2((const uint8_t *)bytes + skipped, count - skipped);
    darkroom_exif_set_upright(exif, count - skipped);
    size_t kept = darkroom_exif_remove_thumbnail(exif, count - skipped);
    vips_image_set_blob_copy(image, FIELD_EXIF, exif, kept);
    g_free(exif);
    return orientation;
}

// Whether a PNG has the chunk `pHYs`. Without this chunk, libvips sets a density that is not in the file.
static bool png_has_density(const struct darkroom_input *input) {
    const uint8_t *bytes = input->bytes;
    size_t count = input->byte_count;
    for (size_t start = 8; count >= 12 && start <= count - 12;) {
        size_t length = (size_t)bytes[start] << 24 | (size_t)bytes[start + 1] << 16 | (size_t)bytes[start + 2] << 8 | bytes[start + 3];
        if (!memcmp(bytes + start + 4, "pHYs", 4)) return length == 9 && count - start >= 12 + 9 && bytes[start + 16] == 1;
        if (length > count - 12 - start || !memcmp(bytes + start + 4, "IDAT", 4)) return false;
        start += 12 + length;
    }
    return false;
}

// Sets the density if the file contains one, unless a JFIF segment has set it.
static void set_density(VipsImage *image, const struct darkroom_input *input) {
    int density[3] = {1, 0, 0};
    const void *exif = NULL;
    size_t count = 0;
    bool is_known = (input->format == DARKROOM_PNG && png_has_density(input)) ||
                    (input->format == DARKROOM_TIFF && vips_image_get_typeof(image, VIPS_META_RESOLUTION_UNIT));
    if (vips_image_get_typeof(image, FIELD_DENSITY)) return;
    if (is_known) {
        // libvips stores the density in pixels per millimetre.
        double across = rint(image->Xres * 25.4), down = rint(image->Yres * 25.4);
        if (!(across >= 1 && across <= 65535 && down >= 1 && down <= 65535)) return;
        density[1] = (int)across;
        density[2] = (int)down;
    } else if (!vips_image_get_typeof(image, FIELD_EXIF) || vips_image_get_blob(image, FIELD_EXIF, &exif, &count) ||
               !darkroom_exif_density(exif, count, density)) {
        return;
    }
    vips_image_set_array_int(image, FIELD_DENSITY, density, 3);
}

// Swaps across and down, for a picture that will be turned.
static void swap_density(VipsImage *image) {
    int *density = NULL, count = 0;
    if (!vips_image_get_typeof(image, FIELD_DENSITY)) return;
    if (vips_image_get_array_int(image, FIELD_DENSITY, &density, &count) || count != 3) return;
    vips_image_set_array_int(image, FIELD_DENSITY, (int[3]){density[0], density[2], density[1]}, 3);
}

bool darkroom_read_metadata(darkroom_picture *picture, const struct darkroom_input *input) {
    VipsImage *next = NULL;
    // Images are shared, so their fields are only changed in copies.
    if (!APPLY(picture, vips_copy)) return false;
    VipsImage *image = picture->image;
    if (input->format == DARKROOM_PNG) take_png_metadata(image, input);
    if (input->format == DARKROOM_JPEG) take_jpeg_segments(image, input);
    if (input->format == DARKROOM_TIFF) take_tiff_metadata(image, input);
    if (input->format == DARKROOM_JXL) take_jxl_boxes(image, input);
    if (input->format == DARKROOM_AVIF || input->format == DARKROOM_HEIC) take_heif_xmp(image);
    settle_xmp(image);
    int orientation = settle_exif(image);
    switch (input->format) {
    case DARKROOM_JPEG:
    case DARKROOM_PNG:
    case DARKROOM_WEBP:
        vips_image_set_int(image, VIPS_META_ORIENTATION, orientation);
        break;
    case DARKROOM_AVIF:
    case DARKROOM_HEIC:
        // The decoder has applied the properties `irot` and `imir`; the orientation in the EXIF is ignored (ISO
        // 23008-12, 6.5.10 and A.2).
        vips_image_set_int(image, VIPS_META_ORIENTATION, 1);
        break;
    case DARKROOM_JXL:
    case DARKROOM_TIFF:
    case DARKROOM_GIF:
        // The decoder of JPEG XL turns the picture itself. For TIFF, libvips has read the orientation from a tag.
        break;
    }
    set_density(image, input);
    if (vips_image_get_orientation(image) > 4) swap_density(image);
    return true;
}
