// The parts of EXIF that the strips need (CIPA DC-008: a TIFF header and its directories).

#ifndef CIMAGING_EXIF_H
#define CIMAGING_EXIF_H

#include <stddef.h>
#include <stdint.h>

// Returns the orientation, 1 to 8, from the bytes of an APP1 marker; 1 if they are not EXIF or contain no orientation.
int darkroom_exif_orientation(const uint8_t *marker, size_t count);

// Removes the thumbnail from the EXIF directory, because the thumbnail shows the unfiltered picture.
void darkroom_exif_unlink_thumbnail(uint8_t *marker, size_t count);

// Sets the width and height in the EXIF directory, if it has them.
void darkroom_exif_set_size(uint8_t *marker, size_t count, int width, int height);

#endif
