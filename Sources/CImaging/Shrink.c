#include "Rows.h"
#include "Vectorised.h"

#include <stdlib.h>
#include <string.h>

VECTORISED static void add_bytes(const uint8_t *samples, uint32_t *sums, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] += samples[i];
}

VECTORISED static void add_words(const uint16_t *samples, uint32_t *sums, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] += samples[i];
}

// Sums `factor` pixels beside each other, and rounds their mean. The sums are those of `factor` rows.
static inline uint32_t mean(const uint32_t *sums, size_t bands, size_t factor) {
    uint32_t count = (uint32_t)(factor * factor), sum = count / 2;
    for (size_t i = 0; i < factor; i++) sum += sums[i * bands];
    return sum / count;
}

static inline void write_means(
    const uint32_t *sums, const struct darkroom_raster *small, int y, size_t bands, size_t factor) {
    void *row = darkroom_row(small, y);
    for (size_t x = 0; x < (size_t)small->width; x++, sums += factor * bands)
        for (size_t band = 0; band < bands; band++) {
            uint32_t value = mean(sums + band, bands, factor);
            if (small->wide)
                ((uint16_t *)row)[x * bands + band] = (uint16_t)value;
            else
                ((uint8_t *)row)[x * bands + band] = (uint8_t)value;
        }
}

// The compiler makes a loop without multiplications and divisions for each case.
static void write_row(const uint32_t *sums, const struct darkroom_raster *small, int y, int factor) {
    size_t bands = (size_t)small->bands;
    if (bands == 3 && factor == 2) return write_means(sums, small, y, 3, 2);
    if (bands == 3 && factor == 4) return write_means(sums, small, y, 3, 4);
    if (bands == 3 && factor == 8) return write_means(sums, small, y, 3, 8);
    write_means(sums, small, y, bands, (size_t)factor);
}

enum darkroom_status darkroom_raster_shrink(
    const struct darkroom_raster *raster, int factor, const struct darkroom_raster *small,
    const struct darkroom_interrupt *interrupt) {
    size_t samples = darkroom_row_samples(raster);
    uint32_t *sums = malloc(samples * sizeof *sums);
    if (!sums) return DARKROOM_OUT_OF_MEMORY;
    enum darkroom_status status = DARKROOM_DONE;
    for (int y = 0; y < small->height && status == DARKROOM_DONE; y++) {
        memset(sums, 0, samples * sizeof *sums);
        for (int i = 0; i < factor; i++) {
            const void *row = darkroom_row(raster, y * factor + i);
            if (raster->wide)
                add_words(row, sums, samples);
            else
                add_bytes(row, sums, samples);
        }
        write_row(sums, small, y, factor);
        if (interrupt->is_cancelled(interrupt->context)) status = DARKROOM_CANCELLED;
    }
    free(sums);
    return status;
}
