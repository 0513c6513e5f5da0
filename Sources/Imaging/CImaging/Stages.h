// Additional stages for a libvips pipeline. Each function takes ownership of the caller's reference to its input, and
// returns a reference to its output, or NULL if the stage cannot be created.

#ifndef CIMAGING_STAGES_H
#define CIMAGING_STAGES_H

#include "CImaging.h"

#include <vips/vips.h>

// The first failure that the stages of a session noted; DARKROOM_DONE if there is none. libvips has one error buffer for
// all threads, so only this note tells which picture failed, and whether it failed in the decoder or in a later stage.
enum darkroom_status darkroom_noted(struct darkroom_session *session);

// Creates an image that `generate` fills from the same part of `input`, with samples of the given format. The image
// keeps a reference to the input. `generate` gets `state` as its argument `b`.
VipsImage *darkroom_stage(VipsImage *input, VipsBandFormat format, VipsGenerateFn generate, void *state);

// Passes the pixels through unchanged, checks for cancellation, and notes `failure` if an earlier stage fails.
VipsImage *darkroom_watched(VipsImage *input, struct darkroom_session *session, enum darkroom_status failure);

// Applies points to grey or RGB pixels with 8 or 16 bits. The points are copied.
VipsImage *darkroom_points_stage(VipsImage *input, const struct darkroom_point *points, int count);

#endif
