#ifndef CIMAGING_STRIPS_H
#define CIMAGING_STRIPS_H

#include "CImaging.h"

// Called with each row of a picture, from top to bottom.
struct darkroom_row_reader {
    void (*take_row)(void *context, int y, const uint8_t *row);
    void *context;
};

// Decodes a JPEG's pixels without conversion: grey, RGB or CMYK, with width and height divided by `shrink` and rounded up.
// Without `take_row`, the function only checks the file.
enum darkroom_status darkroom_decode_jpeg(struct darkroom_session *session, const struct darkroom_input *input, int shrink,
                                          struct darkroom_row_reader reader);

// Filters the RGBX pixels of a JPEG in the same way as `darkroom_develop_by_strips`, but does not encode them.
enum darkroom_status darkroom_filter_by_strips(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *job,
    struct darkroom_row_reader reader);

#endif
