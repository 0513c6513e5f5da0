#define _GNU_SOURCE  // memmem(3)

#include "Boxes.h"
#include "Exif.h"
#include "IPTC.h"
#include "ImageMetadata.h"
#include "Segments.h"
#include "XMP.h"

#include <string.h>

enum {
    // XMP specification part 3, 1.1.3.
    MAX_JPEG_PACKET = 65502,
};

// Returns a blob of the image; NULL if there is none.
static const uint8_t *blob(VipsImage *image, const char *field, size_t *count) {
    const void *bytes = NULL;
    *count = 0;
    if (!vips_image_get_typeof(image, field) || vips_image_get_blob(image, field, &bytes, count)) return NULL;
    return bytes;
}

// Turns a packet into the extended XMP, and sets a short packet that refers to the extended XMP.
static void make_extended(VipsImage *image, const uint8_t *packet_bytes, size_t packet_count) {
    // Extended XMP has no wrapper.
    const uint8_t *start = memmem(packet_bytes, packet_count, "<x:xmpmeta", 10), *extended = start ? start : packet_bytes;
    const uint8_t *end = memmem(packet_bytes, packet_count, "</x:xmpmeta>", 12);
    size_t count = end && end > extended ? (size_t)(end - extended) + 12 : packet_count - (size_t)(extended - packet_bytes);
    char guid[XMP_GUID_DIGITS + 1];
    darkroom_xmp_guid(extended, count, guid);
    char *packet = g_strdup_printf(
        "<?xpacket begin=\"\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?><x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\""
        " xmlns:xmpNote=\"http://ns.adobe.com/xmp/note/\" xmpNote:HasExtendedXMP=\"%s\"/></rdf:RDF></x:xmpmeta>"
        "<?xpacket end=\"w\"?>",
        guid);
    vips_image_set_blob_copy(image, VIPS_META_XMP_NAME, packet, strlen(packet));
    vips_image_set_blob_copy(image, FIELD_EXTENDED_XMP, extended, count);
    g_free(packet);
}

static void prepare_xmp(VipsImage *image, enum darkroom_format format) {
    size_t count, extended_count;
    if (!blob(image, VIPS_META_XMP_NAME, &count)) return;
    uint8_t *packet = g_memdup2(blob(image, VIPS_META_XMP_NAME, &count), count);
    const uint8_t *extended = blob(image, FIELD_EXTENDED_XMP, &extended_count);
    if (extended && format == DARKROOM_JPEG) {
        char guid[XMP_GUID_DIGITS + 1];
        darkroom_xmp_guid(extended, extended_count, guid);
        darkroom_xmp_settle(packet, count, DARKROOM_XMP_SET_EXTENSION, guid);
        vips_image_set_blob_copy(image, VIPS_META_XMP_NAME, packet, count);
    } else {
        // Only JPEG limits the size of XMP, so the other formats have no extended XMP.
        darkroom_xmp_settle(packet, count, DARKROOM_XMP_REMOVE_EXTENSION, NULL);
        GByteArray *merged = extended ? darkroom_xmp_merge(packet, count, extended, extended_count) : NULL;
        vips_image_set_blob_copy(image, VIPS_META_XMP_NAME, merged ? merged->data : packet, merged ? merged->len : count);
        if (merged) g_byte_array_free(merged, TRUE);
        // A longer packet does not fit into a segment of JPEG, and libvips would not write it.
        if (format == DARKROOM_JPEG && count > MAX_JPEG_PACKET) make_extended(image, packet, count);
    }
    g_free(packet);
}

// A TIFF contains records without resources around them.
static void prepare_tiff_iptc(VipsImage *image) {
    size_t count, records_count = 0;
    const uint8_t *resources = blob(image, VIPS_META_IPTC_NAME, &count);
    if (!resources) return;
    const uint8_t *records = darkroom_iptc_records(resources, count, &records_count);
    uint8_t *copy = records ? g_memdup2(records, records_count) : NULL;
    vips_image_remove(image, VIPS_META_IPTC_NAME);
    if (copy) vips_image_set_blob_copy(image, FIELD_IPTC_RECORDS, copy, records_count);
    g_free(copy);
}

