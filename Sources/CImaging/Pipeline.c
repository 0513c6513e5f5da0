// DESIGN: what is not JPEG to JPEG with point filters goes through libvips: load, turn upright, bring to grey or RGB of
// 8 or 16 bits, filter, save. Pixels are decoded as the encoder asks for them, except where they are needed in another
// order (turning, blurring): then the decoded picture is held in memory.
//
// Two stages watch the pixels, right after the decoder and right before the encoder: they ask for cancellation, and
// they tell damaged input from what fails later.

#include "Pipeline.h"

#include "Stages.h"
#include "Strips.h"

#include <stdlib.h>
#include <string.h>

#include <vips/vips.h>

struct pipeline {
    const struct darkroom_job *job;
    struct darkroom_result *result;
    struct darkroom_watch watch;
    VipsImage *image;
};

// What an operation gave replaces the image; its failure leaves NULL nowhere.
static bool replace(struct pipeline *pipeline, VipsImage *next) {
    if (!next) return false;
    g_object_unref(pipeline->image);
    pipeline->image = next;
    return true;
}

// A stage that took over the image.
static bool advance(struct pipeline *pipeline, VipsImage *next) {
    pipeline->image = next;
    return next != NULL;
}

#define APPLY(pipeline, operation, ...) \
    (operation((pipeline)->image, &next, __VA_ARGS__ __VA_OPT__(, ) NULL) == 0 && replace(pipeline, next))

// Takes libvips' message, which is everybody's: copied, then cleared at once.
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
    // libjpeg's own message stands there already when it was ours that failed.
    if (detail[0] == 0) take_error(detail, sizeof pipeline->result->detail);
    if (strstr(detail, "out of memory")) return DARKROOM_OUT_OF_MEMORY;
    // libheif, libtiff and libvips tell only in words that a header asks for too much, or for a codec that is not there.
    if (status == DARKROOM_DAMAGED && (strstr(detail, "Security limit") || strstr(detail, "nteger overflow")))
        return DARKROOM_TOO_MANY_PIXELS;
    if (status == DARKROOM_DAMAGED && strstr(detail, "nsupported")) return DARKROOM_UNSUPPORTED;
    return status;
}

// MARK: - Loading

static bool is_allowed(struct pipeline *pipeline, int64_t width, int64_t height) {
    pipeline->result->width = (int)width;
    pipeline->result->height = (int)height;
    return width * height <= pipeline->job->max_pixels;
}

// libvips refuses sides beyond its own limit as if the file were damaged, so the header is read here (PNG, section 11.2.1).
static bool png_is_allowed(struct pipeline *pipeline) {
    const uint8_t *header = pipeline->job->bytes;
    if (pipeline->job->byte_count < 24) return true;
    int64_t sides[2] = {0, 0};
    for (int i = 0; i < 8; i++) sides[i / 4] = sides[i / 4] << 8 | header[16 + i];
    return sides[0] > INT32_MAX || sides[1] > INT32_MAX || is_allowed(pipeline, sides[0], sides[1]);
}

static void write_row(void *image, int y, const uint8_t *row) { vips_image_write_line(image, y, (VipsPel *)row); }

// libvips' JPEG loader does not see corrupt data that libjpeg finds in the last rows, so pixels come from our own. What
// CMYK values mean differs from file to file, and libvips knows: there ours only checks.
static enum darkroom_status load_jpeg(struct pipeline *pipeline) {
    const struct darkroom_job *job = pipeline->job;
    if (vips_jpegload_buffer((void *)job->bytes, job->byte_count, &pipeline->image, "access",
                             VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL))
        return DARKROOM_DAMAGED;
    if (!is_allowed(pipeline, pipeline->image->Xsize, pipeline->image->Ysize)) return DARKROOM_TOO_MANY_PIXELS;
    if (pipeline->image->Bands == 4)
        return darkroom_decode_jpeg(job, (struct darkroom_row_reader){0}, pipeline->result);

    // The header and the metadata of the one, the pixels of the other.
    VipsImage *decoded = vips_image_new_memory();
    if (vips_image_pipelinev(decoded, VIPS_DEMAND_STYLE_ANY, pipeline->image, NULL) || vips_image_write_prepare(decoded)) {
        g_object_unref(decoded);
        return DARKROOM_OUT_OF_MEMORY;
    }
    replace(pipeline, decoded);
    struct darkroom_row_reader reader = {.take_row = write_row, .context = decoded};
    return darkroom_decode_jpeg(job, reader, pipeline->result);
}

