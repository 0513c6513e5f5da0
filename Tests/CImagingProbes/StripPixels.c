#include "CImagingProbes.h"

#include "Strips.h"

#include <stdlib.h>
#include <string.h>

struct collected {
    const struct darkroom_session *session;
    struct darkroom_file *file;
};

static void collect_row(void *context, int y, const uint8_t *row) {
    struct collected *collected = context;
    struct darkroom_file *file = collected->file;
    size_t row_bytes = (size_t)collected->session->width * 4;
    if (!file->bytes) file->bytes = malloc(row_bytes * (size_t)collected->session->height);
    memcpy(file->bytes + row_bytes * (size_t)y, row, row_bytes);
    file->byte_count += row_bytes;
}

enum darkroom_status strip_pixels(
    struct darkroom_session *session, const struct darkroom_input *input, const struct darkroom_strips_job *job,
    struct darkroom_file *file) {
    *file = (struct darkroom_file){.format = DARKROOM_JPEG};
    struct collected collected = {.session = session, .file = file};
    struct darkroom_row_reader reader = {.take_row = collect_row, .context = &collected};
    enum darkroom_status status = darkroom_filter_by_strips(session, input, job, reader);
    file->width = session->width;
    file->height = session->height;
    return status;
}
