// DESIGN: the blur is separable. Each row is filtered horizontally once and kept in a ring of at most 2 * radius + 1 rows.
// A blurred row is the weighted sum of the rows in the ring. Weights below 0.01 of the middle weight are omitted, as by
// libvips. Beyond an edge, the pixels of the edge repeat.
//
// For a sigma above 8 pixels, the time would grow with sigma. Therefore the raster is reduced to cells of `scale` x
// `scale` pixels, the cells are blurred as above with a sigma of 4 to 6 cells, and the result is enlarged again.
// Reducing and enlarging both use the quadratic B-spline: in each direction, a pixel contributes to three cells and is
// computed from three cells. The variance of this spline is 1/4 of a squared cell, whatever the position of the pixel
// in its cell. Therefore the blur of the cells has the requested variance minus 1/2 of a squared cell. The result
// differs from the Gaussian by less than half a step of 255.

#include "Gaussian.h"

#include "Rows.h"
#include "Vectorised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

static const double largest_direct_sigma = 8, smallest_sigma_in_cells = 4;

enum {
    // The radius for a sigma of 8.
    MAX_RADIUS = 24,
    // The scale for a sigma of 250.
    MAX_SCALE = 62,
    // Rows are padded to a multiple of this number of samples.
    GROUP = 32,
    // The memory limit for rows. RGB with alpha reaches this limit at 300,000 pixels in a row.
    MAX_BYTES = 256 << 20,
};

struct darkroom_gaussian {
    const struct darkroom_raster *raster;
    const struct darkroom_interrupt *interrupt;
    int radius;
    float weights[MAX_RADIUS + 1];

    // The pixels on a side of a cell; 1 if pixels are blurred without reduction.
    int scale;
    // The weights of a pixel in the previous cell, its own cell and the next cell, indexed by its position in its cell.
    float spline[3][MAX_SCALE];

    // The row to be filtered: `columns` pixels or cells, and `radius` more on each side.
    float *padded;
    int columns;
    // Rows of pixels or cells before `first` equal row `first`, and rows after `last` equal row `last`.
    int first, last;
    // Horizontally filtered rows. Row y is at y modulo `ring_rows`. `next` is the first row that is not filtered yet.
    float *ring[2 * MAX_RADIUS + 1];
    int ring_rows;
    int next;
    float *sum;

    // Used only if cells are blurred: `gathered` is the sum of the rows of pixels of a row of cells, including pixels
    // beyond the edges; `enlarged` contains enlarged rows of cells. Row y of the cells is at y modulo 3.
    // `next_enlarged` is the first row that is not enlarged yet.
    float *gathered;
    float *enlarged[3];
    int next_enlarged;
};


static int modulo(int value, int divisor) { return (value % divisor + divisor) % divisor; }

// MARK: - Convolution

// result[i] = weights[0] * taps[radius][i] + the sum of weights[k] * (taps[radius - k][i] + taps[radius + k][i]). The
// count is rounded up to a multiple of GROUP.
VECTORISED static void convolve(
    const float *const *taps, const float *weights, int radius, float *result, size_t count) {
    for (size_t i = 0; i < count; i += GROUP) {
        float sum[GROUP];
        for (size_t j = 0; j < GROUP; j++) sum[j] = weights[0] * taps[radius][i + j];
        for (int k = 1; k <= radius; k++) {
            const float *before = taps[radius - k] + i, *after = taps[radius + k] + i;
            for (size_t j = 0; j < GROUP; j++) sum[j] += weights[k] * (before[j] + after[j]);
        }
        memcpy(result + i, sum, sizeof sum);
    }
}

static void repeat_edges(float *row, int before, int width, int after, size_t bands) {
    for (float *pixel = row; pixel < row + (size_t)before * bands; pixel += bands)
        memcpy(pixel, row + (size_t)before * bands, bands * sizeof *row);
    float *end = row + (size_t)(before + width) * bands;
    for (float *pixel = end; pixel < end + (size_t)after * bands; pixel += bands)
        memcpy(pixel, end - bands, bands * sizeof *row);
}

// MARK: - Cells

VECTORISED static void add_weighted(float *sum, const float *row, float weight, size_t count) {
    for (size_t i = 0; i < count; i++) sum[i] += weight * row[i];
}

VECTORISED static void mix_three(float *result, float *const *rows, const float *weights, size_t count) {
    const float *a = rows[0], *b = rows[1], *c = rows[2];
    for (size_t i = 0; i < count; i++) result[i] = weights[0] * a[i] + weights[1] * b[i] + weights[2] * c[i];
}

// The weight of a pixel in a cell; `place` counts from the first pixel of the previous cell.
static float reducing_weight(const struct darkroom_gaussian *g, int place) {
    return g->spline[2 - place / g->scale][place % g->scale] / (float)g->scale;
}

