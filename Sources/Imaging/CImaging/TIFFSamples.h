// Kinds of samples that only TIFFs have.

#ifndef CIMAGING_TIFF_SAMPLES_H
#define CIMAGING_TIFF_SAMPLES_H

#include "Picture.h"
#include "TIFFDirectories.h"

// Whether Darkroom can convert the samples of the page. Otherwise writes the reason to `detail`.
bool darkroom_tiff_is_supported(const struct darkroom_tiff_page *page, char *detail, size_t capacity);

// Removes the samples that are neither colour nor alpha, and converts samples that are not unsigned with 8 or 16 bits to
// unsigned with 16 bits. The picture must be the loaded page.
bool darkroom_tiff_simplify(darkroom_picture *picture, const struct darkroom_tiff_page *page);

#endif
