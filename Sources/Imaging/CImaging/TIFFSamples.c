#include "TIFFSamples.h"

#include "Stages.h"

#include <math.h>

enum {
    PHOTOMETRIC_LOG_L = 32844,
    PHOTOMETRIC_LOG_LUV = 32845,
    INK_SET_NOT_CMYK = 2,
    MAX_BANDS = 5,
};

// The number of samples of the colour; 0 if this number is not known, or if libvips changes it.
static int colour_bands(const struct darkroom_tiff_page *page) {
    switch (page->photometric) {
    case TIFF_WHITE_IS_ZERO:
    case TIFF_BLACK_IS_ZERO:
        return 1;
    case TIFF_RGB:
    case TIFF_YCBCR:
    case TIFF_LAB:
        return 3;
    case TIFF_SEPARATED:
        return 4;
    default:
        return 0;
    }
}

// The index of the alpha among the extra samples; -1 if there is none.
static int alpha_index(const struct darkroom_tiff_page *page, int extras) {
    for (int i = 0; i < extras && i < (int)page->extra_count; i++)
        if (page->extras[i] == TIFF_ASSOCIATED_ALPHA || page->extras[i] == TIFF_UNASSOCIATED_ALPHA) return i;
    // The tag ExtraSamples is required, but some programs omit it when they write alpha.
    return page->extra_count == 0 && extras == 1 && page->photometric != TIFF_SEPARATED ? 0 : -1;
}

bool darkroom_tiff_is_supported(const struct darkroom_tiff_page *page, char *detail, size_t capacity) {
    uint32_t bits = page->bits;
    if (page->photometric == PHOTOMETRIC_LOG_L || page->photometric == PHOTOMETRIC_LOG_LUV) return true;
    detail[0] = 0;
    if (page->sample_format > TIFF_UNDEFINED)
        g_strlcpy(detail, page->sample_format <= 6 ? "complex samples" : "samples of an unknown format", capacity);
    else if (page->is_mixed)
        g_strlcpy(detail, "samples of different kinds", capacity);
    else if (page->sample_format == TIFF_FLOAT && bits != 32)
        g_snprintf(detail, capacity, "floating-point samples with %u bits; 32 bits are supported", bits);
    else if (bits > 32 || (bits & (bits - 1)) != 0)
        g_snprintf(detail, capacity, "samples with %u bits; 1, 2, 4, 8, 16 and 32 bits are supported", bits);
    else if (page->photometric == TIFF_SEPARATED && page->ink_set == INK_SET_NOT_CMYK)
        g_strlcpy(detail, "inks other than cyan, magenta, yellow and black", capacity);
    bool is_usual = bits <= 16 && (page->sample_format == TIFF_UNSIGNED || page->sample_format == TIFF_UNDEFINED);
    // libvips divides by alpha as if the range of alpha was 0 to 255.
    for (uint32_t i = 0; i < page->extra_count && !is_usual && detail[0] == 0; i++)
        if (page->extras[i] == TIFF_ASSOCIATED_ALPHA)
            g_strlcpy(detail, "colours multiplied by alpha, with samples other than unsigned 8 or 16 bits", capacity);
    return detail[0] == 0;
}

static bool keep_colour_and_alpha(darkroom_picture *picture, const struct darkroom_tiff_page *page) {
    VipsImage *next = NULL;
    int colours = colour_bands(page), extras = picture->image->Bands - colours;
    if (colours == 0 || extras <= 0 || picture->image->Bands != (int)page->samples) return true;
    int alpha = alpha_index(page, extras);
    if (alpha < 0) return APPLY(picture, vips_extract_band, 0, "n", colours);
    if (alpha == 0) return APPLY(picture, vips_extract_band, 0, "n", colours + 1);
    VipsImage *parts[2] = {NULL, NULL}, *joined = NULL;
    bool done = vips_extract_band(picture->image, &parts[0], 0, "n", colours, NULL) == 0 &&
                vips_extract_band(picture->image, &parts[1], colours + alpha, NULL) == 0 &&
                vips_bandjoin(parts, &joined, 2, NULL) == 0;
    for (int i = 0; i < 2; i++)
        if (parts[i]) g_object_unref(parts[i]);
    return done && darkroom_replace(picture, joined);
}

