#ifndef CIMAGING_LOADING_H
#define CIMAGING_LOADING_H

#include "PipelineState.h"

// Opens the job's bytes. Refuses pictures with too many pixels before decoding.
enum darkroom_status darkroom_load(struct pipeline *pipeline);

#endif
