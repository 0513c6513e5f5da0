#include "ColourMapping.h"

#include "HDR.h"
#include "Profile.h"
#include "Stages.h"

#include <math.h>
#include <string.h>

// MARK: - Profiles

static bool get_profile(const VipsImage *image, const uint8_t **profile, size_t *count) {
    const void *bytes = NULL;
    if (!vips_image_get_typeof(image, VIPS_META_ICC_NAME)) return false;
    if (vips_image_get_blob(image, VIPS_META_ICC_NAME, &bytes, count)) return false;
    *profile = bytes;
    return true;
}

// Changes the profile in a copy of the image, because images are shared. If `profile` is NULL, removes the profile.
static bool set_profile(darkroom_picture *picture, const uint8_t *profile, size_t count) {
    VipsImage *next = NULL;
    if (!APPLY(picture, vips_copy)) return false;
    if (profile)
        vips_image_set_blob_copy(picture->image, VIPS_META_ICC_NAME, profile, count);
    else
        vips_image_remove(picture->image, VIPS_META_ICC_NAME);
    return true;
}

static bool describes(uint32_t space, VipsInterpretation kind) {
    switch (kind) {
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_GREY16:
        return space == DARKROOM_SPACE('G', 'R', 'A', 'Y');
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB16:
    case VIPS_INTERPRETATION_RGB:
        return space == DARKROOM_SPACE('R', 'G', 'B', ' ');
    case VIPS_INTERPRETATION_CMYK:
        return space == DARKROOM_SPACE('C', 'M', 'Y', 'K');
    case VIPS_INTERPRETATION_LAB:
    case VIPS_INTERPRETATION_LABS:
    case VIPS_INTERPRETATION_LABQ:
        return space == DARKROOM_SPACE('L', 'a', 'b', ' ');
    default:
        return false;
    }
}

bool darkroom_drop_foreign_profile(darkroom_picture *picture, VipsInterpretation kind) {
    const uint8_t *profile = NULL;
    size_t count = 0;
    if (!get_profile(picture->image, &profile, &count)) return true;
    return describes(darkroom_profile_space(profile, count), kind) || set_profile(picture, NULL, 0);
}

// MARK: - Conversion to sRGB

enum { LIGHT_STEPS = 65536, RATIO_STEPS = 4096 };

struct mapping {
    bool is_hdr, is_hlg;
    // The light of each possible sample value.
    double *light;
    // Converts linear light from the colours of the picture to those of sRGB.
    double matrix[9];
    // The shares of red, green and blue in the luminance.
    double luma[3];
    // The luminance of light 1, in cd/m2.
    double peak;
    // The exponent of the HLG OOTF, minus 1.
    double ootf;
    // The factors of tone mapping, indexed by the square root of the brightest component, 0 to 1.
    double *ratios;
    // The values of sRGB, 0 to 1, indexed by linear light.
    double *encoded;
};

static double between(const double *table, int steps, double place) {
    double scaled = fmin(fmax(place, 0), 1) * steps;
    int i = scaled < steps ? (int)scaled : steps - 1;
    return table[i] + (table[i + 1] - table[i]) * (scaled - i);
}

