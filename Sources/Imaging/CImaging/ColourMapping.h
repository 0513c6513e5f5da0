#ifndef CIMAGING_COLOUR_MAPPING_H
#define CIMAGING_COLOUR_MAPPING_H

#include "Picture.h"

// Applies colours that the file describes by numbers to the loaded picture: HDR becomes sRGB, other colours get a
// profile. Returns DARKROOM_UNSUPPORTED if the picture is HDR and the input refuses HDR.
enum darkroom_status darkroom_apply_signalled_colours(darkroom_picture *picture, const struct darkroom_input *input);

// Removes a profile that does not describe pixels of this kind.
bool darkroom_drop_foreign_profile(darkroom_picture *picture, VipsInterpretation kind);

#endif
