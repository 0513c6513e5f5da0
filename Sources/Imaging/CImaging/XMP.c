#define _GNU_SOURCE  // memmem(3)

#include "XMP.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

enum {
    // Packets declare about ten namespaces. Declarations beyond this number are ignored.
    MAX_NAMESPACES = 256,
    // The largest number of declarations that are copied from one packet to another.
    MAX_COPIED_NAMESPACES = 64,
};

struct text {
    const uint8_t *start;
    size_t count;
};

enum kind {
    KIND_OTHER,
    KIND_RDF,
    KIND_TIFF,
    // `xmpNote`, which refers to extended XMP.
    KIND_NOTE,
    // Namespaces whose properties all announce other pictures in the same file.
    KIND_OTHER_PICTURES,
};

static const struct {
    const char *prefix, *uri;
    enum kind kind;
} known_namespaces[] = {
    {"rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#", KIND_RDF},
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
    // `bytes` is a copy of the text, and is only read; `settled` is the text itself, and is changed.
    const uint8_t *bytes;
    uint8_t *settled;
    size_t count;
    bool is_changed;
    enum darkroom_xmp_extension extension;
    const char *guid;

    // The number of open elements.
    size_t depth;
    struct namespace namespaces[MAX_NAMESPACES];
    size_t namespace_count;

    // The outermost open element that will be removed. `removed_depth` is 0 if there is none.
    size_t removed_start, removed_depth;
    // The open element whose text is replaced, and the replacement. `value_depth` is 0 if there is none.
    size_t value_depth;
    const char *value;
};

static bool is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

static bool equals(struct text text, const char *other) {
    return text.count == strlen(other) && memcmp(text.start, other, text.count) == 0;
}

static bool are_equal(struct text a, struct text b) { return a.count == b.count && memcmp(a.start, b.start, a.count) == 0; }

static bool starts_with(struct text text, const char *start) {
    return text.count >= strlen(start) && memcmp(text.start, start, strlen(start)) == 0;
}

static void blank(struct scanner *scanner, size_t start, size_t end) {
    memset(scanner->settled + start, ' ', end - start);
    scanner->is_changed = true;
}

// Replaces the text between two offsets, if the value fits. A shorter value is followed by spaces.
static void replace(struct scanner *scanner, size_t start, size_t end, const char *value) {
    while (start < end && is_space(scanner->bytes[start])) start++;
    size_t length = strlen(value);
    if (end - start < length || (end - start == length && !memcmp(scanner->bytes + start, value, length))) return;
    blank(scanner, start, end);
    memcpy(scanner->settled + start, value, length);
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
        if (are_equal(scanner->namespaces[i].prefix, prefix)) return scanner->namespaces[i].kind;
    }
    // Some programs do not declare the namespaces that they use.
    for (size_t i = 0; i < KNOWN_NAMESPACES; i++)
        if (equals(prefix, known_namespaces[i].prefix)) return known_namespaces[i].kind;
    return KIND_OTHER;
}

enum action { ACTION_NONE, ACTION_REMOVE, ACTION_SET_ORIENTATION, ACTION_SET_EXTENSION, ACTION_SET_VALUE };

