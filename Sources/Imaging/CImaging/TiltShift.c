#include "Gaussian.h"
#include "Rows.h"
#include "Vectorised.h"

#include <math.h>
#include <stdlib.h>

#pragma STDC FP_CONTRACT OFF

// The mask at pixel (x, y) is clamp((|a * x + b * y + c| - clear) / fade, 0, 1).
struct mask {
    double a, b, c, clear, fade;
};

static struct mask make_mask(
    const struct darkroom_raster *raster, double position, double angle, double width, double fade) {
    // The normal of the line is (sin, cos), because y increases downwards.
    double height = raster->height, radians = angle * acos(-1) / 180, a = sin(radians), b = cos(radians);
    return (struct mask){
        .a = a,
        .b = b,
        .c = a * (0.5 - raster->width / 2.0) + b * (0.5 - position * height),
        .clear = width * height / 2,
        // Without a fade, the mask is a step.
        .fade = fmax(fade * height, 1e-6),
    };
}

static inline float mask_at(const struct mask *mask, int x, int y) {
    double value = (fabs(mask->a * x + (mask->b * y + mask->c)) - mask->clear) / mask->fade;
    value = value > 0 ? value : 0;
    return (float)(value < 1 ? value : 1);
}

// The distance from the line is largest at one of the row's ends.
static bool row_stays_sharp(const struct mask *mask, int y, int width) {
    return mask_at(mask, 0, y) == 0 && mask_at(mask, width - 1, y) == 0;
}

VECTORISED static void mask_row(const struct mask *mask, int y, float *values, int width) {
    const struct mask m = *mask;
    for (int x = 0; x < width; x++) values[x] = mask_at(&m, x, y);
}

// All calls pass a constant for `bands`, so that the loops are vectorised.
static inline void mix_bands(float *blurred, const float *sharp, const float *mask, size_t pixels, size_t bands) {
    for (size_t i = 0; i < pixels; i++)
        for (size_t j = i * bands; j < (i + 1) * bands; j++) blurred[j] = sharp[j] + mask[i] * (blurred[j] - sharp[j]);
}

VECTORISED static void mix_sharp(float *blurred, const float *sharp, const float *mask, size_t pixels, int bands) {
    switch (bands) {
    case 1:
        return mix_bands(blurred, sharp, mask, pixels, 1);
    case 2:
        return mix_bands(blurred, sharp, mask, pixels, 2);
    case 3:
        return mix_bands(blurred, sharp, mask, pixels, 3);
    default:
        return mix_bands(blurred, sharp, mask, pixels, 4);
    }
}

enum darkroom_status darkroom_raster_tilt_shift(
    const struct darkroom_raster *raster, double sigma, double position, double angle, double width, double fade,
    const struct darkroom_interrupt *interrupt) {
    struct mask mask = make_mask(raster, position, angle, width, fade);
    size_t pixels = (size_t)raster->width, samples = darkroom_row_samples(raster);
    struct darkroom_gaussian *gaussian;
    enum darkroom_status status = darkroom_gaussian_make(raster, sigma, interrupt, &gaussian);
    float *values = malloc(pixels * sizeof *values), *sharp = malloc(samples * sizeof *sharp);
    if (!values || !sharp) status = DARKROOM_OUT_OF_MEMORY;
    for (int y = 0; y < raster->height && status == DARKROOM_DONE; y++) {
        if (row_stays_sharp(&mask, y, raster->width)) continue;
        float *row = darkroom_gaussian_row(gaussian, y);
        if (row) {
            mask_row(&mask, y, values, raster->width);
            darkroom_row_load(raster, y, sharp);
            darkroom_row_premultiply(raster, sharp);
            mix_sharp(row, sharp, values, pixels, raster->bands);
            darkroom_row_unpremultiply(raster, row);
            darkroom_row_store(raster, y, row);
        } else {
            status = DARKROOM_CANCELLED;
        }
    }
    darkroom_gaussian_free(gaussian);
    free(values);
    free(sharp);
    return status;
}
