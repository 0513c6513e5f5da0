#ifndef CIMAGING_STRIPS_H
#define CIMAGING_STRIPS_H

#include "CImaging.h"

// JPEG to JPEG through strips of rows, where the job allows it; else DARKROOM_NOT_FOR_STRIPS. Header errors and too many
// pixels are found here for every JPEG.
enum darkroom_status darkroom_develop_by_strips(const struct darkroom_job *job, struct darkroom_result *result);

// Called with each row of a picture, from the top.
struct darkroom_row_reader {
    void (*take_row)(void *context, int y, const uint8_t *row);
    void *context;
};

// A JPEG's pixels as they are stored: grey, RGB or CMYK. A reader that takes no row only learns whether the file is good.
enum darkroom_status darkroom_decode_jpeg(
    const struct darkroom_job *job, struct darkroom_row_reader reader, struct darkroom_result *result);

#endif
