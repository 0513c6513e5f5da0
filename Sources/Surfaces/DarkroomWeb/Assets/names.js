// The names of the photos on the screen.

import { call, isReportedByStream } from "./api.js";

/** The indexes from the first photo without a name to the end of a range; null if all names were read. */
export function missingNames(first, count, isKnown) {
    const end = first + count;
    for (let index = first; index < end; index++) {
        if (!isKnown(index)) return { first: index, count: end - index };
    }
    return null;
}

/** Reads the names of the photos on the screen, one request at a time. */
export class Names {
    #api;
    #photos;
    #delegate;
    #isReading = false;

    /** @param {Object} delegate wanted(), the photos whose names are shown, or null; changed(), failed(text). */
    constructor(api, photos, delegate) {
        this.#api = api;
        this.#photos = photos;
        this.#delegate = delegate;
    }

    async read() {
        const wanted = this.#delegate.wanted();
        if (!wanted || this.#isReading) return;
        const missing = missingNames(wanted.first, wanted.count, (index) => this.#photos.name(index) !== undefined);
        if (!missing) return;
        this.#isReading = true;
        try {
            const page = await call("GET", `${this.#api}/photos?first=${missing.first}&limit=${missing.count}`);
            this.#photos.addNames(page.photos);
            this.#delegate.changed();
            this.#delegate.failed("");
        } catch (error) {
            if (!isReportedByStream(error)) this.#delegate.failed(error.message);
        }
        this.#isReading = false;
        // The grid may have moved during the request.
        if (this.#delegate.wanted()?.first !== wanted.first) this.read();
    }
}
