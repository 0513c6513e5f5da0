// The metadata of a picture between its decoder and its encoder. Separate fields of the libvips image contain the
// metadata that libvips itself would lose: the EXIF parser of libvips drops unknown tags, and moves values to other
// positions.

#ifndef CIMAGING_IMAGE_METADATA_H
#define CIMAGING_IMAGE_METADATA_H

#include "CImaging.h"
#include "Picture.h"

// The EXIF as it will be written: without "Exif\0\0" and the thumbnail, and with an upright orientation. A blob.
#define FIELD_EXIF "darkroom-exif"
// The records of IPTC for a TIFF: libvips writes only a quarter of their bytes. A blob.
#define FIELD_IPTC_RECORDS "darkroom-iptc-records"
// The extended XMP of a JPEG. A blob.
#define FIELD_EXTENDED_XMP "darkroom-extended-xmp"
// The density as JFIF stores it: the unit, and the numbers of pixels per unit across and down. An array of three numbers.
#define FIELD_DENSITY "darkroom-density"

// Reads the metadata of a picture that libvips has just loaded, and sets the orientation of the picture. The stored
// metadata describe an upright picture that is the only one in its file. Returns false if memory runs out.
bool darkroom_read_metadata(darkroom_picture *picture, const struct darkroom_input *input);

// Prepares the XMP for a file in this format. Returns false if memory runs out.
bool darkroom_prepare_metadata(darkroom_picture *picture, enum darkroom_format format);

// Receives EXIF if `keyword` is NULL, otherwise the text with this keyword. A NUL byte follows the text.
typedef void (*darkroom_take_metadata)(void *context, const char *keyword, const uint8_t *bytes, size_t count);

// Passes the EXIF of a PNG and the texts after the pixels to `take`. libvips does not read these texts, and not every
// EXIF.
void darkroom_png_other_metadata(const struct darkroom_input *input, darkroom_take_metadata take, void *context);

// Completes a file that libvips has encoded: adds the EXIF with all its tags, the XMP at a position where every program
// finds it, and the density. Returns false if memory runs out.
bool darkroom_write_metadata(VipsImage *image, struct darkroom_file *file);

#endif