// The encoders of TIFF and PNG write the density of the image, in pixels per millimetre.
static bool prepare_density(darkroom_picture *picture) {
    VipsImage *next = NULL;
    int *density = NULL, count = 0;
    bool is_known = vips_image_get_typeof(picture->image, FIELD_DENSITY) &&
                    !vips_image_get_array_int(picture->image, FIELD_DENSITY, &density, &count) && count == 3 &&
                    (density[0] == 1 || density[0] == 2) && density[1] > 0 && density[2] > 0;
    if (!is_known) return true;
    bool is_inch = density[0] == 1;
    double millimetres = is_inch ? 25.4 : 10, across = density[1] / millimetres, down = density[2] / millimetres;
    if (!APPLY(picture, vips_copy, "xres", across, "yres", down)) return false;
    vips_image_set_string(picture->image, VIPS_META_RESOLUTION_UNIT, is_inch ? "in" : "cm");
    return true;
}

bool darkroom_prepare_metadata(darkroom_picture *picture, enum darkroom_format format) {
    VipsImage *next = NULL;
    // Encoders run on copies, because the picture may be encoded again, in another format.
    if (!APPLY(picture, vips_copy)) return false;
    prepare_xmp(picture->image, format);
    if (format == DARKROOM_TIFF) prepare_tiff_iptc(picture->image);
    return (format != DARKROOM_TIFF && format != DARKROOM_PNG) || prepare_density(picture);
}


// The EXIF for a file; NULL if the image has none. The caller frees it with g_free.
static uint8_t *exif_for(VipsImage *image, const struct darkroom_file *file, size_t *count) {
    const uint8_t *bytes = blob(image, FIELD_EXIF, count);
    if (!bytes) return NULL;
    uint8_t *exif = g_memdup2(bytes, *count);
    darkroom_exif_set_size(exif, *count, file->width, file->height);
    return exif;
}

// MARK: - JPEG

enum { MARKER_JFIF = 0xE0, MARKER_APP1 = 0xE1 };

static const char exif_name[6] = "Exif\0";

static void append_segment(GByteArray *file, int marker, const void *name, size_t name_count, const uint8_t *bytes, size_t count) {
    size_t length = SEGMENT_LENGTH_BYTES + name_count + count;
    uint8_t start[4] = {0xFF, (uint8_t)marker, (uint8_t)(length >> 8), (uint8_t)length};
    g_byte_array_append(file, start, sizeof start);
    g_byte_array_append(file, name, (guint)name_count);
    g_byte_array_append(file, bytes, (guint)count);
}

static void append_app1(void *file, const uint8_t *bytes, size_t count) {
    append_segment(file, MARKER_APP1, NULL, 0, bytes, count);
}

// Writes version 1.01. An unknown density is written without a unit (JFIF 1.02, page 5).
static void append_jfif(VipsImage *image, GByteArray *out) {
    int *density = NULL, count = 0;
    bool is_known = vips_image_get_typeof(image, FIELD_DENSITY) &&
                    !vips_image_get_array_int(image, FIELD_DENSITY, &density, &count) && count == 3;
    int unit = is_known ? density[0] : 0, across = is_known ? density[1] : 1, down = is_known ? density[2] : 1;
    uint8_t values[9] = {1, 1, (uint8_t)unit, (uint8_t)(across >> 8), (uint8_t)across, (uint8_t)(down >> 8), (uint8_t)down};
    append_segment(out, MARKER_JFIF, "JFIF", 5, values, sizeof values);
}

