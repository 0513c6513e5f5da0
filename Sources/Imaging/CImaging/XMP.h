// The parts of XMP that describe the file instead of the photo (ISO 16684-1). These parts are changed in place, and the
// text keeps its length: an XMP packet may contain white space anywhere between attributes and elements.

#ifndef CIMAGING_XMP_H
#define CIMAGING_XMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

enum {
    // The number of digits of the identifier of extended XMP.
    XMP_GUID_DIGITS = 32,
};

// What happens to the reference to extended XMP (XMP specification part 3, 1.1.3.1).
enum darkroom_xmp_extension {
    DARKROOM_XMP_KEEP_EXTENSION,
    DARKROOM_XMP_REMOVE_EXTENSION,
    DARKROOM_XMP_SET_EXTENSION,
};

// Sets the orientation to 1, and removes the properties that announce a gain map, a motion photo or other pictures in the same
// file. `guid` is the new identifier for DARKROOM_XMP_SET_EXTENSION, otherwise NULL. Returns whether the text was changed.
bool darkroom_xmp_settle(uint8_t *text, size_t count, enum darkroom_xmp_extension extension, const char *guid);

// Computes the identifier of an extended XMP: its MD5 in hexadecimal digits.
void darkroom_xmp_guid(const uint8_t *extended, size_t count, char guid[XMP_GUID_DIGITS + 1]);

// Returns the packet with the properties of the extended XMP. Returns NULL if the packet or the extended XMP contains
// no RDF, or if the result is too long.
GByteArray *darkroom_xmp_merge(const uint8_t *packet, size_t count, const uint8_t *extended, size_t extended_count);

#endif
