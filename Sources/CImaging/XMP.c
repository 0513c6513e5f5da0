#define _GNU_SOURCE  // memmem(3)

#include "XMP.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

enum {
    // Packets declare about ten namespaces. Declarations beyond this number are ignored.
    MAX_NAMESPACES = 256,
};

struct text {
    const uint8_t *start;
    size_t count;
};

enum kind {
    KIND_OTHER,
    KIND_TIFF,
    // `xmpNote`, which refers to extended XMP.
    KIND_NOTE,
    // All properties announce pictures in the same file.
    KIND_OTHER_PICTURES,
};

static const struct {
    const char *prefix, *uri;
    enum kind kind;
} known_namespaces[] = {
    {"tiff", "http://ns.adobe.com/tiff/1.0/", KIND_TIFF},
    {"xmpNote", "http://ns.adobe.com/xmp/note/", KIND_NOTE},
    // Ultra HDR and Adobe, and the directory of Ultra HDR and of motion photos.
    {"hdrgm", "http://ns.adobe.com/hdr-gain-map/1.0/", KIND_OTHER_PICTURES},
    {"Container", "http://ns.google.com/photos/1.0/container/", KIND_OTHER_PICTURES},
    {"Item", "http://ns.google.com/photos/1.0/container/item/", KIND_OTHER_PICTURES},
    // Dynamic Depth.
    {"Device", "http://ns.google.com/photos/dd/1.0/device/", KIND_OTHER_PICTURES},
    {"DContainer", "http://ns.google.com/photos/dd/1.0/container/", KIND_OTHER_PICTURES},
    {"DItem", "http://ns.google.com/photos/dd/1.0/item/", KIND_OTHER_PICTURES},
    // Apple.
    {"HDRGainMap", "http://ns.apple.com/HDRGainMap/1.0/", KIND_OTHER_PICTURES},
    {"apdi", "http://ns.apple.com/pixeldatainfo/1.0/", KIND_OTHER_PICTURES},
};

enum { KNOWN_NAMESPACES = sizeof known_namespaces / sizeof known_namespaces[0] };

struct namespace {
    struct text prefix;
    enum kind kind;
    size_t depth;
};

struct scanner {
    uint8_t *bytes;
    size_t count, next;
    bool is_changed;
    enum darkroom_xmp_extension extension;
    const char *guid;

    // The number of open elements.
    size_t depth;
    struct namespace namespaces[MAX_NAMESPACES];
    size_t namespace_count;

    // The outermost open element that will be removed. Its depth is 0 if there is none.
    size_t removed_start, removed_depth;
    // The open element whose text is replaced, and the replacement; its depth is 0 if there is none.
    size_t value_depth;
    const char *value;
};

static bool is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

static bool equals(struct text text, const char *other) {
    return text.count == strlen(other) && memcmp(text.start, other, text.count) == 0;
}

static bool starts_with(struct text text, const char *start) {
    return text.count >= strlen(start) && memcmp(text.start, start, strlen(start)) == 0;
}

static void blank(struct scanner *scanner, size_t start, size_t end) {
    memset(scanner->bytes + start, ' ', end - start);
    scanner->is_changed = true;
}

// Replaces the text between two offsets, if it is not empty. A shorter value is followed by spaces.
static void replace(struct scanner *scanner, size_t start, size_t end, const char *value) {
    while (start < end && is_space(scanner->bytes[start])) start++;
    size_t length = strlen(value);
    if (end - start < length || (end - start == length && !memcmp(scanner->bytes + start, value, length))) return;
    blank(scanner, start, end);
    memcpy(scanner->bytes + start, value, length);
}

// MARK: - Names

// Splits a name at its colon; the prefix is empty without a colon.
static struct text split(struct text name, struct text *local) {
    const uint8_t *colon = memchr(name.start, ':', name.count);
    size_t prefix = colon ? (size_t)(colon - name.start) : 0, skipped = colon ? prefix + 1 : 0;
    *local = (struct text){name.start + skipped, name.count - skipped};
    return (struct text){name.start, prefix};
}

static enum kind kind_of(const struct scanner *scanner, struct text prefix) {
    for (size_t i = scanner->namespace_count; i-- > 0;) {
        struct text declared = scanner->namespaces[i].prefix;
        if (declared.count == prefix.count && !memcmp(declared.start, prefix.start, prefix.count))
            return scanner->namespaces[i].kind;
    }
    // Some programs do not declare the namespaces that they use.
    for (size_t i = 0; i < KNOWN_NAMESPACES; i++)
        if (equals(prefix, known_namespaces[i].prefix)) return known_namespaces[i].kind;
    return KIND_OTHER;
}

enum action { ACTION_NONE, ACTION_REMOVE, ACTION_SET_ORIENTATION, ACTION_SET_EXTENSION };

