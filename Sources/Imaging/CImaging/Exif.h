// The parts of EXIF that Darkroom reads and changes (CIPA DC-008: a TIFF header and its directories). The bytes may begin with
// "Exif\0\0", as in JPEG, or with the TIFF header, as in PNG. All changes keep the positions of the values, so that those whose
// format only the maker of the camera knows stay valid.

#ifndef CIMAGING_EXIF_H
#define CIMAGING_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

// Whether the bytes contain a TIFF header.
bool darkroom_is_exif(const uint8_t *exif, size_t count);

// Returns the orientation, 1 to 8; 1 if the bytes are not EXIF or contain no valid orientation. The orientation may have any
// type of whole numbers, as in other programs, although the standard only allows SHORT.
int darkroom_exif_orientation(const uint8_t *exif, size_t count);

// Reads the density as JFIF stores it: the unit (1 inch, 2 centimetre), and the numbers of pixels per unit across and down.
// Returns false if there is none, or if JFIF cannot store it.
bool darkroom_exif_density(const uint8_t *exif, size_t count, int density[3]);

// Sets the orientation to 1, if there is one.
void darkroom_exif_set_upright(uint8_t *exif, size_t count);

// Removes the thumbnail, because it shows the unfiltered picture. Returns the new number of bytes.
size_t darkroom_exif_remove_thumbnail(uint8_t *exif, size_t count);

// Removes the GPS directory.
void darkroom_exif_remove_gps(uint8_t *exif, size_t count);

// Sets the width and height in the EXIF directory, if it has them.
void darkroom_exif_set_size(uint8_t *exif, size_t count, int width, int height);

// The following functions copy tags to other positions. They leave out maker notes, and values of more than 64 KiB.

// Copies the EXIF from a TIFF: the tags of its first directory that describe the photo and not its pixels, and its EXIF and
// GPS directories. Returns NULL if there are none, or in a BigTIFF.
GByteArray *darkroom_exif_from_tiff(const uint8_t *tiff, size_t count);

// Copies the tags Copyright and Artist. Returns NULL if there are none.
GByteArray *darkroom_exif_copyright(const uint8_t *exif, size_t count);

// Appends EXIF and records of IPTC to a TIFF, which then has another first directory with all tags. Tags of the TIFF have
// precedence. Both may be NULL. Returns NULL if nothing is to be added.
GByteArray *darkroom_exif_add_to_tiff(const uint8_t *tiff, size_t tiff_count, const uint8_t *exif, size_t count,
                                      const uint8_t *records, size_t records_count);

#endif
