// Colour profiles (ICC.1): finds the kind of pixels that a profile describes, and writes profiles for colours that a
// file describes by numbers.

#ifndef CIMAGING_PROFILE_H
#define CIMAGING_PROFILE_H

#include "SignalledColours.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DARKROOM_MAX_PROFILE_BYTES = 4096 };

// The signature of the colour space that the profile describes, such as 'RGB ' or 'GRAY', as a number; 0 if the bytes are
// not a usable profile of pixels.
uint32_t darkroom_profile_space(const uint8_t *profile, size_t count);

#define DARKROOM_SPACE(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

// Whether the profile is one for PQ or HLG, by the tag cicp (ICC.1:2022, 9.2.17), or by its name, such as the names of
// libjxl 0.7. Sets the colours only if the result is true.
bool darkroom_profile_is_hdr(const uint8_t *profile, size_t count, struct darkroom_colours *colours);

// Writes an RGB profile for the colours, and returns its size. The transfer function must not be PQ or HLG.
size_t darkroom_profile_write(const struct darkroom_colours *colours, uint8_t profile[DARKROOM_MAX_PROFILE_BYTES]);

#endif
