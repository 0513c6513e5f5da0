#include "Boxes.h"
#include "ColourMapping.h"
#include "Damage.h"
#include "ImageMetadata.h"
#include "Picture.h"
#include "Stages.h"
#include "Strips.h"
#include "TIFFSamples.h"

#include <string.h>

enum {
    // 16-bit RGB with alpha has 8 bytes per pixel. Other kinds of TIFF have up to thousands of bytes per pixel.
    MAX_BYTES_A_PIXEL = 8,
};

static bool is_allowed(struct darkroom_session *session, int64_t width, int64_t height, int64_t most) {
    session->width = (int)width;
    session->height = (int)height;
    if (width * height > most) return false;
    session->size_is_known(session->context, width * height);
    return true;
}

// libvips reports a width or height above its own limit as damage, so this function reads the header (PNG, 11.2.1).
static bool png_is_allowed(struct darkroom_session *session, const struct darkroom_input *input) {
    const uint8_t *header = input->bytes;
    if (input->byte_count < 24) return true;
    int64_t sides[2] = {0, 0};
    for (int i = 0; i < 8; i++) sides[i / 4] = sides[i / 4] << 8 | header[16 + i];
    return sides[0] > INT32_MAX || sides[1] > INT32_MAX || is_allowed(session, sides[0], sides[1], session->max_pixels);
}

// The number of pixels of the largest picture that may be opened. A decoder that makes a picture smaller needs no
// memory for the whole picture; darkroom_decode checks the smaller size. For a lossless WebP, the decoder keeps 4 bytes
// per pixel.
static int64_t most_pixels(const struct darkroom_session *session, enum darkroom_format format) {
    int64_t most = format == DARKROOM_JPEG || format == DARKROOM_WEBP ? session->max_streamed_pixels : session->max_pixels;
    bool is_limited = format == DARKROOM_WEBP && session->max_pixels < most / (MAX_BYTES_A_PIXEL / 4);
    return is_limited ? session->max_pixels * (MAX_BYTES_A_PIXEL / 4) : most;
}

// The limit in bytes is `max_pixels` times MAX_BYTES_A_PIXEL.
static bool is_small_enough(const darkroom_picture *picture, int64_t most) {
    const VipsImage *image = picture->image;
    struct darkroom_session *session = picture->session;
    if (!is_allowed(session, image->Xsize, image->Ysize, most)) return false;
    if (most > session->max_pixels) return true;
    size_t pixel = VIPS_IMAGE_SIZEOF_PEL(image);
    double bytes = (double)image->Xsize * image->Ysize * (double)pixel;
    if (bytes <= (double)session->max_pixels * MAX_BYTES_A_PIXEL) return true;
    g_snprintf(session->detail, sizeof session->detail, "%zu bytes per pixel, which count as %zu pixels of %d", pixel,
               (pixel + MAX_BYTES_A_PIXEL - 1) / MAX_BYTES_A_PIXEL, MAX_BYTES_A_PIXEL);
    return false;
}

// In libvips 8.14, the loaded image owns the memory of a HEIF file's EXIF. Images that are made from the loaded image
// may exist longer, so they need a copy of the EXIF.
static bool own_exif(darkroom_picture *picture) {
    VipsImage *next = NULL;
    const void *exif = NULL;
    size_t count = 0;
    if (!vips_image_get_typeof(picture->image, VIPS_META_EXIF_NAME)) return true;
    if (vips_image_get_blob(picture->image, VIPS_META_EXIF_NAME, &exif, &count)) return false;
    if (vips_copy(picture->image, &next, NULL)) return false;
    vips_image_set_blob_copy(next, VIPS_META_EXIF_NAME, exif, count);
    return darkroom_replace(picture, next);
}

static bool is_box(const char type[4], const char *wanted) { return !memcmp(type, wanted, 4); }

// Hides the metadata of a JPEG XL file from libvips: libvips 8.16 lets libjxl unpack the metadata without a limit, and
// rejects the photo if they are damaged. `darkroom_read_metadata` reads them from the file. Returns a copy of the file
// in which the metadata boxes have a type that decoders skip, or NULL if there are no such boxes. Sets `count` to the
// number of bytes to decode: it excludes bytes after the last complete box, unless these bytes belong to the picture.
static uint8_t *without_jxl_metadata(const struct darkroom_input *input, size_t *count) {
    struct darkroom_box_content box;
    const uint8_t *bytes = input->bytes;
    size_t start = 0, position = 0;
    uint8_t *copy = NULL;
    *count = input->byte_count;
    if (*count < 12 || !is_box((const char *)bytes + 4, "JXL ")) return NULL;
    for (; darkroom_next_box(bytes, input->byte_count, &position, &box); start = position) {
        if (!is_box(box.type, "brob") && !is_box(box.type, "Exif") && !is_box(box.type, "xml ")) continue;
        if (!copy) copy = g_memdup2(bytes, input->byte_count);
        memcpy(copy + start + 4, "skip", 4);
    }
    const char *rest = (const char *)bytes + position + 4;
    bool is_picture = *count - position >= 8 && (is_box(rest, "jxlc") || is_box(rest, "jxlp"));
    if (!is_picture) *count = position;
    return copy;
}

