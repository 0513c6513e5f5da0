#ifndef CIMAGING_SAVING_H
#define CIMAGING_SAVING_H

#include "PipelineState.h"

// Returns the format of the job's output.
enum darkroom_format darkroom_format_to_write(const struct pipeline *pipeline);

// Whether the format supports the width and height of the image.
bool darkroom_sides_fit(struct pipeline *pipeline, enum darkroom_format format);

// Converts the pixels to a kind that the format supports.
bool darkroom_fit(struct pipeline *pipeline, enum darkroom_format format);

// Encodes the image. Returns 0 on success. The bytes are allocated with g_malloc, which is malloc since GLib 2.46.
int darkroom_save(VipsImage *image, enum darkroom_format format, int quality, bool strip, void **bytes, size_t *count);

#endif
