#ifndef CIMAGING_STRIPS_H
#define CIMAGING_STRIPS_H

#include "CImaging.h"

// JPEG to JPEG through strips of rows, where the job allows it; else DARKROOM_NOT_FOR_STRIPS. Header errors and too many
// pixels are found here for every JPEG.
enum darkroom_status darkroom_develop_by_strips(const struct darkroom_job *job, struct darkroom_result *result);

#endif