// Reads the header. `shrink` is for JPEG and WebP.
static bool load(darkroom_picture *picture, const struct darkroom_input *input, int shrink) {
    size_t count = input->byte_count;
    uint8_t *copy = input->format == DARKROOM_JXL ? without_jxl_metadata(input, &count) : NULL;
    void *bytes = copy ? copy : (void *)input->bytes;
    int frames = input->all_frames ? -1 : 1;
    bool is_loaded = false;
    VipsImage *image = NULL;
    struct darkroom_tiff tiff;
    // The decoder in Strips.c decides which defects of a JPEG are failures.
    bool accepts = input->damage == DARKROOM_ACCEPT_DAMAGED || input->format == DARKROOM_JPEG;
    VipsFailOn fail_on = accepts ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR;
#define LOAD(loader, ...) \
    !loader(bytes, count, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, __VA_ARGS__ __VA_OPT__(, ) NULL)
    switch (input->format) {
    case DARKROOM_JPEG: is_loaded = LOAD(vips_jpegload_buffer, "shrink", shrink); break;
    case DARKROOM_PNG: is_loaded = LOAD(vips_pngload_buffer); break;
    case DARKROOM_WEBP: is_loaded = LOAD(vips_webpload_buffer, "scale", 1.0 / shrink, "n", frames); break;
    case DARKROOM_AVIF:
    case DARKROOM_HEIC: is_loaded = LOAD(vips_heifload_buffer); break;
    case DARKROOM_JXL: is_loaded = LOAD(vips_jxlload_buffer); break;
    case DARKROOM_TIFF:
        if (!darkroom_tiff_read(input->bytes, count, &tiff)) tiff = (struct darkroom_tiff){.subifd_index = -1};
        is_loaded = LOAD(vips_tiffload_buffer, "page", tiff.page_index, "subifd", tiff.subifd_index);
        break;
    case DARKROOM_GIF: is_loaded = LOAD(vips_gifload_buffer, "n", frames); break;
    }
#undef LOAD
    if (!is_loaded) {
        if (image) g_object_unref(image);
        g_free(copy);
        return false;
    }
    // libvips reads the copy until the image is freed.
    if (copy) g_object_set_data_full(G_OBJECT(image), "darkroom-copy", copy, g_free);
    if (picture->image) g_object_unref(picture->image);
    picture->image = image;
    bool is_heif = input->format == DARKROOM_AVIF || input->format == DARKROOM_HEIC;
    if (is_heif && !own_exif(picture)) return false;
    if (!darkroom_read_metadata(picture, input)) return false;
    // libheif seeks beyond the end of the file. libvips stores an error message for this, and would report it with the
    // next failure.
    vips_error_clear();
    return true;
}

static bool tiff_is_supported(struct darkroom_session *session, const struct darkroom_input *input) {
    struct darkroom_tiff tiff;
    return input->format != DARKROOM_TIFF || !darkroom_tiff_read(input->bytes, input->byte_count, &tiff) ||
           darkroom_tiff_is_supported(&tiff.page, session->detail, sizeof session->detail);
}

static enum darkroom_status open_picture(darkroom_picture *picture, const struct darkroom_input *input) {
    struct darkroom_session *session = picture->session;
    if (input->format == DARKROOM_PNG && !png_is_allowed(session, input)) return DARKROOM_TOO_MANY_PIXELS;
    if (input->format == DARKROOM_PNG && !darkroom_png_inflates_to_little(session, input)) return DARKROOM_DAMAGED;
    if (!tiff_is_supported(session, input)) return DARKROOM_UNSUPPORTED;
    if (!load(picture, input, 1)) return darkroom_failed(session, DARKROOM_DAMAGED);
    int64_t most = most_pixels(session, input->format);
    return is_small_enough(picture, most) ? DARKROOM_DONE : DARKROOM_TOO_MANY_PIXELS;
}

