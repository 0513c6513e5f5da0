#ifndef CIMAGING_STRIPS_H
#define CIMAGING_STRIPS_H

#include "CImaging.h"

// Develops JPEG to JPEG in strips of rows. Returns DARKROOM_NOT_FOR_STRIPS if the job needs libvips. In any case, the
// function first checks the header and the number of pixels.
enum darkroom_status darkroom_develop_by_strips(const struct darkroom_job *job, struct darkroom_result *result);

// Called with each row of a picture, from top to bottom.
struct darkroom_row_reader {
    void (*take_row)(void *context, int y, const uint8_t *row);
    void *context;
};

// Decodes a JPEG's pixels without conversion: grey, RGB or CMYK. Without `take_row`, the function only checks the file.
enum darkroom_status darkroom_decode_jpeg(
    const struct darkroom_job *job, struct darkroom_row_reader reader, struct darkroom_result *result);

#endif