static double encode_srgb(double light) {
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

// Maps the light of a pixel to linear sRGB, where 1 is white. Tone mapping keeps the ratio of the components: all are
// multiplied by the factor that compresses the brightest one (BT.2390, 5.4.1: maxRGB).
static void map_light(const struct mapping *mapping, double light[3]) {
    if (mapping->is_hlg) {
        double luma = mapping->luma[0] * light[0] + mapping->luma[1] * light[1] + mapping->luma[2] * light[2];
        double gain = luma > 0 ? pow(luma, mapping->ootf) : 0;
        for (int i = 0; i < 3; i++) light[i] *= gain;
    }
    if (mapping->is_hdr) {
        double brightest = fmax(light[0], fmax(light[1], light[2]));
        double ratio = between(mapping->ratios, RATIO_STEPS, sqrt(brightest)) / fmax(brightest, 1);
        for (int i = 0; i < 3; i++) light[i] *= ratio;
    }
    double mapped[3];
    for (int i = 0; i < 3; i++)
        mapped[i] = mapping->matrix[i * 3] * light[0] + mapping->matrix[i * 3 + 1] * light[1] +
                    mapping->matrix[i * 3 + 2] * light[2];
    memcpy(light, mapped, sizeof mapped);
}

static int generate_mapped(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    (void)a;
    (void)stop;
    VipsRegion *in = sequence;
    const struct mapping *mapping = b;
    const VipsRect *area = &out->valid;
    size_t bands = (size_t)out->im->Bands, colours = darkroom_is_grey(out->im) ? 1 : 3;
    bool wide = darkroom_is_wide(out->im);
    double white = darkroom_white(out->im);
    if (vips_region_prepare(in, area)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++) {
        const VipsPel *from = VIPS_REGION_ADDR(in, area->left, y);
        VipsPel *to = VIPS_REGION_ADDR(out, area->left, y);
        memcpy(to, from, VIPS_REGION_SIZEOF_LINE(out));
        for (size_t i = 0; i < (size_t)area->width * bands; i += bands) {
            double light[3];
            for (size_t k = 0; k < 3; k++) {
                size_t place = i + (k < colours ? k : 0);
                light[k] = mapping->light[wide ? ((const uint16_t *)(const void *)from)[place] : from[place]];
            }
            map_light(mapping, light);
            for (size_t k = 0; k < colours; k++) {
                double value = between(mapping->encoded, LIGHT_STEPS, light[k]) * white + 0.5;
                if (wide)
                    ((uint16_t *)(void *)to)[i + k] = (uint16_t)value;
                else
                    to[i + k] = (VipsPel)value;
            }
        }
    }
    return 0;
}

static bool fill_mapping(struct mapping *mapping, const struct darkroom_colours *colours, double white) {
    const double d65[2] = {0.3127, 0.3290};
    struct darkroom_colours srgb = darkroom_coded_colours(1, DARKROOM_TRANSFER_SRGB);
    double from[9], to[9], inverse[9];
    if (!darkroom_to_xyz(colours->primaries, d65, from) || !darkroom_to_xyz(srgb.primaries, d65, to) ||
        !darkroom_invert_matrix(to, inverse))
        return false;
    for (int i = 0; i < 9; i++) {
        mapping->matrix[i] = 0;
        for (int k = 0; k < 3; k++) mapping->matrix[i] += inverse[i / 3 * 3 + k] * from[k * 3 + i % 3];
    }
    memcpy(mapping->luma, from + 3, sizeof mapping->luma);
    mapping->is_hdr = darkroom_is_hdr(colours);
    mapping->is_hlg = colours->transfer == DARKROOM_TRANSFER_HLG;
    bool is_known = colours->peak > 0 && !mapping->is_hlg;
    mapping->peak = is_known ? fmin(fmax(colours->peak, DARKROOM_REFERENCE_WHITE), 10000) : DARKROOM_USUAL_PEAK;
    mapping->ootf = darkroom_hlg_gamma(mapping->peak) - 1;
    // Light 1 is the peak.
    double unit = colours->transfer == DARKROOM_TRANSFER_PQ ? 10000 / mapping->peak : 1;
    for (int i = 0; i <= white; i++) mapping->light[i] = darkroom_light(colours, i / white) * unit;
    for (int i = 0; i <= LIGHT_STEPS; i++) mapping->encoded[i] = encode_srgb(i / (double)LIGHT_STEPS);
    for (int i = 1; i <= RATIO_STEPS && mapping->is_hdr; i++) {
        double share = (double)i / RATIO_STEPS, light = share * share * mapping->peak;
        mapping->ratios[i] = darkroom_tone_map(light, mapping->peak) / DARKROOM_REFERENCE_WHITE / (share * share);
    }
    // Dark values are not compressed.
    mapping->ratios[0] = mapping->ratios[1];
    return true;
}

// Converts the values to those of sRGB. Returns false if the colours are not usable.
static bool map_to_srgb(darkroom_picture *picture, const struct darkroom_colours *colours) {
    VipsImage *image = picture->image;
    double white = darkroom_white(image);
    struct mapping *mapping = VIPS_NEW(image, struct mapping);
    mapping->light = VIPS_ARRAY(image, (size_t)white + 1, double);
    mapping->ratios = VIPS_ARRAY(image, RATIO_STEPS + 1, double);
    mapping->encoded = VIPS_ARRAY(image, LIGHT_STEPS + 1, double);
    if (!mapping->light || !mapping->ratios || !mapping->encoded || !fill_mapping(mapping, colours, white)) return false;
    return darkroom_advance(picture, darkroom_stage(image, image->BandFmt, generate_mapped, mapping)) &&
           set_profile(picture, NULL, 0);
}

// Scales values from the video range (16 to 235 with 8 bits) to the full range (H.273, 8.3, for RGB).
static bool widen(darkroom_picture *picture) {
    VipsImage *next = NULL;
    VipsImage *image = picture->image;
    double factor = 255 / 219.0, black = darkroom_is_wide(image) ? 16 * 256 : 16;
    if (darkroom_is_wide(image)) factor = 65535 / (219 * 256.0);
    int colours = darkroom_is_grey(image) ? 1 : 3;
    double factors[4] = {factor, factor, factor, factor}, offsets[4];
    for (int i = 0; i < 4; i++) offsets[i] = -black * factor;
    if (colours < image->Bands) {
        factors[colours] = 1;
        offsets[colours] = 0;
    }
    VipsBandFormat format = image->BandFmt;
    if (vips_linear(image, &next, factors, offsets, image->Bands, NULL)) return false;
    return darkroom_replace(picture, next) && darkroom_round_to(picture, format);
}

// MARK: - The colours of a file

static enum darkroom_status refuse(struct darkroom_session *session, const struct darkroom_colours *colours) {
    g_snprintf(session->detail, sizeof session->detail,
               "HDR (%s), which --hdr fail refuses; --hdr tone-map converts it to SDR",
               colours->transfer == DARKROOM_TRANSFER_PQ ? "PQ" : "HLG");
    return DARKROOM_UNSUPPORTED;
}

static bool is_suitable(const VipsImage *image) {
    return image->Bands <= 4 && (image->BandFmt == VIPS_FORMAT_UCHAR || image->BandFmt == VIPS_FORMAT_USHORT) &&
           image->Type != VIPS_INTERPRETATION_CMYK;
}

// Attaches a profile that describes the colours. For sRGB, removes the profile.
static bool attach_profile(darkroom_picture *picture, const struct darkroom_colours *colours) {
    uint8_t bytes[DARKROOM_MAX_PROFILE_BYTES];
    size_t count = darkroom_is_srgb(colours) ? 0 : darkroom_profile_write(colours, bytes);
    return set_profile(picture, count > 0 ? bytes : NULL, count);
}

enum darkroom_status darkroom_apply_signalled_colours(darkroom_picture *picture, const struct darkroom_input *input) {
    struct darkroom_colours colours;
    const uint8_t *profile = NULL;
    size_t count = 0;
    bool has_profile = get_profile(picture->image, &profile, &count);
    bool is_signalled = darkroom_signalled_colours(input, &colours);
    bool is_hdr = is_signalled && darkroom_is_hdr(&colours);
    // The table of an HDR profile describes the picture for a certain display only. Therefore the colour numbers in the
    // profile are used.
    bool replaces_profile = is_signalled && colours.replaces_profile;
    if (has_profile && !is_hdr && !replaces_profile && darkroom_profile_is_hdr(profile, count, &colours))
        is_signalled = is_hdr = true;
    if (!is_signalled || !is_suitable(picture->image)) return DARKROOM_DONE;
    if (is_hdr && input->refuses_hdr) return refuse(picture->session, &colours);
    if (colours.is_narrow && !widen(picture)) return DARKROOM_UNSUPPORTED;
    if (is_hdr) return map_to_srgb(picture, &colours) ? DARKROOM_DONE : DARKROOM_UNSUPPORTED;
    if (has_profile && !colours.replaces_profile) return DARKROOM_DONE;
    // A profile for RGB cannot be attached to a grey picture.
    bool is_mapped = darkroom_is_grey(picture->image) && colours.transfer != DARKROOM_TRANSFER_SRGB;
    if (is_mapped) return map_to_srgb(picture, &colours) ? DARKROOM_DONE : DARKROOM_UNSUPPORTED;
    bool done = darkroom_is_grey(picture->image) ? set_profile(picture, NULL, 0) : attach_profile(picture, &colours);
    return done ? DARKROOM_DONE : DARKROOM_UNSUPPORTED;
}
