// The cells of the contact sheet: the picture, the state and the name of a photo.

import { photoName, printable } from "./text.js";

const mostAttempts = 3;

/** The texts of a cell: the name, the word in place of a picture, and the label for screen readers. */
export function cellTexts(index, state, name, hasPicture) {
    const title = printable(name ?? "");
    const label = [photoName(index), title, state.text].filter((text) => text !== "").join(", ");
    return { title, word: hasPicture ? "" : state.reason ?? state.text, label };
}

/** The width of the thumbnails for photos of this width on the screen. The server has only some widths. */
export function thumbnailWidth(photoWidth, pixelRatio) {
    if (photoWidth > 512) return 1024;
    if (photoWidth * Math.min(pixelRatio, 2) <= 128) return 128;
    return photoWidth <= 300 ? 256 : 512;
}

/** Counts the failed attempts to read a picture, and decides when the next attempt is due. */
export class Attempts {
    #count = 0;
    #nextAt = 0;

    isDue(now) { return this.#count <= mostAttempts && this.#nextAt <= now; }

    /** Notes a failure. Returns the pause until the next attempt. */
    fail(now) {
        this.#count++;
        // The server may have too many requests, or may not see the file yet.
        const pause = 1000 * this.#count;
        this.#nextAt = now + pause;
        return pause;
    }
}

/**
 * The address of the picture of a photo; null if there is none.
 * @param {DOMStringMap} sheet the data of the page.
 */
export function pictureAddress(sheet, index, state, width) {
    const photo = `${sheet.api}/photos/${index}`, query = `width=${width}&v=${sheet.round}`;
    if (state === "filtered" && "files" in sheet) return `${photo}/thumbnail?${query}`;
    if (state === "downloaded" && "originals" in sheet) return `${photo}/original/thumbnail?${query}`;
    return null;
}

/** Fills the cells of a grid. */
export class Cells {
    #sheet;
    #photos;
    #delegate;
    #attempts = new WeakMap();

    /**
     * @param {HTMLElement} element the grid.
     * @param {DOMStringMap} sheet the data of the page.
     * @param {Object} delegate photoWidth(); retry(), called when a picture may be read again.
     */
    constructor(element, sheet, photos, delegate) {
        this.#sheet = sheet;
        this.#photos = photos;
        this.#delegate = delegate;
        element.addEventListener("error", ({ target }) => this.#failed(target), true);
    }

    fill(cell, index, isResting, isActive) {
        const state = this.#photos.state(index);
        const classes = `cell is-${state.state}${isActive ? " is-active" : ""}`;
        if (cell.className !== classes) cell.className = classes;
        const [image, word, name] = cell.children;
        const width = thumbnailWidth(this.#delegate.photoWidth(), window.devicePixelRatio);
        const address = pictureAddress(this.#sheet, index, state.state, width);
        const isSeen = state.state === "filtered" && address !== null;
        const texts = cellTexts(index, state, this.#photos.name(index), isSeen);
        if (name.textContent !== texts.title) name.textContent = texts.title;
        if (word.textContent !== texts.word) word.textContent = texts.word;
        if (cell.getAttribute("aria-label") !== texts.label) cell.setAttribute("aria-label", texts.label);
        this.#showImage(image, address, isResting);
    }

    /** Forgets all failures, so that the pictures that could not be read are read again. */
    forgetFailures() { this.#attempts = new WeakMap(); }

    /** Loads a picture only while the grid rests, so that pictures that only scroll past are not loaded. */
    #showImage(image, address, isResting) {
        if (image.dataset.address !== (address ?? "")) {
            image.dataset.address = address ?? "";
            this.#attempts.delete(image);
            image.removeAttribute("src");
        }
        if (!address || !isResting || image.hasAttribute("src")) return;
        if (this.#attempts.get(image)?.isDue(performance.now()) ?? true) image.src = address;
    }

    #failed(image) {
        const address = image.dataset.address;
        image.removeAttribute("src");
        const attempts = this.#attempts.get(image) ?? new Attempts();
        this.#attempts.set(image, attempts);
        setTimeout(() => {
            if (image.dataset.address === address) this.#delegate.retry();
        }, attempts.fail(performance.now()));
    }
}
