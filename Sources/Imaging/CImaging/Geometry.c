#include "Picture.h"

#include "Scaler.h"
#include "Stages.h"

#include <math.h>

// Runs a function on the picture after multiplying its colours by alpha, so that the colours of transparent pixels do
// not spread into other pixels. The multiplication does not change alpha. The number format of the result can differ.
static bool premultiplied(
    darkroom_picture *picture, double white, bool (*work)(darkroom_picture *, const void *), const void *argument) {
    VipsImage *next = NULL;
    if (!darkroom_has_alpha(picture->image)) return work(picture, argument);
    return APPLY(picture, vips_premultiply, "max_alpha", white) && work(picture, argument) &&
           APPLY(picture, vips_unpremultiply, "max_alpha", white);
}

// A colour for the bands of the picture. The result is freed by the caller.
static VipsArrayDouble *colour_of(const VipsImage *image, const double colour[4]) {
    double scale = darkroom_white(image) / 255, values[4];
    int bands = image->Bands, colours = darkroom_is_grey(image) ? 1 : 3;
    for (int i = 0; i < colours; i++) values[i] = colour[i] * scale;
    if (bands > colours) values[colours] = colour[3] * scale;
    return vips_array_double_new(values, bands);
}

static VipsKernel kernel_of(enum darkroom_kernel kernel) {
    switch (kernel) {
    case DARKROOM_NEAREST: return VIPS_KERNEL_NEAREST;
    case DARKROOM_LINEAR: return VIPS_KERNEL_LINEAR;
    case DARKROOM_CUBIC: return VIPS_KERNEL_CUBIC;
    case DARKROOM_MITCHELL: return VIPS_KERNEL_MITCHELL;
    case DARKROOM_LANCZOS2: return VIPS_KERNEL_LANCZOS2;
    case DARKROOM_LANCZOS3: return VIPS_KERNEL_LANCZOS3;
    }
    return VIPS_KERNEL_LANCZOS3;
}

// MARK: - Resizing

struct scaling {
    double across, down;
    VipsKernel kernel;
};

static bool scale(darkroom_picture *picture, const void *argument) {
    VipsImage *next = NULL;
    const struct scaling *scaling = argument;
    return APPLY(picture, vips_resize, scaling->across, "vscale", scaling->down, "kernel", scaling->kernel);
}

// libvips converts between numbers that are proportional to light, 0 to 1, and stored values. In both forms, alpha is 0
// to 255.
static bool scale_linearly(darkroom_picture *picture, const struct scaling *scaling) {
    VipsImage *next = NULL;
    VipsInterpretation usual = picture->image->Type;
    return APPLY(picture, vips_colourspace, VIPS_INTERPRETATION_scRGB) &&
           premultiplied(picture, 255, scale, scaling) && APPLY(picture, vips_colourspace, usual);
}

// Passes the rows of the picture to the scaler, in strips from top to bottom, and stores the scaled rows.
static enum darkroom_status scale_rows(darkroom_picture *picture, struct darkroom_scaler *scaler, VipsImage *scaled) {
    enum { STRIP_ROWS = 16 };
    VipsImage *image = picture->image;
    VipsRegion *region = vips_region_new(image);
    enum darkroom_status status = DARKROOM_DONE;
    for (int y = 0, given = 0; y < image->Ysize && status == DARKROOM_DONE; y++) {
        if (y % STRIP_ROWS == 0) {
            VipsRect strip = {.top = y, .width = image->Xsize, .height = VIPS_MIN(STRIP_ROWS, image->Ysize - y)};
            if (picture->session->is_cancelled(picture->session->context)) status = DARKROOM_CANCELLED;
            else if (vips_region_prepare(region, &strip)) status = darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
            if (status != DARKROOM_DONE) break;
        }
        darkroom_scaler_take(scaler, VIPS_REGION_ADDR(region, 0, y));
        while (darkroom_scaler_give(scaler, VIPS_IMAGE_ADDR(scaled, 0, given))) given++;
    }
    g_object_unref(region);
    return status;
}

static enum darkroom_status scale_down(darkroom_picture *picture, const struct darkroom_scaling *scaling) {
    if (vips_image_pio_input(picture->image)) return darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
    VipsImage *scaled = darkroom_new_memory(picture->image, scaling->scaled_width, scaling->scaled_height);
    struct darkroom_scaler *scaler = darkroom_scaler_new(scaling);
    enum darkroom_status status = DARKROOM_OUT_OF_MEMORY;
    if (scaled && scaler) status = scale_rows(picture, scaler, scaled);
    darkroom_scaler_free(scaler);
    if (status == DARKROOM_DONE)
        darkroom_replace(picture, scaled);
    else if (scaled)
        g_object_unref(scaled);
    return status;
}

static int scaled_length(int length, double scale) { return VIPS_MAX(1, (int)(length * scale + 0.5)); }

enum darkroom_status darkroom_resize(
    darkroom_picture *picture, double across, double down, enum darkroom_kernel kernel, bool linear) {
    const VipsImage *image = picture->image;
    if (!linear && kernel != DARKROOM_NEAREST && across <= 1 && down <= 1)
        return scale_down(picture, &(struct darkroom_scaling){
                                       .width = image->Xsize,
                                       .height = image->Ysize,
                                       .scaled_width = scaled_length(image->Xsize, across),
                                       .scaled_height = scaled_length(image->Ysize, down),
                                       .across = across,
                                       .down = down,
                                       .kernel = kernel,
                                       .bands = image->Bands,
                                       .wide = darkroom_is_wide(image),
                                   });
    struct scaling scaling = {.across = across, .down = down, .kernel = kernel_of(kernel)};
    VipsBandFormat format = picture->image->BandFmt;
    double white = darkroom_white(picture->image);
    bool done = linear ? scale_linearly(picture, &scaling) : premultiplied(picture, white, scale, &scaling);
    return darkroom_done_if(picture, done && darkroom_round_to(picture, format));
}

