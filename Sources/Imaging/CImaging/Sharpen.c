#include "Gaussian.h"
#include "Rows.h"
#include "Vectorised.h"

#include <math.h>
#include <stdlib.h>

#pragma STDC FP_CONTRACT OFF

VECTORISED static void sharpen(float *row, const float *blurred, size_t count, float amount, float threshold) {
    for (size_t i = 0; i < count; i++) {
        float difference = row[i] - blurred[i];
        row[i] += fabsf(difference) > threshold ? amount * difference : 0;
    }
}

enum darkroom_status darkroom_raster_sharpen(
    const struct darkroom_raster *raster, double sigma, double amount, double threshold,
    const struct darkroom_interrupt *interrupt) {
    size_t samples = darkroom_row_samples(raster), bands = (size_t)raster->bands;
    struct darkroom_gaussian *gaussian;
    enum darkroom_status status = darkroom_gaussian_make(raster, sigma, interrupt, &gaussian);
    float *row = malloc(samples * sizeof *row);
    if (!row) status = DARKROOM_OUT_OF_MEMORY;
    for (int y = 0; y < raster->height && status == DARKROOM_DONE; y++) {
        float *blurred = darkroom_gaussian_row(gaussian, y);
        if (blurred) {
            darkroom_row_unpremultiply(raster, blurred);
            darkroom_row_load(raster, y, row);
            // A difference of 0 keeps alpha.
            for (size_t i = bands - 1; bands % 2 == 0 && i < samples; i += bands) blurred[i] = row[i];
            sharpen(row, blurred, samples, (float)amount, (float)(threshold * (raster->wide ? 257 : 1)));
            darkroom_row_store(raster, y, row);
        } else {
            status = DARKROOM_CANCELLED;
        }
    }
    darkroom_gaussian_free(gaussian);
    free(row);
    return status;
}