// Sums the rows of pixels that contribute to a row of cells.
static void gather_rows(struct darkroom_gaussian *g, int row_of_cells) {
    const struct darkroom_raster *raster = g->raster;
    size_t samples = darkroom_row_samples(raster);
    int margin = (g->radius + 2) * g->scale, top = (row_of_cells - 1) * g->scale;
    float *sum = g->gathered + (size_t)(margin * raster->bands), *row = g->sum;
    memset(sum, 0, samples * sizeof *sum);
    for (int place = 0; place < 3 * g->scale;) {
        int y = darkroom_limited(top + place, 0, raster->height - 1);
        float weight = 0;
        do weight += reducing_weight(g, place++);
        while (place < 3 * g->scale && darkroom_limited(top + place, 0, raster->height - 1) == y);
        darkroom_row_load(raster, y, row);
        darkroom_row_premultiply(raster, row);
        add_weighted(sum, row, weight, samples);
    }
}

// Reduces the gathered row to the cells of `padded`.
static void reduce_row(struct darkroom_gaussian *g) {
    const struct darkroom_raster *raster = g->raster;
    size_t bands = (size_t)raster->bands, scale = (size_t)g->scale;
    size_t cells = (size_t)(g->columns + 2 * g->radius);
    int margin = (g->radius + 2) * g->scale;
    repeat_edges(g->gathered, margin, raster->width, margin + g->scale, bands);
    float weights[3 * MAX_SCALE];
    for (int i = 0; i < 3 * g->scale; i++) weights[i] = reducing_weight(g, i);
    for (size_t cell = 0; cell < cells; cell++) {
        const float *pixel = g->gathered + cell * scale * bands;
        float sum[4] = {0};
        for (size_t i = 0; i < 3 * scale; i++, pixel += bands)
            for (size_t band = 0; band < bands; band++) sum[band] += weights[i] * pixel[band];
        memcpy(g->padded + cell * bands, sum, bands * sizeof *sum);
    }
}

// Enlarges a row of cells. The first cell is the one before the cell of the first pixel.
static void enlarge_row(const struct darkroom_gaussian *g, const float *cells, float *row) {
    size_t bands = (size_t)g->raster->bands;
    float *end = row + darkroom_row_samples(g->raster);
    for (; row < end; cells += bands)
        for (int place = 0; place < g->scale && row < end; place++)
            for (size_t band = 0; band < bands; band++)
                *row++ = g->spline[0][place] * cells[band] + g->spline[1][place] * cells[bands + band] +
                         g->spline[2][place] * cells[2 * bands + band];
}

// MARK: - Rows

static void fetch_row(struct darkroom_gaussian *g, int y) {
    if (g->scale > 1) {
        gather_rows(g, y);
        reduce_row(g);
    } else {
        size_t bands = (size_t)g->raster->bands;
        float *row = g->padded + (size_t)g->radius * bands;
        darkroom_row_load(g->raster, y, row);
        darkroom_row_premultiply(g->raster, row);
        repeat_edges(g->padded, g->radius, g->columns, g->radius, bands);
    }
}

// Returns a blurred row of pixels or cells, or NULL if the work is cancelled.
static float *blurred_row(struct darkroom_gaussian *g, int y) {
    int radius = g->radius, rows = 2 * radius + 1;
    size_t bands = (size_t)g->raster->bands, samples = (size_t)g->columns * bands;
    const float *taps[2 * MAX_RADIUS + 1];
    int top = darkroom_limited(y - radius, g->first, g->last), bottom = darkroom_limited(y + radius, g->first, g->last);
    if (g->next < top) g->next = top;
    for (; g->next <= bottom; g->next++) {
        if (g->interrupt->is_cancelled(g->interrupt->context)) return NULL;
        fetch_row(g, g->next);
        for (int k = 0; k < rows; k++) taps[k] = g->padded + (size_t)k * bands;
        convolve(taps, g->weights, radius, g->ring[modulo(g->next, g->ring_rows)], samples);
    }
    for (int k = 0; k < rows; k++)
        taps[k] = g->ring[modulo(darkroom_limited(y - radius + k, g->first, g->last), g->ring_rows)];
    convolve(taps, g->weights, radius, g->sum, samples);
    return g->sum;
}

float *darkroom_gaussian_row(struct darkroom_gaussian *g, int y) {
    if (g->scale == 1) return blurred_row(g, y);
    int cell = y / g->scale, place = y % g->scale;
    if (g->next_enlarged < cell - 1) g->next_enlarged = cell - 1;
    for (; g->next_enlarged <= cell + 1; g->next_enlarged++) {
        const float *cells = blurred_row(g, g->next_enlarged);
        if (!cells) return NULL;
        enlarge_row(g, cells, g->enlarged[modulo(g->next_enlarged, 3)]);
    }
    float *rows[3], weights[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = g->enlarged[modulo(cell - 1 + i, 3)];
        weights[i] = g->spline[i][place];
    }
    mix_three(g->sum, rows, weights, darkroom_row_samples(g->raster));
    return g->sum;
}

