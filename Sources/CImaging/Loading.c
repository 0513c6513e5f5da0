#include "PipelineState.h"
#include "Strips.h"

#include <string.h>

enum {
    // 16-bit RGB with alpha has 8 bytes per pixel. Other kinds of TIFF have up to thousands of bytes per pixel.
    MAX_BYTES_A_PIXEL = 8,
    // libpng inflates each compressed text to at most 8 MB and keeps all texts in memory. Photos contain few texts.
    MAX_PACKED_CHUNKS = 8,
};

static bool is_allowed(struct pipeline *pipeline, int64_t width, int64_t height) {
    pipeline->result->width = (int)width;
    pipeline->result->height = (int)height;
    if (width * height > pipeline->job->max_pixels) return false;
    pipeline->job->size_is_known(pipeline->job->context, width * height);
    return true;
}

// libvips reports a width or height above its own limit as damage, so this function reads the header (PNG, 11.2.1).
static bool png_is_allowed(struct pipeline *pipeline) {
    const uint8_t *header = pipeline->job->bytes;
    if (pipeline->job->byte_count < 24) return true;
    int64_t sides[2] = {0, 0};
    for (int i = 0; i < 8; i++) sides[i / 4] = sides[i / 4] << 8 | header[16 + i];
    return sides[0] > INT32_MAX || sides[1] > INT32_MAX || is_allowed(pipeline, sides[0], sides[1]);
}

// In an iTXt chunk, a compression flag follows the keyword.
static bool is_packed(const uint8_t *type, size_t length) {
    if (!memcmp(type, "zTXt", 4) || !memcmp(type, "iCCP", 4)) return true;
    if (memcmp(type, "iTXt", 4)) return false;
    const uint8_t *text = type + 4, *end = memchr(text, 0, length);
    return end && end + 1 < text + length && end[1];
}

// PNG texts and profiles may be compressed (PNG, sections 11.3.3 and 11.3.4), so a small file could require gigabytes.
static bool png_unpacks_to_little(struct pipeline *pipeline) {
    const uint8_t *bytes = pipeline->job->bytes;
    size_t count = pipeline->job->byte_count, packed = 0;
    for (size_t start = 8; count >= 12 && start <= count - 12;) {
        size_t length = 0;
        for (size_t i = 0; i < 4; i++) length = length << 8 | bytes[start + i];
        if (length > count - 12 - start) break;
        packed += is_packed(bytes + start + 4, length);
        start += 12 + length;
    }
    if (packed <= MAX_PACKED_CHUNKS) return true;
    g_snprintf(pipeline->result->detail, sizeof pipeline->result->detail, "%zu packed texts, at most %d are read", packed,
               MAX_PACKED_CHUNKS);
    return false;
}

// The limit in bytes is `max_pixels` times MAX_BYTES_A_PIXEL.
static bool is_small_enough(struct pipeline *pipeline) {
    const VipsImage *image = pipeline->image;
    if (!is_allowed(pipeline, image->Xsize, image->Ysize)) return false;
    size_t pixel = VIPS_IMAGE_SIZEOF_PEL(image);
    double bytes = (double)image->Xsize * image->Ysize * (double)pixel;
    if (bytes <= (double)pipeline->job->max_pixels * MAX_BYTES_A_PIXEL) return true;
    g_snprintf(pipeline->result->detail, sizeof pipeline->result->detail,
               "%zu bytes per pixel, which count as %zu pixels of %d", pixel,
               (pixel + MAX_BYTES_A_PIXEL - 1) / MAX_BYTES_A_PIXEL, MAX_BYTES_A_PIXEL);
    return false;
}

static void write_row(void *image, int y, const uint8_t *row) { vips_image_write_line(image, y, (VipsPel *)row); }

// libvips' JPEG loader does not detect corrupt data in the last rows, so the pixels come from the decoder in Strips.c.
// The meaning of CMYK values depends on the file; libvips interprets the values. So for CMYK the pixels come from
// libvips, and the decoder in Strips.c only checks the file.
static enum darkroom_status load_jpeg(struct pipeline *pipeline) {
    const struct darkroom_job *job = pipeline->job;
    if (vips_jpegload_buffer((void *)job->bytes, job->byte_count, &pipeline->image, "access",
                             VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL))
        return DARKROOM_DAMAGED;
    if (!is_allowed(pipeline, pipeline->image->Xsize, pipeline->image->Ysize)) return DARKROOM_TOO_MANY_PIXELS;
    if (pipeline->image->Bands == 4)
        return darkroom_decode_jpeg(job, (struct darkroom_row_reader){0}, pipeline->result);

    // Combines the header and metadata from libvips with the pixels from the decoder in Strips.c.
    VipsImage *decoded = vips_image_new_memory();
    if (vips_image_pipelinev(decoded, VIPS_DEMAND_STYLE_ANY, pipeline->image, NULL) || vips_image_write_prepare(decoded)) {
        g_object_unref(decoded);
        return DARKROOM_OUT_OF_MEMORY;
    }
    darkroom_replace(pipeline, decoded);
    struct darkroom_row_reader reader = {.take_row = write_row, .context = decoded};
    return darkroom_decode_jpeg(job, reader, pipeline->result);
}

// In libvips 8.14, the loaded image owns the memory of a HEIF file's EXIF. Images that are made from the loaded image
// may exist longer, so they need a copy of the EXIF.
static bool own_exif(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    const void *exif = NULL;
    size_t count = 0;
    if (!vips_image_get_typeof(pipeline->image, VIPS_META_EXIF_NAME)) return true;
    if (vips_image_get_blob(pipeline->image, VIPS_META_EXIF_NAME, &exif, &count)) return false;
    if (vips_copy(pipeline->image, &next, NULL)) return false;
    vips_image_set_blob_copy(next, VIPS_META_EXIF_NAME, exif, count);
    return darkroom_replace(pipeline, next);
}

enum darkroom_status darkroom_load(struct pipeline *pipeline) {
    void *bytes = (void *)pipeline->job->bytes;
    size_t count = pipeline->job->byte_count;
    bool loaded = false;
    if (pipeline->job->from == DARKROOM_PNG && !png_is_allowed(pipeline)) return DARKROOM_TOO_MANY_PIXELS;
    if (pipeline->job->from == DARKROOM_PNG && !png_unpacks_to_little(pipeline)) return DARKROOM_DAMAGED;
#define LOAD(loader) \
    !loader(bytes, count, &pipeline->image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, NULL)
    switch (pipeline->job->from) {
    case DARKROOM_JPEG: return load_jpeg(pipeline);
    case DARKROOM_PNG: loaded = LOAD(vips_pngload_buffer); break;
    case DARKROOM_WEBP: loaded = LOAD(vips_webpload_buffer); break;
    case DARKROOM_AVIF:
    case DARKROOM_HEIC: loaded = LOAD(vips_heifload_buffer) && own_exif(pipeline); break;
    case DARKROOM_JXL: loaded = LOAD(vips_jxlload_buffer); break;
    case DARKROOM_TIFF: loaded = LOAD(vips_tiffload_buffer); break;
    case DARKROOM_GIF: loaded = LOAD(vips_gifload_buffer); break;
    case DARKROOM_SAME: break;
    }
#undef LOAD
    if (!loaded) return DARKROOM_DAMAGED;
    // libheif seeks beyond the end of the file. libvips stores an error message for this, and would report it with the
    // next failure.
    vips_error_clear();
    return is_small_enough(pipeline) ? DARKROOM_DONE : DARKROOM_TOO_MANY_PIXELS;
}
