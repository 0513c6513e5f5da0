// DESIGN: the median of n samples is the largest value that at least (n + 1) / 2 samples reach. The code finds the bits
// of the median one by one, from the highest: each step counts the samples that reach the value with the next bit set.
// For any size of the window, the counts need only comparisons and additions of whole vectors.

#include "CImaging.h"
#include "Rows.h"
#include "Vectorised.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 15, VECTOR_BYTES = 32 };

// Defines a function that computes the medians of windows of `size` rows of `size` pixels. Each row begins with the
// first pixel of the first window. `count` is rounded up to whole vectors. Counts fit into a sample, because a window
// has at most 225 samples.
#define DEFINE_MEDIANS(name, sample, bits)                                                                             \
    VECTORISED static void name(const sample *const *rows, int size, size_t bands, sample *medians, size_t count) {    \
        typedef sample vector __attribute__((vector_size(VECTOR_BYTES)));                                              \
        const sample majority = (sample)((size * size + 1) / 2);                                                       \
        for (size_t i = 0; i < count; i += VECTOR_BYTES / sizeof(sample)) {                                            \
            vector median = {0};                                                                                       \
            for (int bit = bits - 1; bit >= 0; bit--) {                                                                \
                vector candidate = median | (sample)(1 << bit), reached = {0};                                         \
                for (int y = 0; y < size; y++) {                                                                       \
                    for (int x = 0; x < size; x++) {                                                                   \
                        vector samples;                                                                                \
                        memcpy(&samples, rows[y] + i + (size_t)x * bands, sizeof samples);                             \
                        reached -= (vector)(samples >= candidate);                                                     \
                    }                                                                                                  \
                }                                                                                                      \
                median |= (vector)(reached >= majority) & (sample)(1 << bit);                                          \
            }                                                                                                          \
            memcpy(medians + i, &median, sizeof median);                                                               \
        }                                                                                                              \
    }

DEFINE_MEDIANS(medians_of_bytes, uint8_t, 8)
DEFINE_MEDIANS(medians_of_words, uint16_t, 16)

// Copies a row and repeats its edge pixels `margin` times on both sides.
static void copy_row(const struct darkroom_raster *raster, int y, int margin, uint8_t *copy) {
    size_t pixel = (size_t)raster->bands * (raster->wide ? 2 : 1), row = (size_t)raster->width * pixel;
    const uint8_t *source = darkroom_row(raster, y);
    uint8_t *middle = copy + (size_t)margin * pixel;
    memcpy(middle, source, row);
    for (size_t i = 0; i < (size_t)margin; i++) {
        memcpy(copy + i * pixel, source, pixel);
        memcpy(middle + row + i * pixel, source + row - pixel, pixel);
    }
}

enum darkroom_status darkroom_raster_median(
    const struct darkroom_raster *raster, int size, const struct darkroom_interrupt *interrupt) {
    int margin = size / 2, last = raster->height - 1;
    size_t bands = (size_t)raster->bands, samples = darkroom_row_samples(raster), bytes = raster->wide ? 2 : 1;
    // Vectors may reach beyond the end of a row.
    size_t stride = (samples + (size_t)size * bands) * bytes + VECTOR_BYTES;
    // A ring of copied rows: row y is at y modulo `size`. The last row of the memory receives the medians.
    uint8_t *memory = calloc((size_t)size + 1, stride);
    if (!memory) return DARKROOM_OUT_OF_MEMORY;
    uint8_t *medians = memory + (size_t)size * stride;
    enum darkroom_status status = DARKROOM_DONE;
    int copied = 0;
    for (int y = 0; y <= last && status == DARKROOM_DONE; y++) {
        for (; copied <= last && copied <= y + margin; copied++)
            copy_row(raster, copied, margin, memory + (size_t)(copied % size) * stride);
        const void *rows[MAX_SIZE];
        for (int i = 0; i < size; i++) {
            int source = y - margin + i;
            source = source < 0 ? 0 : source > last ? last : source;
            rows[i] = memory + (size_t)(source % size) * stride;
        }
        if (raster->wide)
            medians_of_words((const uint16_t *const *)rows, size, bands, (uint16_t *)(void *)medians, samples);
        else
            medians_of_bytes((const uint8_t *const *)rows, size, bands, medians, samples);
        memcpy(darkroom_row(raster, y), medians, samples * bytes);
        if (interrupt->is_cancelled(interrupt->context)) status = DARKROOM_CANCELLED;
    }
    free(memory);
    return status;
}
