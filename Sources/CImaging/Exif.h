// What the strips need to know of EXIF (CIPA DC-008, a TIFF header and its directories).

#ifndef CIMAGING_EXIF_H
#define CIMAGING_EXIF_H

#include <stddef.h>
#include <stdint.h>

// The orientation, 1 to 8, of an APP1 marker's bytes; 1 when they are not EXIF or do not say.
int darkroom_exif_orientation(const uint8_t *marker, size_t count);

// Takes the thumbnail out of the directory: it shows the picture as it was before the filter.
void darkroom_exif_unlink_thumbnail(uint8_t *marker, size_t count);

#endif