static void write_jpeg(VipsImage *image, const struct darkroom_file *file, GByteArray *out) {
    size_t exif_count, extended_count, position = 2, start = 2;
    uint8_t *exif = exif_for(image, file, &exif_count);
    const uint8_t *extended = blob(image, FIELD_EXTENDED_XMP, &extended_count);
    if (exif_count > SEGMENT_MAX_BYTES - sizeof exif_name) g_clear_pointer(&exif, g_free);
    // If libvips writes any metadata, it also writes EXIF, even if the picture has none, and omits JFIF.
    bool drops_exif = exif || !vips_image_get_typeof(image, VIPS_META_EXIF_NAME);

    g_byte_array_append(out, file->bytes, 2);
    append_jfif(image, out);
    if (exif) append_segment(out, MARKER_APP1, exif_name, sizeof exif_name, exif, exif_count);
    struct darkroom_segment segment;
    while (darkroom_next_segment(file->bytes, file->byte_count, &position, &segment)) {
        enum darkroom_segment_kind kind = darkroom_segment_kind(&segment);
        bool is_replaced = kind == SEGMENT_JFIF || (kind == SEGMENT_EXIF && drops_exif);
        if (!is_replaced) g_byte_array_append(out, file->bytes + start, (guint)(position - start));
        if (kind == SEGMENT_XMP && extended) darkroom_write_extended_xmp(extended, extended_count, append_app1, out);
        start = position;
    }
    g_byte_array_append(out, file->bytes + start, (guint)(file->byte_count - start));
    g_free(exif);
}

// MARK: - PNG

// The CRC of PNG, annex D.
static uint32_t crc(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return crc;
}

static void append_number(GByteArray *file, size_t number) {
    uint8_t bytes[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};
    g_byte_array_append(file, bytes, sizeof bytes);
}

static void append_chunk(GByteArray *file, const char *type, const void *name, size_t name_count, const uint8_t *bytes, size_t count) {
    append_number(file, name_count + count);
    g_byte_array_append(file, (const uint8_t *)type, 4);
    g_byte_array_append(file, name, (guint)name_count);
    g_byte_array_append(file, bytes, (guint)count);
    append_number(file, ~crc(crc(crc(~0u, (const uint8_t *)type, 4), name, name_count), bytes, count));
}

// The keyword of XMP with its end, and empty fields: not compressed, no language (XMP specification part 3, 1.1.5).
static const char xmp_keyword[] = "XML:com.adobe.xmp\0\0\0\0";

// Whether the density is known. libvips also writes a density if it is not known.
static bool has_density(VipsImage *image) {
    int *density = NULL, values[3], count = 0;
    size_t exif_count;
    const uint8_t *exif = blob(image, FIELD_EXIF, &exif_count);
    if (exif && darkroom_exif_density(exif, exif_count, values)) return true;
    return vips_image_get_typeof(image, FIELD_DENSITY) && !vips_image_get_array_int(image, FIELD_DENSITY, &density, &count) &&
           count == 3 && density[0] > 0;
}

static void write_png(VipsImage *image, const struct darkroom_file *file, GByteArray *out) {
    size_t exif_count, xmp_count;
    uint8_t *exif = exif_for(image, file, &exif_count);
    const uint8_t *xmp = blob(image, VIPS_META_XMP_NAME, &xmp_count);
    // libvips also writes EXIF if the picture has none.
    bool has_data = false, has_exif = exif || !vips_image_get_typeof(image, VIPS_META_EXIF_NAME);
    size_t start = 8, keyword = strlen(xmp_keyword) + 1;
    g_byte_array_append(out, file->bytes, (guint)start);
    while (file->byte_count - start >= 12) {
        const uint8_t *chunk = file->bytes + start, *type = chunk + 4;
        size_t length = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
        if (length > file->byte_count - start - 12) break;
        if (!has_data && !memcmp(type, "IDAT", 4)) {
            has_data = true;
            if (exif) append_chunk(out, "eXIf", NULL, 0, exif, exif_count);
            if (xmp) append_chunk(out, "iTXt", xmp_keyword, sizeof xmp_keyword, xmp, xmp_count);
        }
        bool is_text = !memcmp(type, "iTXt", 4) || !memcmp(type, "zTXt", 4) || !memcmp(type, "tEXt", 4);
        bool is_xmp = is_text && length >= keyword && !memcmp(type + 4, xmp_keyword, keyword);
        bool is_exif = !memcmp(type, "eXIf", 4);
        bool is_invented = !memcmp(type, "pHYs", 4) && !has_density(image);
        // libvips 8.14 writes EXIF twice.
        bool is_repeated = is_exif && has_exif;
        has_exif = has_exif || is_exif;
        if (!is_xmp && !is_invented && !is_repeated) g_byte_array_append(out, chunk, (guint)(12 + length));
        start += 12 + length;
    }
    g_byte_array_append(out, file->bytes + start, (guint)(file->byte_count - start));
    g_free(exif);
}

