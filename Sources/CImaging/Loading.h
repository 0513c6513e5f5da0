#ifndef CIMAGING_LOADING_H
#define CIMAGING_LOADING_H

#include "PipelineState.h"

// Opens the job's bytes. Refuses a picture with too many pixels before decoding it.
enum darkroom_status darkroom_load(struct pipeline *pipeline);

#endif