// The action for an element or an attribute.
static enum action action_for(const struct scanner *scanner, struct text name, bool is_element) {
    struct text local, prefix = split(name, &local);
    // The default namespace applies to elements only.
    if (prefix.count == 0 && !is_element) return ACTION_NONE;
    enum kind kind = kind_of(scanner, prefix);
    // The value of a property may be an attribute.
    if (!is_element && kind == KIND_RDF && equals(local, "value") && scanner->value_depth > 0) return ACTION_SET_VALUE;
    if (kind == KIND_OTHER_PICTURES) return ACTION_REMOVE;
    if (kind == KIND_TIFF && equals(local, "Orientation")) return ACTION_SET_ORIENTATION;
    if (kind == KIND_NOTE && equals(local, "HasExtendedXMP")) {
        if (scanner->extension == DARKROOM_XMP_REMOVE_EXTENSION) return ACTION_REMOVE;
        return scanner->extension == DARKROOM_XMP_SET_EXTENSION ? ACTION_SET_EXTENSION : ACTION_NONE;
    }
    // Several makers of phones define these properties in their own namespaces.
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
static bool read_attribute(const uint8_t *bytes, size_t *position, size_t end, struct attribute *attribute) {
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

// Whether an attribute declares a namespace. The prefix of the default namespace is empty.
static bool is_declaration(struct text name, struct text *prefix) {
    struct text local, start = split(name, &local);
    bool is_default = start.count == 0 && equals(local, "xmlns");
    *prefix = is_default ? (struct text){name.start, 0} : local;
    return is_default || equals(start, "xmlns");
}

static void settle_attributes(struct scanner *scanner, size_t start, size_t end) {
    struct attribute attribute;
    for (size_t at = start; read_attribute(scanner->bytes, &at, end, &attribute);) {
        struct text prefix;
        if (is_declaration(attribute.name, &prefix)) {
            // The declaration is no longer needed, and programs may search for it.
            if (kind_of(scanner, prefix) == KIND_OTHER_PICTURES) blank(scanner, attribute.start, attribute.end);
            continue;
        }
        size_t value = (size_t)(attribute.value.start - scanner->bytes);
        switch (action_for(scanner, attribute.name, false)) {
        case ACTION_REMOVE: blank(scanner, attribute.start, attribute.end); break;
        case ACTION_SET_ORIENTATION: replace(scanner, value, value + attribute.value.count, "1"); break;
        case ACTION_SET_EXTENSION: replace(scanner, value, value + attribute.value.count, scanner->guid); break;
        case ACTION_SET_VALUE: replace(scanner, value, value + attribute.value.count, scanner->value); break;
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
static size_t name_end(const uint8_t *bytes, size_t start, size_t end) {
    size_t at = start + 1;
    while (at < end - 1 && !is_space(bytes[at]) && bytes[at] != '/') at++;
    return at;
}

static void open_element(struct scanner *scanner, size_t start, size_t end) {
    const uint8_t *bytes = scanner->bytes;
    size_t attributes = name_end(bytes, start, end), inner_end = end - 1;
    struct text name = {bytes + start + 1, attributes - start - 1};
    scanner->depth++;
    struct attribute attribute;
    struct text prefix;
    for (size_t at = attributes; read_attribute(bytes, &at, inner_end, &attribute);)
        if (is_declaration(attribute.name, &prefix)) declare(scanner, prefix, attribute.value);
    enum action action = action_for(scanner, name, true);
    if (action == ACTION_REMOVE && scanner->removed_depth == 0) {
        scanner->removed_start = start;
        scanner->removed_depth = scanner->depth;
    } else if ((action == ACTION_SET_ORIENTATION || action == ACTION_SET_EXTENSION) && scanner->value_depth == 0) {
        scanner->value_depth = scanner->depth;
        scanner->value = action == ACTION_SET_ORIENTATION ? "1" : scanner->guid;
    }
    bool is_empty = bytes[inner_end - 1] == '/';
    if (scanner->removed_depth == 0) settle_attributes(scanner, attributes, inner_end);
    if (is_empty) close_element(scanner, end);
}

// MARK: - Markup

enum markup {
    MARKUP_NONE,
    // The start tag of an element, or the tag of an empty element.
    MARKUP_OPEN,
    MARKUP_CLOSE,
    // A comment, a processing instruction, a declaration or CDATA.
    MARKUP_OTHER,
};

// The offset after the next `end`, or after the last byte.
static size_t after(const uint8_t *bytes, size_t count, size_t start, const char *end) {
    const uint8_t *found = memmem(bytes + start, count - start, end, strlen(end));
    return found ? (size_t)(found - bytes) + strlen(end) : count;
}

// The offset after the `>` that ends a tag, ignoring `>` in the values of attributes; 0 if there is none.
static size_t tag_end(const uint8_t *bytes, size_t count, size_t start) {
    uint8_t quote = 0;
    for (size_t at = start; at < count; at++) {
        if (quote) {
            if (bytes[at] == quote) quote = 0;
        } else if (bytes[at] == '"' || bytes[at] == '\'') {
            quote = bytes[at];
        } else if (bytes[at] == '>') {
            return at + 1;
        }
    }
    return 0;
}

// Finds the next markup at or after `*end`. Sets `*start` to the offset of its `<`, or to `count` if there is no
// markup, and `*end` to the offset after the markup.
static enum markup next_markup(const uint8_t *bytes, size_t count, size_t *start, size_t *end) {
    const uint8_t *found = memchr(bytes + *end, '<', count - *end);
    *start = found ? (size_t)(found - bytes) : count;
    struct text rest = {bytes + *start, count - *start};
    static const struct {
        const char *start, *end;
        enum markup markup;
    } forms[] = {
        {"<!--", "-->", MARKUP_OTHER}, {"<![CDATA[", "]]>", MARKUP_OTHER}, {"<?", "?>", MARKUP_OTHER},
        {"<!", ">", MARKUP_OTHER},     {"</", ">", MARKUP_CLOSE},
    };
    for (size_t i = 0; found && i < sizeof forms / sizeof forms[0]; i++) {
        if (!starts_with(rest, forms[i].start)) continue;
        *end = after(bytes, count, *start, forms[i].end);
        return forms[i].markup;
    }
    *end = found ? tag_end(bytes, count, *start) : 0;
    return *end > 0 ? MARKUP_OPEN : MARKUP_NONE;
}

bool darkroom_xmp_settle(uint8_t *text, size_t count, enum darkroom_xmp_extension extension, const char *guid) {
    uint8_t *bytes = g_memdup2(text, count);
    struct scanner state = {.bytes = bytes, .settled = text, .count = count, .extension = extension, .guid = guid};
    size_t next = 0, start, end = 0;
    for (enum markup markup = MARKUP_OTHER; markup != MARKUP_NONE; next = end) {
        markup = next_markup(bytes, count, &start, &end);
        if (state.value_depth > 0) replace(&state, next, start, state.value);
        if (markup == MARKUP_OPEN) open_element(&state, start, end);
        if (markup == MARKUP_CLOSE) close_element(&state, end);
    }
    g_free(bytes);
    return state.is_changed;
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

// A declaration of a namespace: its name, and its whole text.
struct declaration {
    struct text name, whole;
};

// Adds the declarations of an element. A declaration replaces the one with the same name of an outer element.
static void add_declarations(GArray *declarations, const uint8_t *bytes, size_t start, size_t end) {
    struct attribute attribute;
    struct text prefix;
    for (size_t at = name_end(bytes, start, end); read_attribute(bytes, &at, end - 1, &attribute);) {
        if (!is_declaration(attribute.name, &prefix)) continue;
        struct declaration added = {attribute.name, {bytes + attribute.start, attribute.end - attribute.start}};
        guint i = 0;
        while (i < declarations->len && !are_equal(g_array_index(declarations, struct declaration, i).name, added.name)) i++;
        if (i < declarations->len) g_array_index(declarations, struct declaration, i) = added;
        else if (i < MAX_COPIED_NAMESPACES) g_array_append_val(declarations, added);
    }
}

static bool has_attribute(const uint8_t *bytes, size_t start, size_t end, struct text name) {
    struct attribute attribute;
    for (size_t at = start; read_attribute(bytes, &at, end, &attribute);)
        if (are_equal(attribute.name, name)) return true;
    return false;
}

// Appends a start tag, with the declarations that the tag does not contain yet.
static void append_with_declarations(
    GByteArray *out, const uint8_t *bytes, size_t start, size_t end, const GArray *declarations) {
    size_t attributes = name_end(bytes, start, end);
    g_byte_array_append(out, bytes + start, (guint)(attributes - start));
    for (guint i = 0; i < declarations->len; i++) {
        const struct declaration *added = &g_array_index(declarations, struct declaration, i);
        if (has_attribute(bytes, attributes, end - 1, added->name)) continue;
        g_byte_array_append(out, (const uint8_t *)" ", 1);
        g_byte_array_append(out, added->whole.start, (guint)added->whole.count);
    }
    g_byte_array_append(out, bytes + attributes, (guint)(end - attributes));
}

// Appends the elements within the RDF of an extended XMP. Returns false if there is no RDF, or if the declarations make
// the elements more than four times as long as the extended XMP.
static bool append_properties(GByteArray *out, const uint8_t *extended, size_t count) {
    size_t most = out->len + 4 * count, depth = 0, rdf_depth = 0, start, end = 0, copied = 0;
    GArray *declarations = g_array_new(FALSE, FALSE, sizeof(struct declaration));
    bool is_done = false;
    for (enum markup markup = MARKUP_OTHER; markup != MARKUP_NONE && !is_done && out->len <= most;) {
        markup = next_markup(extended, count, &start, &end);
        if (markup == MARKUP_OPEN) {
            bool is_empty = extended[end - 2] == '/';
            if (rdf_depth == 0) add_declarations(declarations, extended, start, end);
            if (rdf_depth > 0 && depth == rdf_depth) {
                g_byte_array_append(out, extended + copied, (guint)(start - copied));
                append_with_declarations(out, extended, start, end, declarations);
                copied = end;
            }
            if (!is_empty) depth++;
            struct text name = {extended + start + 1, name_end(extended, start, end) - start - 1};
            if (rdf_depth == 0 && !is_empty && equals(name, "rdf:RDF")) {
                rdf_depth = depth;
                copied = end;
            }
        } else if (markup == MARKUP_CLOSE) {
            is_done = rdf_depth > 0 && depth == rdf_depth;
            if (is_done) g_byte_array_append(out, extended + copied, (guint)(start - copied));
            if (depth > 0) depth--;
        }
    }
    g_array_free(declarations, TRUE);
    return is_done && out->len <= most;
}

GByteArray *darkroom_xmp_merge(const uint8_t *packet, size_t count, const uint8_t *extended, size_t extended_count) {
    size_t place = rdf_end(packet, count);
    if (place == count || count + 4 * extended_count > G_MAXUINT / 2) return NULL;
    GByteArray *merged = g_byte_array_new();
    g_byte_array_append(merged, packet, (guint)place);
    if (!append_properties(merged, extended, extended_count)) {
        g_byte_array_free(merged, TRUE);
        return NULL;
    }
    g_byte_array_append(merged, packet + place, (guint)(count - place));
    return merged;
}
