// The messages above a page.

import { printable } from "./text.js";

/** The latest message of each source. */
export class Notices {
    #texts = new Map();

    /** @param {string} text empty to remove the message of the source. */
    set(source, text) {
        if (text) this.#texts.set(source, printable(text));
        else this.#texts.delete(source);
    }

    get text() { return [...this.#texts.values()].join("\n"); }
}

const notices = new Notices();

/**
 * Shows a message above the page until the same source has another message. An empty text removes the message.
 * @param {string} source what the message is about, such as "connection".
 */
export function notice(source, text) {
    notices.set(source, text);
    const place = document.getElementById("notice");
    const shown = notices.text;
    if (place.textContent !== shown) place.textContent = shown;
}
