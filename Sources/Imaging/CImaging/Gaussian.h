#ifndef DARKROOM_GAUSSIAN_H
#define DARKROOM_GAUSSIAN_H

#include "CImaging.h"

// Computes the rows of a blurred raster one after the other.
struct darkroom_gaussian;

// Sigma is in pixels, 0.1 to 250. The raster and the interrupt must outlive the result. Returns DARKROOM_DONE,
// DARKROOM_OUT_OF_MEMORY or DARKROOM_ROWS_TOO_LONG. After a failure, the result is NULL.
enum darkroom_status darkroom_gaussian_make(
    const struct darkroom_raster *raster, double sigma, const struct darkroom_interrupt *interrupt,
    struct darkroom_gaussian **gaussian);
void darkroom_gaussian_free(struct darkroom_gaussian *gaussian);

// Returns a blurred row. If there is alpha, the colours of the row are multiplied by alpha. `y` must increase from call
// to call; rows may be skipped. Later calls do not read the raster's rows up to `y`, so the caller may replace them.
// The caller may change the result, which is valid until the next call. Returns NULL if the work is cancelled.
float *darkroom_gaussian_row(struct darkroom_gaussian *gaussian, int y);

#endif