// MARK: - WebP

static void append_little_endian(GByteArray *file, size_t number) {
    uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
    g_byte_array_append(file, bytes, sizeof bytes);
}

static void write_webp(VipsImage *image, const struct darkroom_file *file, GByteArray *out) {
    enum { FLAG_EXIF = 8 };
    size_t exif_count, start = 12, flags = 0;
    uint8_t *exif = exif_for(image, file, &exif_count);
    bool has_exif = vips_image_get_typeof(image, VIPS_META_EXIF_NAME);
    g_byte_array_append(out, file->bytes, (guint)start);
    while (file->byte_count - start >= 8) {
        const uint8_t *chunk = file->bytes + start;
        size_t length = (size_t)chunk[7] << 24 | (size_t)chunk[6] << 16 | (size_t)chunk[5] << 8 | chunk[4];
        size_t padded = length + length % 2;
        if (padded > file->byte_count - start - 8) break;
        bool is_exif = !memcmp(chunk, "EXIF", 4);
        if (!memcmp(chunk, "VP8X", 4)) flags = out->len + 8;
        if (is_exif && exif) {
            g_byte_array_append(out, chunk, 4);
            append_little_endian(out, exif_count);
            g_byte_array_append(out, exif, (guint)exif_count);
            if (exif_count % 2) g_byte_array_append(out, (const uint8_t *)"", 1);
        } else if (!is_exif || has_exif) {
            g_byte_array_append(out, chunk, (guint)(8 + padded));
        }
        start += 8 + padded;
    }
    g_byte_array_append(out, file->bytes + start, (guint)(file->byte_count - start));
    // libvips also writes EXIF if the picture has none.
    if (!has_exif && flags > 0) out->data[flags] &= (uint8_t)~FLAG_EXIF;
    for (int i = 0; i < 4; i++) out->data[4 + i] = (uint8_t)((out->len - 8) >> 8 * i);
    g_free(exif);
}

// MARK: - JPEG XL

static const uint8_t jxl_start[] = {
    0, 0, 0, 12, 'J', 'X', 'L', ' ', '\r', '\n', 0x87, '\n',
    0, 0, 0, 20, 'f', 't', 'y', 'p', 'j', 'x', 'l', ' ', 0, 0, 0, 0, 'j', 'x', 'l', ' ',
};

static void append_box(GByteArray *out, const char type[4], const void *head, size_t head_count, const uint8_t *bytes, size_t count) {
    append_number(out, 8 + head_count + count);
    g_byte_array_append(out, (const uint8_t *)type, 4);
    g_byte_array_append(out, head, (guint)head_count);
    g_byte_array_append(out, bytes, (guint)count);
}

// Whether a box contains metadata of this type, compressed or not (ISO 18181-2, 9.4).
static bool is_box_of(const uint8_t *file, const struct darkroom_box_content *box, const char type[4]) {
    bool is_packed = !memcmp(box->type, "brob", 4) && box->end - box->start >= 4;
    return !memcmp(is_packed ? (const char *)file + box->start : box->type, type, 4);
}

