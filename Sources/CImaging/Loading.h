#ifndef CIMAGING_LOADING_H
#define CIMAGING_LOADING_H

#include "PipelineState.h"

// Opens the job's bytes. Refuses too many pixels before any of them is decoded.
enum darkroom_status darkroom_load(struct pipeline *pipeline);

#endif
