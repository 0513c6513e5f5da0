// Rows of a raster as floats, from 0 to 255 or 65,535.

#ifndef DARKROOM_ROWS_H
#define DARKROOM_ROWS_H

#include "CImaging.h"

static inline size_t darkroom_row_samples(const struct darkroom_raster *raster) {
    return (size_t)raster->width * (size_t)raster->bands;
}

static inline void *darkroom_row(const struct darkroom_raster *raster, int y) {
    return (uint8_t *)raster->pixels + darkroom_row_samples(raster) * (size_t)y * (raster->wide ? 2 : 1);
}

static inline int darkroom_limited(int value, int least, int most) {
    return value < least ? least : value < most ? value : most;
}

// A sample of a row or of all pixels.
static inline uint32_t darkroom_sample(const void *samples, size_t i, bool wide) {
    return wide ? ((const uint16_t *)samples)[i] : ((const uint8_t *)samples)[i];
}

static inline void darkroom_set_sample(void *samples, size_t i, bool wide, uint32_t value) {
    if (wide)
        ((uint16_t *)samples)[i] = (uint16_t)value;
    else
        ((uint8_t *)samples)[i] = (uint8_t)value;
}

void darkroom_row_load(const struct darkroom_raster *raster, int y, float *row);

// Clamps, and rounds to the nearest value.
void darkroom_row_store(const struct darkroom_raster *raster, int y, const float *row);

// Multiply the colours by alpha, or divide them by alpha, if the raster has alpha. Weighted sums of multiplied rows
// ignore the colours of transparent pixels. A division by an alpha of 0 gives 0.
void darkroom_row_premultiply(const struct darkroom_raster *raster, float *row);
void darkroom_row_unpremultiply(const struct darkroom_raster *raster, float *row);

#endif