// libvips before 8.15 writes no metadata boxes, and later versions lose tags that libexif does not know.
static void write_jxl(VipsImage *image, const struct darkroom_file *file, GByteArray *out) {
    size_t exif_count, xmp_count, position = 0;
    uint8_t *exif = exif_for(image, file, &exif_count);
    const uint8_t *xmp = blob(image, VIPS_META_XMP_NAME, &xmp_count);
    bool has_boxes = !memcmp(file->bytes, jxl_start, 12);
    if (!has_boxes && !exif && !xmp) {
        g_byte_array_append(out, file->bytes, (guint)file->byte_count);
        return;
    }
    struct darkroom_box_content box;
    bool is_first = true;
    if (!has_boxes) g_byte_array_append(out, jxl_start, sizeof jxl_start);
    while (has_boxes && darkroom_next_box(file->bytes, file->byte_count, &position, &box)) {
        bool is_start = !memcmp(box.type, "JXL ", 4) || !memcmp(box.type, "ftyp", 4) || !memcmp(box.type, "jxll", 4);
        if (!is_start && is_first) {
            is_first = false;
            if (exif) append_box(out, "Exif", "\0\0\0", 4, exif, exif_count);
            if (xmp) append_box(out, "xml ", NULL, 0, xmp, xmp_count);
        }
        bool is_replaced = (exif && is_box_of(file->bytes, &box, "Exif")) || (xmp && is_box_of(file->bytes, &box, "xml "));
        if (!is_replaced) append_box(out, box.type, NULL, 0, file->bytes + box.start, box.end - box.start);
    }
    if (!has_boxes) {
        if (exif) append_box(out, "Exif", "\0\0\0", 4, exif, exif_count);
        if (xmp) append_box(out, "xml ", NULL, 0, xmp, xmp_count);
        append_box(out, "jxlc", NULL, 0, file->bytes, file->byte_count);
    }
    g_free(exif);
}

// MARK: - TIFF

static void write_tiff(VipsImage *image, const struct darkroom_file *file, GByteArray *out) {
    size_t exif_count, records_count;
    uint8_t *exif = exif_for(image, file, &exif_count);
    const uint8_t *records = blob(image, FIELD_IPTC_RECORDS, &records_count);
    GByteArray *written =
        darkroom_exif_add_to_tiff(file->bytes, file->byte_count, exif, exif_count, records, records_count);
    g_byte_array_append(out, written ? written->data : file->bytes, written ? written->len : (guint)file->byte_count);
    if (written) g_byte_array_free(written, TRUE);
    g_free(exif);
}

// MARK: - All formats

bool darkroom_write_metadata(VipsImage *image, struct darkroom_file *file) {
    // The length of a GByteArray has 32 bits. No photo reaches this length.
    if (file->byte_count > UINT32_MAX / 2 || file->byte_count < 12) return true;
    if (file->format == DARKROOM_AVIF || file->format == DARKROOM_HEIC) {
        size_t count;
        uint8_t *exif = exif_for(image, file, &count);
        bool is_done = !exif || darkroom_set_heif_exif(file, exif, count);
        g_free(exif);
        return is_done;
    }
    void (*write)(VipsImage *, const struct darkroom_file *, GByteArray *) = NULL;
    if (file->format == DARKROOM_JPEG) write = write_jpeg;
    if (file->format == DARKROOM_PNG) write = write_png;
    if (file->format == DARKROOM_WEBP) write = write_webp;
    if (file->format == DARKROOM_TIFF) write = write_tiff;
    if (file->format == DARKROOM_JXL) write = write_jxl;
    if (!write) return true;
    GByteArray *out = g_byte_array_sized_new((guint)(file->byte_count + 4096));
    write(image, file, out);
    free(file->bytes);
    file->byte_count = out->len;
    file->bytes = g_byte_array_free(out, FALSE);
    return true;
}
