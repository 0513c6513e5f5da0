// Additional stages for a libvips pipeline. Each function takes ownership of the caller's reference to its input, and
// returns a reference to its output, or NULL if the stage cannot be created.

#ifndef CIMAGING_STAGES_H
#define CIMAGING_STAGES_H

#include "CImaging.h"
#include "Sepia.h"

#include <vips/vips.h>
#include <stdatomic.h>

// The first failure while a pipeline processes pixels. libvips has one error buffer for all threads, so this structure
// records which picture failed, and whether it failed in the decoder or in a later stage.
struct darkroom_watch {
    const struct darkroom_job *job;
    _Atomic enum darkroom_status status;
};

// Passes the pixels through unchanged, checks for cancellation, and records `failure` if an earlier stage fails.
VipsImage *darkroom_watched(VipsImage *input, struct darkroom_watch *watch, enum darkroom_status failure);

// Applies sepia to an image with 3 or 4 bands of 8 or 16 bits.
VipsImage *darkroom_sepia_stage(VipsImage *input, double intensity);

// Mixes `sharp` and `blurred` by the tilt-shift mask. Both have float pixels.
VipsImage *darkroom_tilt_shift_mix(VipsImage *sharp, VipsImage *blurred);

#endif
