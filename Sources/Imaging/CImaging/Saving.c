#include "ImageMetadata.h"
#include "Picture.h"

#include "Stages.h"

#include <string.h>

static int save(VipsImage *image, const struct darkroom_encoding *encoding, void **bytes, size_t *count);

static bool try_saving(enum darkroom_format format) {
    VipsImage *black = NULL, *image = NULL;
    void *bytes = NULL;
    size_t count = 0;
    struct darkroom_encoding encoding = {.format = format, .quality = 85, .effort = -1};
    // The HEIF saver of libvips 8.16 rejects images without a colour interpretation.
    bool saved = vips_black(&black, 16, 16, "bands", 3, NULL) == 0 &&
                 vips_copy(black, &image, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) == 0 &&
                 save(image, &encoding, &bytes, &count) == 0;
    if (!saved) vips_error_clear();
    if (image) g_object_unref(image);
    if (black) g_object_unref(black);
    g_free(bytes);
    return saved;
}

bool darkroom_imaging_can_save(enum darkroom_format format) {
    enum { UNKNOWN, YES, NO };
    static _Atomic int known[DARKROOM_GIF + 1];
    if (known[format] == UNKNOWN) known[format] = try_saving(format) ? YES : NO;
    return known[format] == YES;
}

int darkroom_longest_side(enum darkroom_format format) {
    switch (format) {
    case DARKROOM_JPEG:
        // JPEG_MAX_DIMENSION of libjpeg.
        return 65500;
    case DARKROOM_WEBP:
        return 16383;
    case DARKROOM_GIF:
        return 65535;
    case DARKROOM_PNG:
        // PNG_USER_WIDTH_MAX and PNG_USER_HEIGHT_MAX of libpng.
        return 1000000;
    case DARKROOM_AVIF:
    case DARKROOM_HEIC:
        // libvips rejects larger pictures.
        return 16384;
    default:
        return VIPS_MAX_COORD;
    }
}

// Converts the pixels to a kind that the format supports. The savers of libvips would also convert pixels, but they
// truncate instead of rounding, and they use a black background for transparent pixels.
static bool fit(darkroom_picture *picture, const struct darkroom_encoding *encoding) {
    VipsImage *next = NULL;
    enum darkroom_format format = encoding->format;
    bool narrow = format == DARKROOM_JPEG || format == DARKROOM_WEBP || format == DARKROOM_GIF;
    // A GIF cannot contain a profile.
    if (format == DARKROOM_GIF && darkroom_make_srgb(picture) != DARKROOM_DONE) return false;
    bool has_palette = format == DARKROOM_PNG && encoding->palette;
    if ((narrow || has_palette) && darkroom_make_narrow(picture) != DARKROOM_DONE) return false;
    if (format != DARKROOM_JPEG || !darkroom_has_alpha(picture->image)) return true;
    const double *colour = encoding->background;
    bool is_grey = colour[0] == colour[1] && colour[1] == colour[2];
    if (!is_grey && darkroom_make_rgb(picture) != DARKROOM_DONE) return false;
    VipsArrayDouble *background = vips_array_double_new(colour, picture->image->Bands - 1);
    bool done = APPLY(picture, vips_flatten, "background", background);
    vips_area_unref(VIPS_AREA(background));
    return done;
}

static bool has_metadata(VipsImage *image) {
    bool found = false;
    char **fields = vips_image_get_fields(image);
    for (char **field = fields; *field; field++)
        found = found || g_str_has_suffix(*field, "-data") || strstr(*field, "-comment-");
    g_strfreev(fields);
    return found;
}

// Scales an effort from 0 to 9 to the range of a format.
static int effort(const struct darkroom_encoding *encoding, int least, int most, int usual) {
    if (encoding->effort < 0) return usual;
    return least + (encoding->effort * (most - least) + 4) / 9;
}

