// DESIGN: to compute a row of the scaled picture, the scaler makes a weighted sum of rows of the picture, then weighted
// sums of the pixels of this sum. The weights are those of a kernel, whose width depends on the scale. If the picture
// becomes much smaller, the means of blocks of pixels take the place of pixels: as in libvips, blocks are as large as
// possible with a factor of at least two left for the kernel. Sums have single precision, which is exact enough for 16
// bits, and colours are multiplied by alpha. libvips' resize took three times the processor time, because much of its
// code handles one sample at a time.

#include "Scaler.h"

#include "Rows.h"
#include "Vectorised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef float quad __attribute__((vector_size(16)));
typedef float octet __attribute__((vector_size(32)));

enum {
    // Rows are computed in groups of this many samples, and pixels in groups of four samples, so rows have some unused
    // samples at their end.
    GROUP = 32,
};

// MARK: - Weights

// The scaling in one direction.
struct axis {
    // The pixels per block, and the number of blocks. If the last block extends beyond the picture, the last pixel of
    // the picture is repeated.
    int block, length;
    // Each scaled pixel is the sum of `taps` blocks, beginning with block `first`, each multiplied by its weight.
    int taps;
    int *first;
    float *weights;
};

static double sinc(double x) { return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x); }

// The cubic kernels of Mitchell and Netravali, 1988.
static double cubic(double x, double b, double c) {
    x = fabs(x);
    if (x < 1) return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + (6 - 2 * b)) / 6;
    if (x < 2) return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + (8 * b + 24 * c)) / 6;
    return 0;
}

static double reach_of(enum darkroom_kernel kernel) {
    switch (kernel) {
    case DARKROOM_NEAREST: return 0.5;
    case DARKROOM_LINEAR: return 1;
    case DARKROOM_CUBIC:
    case DARKROOM_MITCHELL:
    case DARKROOM_LANCZOS2: return 2;
    case DARKROOM_LANCZOS3: return 3;
    }
    return 3;
}

static double weight(enum darkroom_kernel kernel, double x) {
    double reach = reach_of(kernel);
    if (fabs(x) >= reach) return 0;
    switch (kernel) {
    case DARKROOM_NEAREST: return 1;
    case DARKROOM_LINEAR: return 1 - fabs(x);
    case DARKROOM_CUBIC: return cubic(x, 0, 0.5);
    case DARKROOM_MITCHELL: return cubic(x, 1.0 / 3, 1.0 / 3);
    case DARKROOM_LANCZOS2:
    case DARKROOM_LANCZOS3: return sinc(x) * sinc(x / reach);
    }
    return 0;
}

// Computes the weights of one scaled pixel. `shrink` is the number of blocks per scaled pixel, and `centre` the position
// of the scaled pixel among the blocks.
static void set_weights(struct axis *axis, int index, enum darkroom_kernel kernel, double shrink, double centre) {
    double reach = reach_of(kernel) * shrink, sum = 0;
    int from = (int)ceil(centre - reach), last = axis->length - 1;
    float *weights = axis->weights + (size_t)index * (size_t)axis->taps;
    int first = darkroom_limited(from, 0, axis->length - axis->taps);
    axis->first[index] = first;
    for (int i = from; i <= centre + reach; i++) {
        double value = weight(kernel, (i - centre) / shrink);
        // Beyond the edges, the blocks of the edges repeat.
        int tap = darkroom_limited(darkroom_limited(i, 0, last) - first, 0, axis->taps - 1);
        weights[tap] += (float)value;
        sum += value;
    }
    for (int i = 0; i < axis->taps; i++) weights[i] = (float)(weights[i] / sum);
}

static bool make_axis(struct axis *axis, int length, int scaled, double scale, enum darkroom_kernel kernel) {
    double shrink = 1 / scale;
    int block = (int)((double)length / scaled / 2);
    axis->block = block > 1 ? block : 1;
    axis->length = (length + axis->block - 1) / axis->block;
    bool same = scaled == length;
    int taps = same ? 1 : (int)(2 * reach_of(kernel) * shrink / axis->block) + 1;
    axis->taps = taps < axis->length ? taps : axis->length;
    axis->first = calloc((size_t)scaled, sizeof *axis->first);
    axis->weights = calloc((size_t)scaled * (size_t)axis->taps, sizeof *axis->weights);
    if (!axis->first || !axis->weights) return false;
    double missing = scaled * shrink - length;
    for (int i = 0; i < scaled; i++) {
        double centre = ((i + 0.5) * shrink - missing / 2) / axis->block - 0.5;
        if (same) {
            axis->first[i] = i;
            axis->weights[i] = 1;
        } else {
            set_weights(axis, i, kernel, shrink / axis->block, centre);
        }
    }
    return true;
}

