// The pixel loops of the sepia filter, for both Strips.c and libvips.

#ifndef CIMAGING_SEPIA_H
#define CIMAGING_SEPIA_H

#include <stddef.h>
#include <stdint.h>

struct darkroom_sepia {
    // The matrix that converts red, green and blue, row by row: `exact` as decimals, `fixed` in units of 2^-23.
    double exact[9];
    uint32_t fixed[9];
};

struct darkroom_sepia darkroom_sepia_make(double intensity);

// Filters `count` pixels with 8 or 16 bits and 3 or 4 bands in place. The fourth band is unchanged.
void darkroom_sepia_apply_8(const struct darkroom_sepia *sepia, uint8_t *pixels, size_t count, int bands);
void darkroom_sepia_apply_16(const struct darkroom_sepia *sepia, uint16_t *pixels, size_t count, int bands);

#endif
