// The parts of EXIF that Darkroom reads and changes (CIPA DC-008: a TIFF header and its directories). The bytes may begin with
// "Exif\0\0", as in JPEG, or with the TIFF header, as in PNG. Changes in place keep the positions of the values.
// Therefore values whose format only the maker of the camera knows stay valid.

#ifndef CIMAGING_EXIF_H
#define CIMAGING_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

// Whether the bytes contain a TIFF header.
bool darkroom_is_exif(const uint8_t *exif, size_t count);

// Returns the orientation, 1 to 8; 1 if the bytes are not EXIF or contain no valid orientation. As in other programs,
// the orientation may have any whole-number type, although the standard only allows SHORT.
int darkroom_exif_orientation(const uint8_t *exif, size_t count);

// Reads the density as JFIF stores it: the unit (1 inch, 2 centimetre), and the numbers of pixels per unit across and down.
// Returns false if the EXIF contains no density, or a density that JFIF cannot store.
bool darkroom_exif_density(const uint8_t *exif, size_t count, int density[3]);

// If there is an orientation, sets it to 1.
void darkroom_exif_set_upright(uint8_t *exif, size_t count);

// Removes the thumbnail, because the thumbnail shows the unfiltered picture. Returns the new number of bytes.
size_t darkroom_exif_remove_thumbnail(uint8_t *exif, size_t count);

// Removes the GPS directory.
void darkroom_exif_remove_gps(uint8_t *exif, size_t count);

// Updates the tags for the width and height in the EXIF directory. Adds no missing tags.
void darkroom_exif_set_size(uint8_t *exif, size_t count, int width, int height);

// The following functions copy tags to other positions. They leave out maker notes, and values of more than 64 KiB.

// Copies the EXIF from a TIFF: the tags of its first directory that describe the photo and not its pixels, and its EXIF and
// GPS directories. Returns NULL if there are none, or if the file is a BigTIFF.
GByteArray *darkroom_exif_from_tiff(const uint8_t *tiff, size_t count);

// Copies the tags Copyright and Artist. Returns NULL if there are none.
GByteArray *darkroom_exif_copyright(const uint8_t *exif, size_t count);

// Appends EXIF and IPTC records to a TIFF. A new first directory contains all tags; a tag that the TIFF already has
// keeps its value. `exif` and `records` may be NULL. Returns NULL if nothing is to be added.
GByteArray *darkroom_exif_add_to_tiff(const uint8_t *tiff, size_t tiff_count, const uint8_t *exif, size_t count,
                                      const uint8_t *records, size_t records_count);

#endif