// MARK: - Ranges

struct ranges {
    double least[MAX_BANDS], most[MAX_BANDS];
    // Whether 0 is white.
    bool is_inverted[MAX_BANDS];
};

static double value_at(const void *samples, size_t i, VipsBandFormat format) {
    switch (format) {
    case VIPS_FORMAT_CHAR: return ((const int8_t *)samples)[i];
    case VIPS_FORMAT_SHORT: return ((const int16_t *)samples)[i];
    case VIPS_FORMAT_UINT: return ((const uint32_t *)samples)[i];
    case VIPS_FORMAT_INT: return ((const int32_t *)samples)[i];
    case VIPS_FORMAT_FLOAT: return (double)((const float *)samples)[i];
    default: return ((const double *)samples)[i];
    }
}

static int generate_scaled(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)stop;
    VipsRegion *in = sequence;
    const struct ranges *ranges = b;
    const VipsRect *area = &out->valid;
    int bands = out->im->Bands;
    if (vips_region_prepare(in, area)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++) {
        const void *from = VIPS_REGION_ADDR(in, area->left, y);
        uint16_t *to = (uint16_t *)(void *)VIPS_REGION_ADDR(out, area->left, y);
        for (size_t i = 0; i < (size_t)area->width * (size_t)bands; i++) {
            size_t band = i % (size_t)bands;
            double least = ranges->least[band];
            double share = (value_at(from, i, in->im->BandFmt) - least) / (ranges->most[band] - least);
            // NaN counts as 0.
            share = share > 0 ? fmin(share, 1) : 0;
            to[i] = (uint16_t)(65535 * (ranges->is_inverted[band] ? 1 - share : share) + 0.5);
        }
    }
    return 0;
}

// The range of a number format: all values of whole numbers, and 0 to 1 of floating-point numbers.
static void set_full_range(struct ranges *ranges, int band, VipsBandFormat format) {
    int bits = format == VIPS_FORMAT_CHAR ? 8 : format == VIPS_FORMAT_SHORT ? 16 : 32;
    bool is_float = vips_band_format_isfloat(format), is_unsigned = format == VIPS_FORMAT_UINT;
    ranges->least[band] = is_float || is_unsigned ? 0 : -exp2(bits - 1);
    ranges->most[band] = is_float ? 1 : is_unsigned ? exp2(bits) - 1 : exp2(bits - 1) - 1;
}

bool darkroom_tiff_simplify(darkroom_picture *picture, const struct darkroom_tiff_page *page) {
    VipsImage *next = NULL;
    if (!keep_colour_and_alpha(picture, page)) return false;
    VipsBandFormat format = picture->image->BandFmt;
    int colours = colour_bands(page), bands = picture->image->Bands;
    bool is_usual = format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT;
    // libvips converts Lab.
    if (is_usual || colours == 0 || bands > MAX_BANDS || page->photometric == TIFF_LAB) return true;

    struct ranges *ranges = VIPS_NEW(picture->image, struct ranges);
    if (!ranges) return false;
    for (int band = 0; band < bands; band++) {
        bool is_colour = band < colours;
        set_full_range(ranges, band, format);
        double greatest = ranges->most[band];
        if (is_colour && page->has_range) {
            ranges->least[band] = page->least;
            ranges->most[band] = page->most;
        }
        ranges->is_inverted[band] = is_colour && page->photometric == TIFF_WHITE_IS_ZERO;
        // libvips has already subtracted these samples from the greatest value.
        if (ranges->is_inverted[band] && format == VIPS_FORMAT_UINT) {
            double least = ranges->least[band];
            ranges->least[band] = greatest - ranges->most[band];
            ranges->most[band] = greatest - least;
            ranges->is_inverted[band] = false;
        }
    }
    if (!darkroom_advance(picture, darkroom_stage(picture->image, VIPS_FORMAT_USHORT, generate_scaled, ranges)))
        return false;
    VipsInterpretation kind = colours == 4 ? VIPS_INTERPRETATION_CMYK : darkroom_usual(colours == 1, true);
    return APPLY(picture, vips_copy, "interpretation", kind);
}