// MARK: - Cutting and placing

enum darkroom_status darkroom_extract(darkroom_picture *picture, struct darkroom_box box) {
    VipsImage *next = NULL;
    return darkroom_done_if(picture, APPLY(picture, vips_extract_area, box.x, box.y, box.width, box.height));
}

enum darkroom_status darkroom_embed(darkroom_picture *picture, struct darkroom_box box, const double background[4]) {
    VipsImage *next = NULL;
    VipsArrayDouble *colour = colour_of(picture->image, background);
    bool done = APPLY(picture, vips_embed, box.x, box.y, box.width, box.height, "extend", VIPS_EXTEND_BACKGROUND,
                      "background", colour);
    vips_area_unref(VIPS_AREA(colour));
    return darkroom_done_if(picture, done);
}

// MARK: - Looking at the pixels

// The picture with a stage that checks for cancellation while libvips computes.
static VipsImage *looked_at(darkroom_picture *picture) {
    g_object_ref(picture->image);
    return darkroom_watched(picture->image, picture->session, DARKROOM_FILTER_FAILED);
}

enum darkroom_status darkroom_find_crop(
    darkroom_picture *picture, int width, int height, bool attention, struct darkroom_box *box) {
    VipsImage *watched = looked_at(picture), *cropped = NULL;
    if (!watched) return darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
    VipsInteresting interesting = attention ? VIPS_INTERESTING_ATTENTION : VIPS_INTERESTING_ENTROPY;
    bool done = vips_smartcrop(watched, &cropped, width, height, "interesting", interesting, NULL) == 0;
    if (done) {
        // libvips stores the position of the crop as a negative offset.
        *box = (struct darkroom_box){.x = -cropped->Xoffset, .y = -cropped->Yoffset, .width = width, .height = height};
        g_object_unref(cropped);
    }
    g_object_unref(watched);
    return darkroom_done_if(picture, done);
}

// MARK: - Rotating and mirroring

enum darkroom_status darkroom_turn(darkroom_picture *picture, int turns) {
    VipsImage *next = NULL;
    return darkroom_done_if(picture, turns == 0 || APPLY(picture, vips_rot, (VipsAngle)turns));
}

struct rotation {
    double degrees;
    VipsArrayDouble *background;
};

static bool rotate(darkroom_picture *picture, const void *argument) {
    VipsImage *next = NULL;
    const struct rotation *rotation = argument;
    double radians = rotation->degrees * G_PI / 180, sine = sin(radians), cosine = cos(radians);
    VipsInterpolate *bicubic = vips_interpolate_new("bicubic");
    // vips_rotate() would multiply by alpha a second time.
    bool done = bicubic && APPLY(picture, vips_affine, cosine, -sine, sine, cosine, "interpolate", bicubic, "background",
                                 rotation->background, "premultiplied", TRUE);
    if (bicubic) g_object_unref(bicubic);
    return done;
}

enum darkroom_status darkroom_rotate(darkroom_picture *picture, double degrees, const double background[4]) {
    double multiplied[4] = {background[0], background[1], background[2], background[3]};
    if (darkroom_has_alpha(picture->image))
        for (int i = 0; i < 3; i++) multiplied[i] *= background[3] / 255;
    struct rotation rotation = {.degrees = degrees, .background = colour_of(picture->image, multiplied)};
    VipsBandFormat format = picture->image->BandFmt;
    bool done = premultiplied(picture, darkroom_white(picture->image), rotate, &rotation) &&
                darkroom_round_to(picture, format);
    vips_area_unref(VIPS_AREA(rotation.background));
    return darkroom_done_if(picture, done);
}

enum darkroom_status darkroom_mirror(darkroom_picture *picture, bool left_right) {
    VipsImage *next = NULL;
    VipsDirection direction = left_right ? VIPS_DIRECTION_HORIZONTAL : VIPS_DIRECTION_VERTICAL;
    return darkroom_done_if(picture, APPLY(picture, vips_flip, direction));
}

// MARK: - Text

enum darkroom_status darkroom_render_text(
    struct darkroom_session *session, const char *text, const char *font, int height, darkroom_picture **picture) {
    VipsImage *mask = NULL, *white = NULL, *joined = NULL;
    char *description = g_strdup_printf("%s 72", font);
    // libvips interprets the text as Pango markup.
    char *escaped = g_markup_escape_text(text, -1);
    // A font of 72 points has lines of about 1.3 inches.
    bool done = vips_text(&mask, escaped, "font", description, "dpi", (int)(height / 1.3), NULL) == 0;
    g_free(escaped);
    g_free(description);
    if (!done) return darkroom_failed(session, DARKROOM_FILTER_FAILED);
    done = vips_linear1(mask, &white, 0, 255, "uchar", TRUE, NULL) == 0 &&
           vips_bandjoin2(white, mask, &joined, NULL) == 0;
    if (white) g_object_unref(white);
    g_object_unref(mask);
    if (!done) return darkroom_failed(session, DARKROOM_FILTER_FAILED);
    enum darkroom_status status = darkroom_wrap(session, joined, picture);
    if (status != DARKROOM_DONE) return status;
    if (darkroom_mark_usual(*picture)) return DARKROOM_DONE;
    darkroom_free(*picture);
    *picture = NULL;
    return darkroom_failed(session, DARKROOM_FILTER_FAILED);
}
