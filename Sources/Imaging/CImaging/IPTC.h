// The two forms of IPTC: records (IPTC-IIM), as in a TIFF, and records in a resource of Photoshop (Adobe Photoshop File Formats
// Specification, "Image Resource Blocks"), as in the marker APP13 of a JPEG.

#ifndef CIMAGING_IPTC_H
#define CIMAGING_IPTC_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

// The content of a marker APP13 with these records. Returns NULL if the bytes are not records.
GByteArray *darkroom_iptc_resources(const uint8_t *records, size_t count);

// The content of a marker APP13 with these resources. Returns NULL if the bytes are not resources.
GByteArray *darkroom_photoshop_resources(const uint8_t *bytes, size_t count);

// Finds the records in the content of a marker APP13. Returns NULL if there are none.
const uint8_t *darkroom_iptc_records(const uint8_t *resources, size_t resources_count, size_t *count);

#endif
