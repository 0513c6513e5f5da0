// DESIGN: The luminances are exact numbers, not bins: the results of the points before rounding. The order of positive
// floats is the order of their bits. Therefore a first pass counts the luminances by their upper bits, which gives the
// upper bits of each result. A second pass counts the luminances with these upper bits by their lower bits. The two
// passes need no memory for the luminances.

#include "CImaging.h"
#include "Rows.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOWER_BITS = 14,
    LOWER_BINS = 1 << LOWER_BITS,
    // The last bin is for the upper bits of 1.0.
    UPPER_BINS = (0x3F800000 >> LOWER_BITS) + 1,
    BLOCK_PIXELS = 256,
};

// One of the two results.
struct percentile {
    // The position of the luminance in ascending order; 0 is the darkest.
    uint64_t rank;
    uint32_t upper;
    uint32_t bins[LOWER_BINS];
};

struct counts {
    uint32_t upper[UPPER_BINS];
    uint64_t total;
    struct percentile results[2];
};

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void count(struct counts *counts, uint32_t bits, bool counts_lower) {
    uint32_t upper = bits >> LOWER_BITS, lower = bits & (LOWER_BINS - 1);
    if (!counts_lower) {
        counts->upper[upper]++;
        counts->total++;
        return;
    }
    for (int i = 0; i < 2; i++)
        if (counts->results[i].upper == upper) counts->results[i].bins[lower]++;
}

static bool is_transparent(const struct darkroom_raster *raster, const uint8_t *pixels, size_t pixel) {
    size_t bands = (size_t)raster->bands, alpha = pixel * bands + bands - 1;
    if (bands % 2 != 0) return false;
    return raster->wide ? ((const uint16_t *)(const void *)pixels)[alpha] == 0 : pixels[alpha] == 0;
}

// Counts the pixels that are not transparent.
static enum darkroom_status count_all(
    struct counts *counts, const struct darkroom_raster *raster, const struct darkroom_point *points, int point_count,
    bool counts_lower, const struct darkroom_interrupt *interrupt) {
    float luminances[BLOCK_PIXELS];
    size_t pixel_bytes = (size_t)raster->bands * (raster->wide ? 2 : 1);
    for (int y = 0; y < raster->height; y++) {
        const uint8_t *row = darkroom_row(raster, y);
        for (size_t x = 0, size; x < (size_t)raster->width; x += size) {
            size = (size_t)raster->width - x < BLOCK_PIXELS ? (size_t)raster->width - x : BLOCK_PIXELS;
            const uint8_t *pixels = row + x * pixel_bytes;
            darkroom_points_luminances(points, point_count, pixels, size, raster->bands, raster->wide, luminances);
            for (size_t i = 0; i < size; i++)
                if (!is_transparent(raster, pixels, i)) count(counts, bits_of(luminances[i]), counts_lower);
        }
        if (interrupt->is_cancelled(interrupt->context)) return DARKROOM_CANCELLED;
    }
    return DARKROOM_DONE;
}

// Finds the bin that contains the number with this rank, and reduces the rank by the counts of the bins before it.
static uint32_t find_bin(const uint32_t *bins, uint64_t *rank) {
    uint32_t bin = 0;
    for (; bins[bin] <= *rank; bin++) *rank -= bins[bin];
    return bin;
}

// The number of pixels that are this share of all pixels. 1e-6 outweighs the rounding error of a share such as 1 - 0.9.
static uint64_t rank_of(double share, uint64_t total) {
    uint64_t rank = (uint64_t)(share * (double)total + 1e-6);
    return rank < total ? rank : total - 1;
}

static double value_of(struct percentile *percentile) {
    uint32_t bits = percentile->upper << LOWER_BITS | find_bin(percentile->bins, &percentile->rank);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum darkroom_status darkroom_raster_percentiles(
    const struct darkroom_raster *raster, const struct darkroom_point *points, int point_count, double lower, double upper,
    double *low, double *high, const struct darkroom_interrupt *interrupt) {
    struct counts *counts = calloc(1, sizeof *counts);
    if (!counts) return DARKROOM_OUT_OF_MEMORY;
    *low = 0;
    *high = 1;
    enum darkroom_status status = count_all(counts, raster, points, point_count, false, interrupt);
    if (status == DARKROOM_DONE && counts->total > 0) {
        counts->results[0].rank = rank_of(lower, counts->total);
        counts->results[1].rank = counts->total - 1 - rank_of(1 - upper, counts->total);
        for (int i = 0; i < 2; i++) counts->results[i].upper = find_bin(counts->upper, &counts->results[i].rank);
        status = count_all(counts, raster, points, point_count, true, interrupt);
    }
    if (status == DARKROOM_DONE && counts->total > 0) {
        *low = value_of(&counts->results[0]);
        *high = value_of(&counts->results[1]);
    }
    free(counts);
    return status;
}
