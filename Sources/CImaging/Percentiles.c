#include "CImaging.h"
#include "Rows.h"

#include <stdlib.h>

// Counts the luminances of a row's pixels that are not transparent. `wide` and `bands` are constants, so that the loop
// has no branches for them.
static inline void count_row(const void *row, bool wide, size_t bands, size_t pixels, uint32_t *bins) {
    const uint8_t *bytes = row;
    const uint16_t *words = row;
    size_t green = bands > 2 ? 1 : 0, blue = bands > 2 ? 2 : 0;
    for (size_t i = 0; i < pixels * bands; i += bands) {
        if (bands % 2 == 0 && (wide ? words[i + bands - 1] : bytes[i + bands - 1]) == 0) continue;
        uint32_t r = wide ? words[i] : bytes[i];
        uint32_t g = wide ? words[i + green] : bytes[i + green];
        uint32_t b = wide ? words[i + blue] : bytes[i + blue];
        bins[(2126 * r + 7152 * g + 722 * b + 5000) / 10000]++;
    }
}

static void count(const struct darkroom_raster *raster, int y, uint32_t *bins) {
    const void *row = darkroom_row(raster, y);
    size_t pixels = (size_t)raster->width;
    switch (raster->bands + (raster->wide ? 4 : 0)) {
    case 1:
        return count_row(row, false, 1, pixels, bins);
    case 2:
        return count_row(row, false, 2, pixels, bins);
    case 3:
        return count_row(row, false, 3, pixels, bins);
    case 4:
        return count_row(row, false, 4, pixels, bins);
    case 5:
        return count_row(row, true, 1, pixels, bins);
    case 6:
        return count_row(row, true, 2, pixels, bins);
    case 7:
        return count_row(row, true, 3, pixels, bins);
    default:
        return count_row(row, true, 4, pixels, bins);
    }
}

// Returns the first bin, in steps of `step` from `bin`, up to which more than `share` of all pixels are counted.
static int find_bin(const uint32_t *bins, int bin, int step, double share, uint64_t total) {
    uint64_t needed = (uint64_t)(share * (double)total) + 1;
    if (needed > total) needed = total;
    for (uint64_t counted = bins[bin]; counted < needed; counted += bins[bin]) bin += step;
    return bin;
}

enum darkroom_status darkroom_raster_percentiles(
    const struct darkroom_raster *raster, double lower, double upper, double *low, double *high,
    const struct darkroom_interrupt *interrupt) {
    int top = raster->wide ? 65535 : 255;
    uint32_t *bins = calloc((size_t)top + 1, sizeof *bins);
    if (!bins) return DARKROOM_OUT_OF_MEMORY;
    enum darkroom_status status = DARKROOM_DONE;
    for (int y = 0; y < raster->height && status == DARKROOM_DONE; y++) {
        count(raster, y, bins);
        if (interrupt->is_cancelled(interrupt->context)) status = DARKROOM_CANCELLED;
    }
    uint64_t total = 0;
    for (int i = 0; i <= top; i++) total += bins[i];
    *low = total == 0 ? 0 : find_bin(bins, 0, 1, lower, total) / (double)top;
    *high = total == 0 ? 1 : find_bin(bins, top, -1, 1 - upper, total) / (double)top;
    free(bins);
    return status;
}
