// DESIGN: all jobs except JPEG to JPEG with per-pixel filters run in libvips: load, rotate to upright, convert to grey
// or RGB with 8 or 16 bits, filter, save. Pixels are decoded when the encoder requests them. If the pixels are needed
// in another order (for a rotation or a blur), the decoded picture is kept in memory.
//
// Two watch stages check for cancellation: one directly after the decoder, and one directly before the encoder. The
// watch stages also distinguish a failure of the input from a later failure.

#include "PipelineState.h"

#include <string.h>

// Replaces the image with the output of a stage. The stage now owns the previous image.
static bool advance(struct pipeline *pipeline, VipsImage *next) {
    pipeline->image = next;
    return next != NULL;
}

// Copies libvips' error message and clears it at once, because all threads share it.
static void take_error(char *detail, size_t capacity) {
    g_strlcpy(detail, vips_error_buffer(), capacity);
    vips_error_clear();
    g_strdelimit(detail, "\n", ' ');
    g_strchomp(detail);
}

static enum darkroom_status failed(struct pipeline *pipeline, enum darkroom_status status) {
    enum darkroom_status noted = atomic_load(&pipeline->watch.status);
    if (noted != DARKROOM_DONE) status = noted;
    char *detail = pipeline->result->detail;
    // If the JPEG decoder in Strips.c failed, `detail` already contains its message.
    if (detail[0] == 0) take_error(detail, sizeof pipeline->result->detail);
    if (strstr(detail, "out of memory")) return DARKROOM_OUT_OF_MEMORY;
    // libheif, libtiff and libvips report an exceeded limit or a missing codec only in the error text.
    if (status == DARKROOM_DAMAGED && (strstr(detail, "Security limit") || strstr(detail, "nteger overflow")))
        return DARKROOM_TOO_MANY_PIXELS;
    if (status == DARKROOM_DAMAGED && strstr(detail, "nsupported")) return DARKROOM_UNSUPPORTED;
    return status;
}

// MARK: - Order and orientation

static bool needs_memory(const struct pipeline *pipeline) {
    if (vips_image_get_orientation(pipeline->image) > 1) return true;
    for (int i = 0; i < pipeline->job->filter_count; i++)
        if (pipeline->job->filters[i].kind == DARKROOM_TILT_SHIFT) return true;
    return false;
}

static bool turn_upright(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    // The thumbnail shows the unfiltered picture. It is removed from a copy of the image, because images are shared.
    if (!APPLY(pipeline, vips_copy)) return false;
    vips_image_remove(pipeline->image, "jpeg-thumbnail-data");
    return APPLY(pipeline, vips_autorot);
}

// MARK: - Colour

static bool has_profile(const VipsImage *image) { return vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0; }

static bool drop_profile(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    if (!APPLY(pipeline, vips_copy)) return false;
    vips_image_remove(pipeline->image, VIPS_META_ICC_NAME);
    return true;
}

static bool convert_to_srgb(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    bool wide = pipeline->image->BandFmt == VIPS_FORMAT_USHORT;
    if (has_profile(pipeline->image)) {
        if (APPLY(pipeline, vips_icc_transform, "srgb", "embedded", TRUE, "depth", wide ? 16 : 8)) return true;
        // The profile cannot be used, so the values are interpreted in the default colour space.
        vips_error_clear();
        if (!drop_profile(pipeline)) return false;
    }
    return APPLY(pipeline, vips_colourspace, darkroom_usual(false, wide));
}

// Converts to grey or RGB with 8 or 16 bits, with or without alpha. RGB values and their profile are kept.
static bool make_usual(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    VipsInterpretation kind = vips_image_guess_interpretation(pipeline->image);
    VipsBandFormat format = pipeline->image->BandFmt;
    bool grey = kind == VIPS_INTERPRETATION_B_W || kind == VIPS_INTERPRETATION_GREY16;
    bool rgb = kind == VIPS_INTERPRETATION_sRGB || kind == VIPS_INTERPRETATION_RGB16 || kind == VIPS_INTERPRETATION_RGB;
    bool whole = format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT;
    if (!(whole && (rgb || (grey && !has_profile(pipeline->image)))) && !convert_to_srgb(pipeline)) return false;

    if (pipeline->image->BandFmt != VIPS_FORMAT_UCHAR && pipeline->image->BandFmt != VIPS_FORMAT_USHORT)
        if (!APPLY(pipeline, vips_rint) || !APPLY(pipeline, vips_cast, VIPS_FORMAT_UCHAR)) return false;
    if (pipeline->image->Bands > 4 && !APPLY(pipeline, vips_extract_band, 0, "n", 4)) return false;
    bool wide = pipeline->image->BandFmt == VIPS_FORMAT_USHORT;
    return APPLY(pipeline, vips_copy, "interpretation", darkroom_usual(darkroom_is_grey(pipeline->image), wide));
}

// MARK: - Filters

static bool apply_sepia(struct pipeline *pipeline, double intensity) {
    VipsImage *next = NULL;
    bool wide = pipeline->image->BandFmt == VIPS_FORMAT_USHORT;
    if (darkroom_is_grey(pipeline->image) && !APPLY(pipeline, vips_colourspace, darkroom_usual(false, wide))) return false;
    return advance(pipeline, darkroom_sepia_stage(pipeline->image, intensity));
}

