// Additional stages for a libvips pipeline. Each takes ownership of the caller's reference to its input and returns a
// reference to its output; NULL if the stage cannot be created.

#ifndef CIMAGING_STAGES_H
#define CIMAGING_STAGES_H

#include "CImaging.h"
#include "Sepia.h"

#include <vips/vips.h>
#include <stdatomic.h>

// The first failure while a pipeline processes pixels. libvips has one error buffer for all threads, so this records
// which picture and which end of the pipeline failed.
struct darkroom_watch {
    const struct darkroom_job *job;
    _Atomic enum darkroom_status status;
};

// Passes pixels on, checks for cancellation, and records `failure` if the previous stages fail.
VipsImage *darkroom_watched(VipsImage *input, struct darkroom_watch *watch, enum darkroom_status failure);

// Applies sepia to an image with 3 or 4 bands of 8 or 16 bits.
VipsImage *darkroom_sepia_stage(VipsImage *input, double intensity);

// Mixes `sharp` and `blurred` by the tilt-shift mask. Both have float pixels.
VipsImage *darkroom_tilt_shift_mix(VipsImage *sharp, VipsImage *blurred);

#endif
