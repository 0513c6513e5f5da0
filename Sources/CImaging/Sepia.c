// DESIGN: 8-bit pixels are multiplied in integers, so that the bytes are the same on every CPU. Each coefficient is
// rounded to 2^-23. The sum of the three products differs by less than 765 * 2^-24 = 4.6e-5 from the exact sum, and the
// largest sum, 255 * 1.351 * 2^23, fits in 32 bits. For rounding, the code adds 0.5 and the largest difference, so an
// exact half is rounded up. If the intensity has one decimal, exact sums are multiples of 1e-4, so no sum below an
// exact half is rounded up.

#include "Sepia.h"

#include "CImaging.h"

#include <math.h>

#if defined(__x86_64__) && !__has_feature(thread_sanitizer)
// The dynamic loader selects the AVX2 code if the CPU supports it, so a single binary without build flags is enough.
// Under the thread sanitizer this selection is disabled, since the loader selects the code before the sanitizer is
// ready.
#define VECTORISED __attribute__((target_clones("default", "avx2")))
#else
#define VECTORISED
#endif

enum { FRACTION_BITS = 23 };
static const uint32_t half = (1u << (FRACTION_BITS - 1)) + 383;

// W3C Filter Effects, section 8.5: sepia(1).
static const double full_sepia[9] = {.393, .769, .189, .349, .686, .168, .272, .534, .131};

struct darkroom_sepia darkroom_sepia_make(double intensity) {
    struct darkroom_sepia sepia;
    for (int i = 0; i < 9; i++) {
        double identity = i % 4 == 0 ? 1 : 0;
        sepia.exact[i] = full_sepia[i] * intensity + identity * (1 - intensity);
        sepia.fixed[i] = (uint32_t)lround(sepia.exact[i] * (1u << FRACTION_BITS));
    }
    return sepia;
}

static inline uint32_t mix(uint32_t r, uint32_t g, uint32_t b, uint32_t fromR, uint32_t fromG, uint32_t fromB) {
    uint32_t sum = (r * fromR + g * fromG + b * fromB + half) >> FRACTION_BITS;
    return sum > 255 ? 255 : sum;
}

// Each pixel of four bands is read as one 32-bit word, so that shifts and masks are compiled to vector code without
// shuffles.
VECTORISED static void apply_words(const struct darkroom_sepia *sepia, uint32_t *pixels, size_t count) {
    const struct darkroom_sepia s = *sepia;
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = pixels[i], r = pixel & 255, g = pixel >> 8 & 255, b = pixel >> 16 & 255;
        pixels[i] = mix(r, g, b, s.fixed[0], s.fixed[1], s.fixed[2]) |
                    mix(r, g, b, s.fixed[3], s.fixed[4], s.fixed[5]) << 8 |
                    mix(r, g, b, s.fixed[6], s.fixed[7], s.fixed[8]) << 16 | (pixel & 0xff000000u);
    }
}

VECTORISED static void apply_triples(const struct darkroom_sepia *sepia, uint8_t *pixels, size_t count) {
    const struct darkroom_sepia s = *sepia;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = pixels[3 * i], g = pixels[3 * i + 1], b = pixels[3 * i + 2];
        pixels[3 * i] = (uint8_t)mix(r, g, b, s.fixed[0], s.fixed[1], s.fixed[2]);
        pixels[3 * i + 1] = (uint8_t)mix(r, g, b, s.fixed[3], s.fixed[4], s.fixed[5]);
        pixels[3 * i + 2] = (uint8_t)mix(r, g, b, s.fixed[6], s.fixed[7], s.fixed[8]);
    }
}

void darkroom_sepia_apply_8(const struct darkroom_sepia *sepia, uint8_t *pixels, size_t count, int bands) {
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "red is the lowest byte of a pixel's word");
    if (bands == 4)
        apply_words(sepia, (uint32_t *)(void *)pixels, count);
    else
        apply_triples(sepia, pixels, count);
}

void darkroom_sepia_apply_16(const struct darkroom_sepia *sepia, uint16_t *pixels, size_t count, int bands) {
    const double *m = sepia->exact;
    for (uint16_t *pixel = pixels, *end = pixels + count * (size_t)bands; pixel < end; pixel += bands) {
        double r = pixel[0], g = pixel[1], b = pixel[2];
        for (int i = 0; i < 3; i++) {
            // The 0.000001 ensures that exact halves are rounded up in spite of floating-point errors.
            double sum = r * m[3 * i] + g * m[3 * i + 1] + b * m[3 * i + 2] + 0.500001;
            pixel[i] = sum > 65535 ? 65535 : (uint16_t)sum;
        }
    }
}

void darkroom_sepia_pixels(double intensity, uint8_t *pixels, size_t count, int bands) {
    struct darkroom_sepia sepia = darkroom_sepia_make(intensity);
    darkroom_sepia_apply_8(&sepia, pixels, count, bands);
}