static bool apply_tilt_shift(struct pipeline *pipeline, double sigma) {
    VipsImage *next = NULL;
    VipsBandFormat format = pipeline->image->BandFmt;
    bool alpha = darkroom_has_alpha(pipeline->image);
    double white = format == VIPS_FORMAT_USHORT ? 65535 : 255;

    // The blur must not spread the colours of transparent pixels.
    if (alpha && !APPLY(pipeline, vips_premultiply, "max_alpha", white)) return false;
    if (!APPLY(pipeline, vips_cast, VIPS_FORMAT_FLOAT)) return false;
    if (vips_gaussblur(pipeline->image, &next, sigma, "precision", VIPS_PRECISION_FLOAT, "min_ampl", 0.01, NULL))
        return false;
    if (!advance(pipeline, darkroom_tilt_shift_mix(pipeline->image, next))) return false;
    if (alpha && !APPLY(pipeline, vips_unpremultiply, "max_alpha", white)) return false;
    // The cast truncates and clamps.
    return APPLY(pipeline, vips_linear1, 1, 0.5) && APPLY(pipeline, vips_cast, format);
}

static bool apply_filters(struct pipeline *pipeline) {
    for (int i = 0; i < pipeline->job->filter_count; i++) {
        const struct darkroom_filter *filter = &pipeline->job->filters[i];
        bool done = filter->kind == DARKROOM_SEPIA ? apply_sepia(pipeline, filter->amount)
                                                   : apply_tilt_shift(pipeline, filter->amount);
        if (!done) return false;
    }
    return true;
}

// MARK: - Jobs

// If memory runs out, AVIF and HEIC encoders report success but write a file that contains only headers. So a file
// smaller than 1 KiB plus one bit per 32 x 32 pixels is decoded to check it.
static bool holds_picture(const struct darkroom_result *result, void *bytes) {
    if (result->format != DARKROOM_AVIF && result->format != DARKROOM_HEIC) return true;
    if (((int64_t)result->byte_count - 1024) * 8 * 1024 > (int64_t)result->width * result->height) return true;
    VipsImage *image = NULL;
    double average;
    bool holds = !vips_heifload_buffer(bytes, result->byte_count, &image, "fail_on", VIPS_FAIL_ON_ERROR, NULL) &&
                 !vips_avg(image, &average, NULL);
    if (image) g_object_unref(image);
    return holds;
}

static enum darkroom_status run(struct pipeline *pipeline) {
    const struct darkroom_job *job = pipeline->job;
    struct darkroom_result *result = pipeline->result;
    enum darkroom_status loaded = darkroom_load(pipeline);
    if (loaded == DARKROOM_TOO_MANY_PIXELS) return loaded;
    if (loaded != DARKROOM_DONE) return failed(pipeline, loaded);

    bool decoded = pipeline->image->dtype == VIPS_IMAGE_SETBUF;
    if (!decoded && !advance(pipeline, darkroom_watched(pipeline->image, &pipeline->watch, DARKROOM_DAMAGED)))
        return failed(pipeline, DARKROOM_DAMAGED);
    if (!decoded && needs_memory(pipeline) && !darkroom_replace(pipeline, vips_image_copy_memory(pipeline->image)))
        return failed(pipeline, DARKROOM_OUT_OF_MEMORY);
    if (!turn_upright(pipeline) || !make_usual(pipeline)) return failed(pipeline, DARKROOM_UNSUPPORTED);
    if (!apply_filters(pipeline)) return failed(pipeline, DARKROOM_FILTER_FAILED);

    result->format = darkroom_format_to_write(pipeline);
    if (!darkroom_sides_fit(pipeline, result->format)) return DARKROOM_FILTER_FAILED;
    if (!darkroom_fit(pipeline, result->format)) return failed(pipeline, DARKROOM_FILTER_FAILED);
    if (!advance(pipeline, darkroom_watched(pipeline->image, &pipeline->watch, DARKROOM_FILTER_FAILED)))
        return failed(pipeline, DARKROOM_FILTER_FAILED);

    void *bytes = NULL;
    if (darkroom_save(pipeline->image, result->format, job->quality, job->strip, &bytes, &result->byte_count))
        return failed(pipeline, DARKROOM_FILTER_FAILED);
    // Some encoders read all pixels first and cannot be stopped after that. Some encoders do not report a failure of
    // the earlier stages.
    enum darkroom_status noted = atomic_load(&pipeline->watch.status);
    if (noted == DARKROOM_DONE && job->is_cancelled(job->context)) noted = DARKROOM_CANCELLED;
    if (noted == DARKROOM_DONE && !holds_picture(result, bytes)) noted = DARKROOM_OUT_OF_MEMORY;
    if (noted != DARKROOM_DONE) {
        g_free(bytes);
        return failed(pipeline, noted);
    }
    result->bytes = bytes;
    return DARKROOM_DONE;
}

enum darkroom_status darkroom_develop_by_vips(const struct darkroom_job *job, struct darkroom_result *result) {
    *result = (struct darkroom_result){0};
    struct pipeline pipeline = {.job = job, .result = result, .watch = {.job = job, .status = DARKROOM_DONE}};
    enum darkroom_status status = run(&pipeline);
    if (pipeline.image) g_object_unref(pipeline.image);
    return status;
}