enum darkroom_status darkroom_open(
    struct darkroom_session *session, const struct darkroom_input *input, darkroom_picture **picture) {
    *picture = NULL;
    darkroom_picture *opened = calloc(1, sizeof *opened);
    if (!opened) return DARKROOM_OUT_OF_MEMORY;
    opened->session = session;
    enum darkroom_status status = open_picture(opened, input);
    if (status == DARKROOM_DONE)
        *picture = opened;
    else
        darkroom_free(opened);
    return status;
}

// MARK: - Decoding

// libvips rounds the width and the height of a shrunk picture down, and libjpeg rounds them up. A row or column that
// only libjpeg has is ignored.
static void write_row(void *context, int y, const uint8_t *row) {
    VipsImage *image = context;
    if (y < image->Ysize) vips_image_write_line(image, y, (VipsPel *)row);
}

// libvips' JPEG loader does not detect corrupt data in the last rows, so the pixels come from the decoder in Strips.c.
// The meaning of CMYK values depends on the file; libvips interprets the values. Therefore, for CMYK, the pixels come
// from libvips, and the decoder in Strips.c only checks the file.
static enum darkroom_status decode_jpeg(darkroom_picture *picture, const struct darkroom_input *input, int shrink) {
    if (picture->image->Bands == 4) return darkroom_decode_jpeg(picture->session, input, shrink, (struct darkroom_row_reader){0});

    // Combines the header and metadata from libvips with the pixels from the decoder in Strips.c.
    VipsImage *decoded = darkroom_new_memory(picture->image, picture->image->Xsize, picture->image->Ysize);
    if (!darkroom_replace(picture, decoded)) return DARKROOM_OUT_OF_MEMORY;
    // The thumbnail shows the unfiltered picture.
    vips_image_remove(decoded, "jpeg-thumbnail-data");
    struct darkroom_row_reader reader = {.take_row = write_row, .context = decoded};
    return darkroom_decode_jpeg(picture->session, input, shrink, reader);
}

static bool turn_upright(darkroom_picture *picture) {
    VipsImage *next = NULL;
    if (!vips_image_get_typeof(picture->image, VIPS_META_ORIENTATION) &&
        !vips_image_get_typeof(picture->image, "jpeg-thumbnail-data"))
        return true;
    // The thumbnail is removed from a copy of the image, because images are shared.
    if (!APPLY(picture, vips_copy)) return false;
    vips_image_remove(picture->image, "jpeg-thumbnail-data");
    return APPLY(picture, vips_autorot);
}

// Converts pixels and colours that only some formats have.
static enum darkroom_status simplify(darkroom_picture *picture, const struct darkroom_input *input) {
    struct darkroom_tiff tiff;
    if (input->format == DARKROOM_TIFF && darkroom_tiff_read(input->bytes, input->byte_count, &tiff) &&
        !darkroom_tiff_simplify(picture, &tiff.page))
        return DARKROOM_UNSUPPORTED;
    return darkroom_apply_signalled_colours(picture, input);
}

enum darkroom_status darkroom_decode(
    darkroom_picture *picture, const struct darkroom_input *input, int shrink, bool in_memory) {
    struct darkroom_session *session = picture->session;
    if (shrink > 1 && !load(picture, input, shrink)) return darkroom_failed(session, DARKROOM_DAMAGED);
    if ((int64_t)picture->image->Xsize * picture->image->Ysize > session->max_pixels) return DARKROOM_TOO_MANY_PIXELS;
    if (input->format == DARKROOM_JPEG) {
        enum darkroom_status status = decode_jpeg(picture, input, shrink);
        if (status != DARKROOM_DONE) return darkroom_failed(session, status);
    }
    if (!darkroom_is_in_memory(picture->image)) {
        if (!darkroom_advance(picture, darkroom_watched(picture->image, session, DARKROOM_DAMAGED)))
            return darkroom_failed(session, DARKROOM_DAMAGED);
        bool needs_memory = in_memory || vips_image_get_orientation(picture->image) > 1;
        if (needs_memory && !darkroom_replace(picture, vips_image_copy_memory(picture->image)))
            return darkroom_failed(session, DARKROOM_OUT_OF_MEMORY);
    }
    enum darkroom_status status = simplify(picture, input);
    if (status != DARKROOM_DONE) return darkroom_failed(session, status);
    if (!turn_upright(picture) || !darkroom_make_usual(picture)) return darkroom_failed(session, DARKROOM_UNSUPPORTED);
    // Otherwise libvips would repeat the conversion of colours and the rotation for each use of the pixels.
    if (in_memory && !darkroom_is_in_memory(picture->image)) return darkroom_keep_in_memory(picture);
    return DARKROOM_DONE;
}