static enum darkroom_status load(struct pipeline *pipeline) {
    void *bytes = (void *)pipeline->job->bytes;
    size_t count = pipeline->job->byte_count;
    int failure = -1;
#define LOAD(loader) \
    loader(bytes, count, &pipeline->image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, NULL)
    switch (pipeline->job->from) {
    case DARKROOM_JPEG:
        return load_jpeg(pipeline);
    case DARKROOM_PNG:
        failure = LOAD(vips_pngload_buffer);
        break;
    case DARKROOM_WEBP:
        failure = LOAD(vips_webpload_buffer);
        break;
    case DARKROOM_AVIF:
    case DARKROOM_HEIC:
        failure = LOAD(vips_heifload_buffer);
        break;
    case DARKROOM_JXL:
        failure = LOAD(vips_jxlload_buffer);
        break;
    case DARKROOM_TIFF:
        failure = LOAD(vips_tiffload_buffer);
        break;
    case DARKROOM_GIF:
        failure = LOAD(vips_gifload_buffer);
        break;
    case DARKROOM_SAME:
        break;
    }
#undef LOAD
    return failure ? DARKROOM_DAMAGED : DARKROOM_DONE;
}

static bool needs_memory(const struct pipeline *pipeline) {
    if (vips_image_get_orientation(pipeline->image) > 1) return true;
    for (int i = 0; i < pipeline->job->filter_count; i++)
        if (pipeline->job->filters[i].kind == DARKROOM_TILT_SHIFT) return true;
    return false;
}

static bool turn_upright(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    // The thumbnail shows the picture as it was before the filter. On a copy: images are shared.
    if (!APPLY(pipeline, vips_copy)) return false;
    vips_image_remove(pipeline->image, "jpeg-thumbnail-data");
    return APPLY(pipeline, vips_autorot);
}

// MARK: - Colour

static bool is_grey(const VipsImage *image) { return image->Bands <= 2; }
static bool has_alpha(const VipsImage *image) { return image->Bands == 2 || image->Bands == 4; }
static bool has_profile(const VipsImage *image) { return vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0; }

static VipsInterpretation usual(bool grey, bool wide) {
    if (grey) return wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    return wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
}

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
        // A profile that cannot be used: on with the usual meaning of the values.
        vips_error_clear();
        if (!drop_profile(pipeline)) return false;
    }
    return APPLY(pipeline, vips_colourspace, usual(false, wide));
}

// Grey, RGB, each perhaps with alpha, of 8 or 16 bits. RGB values stay as they are, with their profile.
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
    return APPLY(pipeline, vips_copy, "interpretation", usual(is_grey(pipeline->image), wide));
}

// MARK: - Filters

static bool apply_sepia(struct pipeline *pipeline, double intensity) {
    VipsImage *next = NULL;
    bool wide = pipeline->image->BandFmt == VIPS_FORMAT_USHORT;
    if (is_grey(pipeline->image) && !APPLY(pipeline, vips_colourspace, usual(false, wide))) return false;
    return advance(pipeline, darkroom_sepia_stage(pipeline->image, intensity));
}