// MARK: - Sums

VECTORISED static void add_bytes(const uint8_t *samples, float *sums, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] += samples[i];
}

VECTORISED static void add(const float *row, float *sums, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] += row[i];
}

VECTORISED static void multiply(float *row, size_t count, float factor) {
    for (size_t i = 0; i < count; i++) row[i] *= factor;
}

// Reads a vector from any address. This is a macro, because a function cannot return vectors to code for other CPUs.
#define LOAD(vector, samples)                    \
    ({                                           \
        vector loaded;                           \
        memcpy(&loaded, samples, sizeof loaded); \
        loaded;                                  \
    })

// Writes the mean of each block of pixels. Each store also writes samples after the pixel; the store of the next pixel
// overwrites them.
VECTORISED static void mean_pixels(const float *row, float *means, const struct axis *axis, size_t bands) {
    size_t block = (size_t)axis->block;
    for (size_t x = 0; x < (size_t)axis->length; x++, row += block * bands) {
        quad sum = LOAD(quad, row);
        for (size_t i = 1; i < block; i++) sum += LOAD(quad, row + i * bands);
        sum *= 1.0f / (float)block;
        memcpy(means + x * bands, &sum, sizeof sum);
    }
}

// Computes each sum as four partial sums that do not depend on each other, so that the CPU can add to several at the
// same time.
VECTORISED static void scale_pixels(const float *row, float *scaled, const struct axis *axis, size_t count, size_t bands) {
    size_t taps = (size_t)axis->taps;
    const float *weights = axis->weights;
    for (size_t x = 0; x < count; x++, weights += taps) {
        const float *pixel = row + (size_t)axis->first[x] * bands;
        quad sums[4] = {{0}, {0}, {0}, {0}};
        size_t i = 0;
        for (; i + 4 <= taps; i += 4)
            for (size_t part = 0; part < 4; part++)
                sums[part] += weights[i + part] * LOAD(quad, pixel + (i + part) * bands);
        for (; i < taps; i++) sums[0] += weights[i] * LOAD(quad, pixel + i * bands);
        quad sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        memcpy(scaled + x * bands, &sum, sizeof sum);
    }
}

VECTORISED static void clamp(float *row, size_t count, float most) {
    for (size_t i = 0; i < count; i++) {
        float value = row[i] > 0 ? row[i] : 0;
        row[i] = value < most ? value : most;
    }
}

VECTORISED static void sum_rows(float *const *rows, const float *weights, size_t taps, float *sum, size_t count) {
    for (size_t start = 0; start < count; start += GROUP) {
        octet sums[4] = {{0}, {0}, {0}, {0}};
        for (size_t i = 0; i < taps; i++)
            for (size_t part = 0; part < 4; part++)
                sums[part] += weights[i] * LOAD(octet, rows[i] + start + 8 * part);
        memcpy(sum + start, sums, sizeof sums);
    }
}

// MARK: - Rows

struct darkroom_scaler {
    struct darkroom_scaling scaling;
    struct axis across, down;
    // The number of rows of the picture that have been taken, of rows of blocks that have been filled, and of rows of
    // the scaled picture that have been given.
    int taken, filled, given;
    // The last `down.taps` rows of blocks; row i is at i modulo `down.taps`.
    float **kept;
    // The rows of blocks in order, for the next row of the scaled picture.
    float **ordered;
    // Two rows for steps of the computation.
    float *rows[2];
};

static struct darkroom_raster row_raster(const struct darkroom_scaler *scaler, void *pixels, int width) {
    return (struct darkroom_raster){
        .pixels = pixels, .width = width, .height = 1, .bands = scaler->scaling.bands, .wide = scaler->scaling.wide};
}

static size_t padded(size_t samples) { return (samples + 4 + GROUP - 1) / GROUP * GROUP; }

static float *new_row(size_t samples) { return calloc(padded(samples), sizeof(float)); }

static bool allocate(struct darkroom_scaler *scaler) {
    const struct darkroom_scaling *scaling = &scaler->scaling;
    if (!make_axis(&scaler->across, scaling->width, scaling->scaled_width, scaling->across, scaling->kernel)) return false;
    if (!make_axis(&scaler->down, scaling->height, scaling->scaled_height, scaling->down, scaling->kernel)) return false;
    // Wide enough for the pixels that are repeated in the last block.
    size_t samples = (size_t)scaler->across.length * (size_t)scaler->across.block * (size_t)scaling->bands;
    for (int i = 0; i < 2; i++)
        if (!(scaler->rows[i] = new_row(samples))) return false;
    scaler->kept = calloc((size_t)scaler->down.taps, sizeof *scaler->kept);
    scaler->ordered = calloc((size_t)scaler->down.taps, sizeof *scaler->ordered);
    if (!scaler->kept || !scaler->ordered) return false;
    for (int i = 0; i < scaler->down.taps; i++)
        if (!(scaler->kept[i] = new_row(samples))) return false;
    return true;
}

