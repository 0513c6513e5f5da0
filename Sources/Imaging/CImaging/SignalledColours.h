// Colours that a file describes by numbers instead of a colour profile: nclx in AVIF and HEIC (ISO 14496-12, 12.1.5),
// cICP, gAMA and cHRM in PNG. The numbers of primaries and transfer functions are those of ITU-T H.273.

#ifndef CIMAGING_SIGNALLED_COLOURS_H
#define CIMAGING_SIGNALLED_COLOURS_H

#include "CImaging.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    // A power function, for which H.273 has no number.
    DARKROOM_TRANSFER_GAMMA = 0,
    DARKROOM_TRANSFER_709 = 1,
    DARKROOM_TRANSFER_UNSPECIFIED = 2,
    DARKROOM_TRANSFER_240M = 7,
    DARKROOM_TRANSFER_LINEAR = 8,
    DARKROOM_TRANSFER_LOG_100 = 9,
    DARKROOM_TRANSFER_LOG_316 = 10,
    DARKROOM_TRANSFER_SRGB = 13,
    DARKROOM_TRANSFER_PQ = 16,
    DARKROOM_TRANSFER_HLG = 18,
};

struct darkroom_colours {
    // The chromaticities x and y of red, green, blue and white.
    double primaries[8];
    // One of the numbers above. Other numbers of H.273 are replaced by the number with the same function.
    int transfer;
    // The exponent of DARKROOM_TRANSFER_GAMMA, from values to light.
    double gamma;
    // Whether black and white are 16 and 235 instead of 0 and 255.
    bool is_narrow;
    // The greatest luminance of the picture, in cd/m2; 0 if it is not known.
    double peak;
    // Whether the colours replace a colour profile in the same file.
    bool replaces_profile;
};

// Returns false if the file does not describe its colours by numbers.
bool darkroom_signalled_colours(const struct darkroom_input *input, struct darkroom_colours *colours);

// The colours of primaries and a transfer function of H.273. Unknown numbers count as those of sRGB.
struct darkroom_colours darkroom_coded_colours(int primaries, int transfer);

static inline bool darkroom_is_hdr(const struct darkroom_colours *colours) {
    return colours->transfer == DARKROOM_TRANSFER_PQ || colours->transfer == DARKROOM_TRANSFER_HLG;
}

// Whether the colours count as sRGB.
bool darkroom_is_srgb(const struct darkroom_colours *colours);

bool darkroom_invert_matrix(const double matrix[9], double inverse[9]);

// The Bradford transformation of XYZ from one white to another.
bool darkroom_adaptation(const double from[2], const double to[2], double matrix[9]);

// The matrix from red, green and blue to XYZ, row by row, adapted to the white `white` (x and y) by the Bradford
// transformation. Returns false if the primaries are not a triangle.
bool darkroom_to_xyz(const double primaries[8], const double white[2], double matrix[9]);

// The light, 0 to 1, of a value from 0 to 1. For HLG this is the light of the scene; for PQ, 1 is 10,000 cd/m2.
double darkroom_light(const struct darkroom_colours *colours, double value);

#endif
