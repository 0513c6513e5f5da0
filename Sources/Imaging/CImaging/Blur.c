#include "Gaussian.h"
#include "Rows.h"

enum darkroom_status darkroom_raster_blur(
    const struct darkroom_raster *raster, double sigma, const struct darkroom_interrupt *interrupt) {
    struct darkroom_gaussian *gaussian;
    enum darkroom_status status = darkroom_gaussian_make(raster, sigma, interrupt, &gaussian);
    for (int y = 0; y < raster->height && status == DARKROOM_DONE; y++) {
        float *row = darkroom_gaussian_row(gaussian, y);
        if (row) {
            darkroom_row_unpremultiply(raster, row);
            darkroom_row_store(raster, y, row);
        } else {
            status = DARKROOM_CANCELLED;
        }
    }
    darkroom_gaussian_free(gaussian);
    return status;
}
