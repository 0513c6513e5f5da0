// Stages of a libvips pipeline that libvips does not have. Each takes over the caller's reference to its input and
// gives one to its output; NULL when it cannot be made.

#ifndef CIMAGING_STAGES_H
#define CIMAGING_STAGES_H

#include "CImaging.h"
#include "Sepia.h"

#include <vips/vips.h>
#include <stdatomic.h>

// What went wrong while pixels ran through a pipeline. libvips has one error buffer for all threads, so which picture
// an error belongs to, and at which end of the pipeline it was, is noted here.
struct darkroom_watch {
    const struct darkroom_job *job;
    _Atomic enum darkroom_status status;
};

// Passes pixels on; asks whether the job is cancelled, and notes `failure` when the stages before cannot give pixels.
VipsImage *darkroom_watched(VipsImage *input, struct darkroom_watch *watch, enum darkroom_status failure);

// Sepia over an image of 3 or 4 bands of 8 or 16 bits.
VipsImage *darkroom_sepia_stage(VipsImage *input, double intensity);

// `blurred` over `sharp` by the mask of tilt-shift; float pixels.
VipsImage *darkroom_tilt_shift_mix(VipsImage *sharp, VipsImage *blurred);

#endif
