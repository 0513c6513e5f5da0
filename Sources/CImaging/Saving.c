#include "PipelineState.h"

static bool try_saving(enum darkroom_format format) {
    VipsImage *black = NULL, *image = NULL;
    void *bytes = NULL;
    size_t count = 0;
    // The HEIF saver of libvips 8.16 rejects images without a colour interpretation.
    bool saved = vips_black(&black, 16, 16, "bands", 3, NULL) == 0 &&
                 vips_copy(black, &image, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) == 0 &&
                 darkroom_save(image, format, 85, true, &bytes, &count) == 0;
    if (!saved) vips_error_clear();
    if (image) g_object_unref(image);
    if (black) g_object_unref(black);
    g_free(bytes);
    return saved;
}

bool darkroom_imaging_can_save(enum darkroom_format format) {
    enum { UNKNOWN, YES, NO };
    static _Atomic int known[DARKROOM_SAME];
    if (format >= DARKROOM_SAME) return false;
    if (known[format] == UNKNOWN) known[format] = try_saving(format) ? YES : NO;
    return known[format] == YES;
}

enum darkroom_format darkroom_format_to_write(const struct pipeline *pipeline) {
    const struct darkroom_job *job = pipeline->job;
    if (job->to != DARKROOM_SAME) return job->to;
    if (darkroom_imaging_can_save(job->from)) return job->from;
    return darkroom_has_alpha(pipeline->image) ? DARKROOM_PNG : DARKROOM_JPEG;
}

// The largest width and height that the format supports.
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

bool darkroom_sides_fit(struct pipeline *pipeline, enum darkroom_format format) {
    struct darkroom_result *result = pipeline->result;
    result->width = pipeline->image->Xsize;
    result->height = pipeline->image->Ysize;
    if (VIPS_MAX(result->width, result->height) <= longest_side(format)) return true;
    g_snprintf(result->detail, sizeof result->detail, "the output format allows at most %d pixels per side",
               longest_side(format));
    return false;
}

// In libvips 8.14, the "strip" option does not remove EXIF from WebP.
static bool drop_metadata(struct pipeline *pipeline) {
    VipsImage *next = NULL;
    if (!APPLY(pipeline, vips_copy)) return false;
    char **fields = vips_image_get_fields(pipeline->image);
    for (char **field = fields; *field; field++) vips_image_remove(pipeline->image, *field);
    g_strfreev(fields);
    return true;
}

// Converts the pixels to a kind that the format supports. The savers would also convert them, but they truncate instead
// of rounding, and they use a black background for transparent pixels.
bool darkroom_fit(struct pipeline *pipeline, enum darkroom_format format) {
    VipsImage *next = NULL;
    if (pipeline->job->strip && !drop_metadata(pipeline)) return false;
    bool narrow = format == DARKROOM_JPEG || format == DARKROOM_WEBP || format == DARKROOM_GIF;
    if (narrow && pipeline->image->BandFmt == VIPS_FORMAT_USHORT) {
        if (!APPLY(pipeline, vips_linear1, 1 / 257.0, 0.5, "uchar", TRUE)) return false;
        if (!APPLY(pipeline, vips_copy, "interpretation", darkroom_usual(darkroom_is_grey(pipeline->image), false))) return false;
    }
    if (format != DARKROOM_JPEG || !darkroom_has_alpha(pipeline->image)) return true;
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
