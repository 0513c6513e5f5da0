// The metadata of a picture between its decoder and its encoder. Fields of a libvips image contain what libvips itself would
// lose: its EXIF parser drops tags that it does not know, and moves values to other positions.

#ifndef CIMAGING_IMAGE_METADATA_H
#define CIMAGING_IMAGE_METADATA_H

#include "CImaging.h"
#include "Picture.h"

// The EXIF as it will be written, without "Exif\0\0": upright, and without its thumbnail. A blob.
#define FIELD_EXIF "darkroom-exif"
// The records of IPTC for a TIFF: libvips writes only a quarter of their bytes. A blob.
#define FIELD_IPTC_RECORDS "darkroom-iptc-records"
// The extended XMP of a JPEG. A blob.
#define FIELD_EXTENDED_XMP "darkroom-extended-xmp"
// The density as JFIF stores it: the unit, and the numbers of pixels per unit across and down. An array of three numbers.
#define FIELD_DENSITY "darkroom-density"

// Reads the metadata of a picture that libvips has just loaded, and sets its orientation. The metadata then describe a
// picture that is upright and alone in its file. Returns false without memory.
bool darkroom_read_metadata(darkroom_picture *picture, const struct darkroom_input *input);

// Prepares the XMP for a file in this format. Returns false without memory.
bool darkroom_prepare_metadata(darkroom_picture *picture, enum darkroom_format format);

// Takes EXIF, if `keyword` is NULL, or else the text with this keyword. The byte after the text is a NUL.
typedef void (*darkroom_take_metadata)(void *context, const char *keyword, const uint8_t *bytes, size_t count);

// Gives the EXIF of a PNG, and the texts after its pixels, where libvips does not read them.
void darkroom_png_other_metadata(const struct darkroom_input *input, darkroom_take_metadata take, void *context);

// Completes a file that libvips has encoded: EXIF with all its tags, XMP where every program finds it, and the density.
// Returns false without memory.
bool darkroom_write_metadata(VipsImage *image, struct darkroom_file *file);

#endif