static enum action action_for(const struct scanner *scanner, struct text name) {
    struct text local, prefix = split(name, &local);
    if (prefix.count == 0) return ACTION_NONE;
    enum kind kind = kind_of(scanner, prefix);
    if (kind == KIND_OTHER_PICTURES) return ACTION_REMOVE;
    if (kind == KIND_TIFF && equals(local, "Orientation")) return ACTION_SET_ORIENTATION;
    if (kind == KIND_NOTE && equals(local, "HasExtendedXMP")) {
        if (scanner->extension == DARKROOM_XMP_REMOVE_EXTENSION) return ACTION_REMOVE;
        return scanner->extension == DARKROOM_XMP_SET_EXTENSION ? ACTION_SET_EXTENSION : ACTION_NONE;
    }
    // Several makers of phones have these properties in namespaces of their own.
    static const char *const starts[] = {"MotionPhoto", "MicroVideo", "OLivePhoto", "HDRGainMap", "GainMap"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (starts_with(local, starts[i])) return ACTION_REMOVE;
    return ACTION_NONE;
}

static void declare(struct scanner *scanner, struct text prefix, struct text uri) {
    if (scanner->namespace_count == MAX_NAMESPACES) return;
    enum kind kind = KIND_OTHER;
    for (size_t i = 0; i < KNOWN_NAMESPACES; i++)
        if (equals(uri, known_namespaces[i].uri)) kind = known_namespaces[i].kind;
    scanner->namespaces[scanner->namespace_count++] = (struct namespace){prefix, kind, scanner->depth};
}

// MARK: - Elements

struct attribute {
    size_t start, end;
    struct text name, value;
};

// Reads the attribute at or after `*position`, before `end`. Returns false if there is none.
static bool read_attribute(const struct scanner *scanner, size_t *position, size_t end, struct attribute *attribute) {
    const uint8_t *bytes = scanner->bytes;
    size_t at = *position;
    while (at < end && (is_space(bytes[at]) || bytes[at] == '/')) at++;
    size_t start = at;
    while (at < end && !is_space(bytes[at]) && bytes[at] != '=') at++;
    struct text name = {bytes + start, at - start};
    while (at < end && is_space(bytes[at])) at++;
    if (name.count == 0 || at == end || bytes[at] != '=') return false;
    at++;
    while (at < end && is_space(bytes[at])) at++;
    if (at == end || (bytes[at] != '"' && bytes[at] != '\'')) return false;
    const uint8_t *quote = memchr(bytes + at + 1, bytes[at], end - at - 1);
    if (!quote) return false;
    size_t close = (size_t)(quote - bytes);
    *attribute = (struct attribute){start, close + 1, name, {bytes + at + 1, close - at - 1}};
    *position = close + 1;
    return true;
}

// The prefix that an attribute declares; its count is 0 if the attribute is no declaration.
static struct text declared_prefix(struct text name) {
    struct text local, prefix = split(name, &local);
    return equals(prefix, "xmlns") ? local : (struct text){name.start, 0};
}

static void settle_attributes(struct scanner *scanner, size_t start, size_t end) {
    struct attribute attribute;
    for (size_t at = start; read_attribute(scanner, &at, end, &attribute);) {
        struct text prefix = declared_prefix(attribute.name);
        if (prefix.count > 0) {
            // The declaration is not needed any more, and programs may search for it.
            if (kind_of(scanner, prefix) == KIND_OTHER_PICTURES) blank(scanner, attribute.start, attribute.end);
            continue;
        }
        size_t value = (size_t)(attribute.value.start - scanner->bytes);
        switch (action_for(scanner, attribute.name)) {
        case ACTION_REMOVE: blank(scanner, attribute.start, attribute.end); break;
        case ACTION_SET_ORIENTATION: replace(scanner, value, value + attribute.value.count, "1"); break;
        case ACTION_SET_EXTENSION: replace(scanner, value, value + attribute.value.count, scanner->guid); break;
        case ACTION_NONE: break;
        }
    }
}

static void close_element(struct scanner *scanner, size_t end) {
    if (scanner->removed_depth == scanner->depth && scanner->depth > 0) {
        blank(scanner, scanner->removed_start, end);
        scanner->removed_depth = 0;
    }
    if (scanner->value_depth == scanner->depth) scanner->value_depth = 0;
    while (scanner->namespace_count > 0 && scanner->namespaces[scanner->namespace_count - 1].depth == scanner->depth)
        scanner->namespace_count--;
    if (scanner->depth > 0) scanner->depth--;
}

// `start` is the offset of `<`, `end` the offset after `>`.
static void open_element(struct scanner *scanner, size_t start, size_t end) {
    const uint8_t *bytes = scanner->bytes;
    size_t name_end = start + 1, inner_end = end - 1;
    while (name_end < inner_end && !is_space(bytes[name_end]) && bytes[name_end] != '/') name_end++;
    struct text name = {bytes + start + 1, name_end - start - 1};
    scanner->depth++;
    struct attribute attribute;
    for (size_t at = name_end; read_attribute(scanner, &at, inner_end, &attribute);) {
        struct text prefix = declared_prefix(attribute.name);
        if (prefix.count > 0) declare(scanner, prefix, attribute.value);
    }
    enum action action = action_for(scanner, name);
    if (action == ACTION_REMOVE && scanner->removed_depth == 0) {
        scanner->removed_start = start;
        scanner->removed_depth = scanner->depth;
    } else if ((action == ACTION_SET_ORIENTATION || action == ACTION_SET_EXTENSION) && scanner->value_depth == 0) {
        scanner->value_depth = scanner->depth;
        scanner->value = action == ACTION_SET_ORIENTATION ? "1" : scanner->guid;
    }
    bool is_empty = bytes[inner_end - 1] == '/';
    if (scanner->removed_depth == 0) settle_attributes(scanner, name_end, inner_end);
    if (is_empty) close_element(scanner, end);
}

// The offset after the next `end`, or after the last byte.
static size_t after(const struct scanner *scanner, size_t start, const char *end) {
    const uint8_t *found = memmem(scanner->bytes + start, scanner->count - start, end, strlen(end));
    return found ? (size_t)(found - scanner->bytes) + strlen(end) : scanner->count;
}

// The offset after the `>` of a tag, which is not in an attribute's value.
static size_t tag_end(const struct scanner *scanner, size_t start) {
    uint8_t quote = 0;
    for (size_t at = start; at < scanner->count; at++) {
        uint8_t byte = scanner->bytes[at];
        if (quote) {
            if (byte == quote) quote = 0;
        } else if (byte == '"' || byte == '\'') {
            quote = byte;
        } else if (byte == '>') {
            return at + 1;
        }
    }
    return 0;
}

static bool has_at(const struct scanner *scanner, size_t start, const char *text) {
    return starts_with((struct text){scanner->bytes + start, scanner->count - start}, text);
}

bool darkroom_xmp_settle(uint8_t *bytes, size_t count, enum darkroom_xmp_extension extension, const char *guid) {
    struct scanner state = {.bytes = bytes, .count = count, .extension = extension, .guid = guid}, *scanner = &state;
    while (scanner->next < count) {
        const uint8_t *found = memchr(bytes + scanner->next, '<', count - scanner->next);
        size_t start = found ? (size_t)(found - bytes) : count;
        if (scanner->value_depth > 0) replace(scanner, scanner->next, start, scanner->value);
        if (start == count) break;
        size_t end;
        if (has_at(scanner, start, "<!--")) {
            end = after(scanner, start, "-->");
        } else if (has_at(scanner, start, "<![CDATA[")) {
            end = after(scanner, start, "]]>");
        } else if (has_at(scanner, start, "<?")) {
            end = after(scanner, start, "?>");
        } else if (has_at(scanner, start, "<!")) {
            end = after(scanner, start, ">");
        } else if (has_at(scanner, start, "</")) {
            end = after(scanner, start, ">");
            close_element(scanner, end);
        } else {
            end = tag_end(scanner, start);
            if (end == 0) break;
            open_element(scanner, start, end);
        }
        scanner->next = end;
    }
    return scanner->is_changed;
}

// MARK: - Extended XMP

void darkroom_xmp_guid(const uint8_t *extended, size_t count, char guid[XMP_GUID_DIGITS + 1]) {
    char *digits = g_compute_checksum_for_data(G_CHECKSUM_MD5, extended, count);
    for (size_t i = 0; i < XMP_GUID_DIGITS; i++) guid[i] = g_ascii_toupper(digits[i]);
    guid[XMP_GUID_DIGITS] = 0;
    g_free(digits);
}

// The offset of the end tag of the RDF; `count` if there is none.
static size_t rdf_end(const uint8_t *text, size_t count) {
    const uint8_t *found = memmem(text, count, "</rdf:RDF", 9);
    return found ? (size_t)(found - text) : count;
}

uint8_t *darkroom_xmp_merge(
    const uint8_t *packet, size_t count, const uint8_t *extended, size_t extended_count, size_t *merged_count) {
    size_t place = rdf_end(packet, count), inner_end = rdf_end(extended, extended_count);
    const uint8_t *rdf = memmem(extended, inner_end, "<rdf:RDF", 8);
    const uint8_t *inner = rdf ? memchr(rdf, '>', inner_end - (size_t)(rdf - extended)) : NULL;
    if (place == count || inner_end == extended_count || !inner) return NULL;
    inner++;
    size_t inner_count = inner_end - (size_t)(inner - extended);
    *merged_count = count + inner_count;
    uint8_t *merged = malloc(*merged_count);
    if (!merged) return NULL;
    memcpy(merged, packet, place);
    memcpy(merged + place, inner, inner_count);
    memcpy(merged + place + inner_count, packet + place, count - place);
    return merged;
}
