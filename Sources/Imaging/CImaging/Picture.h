// The representation of a picture, for the files that call libvips.

#ifndef CIMAGING_PICTURE_H
#define CIMAGING_PICTURE_H

#include "CImaging.h"

#include <vips/vips.h>

struct darkroom_picture {
    // The current image; NULL after a stage could not be created.
    VipsImage *image;
    struct darkroom_session *session;
};

// Replaces the image with the output of an operation. Returns false if there is no output.
static inline bool darkroom_replace(darkroom_picture *picture, VipsImage *next) {
    if (!next) return false;
    g_object_unref(picture->image);
    picture->image = next;
    return true;
}

// Replaces the image with a stage that owns the previous image.
static inline bool darkroom_advance(darkroom_picture *picture, VipsImage *next) {
    picture->image = next;
    return next != NULL;
}

// Creates an image in memory with the kind of pixels and the metadata of `like`. The pixels are not set. Returns NULL
// if memory runs out.
VipsImage *darkroom_new_memory(VipsImage *like, int width, int height);

// Runs a libvips operation on the image; true on success. The calling function must have a variable `next`.
#define APPLY(picture, operation, ...) \
    (operation((picture)->image, &next, __VA_ARGS__ __VA_OPT__(, ) NULL) == 0 && darkroom_replace(picture, next))

static inline bool darkroom_is_grey(const VipsImage *image) { return image->Bands <= 2; }
static inline bool darkroom_has_alpha(const VipsImage *image) { return image->Bands == 2 || image->Bands == 4; }
static inline bool darkroom_is_wide(const VipsImage *image) { return image->BandFmt == VIPS_FORMAT_USHORT; }
static inline bool darkroom_is_in_memory(const VipsImage *image) { return image->dtype == VIPS_IMAGE_SETBUF; }
static inline double darkroom_white(const VipsImage *image) { return darkroom_is_wide(image) ? 65535 : 255; }

// The constant of libvips for grey or RGB pixels with 8 bits or, if `wide`, with 16 bits.
static inline VipsInterpretation darkroom_usual(bool grey, bool wide) {
    if (grey) return wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    return wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
}

// Converts to grey or RGB with 8 or 16 bits, with or without alpha. RGB values and their profile are kept.
bool darkroom_make_usual(darkroom_picture *picture);

// Sets the interpretation of grey or RGB pixels with 8 or 16 bits.
bool darkroom_mark_usual(darkroom_picture *picture);

// Converts pixels of any number format to the given one: rounds, and limits values to the range of the format.
bool darkroom_round_to(darkroom_picture *picture, VipsBandFormat format);

// Creates a picture that owns the image. Frees the image if memory runs out.
enum darkroom_status darkroom_wrap(struct darkroom_session *session, VipsImage *image, darkroom_picture **picture);

// Records libvips' message in the session. Returns the failure that a stage noted earlier, or else `status`.
enum darkroom_status darkroom_failed(struct darkroom_session *session, enum darkroom_status status);

static inline enum darkroom_status darkroom_done_if(darkroom_picture *picture, bool is_done) {
    return is_done ? DARKROOM_DONE : darkroom_failed(picture->session, DARKROOM_FILTER_FAILED);
}

#endif
