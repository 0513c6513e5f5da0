#include "Rows.h"

#include <stdlib.h>
#include <string.h>

// The sums of a block: `weight` of alpha, or of 1 per pixel if there is no alpha; `colours` of the colours times these
// weights.
struct sums {
    uint64_t weight, colours[3];
    uint64_t pixels;
};

static inline uint64_t rounded_quotient(uint64_t sum, uint64_t count) {
    return count == 0 ? 0 : (sum + count / 2) / count;
}

static void add_row(const struct darkroom_raster *raster, int y, int size, struct sums *blocks) {
    const void *row = darkroom_row(raster, y);
    size_t bands = (size_t)raster->bands, colours = bands > 2 ? 3 : 1;
    bool alpha = bands % 2 == 0;
    for (int x = 0, left = size; x < raster->width; x++, left--) {
        if (left == 0) {
            blocks++;
            left = size;
        }
        size_t first = (size_t)x * bands;
        uint64_t weight = alpha ? darkroom_sample(row, first + colours, raster->wide) : 1;
        blocks->weight += weight;
        blocks->pixels++;
        for (size_t i = 0; i < colours; i++) blocks->colours[i] += weight * darkroom_sample(row, first + i, raster->wide);
    }
}

static void set_row(const struct darkroom_raster *raster, int y, int size, const struct sums *blocks) {
    void *row = darkroom_row(raster, y);
    size_t bands = (size_t)raster->bands, colours = bands > 2 ? 3 : 1;
    for (int begin = 0; begin < raster->width; begin += size, blocks++) {
        uint64_t values[4];
        for (size_t i = 0; i < colours; i++) values[i] = rounded_quotient(blocks->colours[i], blocks->weight);
        values[bands - 1] = bands % 2 == 0 ? rounded_quotient(blocks->weight, blocks->pixels) : values[bands - 1];
        int end = raster->width - begin < size ? raster->width : begin + size;
        for (int x = begin; x < end; x++)
            for (size_t i = 0; i < bands; i++)
                darkroom_set_sample(row, (size_t)x * bands + i, raster->wide, (uint32_t)values[i]);
    }
}

enum darkroom_status darkroom_raster_pixelate(
    const struct darkroom_raster *raster, int size, const struct darkroom_interrupt *interrupt) {
    int longest = raster->width > raster->height ? raster->width : raster->height;
    size = size < longest ? size : longest;
    size_t columns = ((size_t)raster->width + (size_t)size - 1) / (size_t)size;
    size_t row_bytes = darkroom_row_samples(raster) * (raster->wide ? 2 : 1);
    struct sums *blocks = malloc(columns * sizeof *blocks);
    if (!blocks) return DARKROOM_OUT_OF_MEMORY;
    enum darkroom_status status = DARKROOM_DONE;
    for (int top = 0, rows; top < raster->height && status == DARKROOM_DONE; top += rows) {
        rows = raster->height - top < size ? raster->height - top : size;
        memset(blocks, 0, columns * sizeof *blocks);
        for (int y = top; y < top + rows && status == DARKROOM_DONE; y++) {
            add_row(raster, y, size, blocks);
            if (interrupt->is_cancelled(interrupt->context)) status = DARKROOM_CANCELLED;
        }
        set_row(raster, top, size, blocks);
        for (int y = top + 1; y < top + rows; y++)
            memcpy(darkroom_row(raster, y), darkroom_row(raster, top), row_bytes);
    }
    free(blocks);
    return status;
}