static bool apply_tilt_shift(struct pipeline *pipeline, double sigma) {
    VipsImage *next = NULL;
    VipsBandFormat format = pipeline->image->BandFmt;
    bool alpha = has_alpha(pipeline->image);
    double white = format == VIPS_FORMAT_USHORT ? 65535 : 255;

    // What is transparent has no colour that may bleed into what is not.
    if (alpha && !APPLY(pipeline, vips_premultiply, "max_alpha", white)) return false;
    if (!APPLY(pipeline, vips_cast, VIPS_FORMAT_FLOAT)) return false;
    if (vips_gaussblur(pipeline->image, &next, sigma, "precision", VIPS_PRECISION_FLOAT, "min_ampl", 0.01, NULL))
        return false;
    if (!advance(pipeline, darkroom_tilt_shift_mix(pipeline->image, next))) return false;
    if (alpha && !APPLY(pipeline, vips_unpremultiply, "max_alpha", white)) return false;
    // A cast cuts the fraction off and clamps.
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

// MARK: - Saving

static enum darkroom_format format_to_write(const struct pipeline *pipeline) {
    const struct darkroom_job *job = pipeline->job;
    if (job->to != DARKROOM_SAME) return job->to;
    if (darkroom_imaging_can_save(job->from)) return job->from;
    return has_alpha(pipeline->image) ? DARKROOM_PNG : DARKROOM_JPEG;
}

// The longest side the format can hold.
static int longest_side(enum darkroom_format format) {
    switch (format) {
    case DARKROOM_JPEG:
        return 65500;
    case DARKROOM_WEBP:
        return 16383;
    case DARKROOM_GIF:
        return 65535;
    default:
        return VIPS_MAX_COORD;
    }
}

// The savers' own option leaves EXIF in WebP (libvips 8.14).
static bool drop_metadata(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    if (!APPLY(pipeline, vips_copy)) return false;
    char **fields = vips_image_get_fields(pipeline->image);
    for (char **field = fields; *field; field++) vips_image_remove(pipeline->image, *field);
    g_strfreev(fields);
    return true;
}

// Brings the pixels to what the format holds: the savers would convert too, but cut instead of round, and put black
// behind what is transparent.
static bool fit(struct pipeline *pipeline, enum darkroom_format format) {
    VipsImage *next = NULL;
    bool narrow = format == DARKROOM_JPEG || format == DARKROOM_WEBP || format == DARKROOM_GIF;
    if (narrow && pipeline->image->BandFmt == VIPS_FORMAT_USHORT) {
        if (!APPLY(pipeline, vips_linear1, 1 / 257.0, 0.5, "uchar", TRUE)) return false;
        if (!APPLY(pipeline, vips_copy, "interpretation", usual(is_grey(pipeline->image), false))) return false;
    }
    if (format != DARKROOM_JPEG || !has_alpha(pipeline->image)) return true;
    double white[] = {255, 255, 255};
    VipsArrayDouble *background = vips_array_double_new(white, pipeline->image->Bands - 1);
    bool done = APPLY(pipeline, vips_flatten, "background", background);
    vips_area_unref(VIPS_AREA(background));
    return done;
}

int darkroom_save(VipsImage *image, enum darkroom_format format, int quality, bool strip, void **bytes, size_t *count) {
    switch (format) {
    case DARKROOM_JPEG:
        return vips_jpegsave_buffer(image, bytes, count, "Q", quality, "strip", strip, NULL);
    case DARKROOM_PNG:
        return vips_pngsave_buffer(image, bytes, count, "strip", strip, NULL);
    case DARKROOM_WEBP:
        return vips_webpsave_buffer(image, bytes, count, "Q", quality, "strip", strip, NULL);
    case DARKROOM_AVIF:
        return vips_heifsave_buffer(image, bytes, count, "Q", quality, "compression",
                                    VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "strip", strip, NULL);
    case DARKROOM_HEIC:
        return vips_heifsave_buffer(image, bytes, count, "Q", quality, "compression",
                                    VIPS_FOREIGN_HEIF_COMPRESSION_HEVC, "strip", strip, NULL);
    case DARKROOM_JXL:
        return vips_jxlsave_buffer(image, bytes, count, "Q", quality, "strip", strip, NULL);
    case DARKROOM_TIFF:
        return vips_tiffsave_buffer(image, bytes, count, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_LZW, "predictor",
                                    VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", strip, NULL);
    case DARKROOM_GIF:
        return vips_gifsave_buffer(image, bytes, count, "strip", strip, NULL);
    case DARKROOM_SAME:
        break;
    }
    return -1;
}

// MARK: - Jobs

static enum darkroom_status run(struct pipeline *pipeline) {
    const struct darkroom_job *job = pipeline->job;
    struct darkroom_result *result = pipeline->result;
    if (job->from == DARKROOM_PNG && !png_is_allowed(pipeline)) return DARKROOM_TOO_MANY_PIXELS;
    enum darkroom_status loaded = load(pipeline);
    if (loaded != DARKROOM_DONE) return failed(pipeline, loaded);
    if (!is_allowed(pipeline, pipeline->image->Xsize, pipeline->image->Ysize)) return DARKROOM_TOO_MANY_PIXELS;

    bool decoded = pipeline->image->dtype == VIPS_IMAGE_SETBUF;
    if (!decoded && !advance(pipeline, darkroom_watched(pipeline->image, &pipeline->watch, DARKROOM_DAMAGED)))
        return failed(pipeline, DARKROOM_DAMAGED);
    if (!decoded && needs_memory(pipeline) && !replace(pipeline, vips_image_copy_memory(pipeline->image)))
        return failed(pipeline, DARKROOM_OUT_OF_MEMORY);
    if (!turn_upright(pipeline) || !make_usual(pipeline)) return failed(pipeline, DARKROOM_UNSUPPORTED);
    if (!apply_filters(pipeline)) return failed(pipeline, DARKROOM_FILTER_FAILED);

    result->format = format_to_write(pipeline);
    result->width = pipeline->image->Xsize;
    result->height = pipeline->image->Ysize;
    if (VIPS_MAX(result->width, result->height) > longest_side(result->format)) {
        g_snprintf(result->detail, sizeof result->detail, "the format written holds at most %d pixels a side",
                   longest_side(result->format));
        return DARKROOM_FILTER_FAILED;
    }
    if (job->strip && !drop_metadata(pipeline)) return failed(pipeline, DARKROOM_FILTER_FAILED);
    if (!fit(pipeline, result->format)) return failed(pipeline, DARKROOM_FILTER_FAILED);
    if (!advance(pipeline, darkroom_watched(pipeline->image, &pipeline->watch, DARKROOM_FILTER_FAILED)))
        return failed(pipeline, DARKROOM_FILTER_FAILED);

    void *bytes = NULL;
    if (darkroom_save(pipeline->image, result->format, job->quality, job->strip, &bytes, &result->byte_count))
        return failed(pipeline, DARKROOM_FILTER_FAILED);
    // Some encoders take all pixels first and cannot be stopped then, nor do all report what was noted.
    enum darkroom_status noted = atomic_load(&pipeline->watch.status);
    if (noted == DARKROOM_DONE && job->is_cancelled(job->context)) noted = DARKROOM_CANCELLED;
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
