#include "IPTC.h"

#include <string.h>

enum { RESOURCE_RECORDS = 0x0404, RECORD_MARKER = 0x1C, MAX_RECORDS_BYTES = 1 << 20 };

static const char photoshop[] = "Photoshop 3.0";

GByteArray *darkroom_iptc_resources(const uint8_t *records, size_t count) {
    if (count == 0 || count > MAX_RECORDS_BYTES || records[0] != RECORD_MARKER) return NULL;
    // The number of the resource, an empty name, and the number of bytes.
    uint8_t start[12] = {'8', 'B', 'I', 'M', RESOURCE_RECORDS >> 8, RESOURCE_RECORDS & 255};
    for (int i = 0; i < 4; i++) start[8 + i] = (uint8_t)(count >> (24 - 8 * i));
    GByteArray *resources = g_byte_array_new();
    g_byte_array_append(resources, (const uint8_t *)photoshop, sizeof photoshop);
    g_byte_array_append(resources, start, sizeof start);
    g_byte_array_append(resources, records, (guint)count);
    if (count % 2) g_byte_array_append(resources, (const uint8_t *)"", 1);
    return resources;
}

GByteArray *darkroom_photoshop_resources(const uint8_t *bytes, size_t count) {
    if (count <= 4 || memcmp(bytes, "8BIM", 4)) return NULL;
    GByteArray *resources = g_byte_array_new();
    g_byte_array_append(resources, (const uint8_t *)photoshop, sizeof photoshop);
    g_byte_array_append(resources, bytes, (guint)count);
    return resources;
}

const uint8_t *darkroom_iptc_records(const uint8_t *resources, size_t resources_count, size_t *count) {
    if (resources_count < sizeof photoshop || memcmp(resources, photoshop, sizeof photoshop)) return NULL;
    const uint8_t *at = resources + sizeof photoshop, *end = resources + resources_count;
    while (end - at >= 12 && !memcmp(at, "8BIM", 4)) {
        int number = at[4] << 8 | at[5];
        // The name follows a byte with its length; together they have an even number of bytes.
        size_t name = (size_t)(at[6] + 2) & ~(size_t)1;
        if ((size_t)(end - at) < 6 + name + 4) return NULL;
        const uint8_t *length = at + 6 + name;
        size_t bytes = (size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 | length[3];
        at = length + 4;
        if (bytes > (size_t)(end - at)) return NULL;
        if (number == RESOURCE_RECORDS) {
            *count = bytes;
            return bytes > 0 ? at : NULL;
        }
        if (bytes + bytes % 2 > (size_t)(end - at)) return NULL;
        at += bytes + bytes % 2;
    }
    return NULL;
}
