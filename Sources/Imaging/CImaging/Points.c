// DESIGN: a single affine point is the most frequent chain. For 8-bit pixels, this chain has an integer version. Other
// chains unpack 8-bit pixels into three arrays of floats, which stay in the level 1 cache while all points are applied.
// 16-bit pixels are computed in double precision, one after the other.
//
// No multiplication is fused with an addition, and the 8-bit power uses polynomials, so that the bytes are the same on
// every CPU. An exact half is rounded up in spite of the errors of coefficients and sums, because the code adds a
// little more than 0.5.

#include "CImaging.h"
#include "Vectorised.h"

#include <float.h>
#include <math.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "red is the lowest byte of a pixel's word");

// MARK: - One affine point in integers

enum { FRACTION_BITS = 23 };

// An affine point with coefficients in units of 2^-23. Each differs by at most 2^-24 from the exact coefficient, so a
// sum differs by less than 766 * 2^-24 = 4.6e-5 from the exact sum. The constants include 0.5 and this bound. If exact
// sums are multiples of 1e-4, no sum below an exact half is rounded up.
struct fixed {
    uint32_t values[12];
};

// Returns false if a sum may be negative or may exceed 32 bits. Single products may exceed the range: they are computed
// modulo 2^32.
static bool make_fixed(const double *values, struct fixed *fixed) {
    for (int i = 0; i < 12; i += 4) {
        const double *row = values + i;
        double least = fmin(row[0], 0) + fmin(row[1], 0) + fmin(row[2], 0) + row[3];
        double most = fmax(row[0], 0) + fmax(row[1], 0) + fmax(row[2], 0) + row[3];
        if (!(least >= 0 && most < 2)) return false;
        for (int j = 0; j < 3; j++) fixed->values[i + j] = (uint32_t)llround(row[j] * (1 << FRACTION_BITS));
        fixed->values[i + 3] = (uint32_t)llround((row[3] * 255 + 0.5) * (1 << FRACTION_BITS)) + 383;
    }
    return true;
}

static inline uint32_t fixed_sum(const uint32_t *row, uint32_t r, uint32_t g, uint32_t b) {
    uint32_t sum = (r * row[0] + g * row[1] + b * row[2] + row[3]) >> FRACTION_BITS;
    return sum < 255 ? sum : 255;
}

VECTORISED static void apply_fixed_to_words(const struct fixed *fixed, uint32_t *pixels, size_t count) {
    const struct fixed f = *fixed;
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = pixels[i], r = pixel & 255, g = pixel >> 8 & 255, b = pixel >> 16 & 255;
        pixels[i] = fixed_sum(f.values, r, g, b) | fixed_sum(f.values + 4, r, g, b) << 8 |
                    fixed_sum(f.values + 8, r, g, b) << 16 | (pixel & 0xff000000u);
    }
}

VECTORISED static void apply_fixed_to_triples(const struct fixed *fixed, uint8_t *pixels, size_t count) {
    const struct fixed f = *fixed;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = pixels[3 * i], g = pixels[3 * i + 1], b = pixels[3 * i + 2];
        for (size_t band = 0; band < 3; band++)
            pixels[3 * i + band] = (uint8_t)fixed_sum(f.values + 4 * band, r, g, b);
    }
}

// MARK: - Blocks of floats

enum { BLOCK_PIXELS = 256 };

// Components from 0 to 255.
struct block {
    float r[BLOCK_PIXELS], g[BLOCK_PIXELS], b[BLOCK_PIXELS];
};

static inline float clamp(float value) {
    value = value > 0 ? value : 0;
    return value < 255 ? value : 255;
}

static inline uint32_t rounded(float value) { return (uint32_t)(int32_t)(value + 0.50004f); }

VECTORISED static void unpack_words(struct block *block, const uint32_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        block->r[i] = (float)(int32_t)(pixels[i] & 255);
        block->g[i] = (float)(int32_t)(pixels[i] >> 8 & 255);
        block->b[i] = (float)(int32_t)(pixels[i] >> 16 & 255);
    }
}

VECTORISED static void pack_words(const struct block *block, uint32_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++)
        pixels[i] = rounded(block->r[i]) | rounded(block->g[i]) << 8 | rounded(block->b[i]) << 16 |
                    (pixels[i] & 0xff000000u);
}

VECTORISED static void unpack_triples(struct block *block, const uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        block->r[i] = pixels[3 * i];
        block->g[i] = pixels[3 * i + 1];
        block->b[i] = pixels[3 * i + 2];
    }
}

