#include "Rows.h"

#include "Vectorised.h"

#pragma STDC FP_CONTRACT OFF

VECTORISED static void from_bytes(const uint8_t *samples, float *row, size_t count) {
    for (size_t i = 0; i < count; i++) row[i] = samples[i];
}

VECTORISED static void from_words(const uint16_t *samples, float *row, size_t count) {
    for (size_t i = 0; i < count; i++) row[i] = samples[i];
}

static inline int32_t rounded(float value, float most) {
    value = value > 0 ? value : 0;
    return (int32_t)((value < most ? value : most) + 0.5f);
}

VECTORISED static void to_bytes(const float *row, uint8_t *samples, size_t count) {
    for (size_t i = 0; i < count; i++) samples[i] = (uint8_t)rounded(row[i], 255);
}

VECTORISED static void to_words(const float *row, uint16_t *samples, size_t count) {
    for (size_t i = 0; i < count; i++) samples[i] = (uint16_t)rounded(row[i], 65535);
}

// The factor of alpha is 1, so that all bands are computed in the same way.
VECTORISED static void premultiply_colour(float *row, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        float alpha = row[4 * i + 3], factors[4] = {alpha, alpha, alpha, 1};
        for (size_t band = 0; band < 4; band++) row[4 * i + band] *= factors[band];
    }
}

VECTORISED static void unpremultiply_colour(float *row, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        float alpha = row[4 * i + 3], factor = alpha > 0 ? 1 / alpha : 0, factors[4] = {factor, factor, factor, 1};
        for (size_t band = 0; band < 4; band++) row[4 * i + band] *= factors[band];
    }
}

VECTORISED static void premultiply_grey(float *row, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) row[2 * i] *= row[2 * i + 1];
}

VECTORISED static void unpremultiply_grey(float *row, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) row[2 * i] *= row[2 * i + 1] > 0 ? 1 / row[2 * i + 1] : 0;
}

void darkroom_row_load(const struct darkroom_raster *raster, int y, float *row) {
    if (raster->wide)
        from_words(darkroom_row(raster, y), row, darkroom_row_samples(raster));
    else
        from_bytes(darkroom_row(raster, y), row, darkroom_row_samples(raster));
}

void darkroom_row_store(const struct darkroom_raster *raster, int y, const float *row) {
    if (raster->wide)
        to_words(row, darkroom_row(raster, y), darkroom_row_samples(raster));
    else
        to_bytes(row, darkroom_row(raster, y), darkroom_row_samples(raster));
}

void darkroom_row_premultiply(const struct darkroom_raster *raster, float *row) {
    if (raster->bands == 4) premultiply_colour(row, (size_t)raster->width);
    if (raster->bands == 2) premultiply_grey(row, (size_t)raster->width);
}

void darkroom_row_unpremultiply(const struct darkroom_raster *raster, float *row) {
    if (raster->bands == 4) unpremultiply_colour(row, (size_t)raster->width);
    if (raster->bands == 2) unpremultiply_grey(row, (size_t)raster->width);
}
