#ifndef CIMAGING_PIPELINE_H
#define CIMAGING_PIPELINE_H

#include "CImaging.h"

#include <vips/vips.h>

// Encodes; 0 when done. The bytes are g_malloc'ed, which is malloc since GLib 2.46.
int darkroom_save(VipsImage *image, enum darkroom_format format, int quality, bool strip, void **bytes, size_t *count);

#endif