static int save(VipsImage *image, const struct darkroom_encoding *encoding, void **bytes, size_t *count) {
    int quality = encoding->quality;
    // If the picture has no metadata, libvips must not write a replacement, such as the resolution in EXIF.
    bool strip = !has_metadata(image);
    // Even in lossless mode, the HEIF encoders would store the colours of 2 x 2 pixels as one. JPEG is never lossless.
    bool is_full = encoding->chroma == DARKROOM_CHROMA_444 || (encoding->lossless && encoding->format != DARKROOM_JPEG);
    VipsForeignSubsample subsample = is_full                                   ? VIPS_FOREIGN_SUBSAMPLE_OFF
                                     : encoding->chroma == DARKROOM_CHROMA_420 ? VIPS_FOREIGN_SUBSAMPLE_ON
                                                                               : VIPS_FOREIGN_SUBSAMPLE_AUTO;
    switch (encoding->format) {
    case DARKROOM_JPEG:
        return vips_jpegsave_buffer(image, bytes, count, "Q", quality, "strip", strip, "interlace", encoding->progressive,
                                    "optimize_coding", encoding->progressive || encoding->effort > 4, "subsample_mode",
                                    subsample, NULL);
    case DARKROOM_PNG:
        if (encoding->palette)
            return vips_pngsave_buffer(image, bytes, count, "strip", strip, "compression", effort(encoding, 0, 9, 6),
                                       "interlace", encoding->progressive, "palette", TRUE, "Q", quality, NULL);
        return vips_pngsave_buffer(image, bytes, count, "strip", strip, "compression", effort(encoding, 0, 9, 6),
                                   "interlace", encoding->progressive, NULL);
    case DARKROOM_WEBP:
        return vips_webpsave_buffer(image, bytes, count, "Q", quality, "strip", strip, "lossless", encoding->lossless,
                                    "effort", effort(encoding, 0, 6, 4), "smart_subsample",
                                    encoding->chroma == DARKROOM_CHROMA_444, NULL);
    case DARKROOM_AVIF:
    case DARKROOM_HEIC:
        return vips_heifsave_buffer(image, bytes, count, "Q", quality, "strip", strip, "lossless", encoding->lossless,
                                    "effort", effort(encoding, 0, 9, 4), "subsample_mode", subsample, "compression",
                                    encoding->format == DARKROOM_AVIF ? VIPS_FOREIGN_HEIF_COMPRESSION_AV1
                                                                      : VIPS_FOREIGN_HEIF_COMPRESSION_HEVC,
                                    NULL);
    case DARKROOM_JXL:
        return vips_jxlsave_buffer(image, bytes, count, "Q", quality, "strip", strip, "lossless", encoding->lossless,
                                   "effort", effort(encoding, 3, 9, 7), NULL);
    case DARKROOM_TIFF:
        return vips_tiffsave_buffer(image, bytes, count, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_LZW, "predictor",
                                    VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", strip, NULL);
    case DARKROOM_GIF:
        return vips_gifsave_buffer(image, bytes, count, "strip", strip, "effort", effort(encoding, 1, 10, 7), NULL);
    }
    return -1;
}

// If memory runs out, AVIF and HEIC encoders report success but write a file that contains only headers. Therefore a
// file smaller than 1 KiB plus one bit per 32 x 32 pixels is checked by decoding.
static bool holds_picture(const struct darkroom_file *file, void *bytes) {
    if (file->format != DARKROOM_AVIF && file->format != DARKROOM_HEIC) return true;
    if (((int64_t)file->byte_count - 1024) * 8 * 1024 > (int64_t)file->width * file->height) return true;
    VipsImage *image = NULL;
    double average;
    bool holds = !vips_heifload_buffer(bytes, file->byte_count, &image, "fail_on", VIPS_FAIL_ON_ERROR, NULL) &&
                 !vips_avg(image, &average, NULL);
    if (image) g_object_unref(image);
    return holds;
}

// The HEIC encoder has further limits. Some versions of libheif report these limits only in the text of another error.
static enum darkroom_status encoder_failure(
    struct darkroom_session *session, enum darkroom_status noted, const struct darkroom_file *file) {
    enum darkroom_status status = darkroom_failed(session, noted);
    bool is_refused = (status == DARKROOM_OUT_OF_MEMORY && strstr(session->detail, "Invalid image size")) ||
                      (status == DARKROOM_FILTER_FAILED && strstr(session->detail, "encoder could not be opened"));
    if (!is_refused) return status;
    g_snprintf(session->detail, sizeof session->detail, "the encoder refuses pictures of %d x %d pixels", file->width, file->height);
    return DARKROOM_FILTER_FAILED;
}

static enum darkroom_status encode(
    darkroom_picture *picture, const struct darkroom_encoding *encoding, struct darkroom_file *file) {
    struct darkroom_session *session = picture->session;
    struct darkroom_facts facts = darkroom_picture_facts(picture);
    // Removes the text of an earlier encoding with another format or quality.
    session->detail[0] = 0;
    *file = (struct darkroom_file){.width = facts.width, .height = facts.height, .format = encoding->format};
    int longest = darkroom_longest_side(encoding->format);
    if (VIPS_MAX(facts.width, facts.height) > longest) {
        g_snprintf(session->detail, sizeof session->detail,
                   "the result has %d x %d pixels, but its format allows at most %d pixels per side", facts.width,
                   facts.height, longest);
        return DARKROOM_FILTER_FAILED;
    }
    if (!fit(picture, encoding) || !darkroom_prepare_metadata(picture, encoding->format) ||
        !darkroom_advance(picture, darkroom_watched(picture->image, session, DARKROOM_FILTER_FAILED)))
        return darkroom_failed(session, DARKROOM_FILTER_FAILED);
    void *bytes = NULL;
    if (save(picture->image, encoding, &bytes, &file->byte_count))
        return encoder_failure(session, DARKROOM_FILTER_FAILED, file);
    // Some encoders read all pixels first and cannot be stopped after that. Some encoders do not report a failure of
    // the earlier stages.
    enum darkroom_status noted = darkroom_noted(session);
    if (noted == DARKROOM_DONE && session->is_cancelled(session->context)) noted = DARKROOM_CANCELLED;
    if (noted == DARKROOM_DONE && !holds_picture(file, bytes)) noted = DARKROOM_OUT_OF_MEMORY;
    if (noted != DARKROOM_DONE) {
        g_free(bytes);
        return encoder_failure(session, noted, file);
    }
    // g_malloc calls malloc since GLib 2.46.
    file->bytes = bytes;
    if (darkroom_write_metadata(picture->image, file)) return DARKROOM_DONE;
    free(file->bytes);
    file->bytes = NULL;
    return DARKROOM_OUT_OF_MEMORY;
}

enum darkroom_status darkroom_encode(
    const darkroom_picture *picture, const struct darkroom_encoding *encoding, struct darkroom_file *file) {
    darkroom_picture encoded = *picture;
    g_object_ref(encoded.image);
    enum darkroom_status status = encode(&encoded, encoding, file);
    if (encoded.image) g_object_unref(encoded.image);
    return status;
}
