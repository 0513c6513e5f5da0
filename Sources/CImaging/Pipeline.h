// What the parts of the way through libvips share.

#ifndef CIMAGING_PIPELINE_H
#define CIMAGING_PIPELINE_H

#include "CImaging.h"
#include "Stages.h"

#include <vips/vips.h>

struct pipeline {
    const struct darkroom_job *job;
    struct darkroom_result *result;
    struct darkroom_watch watch;
    // The picture as far as it is made; NULL before loading and after a stage that could not be made.
    VipsImage *image;
};

// What an operation gave replaces the image; false when it gave nothing.
static inline bool darkroom_replace(struct pipeline *pipeline, VipsImage *next) {
    if (!next) return false;
    g_object_unref(pipeline->image);
    pipeline->image = next;
    return true;
}

// Runs a libvips operation on the image, in a function that has a variable `next`; true when it could be done.
#define APPLY(pipeline, operation, ...) \
    (operation((pipeline)->image, &next, __VA_ARGS__ __VA_OPT__(, ) NULL) == 0 && darkroom_replace(pipeline, next))

static inline bool darkroom_is_grey(const VipsImage *image) { return image->Bands <= 2; }
static inline bool darkroom_has_alpha(const VipsImage *image) { return image->Bands == 2 || image->Bands == 4; }

// How libvips calls grey or RGB of 8 or, `wide`, 16 bits.
static inline VipsInterpretation darkroom_usual(bool grey, bool wide) {
    if (grey) return wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    return wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
}

// Loading.c: opens the job's bytes; refuses too many pixels before any of them is decoded.
enum darkroom_status darkroom_load(struct pipeline *pipeline);

// Saving.c: what is written for the job; whether its sides fit; the pixels as the format holds them; the file itself (0
// when done; g_malloc'ed, which is malloc since GLib 2.46).
enum darkroom_format darkroom_format_to_write(const struct pipeline *pipeline);
bool darkroom_sides_fit(struct pipeline *pipeline, enum darkroom_format format);
bool darkroom_fit(struct pipeline *pipeline, enum darkroom_format format);
int darkroom_save(VipsImage *image, enum darkroom_format format, int quality, bool strip, void **bytes, size_t *count);

#endif
