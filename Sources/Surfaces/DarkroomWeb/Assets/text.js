// Text from photo lists, servers and files is untrusted. The DOM does not read such text as markup. This module
// prevents it from hiding or reordering the text around it. The rules are those of `PrintableText`, which the pages
// use.

const joiner = "\\u200C\\u200D\\uFE00-\\uFE0F";
const invisible = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}";

// Joiners and variation selectors have a meaning after characters of emoji and of scripts other than Latin.
const harmful = new RegExp(`(?![${joiner}])[${invisible}]|(?<![^\\0-\\u02FF])[${joiner}]`, "gu");

const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Replaces characters that have no visible form by escapes such as `\u{202e}`. */
export function printable(text) {
    return text.replace(harmful, (character) => short[character] ?? `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** A number with separators, such as "1,234,567". */
export function number(value) {
    return value.toLocaleString("en-US");
}

/** The text in place of a name that is not known. */
export function photoName(index) {
    return `Photo ${index}`;
}