VECTORISED static void pack_triples(const struct block *block, uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pixels[3 * i] = (uint8_t)rounded(block->r[i]);
        pixels[3 * i + 1] = (uint8_t)rounded(block->g[i]);
        pixels[3 * i + 2] = (uint8_t)rounded(block->b[i]);
    }
}

static void unpack_grey(struct block *block, const uint8_t *pixels, size_t count, size_t bands) {
    for (size_t i = 0; i < count; i++) block->r[i] = block->g[i] = block->b[i] = pixels[bands * i];
}

static void pack_grey(const struct block *block, uint8_t *pixels, size_t count, size_t bands) {
    for (size_t i = 0; i < count; i++) pixels[bands * i] = (uint8_t)rounded(block->r[i]);
}

static void unpack(struct block *block, const uint8_t *pixels, size_t count, int bands) {
    if (bands == 4)
        unpack_words(block, (const uint32_t *)(const void *)pixels, count);
    else if (bands == 3)
        unpack_triples(block, pixels, count);
    else
        unpack_grey(block, pixels, count, (size_t)bands);
}

static void pack(const struct block *block, uint8_t *pixels, size_t count, int bands) {
    if (bands == 4)
        pack_words(block, (uint32_t *)(void *)pixels, count);
    else if (bands == 3)
        pack_triples(block, pixels, count);
    else
        pack_grey(block, pixels, count, (size_t)bands);
}