// MARK: - Memory

static void choose_weights(struct darkroom_gaussian *g, double sigma) {
    g->scale = sigma > largest_direct_sigma ? (int)(sigma / smallest_sigma_in_cells) : 1;
    // Half the width of the kernel, in pixels or cells. If cells are blurred, only a fraction of the outermost weights
    // counts.
    double reach = (ceil(sigma * sqrt(2 * log(100))) - 0.5) / g->scale;
    double variance = sigma * sigma / (g->scale * g->scale) - (g->scale > 1 ? 0.5 : 0);
    g->radius = (int)ceil(reach - 0.5);
    double raw[MAX_RADIUS + 1], total = 0;
    for (int k = 0; k <= g->radius; k++) {
        raw[k] = exp(-k * k / (2 * variance)) * fmin(reach + 0.5 - k, 1);
        total += k == 0 ? raw[k] : 2 * raw[k];
    }
    for (int k = 0; k <= g->radius; k++) g->weights[k] = (float)(raw[k] / total);
    for (int place = 0; place < g->scale; place++) {
        double x = (place + 0.5) / g->scale - 0.5;
        g->spline[0][place] = (float)((0.5 - x) * (0.5 - x) / 2);
        g->spline[1][place] = (float)(0.75 - x * x);
        g->spline[2][place] = (float)((0.5 + x) * (0.5 + x) / 2);
    }
}

static float *make_row(const struct darkroom_gaussian *g, int pixels) {
    return calloc((size_t)pixels * (size_t)g->raster->bands + GROUP, sizeof(float));
}

static void choose_rows(struct darkroom_gaussian *g) {
    const struct darkroom_raster *raster = g->raster;
    bool cells = g->scale > 1;
    // One cell more than the raster on each side. From the second row of cells beyond an edge on, all pixels are those
    // of the edge.
    g->columns = cells ? (raster->width + g->scale - 1) / g->scale + 2 : raster->width;
    g->first = cells ? -2 : 0;
    g->last = cells ? (raster->height + g->scale - 1) / g->scale + 1 : raster->height - 1;
    g->next = g->first;
    g->next_enlarged = -1;
    int window = 2 * g->radius + 1, all = g->last - g->first + 1;
    g->ring_rows = window < all ? window : all;
}

static bool fits(const struct darkroom_gaussian *g) {
    double whole = g->raster->width * (g->scale > 1 ? 5.0 : 1.0), reduced = g->columns * (g->ring_rows + 1.0);
    return (whole + reduced) * g->raster->bands * (double)sizeof(float) <= MAX_BYTES;
}

static bool make_rows(struct darkroom_gaussian *g) {
    int width = g->raster->width;
    bool cells = g->scale > 1, complete = true;
    complete &= (g->padded = make_row(g, g->columns + 2 * g->radius)) != NULL;
    complete &= (g->sum = make_row(g, width > g->columns ? width : g->columns)) != NULL;
    for (int i = 0; i < g->ring_rows; i++) complete &= (g->ring[i] = make_row(g, g->columns)) != NULL;
    if (cells) complete &= (g->gathered = make_row(g, width + (2 * g->radius + 5) * g->scale)) != NULL;
    for (int i = 0; i < 3 && cells; i++) complete &= (g->enlarged[i] = make_row(g, width)) != NULL;
    return complete;
}

enum darkroom_status darkroom_gaussian_make(
    const struct darkroom_raster *raster, double sigma, const struct darkroom_interrupt *interrupt,
    struct darkroom_gaussian **gaussian) {
    *gaussian = NULL;
    struct darkroom_gaussian *g = calloc(1, sizeof *g);
    if (!g) return DARKROOM_OUT_OF_MEMORY;
    g->raster = raster;
    g->interrupt = interrupt;
    choose_weights(g, sigma);
    choose_rows(g);
    enum darkroom_status status = DARKROOM_ROWS_TOO_LONG;
    if (fits(g)) status = make_rows(g) ? DARKROOM_DONE : DARKROOM_OUT_OF_MEMORY;
    if (status == DARKROOM_DONE)
        *gaussian = g;
    else
        darkroom_gaussian_free(g);
    return status;
}

void darkroom_gaussian_free(struct darkroom_gaussian *g) {
    if (!g) return;
    free(g->padded);
    free(g->sum);
    free(g->gathered);
    for (int i = 0; i < g->ring_rows; i++) free(g->ring[i]);
    for (int i = 0; i < 3; i++) free(g->enlarged[i]);
    free(g);
}
