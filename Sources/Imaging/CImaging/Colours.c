#include "Picture.h"

#include "ColourMapping.h"
#include "Stages.h"

bool darkroom_mark_usual(darkroom_picture *picture) {
    VipsImage *next = NULL;
    VipsInterpretation kind = darkroom_usual(darkroom_is_grey(picture->image), darkroom_is_wide(picture->image));
    return picture->image->Type == kind || APPLY(picture, vips_copy, "interpretation", kind);
}

bool darkroom_round_to(darkroom_picture *picture, VipsBandFormat format) {
    VipsImage *next = NULL;
    // The cast truncates and clamps.
    return picture->image->BandFmt == format ||
           (APPLY(picture, vips_linear1, 1, 0.5) && APPLY(picture, vips_cast, format));
}

static bool has_profile(const VipsImage *image) { return vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0; }

static bool drop_profile(darkroom_picture *picture) {
    VipsImage *next = NULL;
    if (!APPLY(picture, vips_copy)) return false;
    vips_image_remove(picture->image, VIPS_META_ICC_NAME);
    return true;
}

static bool convert_to_srgb(darkroom_picture *picture) {
    VipsImage *next = NULL;
    bool wide = darkroom_is_wide(picture->image);
    if (has_profile(picture->image)) {
        if (APPLY(picture, vips_icc_transform, "srgb", "embedded", TRUE, "depth", wide ? 16 : 8))
            return drop_profile(picture);
        // The profile cannot be used, so the values are interpreted in the default colour space.
        vips_error_clear();
        if (!drop_profile(picture)) return false;
    }
    // libvips attaches the profile that it used for CMYK.
    return APPLY(picture, vips_colourspace, darkroom_usual(false, wide)) && drop_profile(picture);
}

bool darkroom_make_usual(darkroom_picture *picture) {
    VipsImage *next = NULL;
    VipsInterpretation kind = vips_image_guess_interpretation(picture->image);
    VipsBandFormat format = picture->image->BandFmt;
    if (!darkroom_drop_foreign_profile(picture, kind)) return false;
    bool grey = kind == VIPS_INTERPRETATION_B_W || kind == VIPS_INTERPRETATION_GREY16;
    bool rgb = kind == VIPS_INTERPRETATION_sRGB || kind == VIPS_INTERPRETATION_RGB16 || kind == VIPS_INTERPRETATION_RGB;
    bool whole = format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT;
    if (!(whole && (rgb || (grey && !has_profile(picture->image)))) && !convert_to_srgb(picture)) return false;

    if (picture->image->BandFmt != VIPS_FORMAT_UCHAR && picture->image->BandFmt != VIPS_FORMAT_USHORT)
        if (!APPLY(picture, vips_rint) || !APPLY(picture, vips_cast, VIPS_FORMAT_UCHAR)) return false;
    if (picture->image->Bands > 4 && !APPLY(picture, vips_extract_band, 0, "n", 4)) return false;
    return darkroom_mark_usual(picture);
}

enum darkroom_status darkroom_make_rgb(darkroom_picture *picture) {
    VipsImage *next = NULL;
    VipsInterpretation rgb = darkroom_usual(false, darkroom_is_wide(picture->image));
    return darkroom_done_if(
        picture, !darkroom_is_grey(picture->image) || APPLY(picture, vips_colourspace, rgb));
}

enum darkroom_status darkroom_add_alpha(darkroom_picture *picture) {
    VipsImage *next = NULL;
    bool has_alpha = darkroom_has_alpha(picture->image);
    return darkroom_done_if(
        picture, has_alpha || APPLY(picture, vips_bandjoin_const1, darkroom_white(picture->image)));
}

enum darkroom_status darkroom_make_narrow(darkroom_picture *picture) {
    VipsImage *next = NULL;
    if (!darkroom_is_wide(picture->image)) return DARKROOM_DONE;
    return darkroom_done_if(picture, APPLY(picture, vips_linear1, 1 / 257.0, 0.5, "uchar", TRUE) && darkroom_mark_usual(picture));
}

enum darkroom_status darkroom_make_wide(darkroom_picture *picture) {
    VipsImage *next = NULL;
    if (darkroom_is_wide(picture->image)) return DARKROOM_DONE;
    bool done = APPLY(picture, vips_linear1, 257, 0) && APPLY(picture, vips_cast, VIPS_FORMAT_USHORT) && darkroom_mark_usual(picture);
    return darkroom_done_if(picture, done);
}

enum darkroom_status darkroom_make_srgb(darkroom_picture *picture) {
    if (!has_profile(picture->image)) return DARKROOM_DONE;
    return darkroom_done_if(picture, convert_to_srgb(picture) && darkroom_mark_usual(picture));
}

enum darkroom_status darkroom_filter_points(darkroom_picture *picture, const struct darkroom_point *points, int count) {
    return darkroom_done_if(picture, darkroom_advance(picture, darkroom_points_stage(picture->image, points, count)));
}