struct darkroom_scaler *darkroom_scaler_new(const struct darkroom_scaling *scaling) {
    struct darkroom_scaler *scaler = calloc(1, sizeof *scaler);
    if (!scaler) return NULL;
    scaler->scaling = *scaling;
    if (allocate(scaler)) return scaler;
    darkroom_scaler_free(scaler);
    return NULL;
}

static void free_axis(struct axis *axis) {
    free(axis->first);
    free(axis->weights);
}

void darkroom_scaler_free(struct darkroom_scaler *scaler) {
    if (!scaler) return;
    for (int i = 0; scaler->kept && i < scaler->down.taps; i++) free(scaler->kept[i]);
    free(scaler->kept);
    free(scaler->ordered);
    for (int i = 0; i < 2; i++) free(scaler->rows[i]);
    free_axis(&scaler->across);
    free_axis(&scaler->down);
    free(scaler);
}

static void load_row(const struct darkroom_scaler *scaler, const void *samples, float *row) {
    struct darkroom_raster raster = row_raster(scaler, (void *)samples, scaler->scaling.width);
    darkroom_row_load(&raster, 0, row);
    darkroom_row_premultiply(&raster, row);
}

static void add_row(const struct darkroom_scaler *scaler, const void *samples, float *sums, size_t count) {
    if (!scaler->scaling.wide && scaler->scaling.bands % 2 == 1) return add_bytes(samples, sums, count);
    load_row(scaler, samples, scaler->rows[0]);
    add(scaler->rows[0], sums, count);
}

void darkroom_scaler_take(struct darkroom_scaler *scaler, const void *row) {
    float *kept = scaler->kept[scaler->filled % scaler->down.taps];
    size_t samples = (size_t)scaler->scaling.width * (size_t)scaler->scaling.bands;
    int block = scaler->down.block, count = scaler->taken++ % block + 1;
    bool is_last = scaler->taken == scaler->scaling.height;
    if (block == 1) {
        load_row(scaler, row, kept);
    } else {
        if (count == 1) memset(kept, 0, samples * sizeof *kept);
        add_row(scaler, row, kept, samples);
        if (count < block && !is_last) return;
        for (; count < block; count++) add_row(scaler, row, kept, samples);
        multiply(kept, samples, 1.0f / (float)block);
    }
    scaler->filled++;
}

// Scales `rows[0]`, and returns the one of the two rows that contains the result.
static float *scale_row(struct darkroom_scaler *scaler) {
    const struct axis *across = &scaler->across;
    size_t bands = (size_t)scaler->scaling.bands, samples = (size_t)scaler->scaling.width * bands;
    float *row = scaler->rows[0], *result = scaler->rows[1];
    if (across->block > 1) {
        size_t all = (size_t)across->length * (size_t)across->block * bands;
        for (size_t i = samples; i < all; i++) row[i] = row[i - bands];
        mean_pixels(row, result, across, bands);
        row = result;
        result = scaler->rows[0];
    }
    scale_pixels(row, result, across, (size_t)scaler->scaling.scaled_width, bands);
    return result;
}

bool darkroom_scaler_give(struct darkroom_scaler *scaler, void *row) {
    const struct axis *down = &scaler->down;
    if (scaler->given == scaler->scaling.scaled_height || down->first[scaler->given] + down->taps > scaler->filled)
        return false;
    size_t samples = (size_t)scaler->scaling.width * (size_t)scaler->scaling.bands, taps = (size_t)down->taps;
    for (int i = 0; i < down->taps; i++)
        scaler->ordered[i] = scaler->kept[(down->first[scaler->given] + i) % down->taps];
    sum_rows(scaler->ordered, down->weights + (size_t)scaler->given * taps, taps, scaler->rows[0], samples);
    // As in libvips, the colours of a picture without alpha are also limited to possible values between the two steps.
    if (scaler->scaling.bands % 2 == 1) clamp(scaler->rows[0], samples, scaler->scaling.wide ? 65535 : 255);
    float *scaled = scale_row(scaler);
    struct darkroom_raster raster = row_raster(scaler, row, scaler->scaling.scaled_width);
    darkroom_row_unpremultiply(&raster, scaled);
    darkroom_row_store(&raster, 0, scaled);
    scaler->given++;
    return true;
}
