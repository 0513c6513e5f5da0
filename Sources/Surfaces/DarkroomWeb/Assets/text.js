// Text from photo lists, servers and files. The DOM keeps it from becoming markup; this keeps it from hiding or
// reordering the text around it. The rules are those of `PrintableText`, which the pages use.

const joiner = "\\u200C\\u200D\\uFE00-\\uFE0F";
const invisible = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}";

// Joiners and variation selectors have a meaning after characters of emoji and of scripts other than Latin.
const harmful = new RegExp(`(?![${joiner}])[${invisible}]|(?<![^\\0-\\u02FF])[${joiner}]`, "gu");

const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Replaces characters that have no visible form by escapes such as `\u{202e}`. */
export function printable(text) {
    return text.replace(harmful, (character) => short[character] ?? `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** A time span in words, such as "1m 05s". */
export function duration(seconds) {
    const two = (number) => String(number).padStart(2, "0");
    if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds);
    if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
    if (whole < 86400) return `${Math.floor(whole / 3600)}h ${two(Math.floor(whole / 60) % 60)}m`;
    return `${Math.floor(whole / 86400)}d ${two(Math.floor(whole / 3600) % 24)}h`;
}

/** A number of bytes, such as "86.5 kB". */
export function bytes(count) {
    let value = count, unit = "B";
    for (const larger of ["kB", "MB", "GB", "TB", "PB"]) {
        if (value < 999.5) break;
        [value, unit] = [value / 1000, larger];
    }
    return unit === "B" ? `${count} B` : `${value.toFixed(value < 99.95 ? 1 : 0)} ${unit}`;
}

/** A number with separators, such as "1,234,567". */
export function number(value) {
    return value.toLocaleString("en-US");
}
