// The state of one job in libvips, and its steps in Loading.c and Saving.c.

#ifndef CIMAGING_PIPELINE_STATE_H
#define CIMAGING_PIPELINE_STATE_H

#include "CImaging.h"
#include "Stages.h"

#include <vips/vips.h>

struct pipeline {
    const struct darkroom_job *job;
    struct darkroom_result *result;
    struct darkroom_watch watch;
    // The current image; NULL before loading, and after the creation of a stage has failed.
    VipsImage *image;
};

// Replaces the image with the output of an operation. Returns false if there is no output.
static inline bool darkroom_replace(struct pipeline *pipeline, VipsImage *next) {
    if (!next) return false;
    g_object_unref(pipeline->image);
    pipeline->image = next;
    return true;
}

// Runs a libvips operation on the image; true on success. The calling function must have a variable `next`.
#define APPLY(pipeline, operation, ...) \
    (operation((pipeline)->image, &next, __VA_ARGS__ __VA_OPT__(, ) NULL) == 0 && darkroom_replace(pipeline, next))

static inline bool darkroom_is_grey(const VipsImage *image) { return image->Bands <= 2; }
static inline bool darkroom_has_alpha(const VipsImage *image) { return image->Bands == 2 || image->Bands == 4; }

// The constant of libvips for grey or RGB pixels with 8 bits or, if `wide`, with 16 bits.
static inline VipsInterpretation darkroom_usual(bool grey, bool wide) {
    if (grey) return wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    return wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
}

// Opens the job's bytes. Refuses pictures with too many pixels before decoding.
enum darkroom_status darkroom_load(struct pipeline *pipeline);

// These functions choose the output format, check width and height, and convert the pixels to a kind that the format
// supports.
enum darkroom_format darkroom_format_to_write(const struct pipeline *pipeline);
bool darkroom_sides_fit(struct pipeline *pipeline, enum darkroom_format format);
bool darkroom_fit(struct pipeline *pipeline, enum darkroom_format format);

// Encodes the image. Returns 0 on success; the bytes are allocated with g_malloc, which calls malloc since GLib 2.46.
int darkroom_save(VipsImage *image, enum darkroom_format format, int quality, bool strip, void **bytes, size_t *count);

#endif