VECTORISED static void apply_affine(const double *values, struct block *block, size_t count) {
    float m[12];
    for (int i = 0; i < 12; i++) m[i] = (float)(values[i] * (i % 4 == 3 ? 255 : 1));
    for (size_t i = 0; i < count; i++) {
        float r = block->r[i], g = block->g[i], b = block->b[i];
        block->r[i] = clamp(m[0] * r + m[1] * g + (m[2] * b + m[3]));
        block->g[i] = clamp(m[4] * r + m[5] * g + (m[6] * b + m[7]));
        block->b[i] = clamp(m[8] * r + m[9] * g + (m[10] * b + m[11]));
    }
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The base-2 logarithm of a normal number: the exponent, and the series of artanh for a mantissa m between sqrt(1/2)
// and sqrt(2): log2(m) = 2 / ln(2) * artanh((m - 1) / (m + 1)). The omitted terms are below 5e-8.
static inline float logarithm(float value) {
    int32_t exponent = (int32_t)(bits_of(value) - 0x3f3504f3u) >> 23;
    float m = float_of(bits_of(value) - ((uint32_t)exponent << 23));
    float s = (m - 1) / (m + 1), square = s * s;
    return (float)exponent +
           s * (2.885390082f + square * (0.961796694f + square * (0.577078016f + square * 0.412198583f)));
}

// 2 to a power between -126 and 0: the Taylor series for the fraction, -1/2 to 1/2. The omitted terms are below 2e-7.
static inline float exponential(float power) {
    int32_t whole = (int32_t)(power - 0.5f);
    float x = (power - (float)whole) * 0.693147181f;
    float sum = 1 + x * (1 + x * (0.5f + x * (1.f / 6 + x * (1.f / 24 + x * (1.f / 120 + x * (1.f / 720))))));
    return sum * float_of((uint32_t)(whole + 127) << 23);
}

VECTORISED static void apply_power(double exponent, float *components, size_t count) {
    float at_zero = exponent > 0 ? 0 : 255, factor = (float)exponent;
    // A power is a long chain of dependent instructions, so several chains are interleaved.
#pragma clang loop interleave_count(4)
    for (size_t i = 0; i < count; i++) {
        float component = components[i] * (1.f / 255);
        float power = factor * logarithm(component);
        power = power > -126 ? power : -126;
        power = power < 0 ? power : 0;
        components[i] = component < FLT_MIN ? at_zero : 255 * exponential(power);
    }
}

static void apply_to_block(const struct darkroom_point *points, int count, struct block *block, size_t size) {
    for (const struct darkroom_point *point = points; point < points + count; point++) {
        if (point->kind == DARKROOM_AFFINE) {
            apply_affine(point->values, block, size);
        } else {
            apply_power(point->values[0], block->r, size);
            apply_power(point->values[0], block->g, size);
            apply_power(point->values[0], block->b, size);
        }
    }
}

static void apply_blocks(
    const struct darkroom_point *points, int count, uint8_t *pixels, size_t pixel_count, int bands) {
    struct block block;
    size_t size;
    for (; pixel_count > 0; pixels += size * (size_t)bands, pixel_count -= size) {
        size = pixel_count < BLOCK_PIXELS ? pixel_count : BLOCK_PIXELS;
        unpack(&block, pixels, size, bands);
        apply_to_block(points, count, &block, size);
        pack(&block, pixels, size, bands);
    }
}

static void apply_to_bytes(
    const struct darkroom_point *points, int count, uint8_t *pixels, size_t pixel_count, int bands) {
    struct fixed fixed;
    bool is_fixed = count == 1 && points->kind == DARKROOM_AFFINE && bands >= 3 && make_fixed(points->values, &fixed);
    if (!is_fixed)
        apply_blocks(points, count, pixels, pixel_count, bands);
    else if (bands == 4)
        apply_fixed_to_words(&fixed, (uint32_t *)(void *)pixels, pixel_count);
    else
        apply_fixed_to_triples(&fixed, pixels, pixel_count);
}

// MARK: - 16 bits

static double clamp_to_one(double value) {
    value = value > 0 ? value : 0;
    return value < 1 ? value : 1;
}

static void apply_point(const struct darkroom_point *point, double *components) {
    const double *m = point->values;
    double r = components[0], g = components[1], b = components[2];
    for (int i = 0; i < 3; i++) {
        const double *row = m + 4 * i;
        bool is_affine = point->kind == DARKROOM_AFFINE;
        components[i] = clamp_to_one(
            is_affine ? row[0] * r + row[1] * g + (row[2] * b + row[3]) : pow(components[i], m[0]));
    }
}

static void apply_to_pixel(
    const struct darkroom_point *points, int count, const uint16_t *pixel, int bands, double components[3]) {
    int green = bands > 2 ? 1 : 0, blue = bands > 2 ? 2 : 0;
    components[0] = pixel[0] / 65535.0;
    components[1] = pixel[green] / 65535.0;
    components[2] = pixel[blue] / 65535.0;
    for (int i = 0; i < count; i++) apply_point(&points[i], components);
}

static void apply_to_wide(
    const struct darkroom_point *points, int count, uint16_t *pixels, size_t pixel_count, int bands) {
    for (uint16_t *pixel = pixels, *end = pixels + pixel_count * (size_t)bands; pixel < end; pixel += bands) {
        double components[3];
        apply_to_pixel(points, count, pixel, bands, components);
        for (int i = 0; i <= (bands > 2 ? 2 : 0); i++) pixel[i] = (uint16_t)(components[i] * 65535 + 0.500001);
    }
}

void darkroom_points_apply(
    const struct darkroom_point *points, int count, void *pixels, size_t pixel_count, int bands, bool wide) {
    if (wide)
        apply_to_wide(points, count, pixels, pixel_count, bands);
    else
        apply_to_bytes(points, count, pixels, pixel_count, bands);
}

// MARK: - Luminances

static float limited(double luminance) { return luminance < 1 ? (float)luminance : 1; }

static void luminances_of_bytes(
    const struct darkroom_point *points, int count, const uint8_t *pixels, size_t pixel_count, int bands,
    float *luminances) {
    struct block block;
    for (size_t start = 0, size; start < pixel_count; start += size) {
        size = pixel_count - start < BLOCK_PIXELS ? pixel_count - start : BLOCK_PIXELS;
        unpack(&block, pixels + start * (size_t)bands, size, bands);
        apply_to_block(points, count, &block, size);
        for (size_t i = 0; i < size; i++)
            luminances[start + i] =
                limited((0.2126 * (double)block.r[i] + 0.7152 * (double)block.g[i] + 0.0722 * (double)block.b[i]) / 255);
    }
}

void darkroom_points_luminances(
    const struct darkroom_point *points, int count, const void *pixels, size_t pixel_count, int bands, bool wide,
    float *luminances) {
    if (!wide) {
        luminances_of_bytes(points, count, pixels, pixel_count, bands, luminances);
        return;
    }
    for (size_t i = 0; i < pixel_count; i++) {
        double components[3];
        apply_to_pixel(points, count, (const uint16_t *)pixels + i * (size_t)bands, bands, components);
        luminances[i] = limited(0.2126 * components[0] + 0.7152 * components[1] + 0.0722 * components[2]);
    }
}
