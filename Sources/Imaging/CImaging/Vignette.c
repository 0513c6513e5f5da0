#include "CImaging.h"
#include "Rows.h"
#include "Vectorised.h"

#include <math.h>
#include <stdlib.h>

#pragma STDC FP_CONTRACT OFF

struct vignette {
    float middle_x, middle_y, half_diagonal;
    // The distance from the middle to the beginning of the vignette, and the distance from there to the corner. Both
    // are relative to the half diagonal.
    float begin, span;
    float amount;
};

// The amount of the colour in each pixel of a row.
VECTORISED static void amounts_of_row(const struct vignette *vignette, int y, float *amounts, int width) {
    const struct vignette v = *vignette;
    float dy = (float)y - v.middle_y;
    for (int x = 0; x < width; x++) {
        float dx = (float)x - v.middle_x;
        float t = (sqrtf(dx * dx + dy * dy) / v.half_diagonal - v.begin) / v.span;
        t = t > 0 ? t : 0;
        t = t < 1 ? t : 1;
        amounts[x] = v.amount * (t * t * (3 - 2 * t));
    }
}

VECTORISED static void mix_colour(float *row, const float *amounts, const float *colour, size_t pixels, size_t bands) {
    size_t colours = bands > 2 ? 3 : 1;
    for (size_t i = 0; i < pixels; i++)
        for (size_t j = 0; j < colours; j++) row[i * bands + j] += amounts[i] * (colour[j] - row[i * bands + j]);
}

enum darkroom_status darkroom_raster_vignette(
    const struct darkroom_raster *raster, double amount, double radius, double r, double g, double b,
    const struct darkroom_interrupt *interrupt) {
    double width = raster->width, height = raster->height, top = raster->wide ? 65535 : 255;
    struct vignette vignette = {
        .middle_x = (float)((width - 1) / 2),
        .middle_y = (float)((height - 1) / 2),
        .half_diagonal = (float)(sqrt(width * width + height * height) / 2),
        .begin = (float)radius,
        .span = (float)fmax(1 - radius, 1e-6),
        .amount = (float)amount,
    };
    const float colour[3] = {(float)(r * top), (float)(g * top), (float)(b * top)};
    size_t pixels = (size_t)raster->width;
    float *row = malloc(darkroom_row_samples(raster) * sizeof *row), *amounts = malloc(pixels * sizeof *amounts);
    enum darkroom_status status = row && amounts ? DARKROOM_DONE : DARKROOM_OUT_OF_MEMORY;
    for (int y = 0; y < raster->height && status == DARKROOM_DONE; y++) {
        amounts_of_row(&vignette, y, amounts, raster->width);
        darkroom_row_load(raster, y, row);
        mix_colour(row, amounts, colour, pixels, (size_t)raster->bands);
        darkroom_row_store(raster, y, row);
        if (interrupt->is_cancelled(interrupt->context)) status = DARKROOM_CANCELLED;
    }
    free(row);
    free(amounts);
    return status;
}
