// The states of the photos that the page knows: one code for each photo, as in Redis, and P for a photo that a worker
// holds. All other codes are reasons of failed photos; the page has a list of the reasons.

const blockSize = 4096;
// One byte for each of a million photos: results of a filter may be far from each other.
const mostBlocks = 256;

const kinds = { N: "new", P: "progress", D: "downloaded", F: "filtered", C: "cancelled" };

/** The codes of photos, in blocks, of which those stored last are kept. */
export class States {
    #blocks = new Map();
    #reasons;

    /** @param {Object} reasons the word of each reason, by its code. */
    constructor(reasons) {
        this.#reasons = reasons;
    }

    /** The code of a photo; "?" if it is not known. */
    code(index) {
        const block = this.#blocks.get(Math.floor(index / blockSize));
        return block ? String.fromCharCode(block[index % blockSize] || 63) : "?";
    }

    /** Stores the codes of consecutive photos. */
    set(first, codes) {
        let block = null;
        for (let position = 0; position < codes.length; position++) {
            const place = (first + position) % blockSize;
            if (!block || place === 0) block = this.#blockToChange(Math.floor((first + position) / blockSize));
            block[place] = codes.charCodeAt(position);
        }
    }

    #blockToChange(number) {
        const block = this.#blocks.get(number) ?? new Uint8Array(blockSize);
        // A map has the order of insertion, so the first block is the one that was not changed for the longest time.
        this.#blocks.delete(number);
        this.#blocks.set(number, block);
        if (this.#blocks.size > mostBlocks) this.#blocks.delete(this.#blocks.keys().next().value);
        return block;
    }

    /** A word for styles: new, progress, downloaded, filtered, failed, cancelled, or unknown. */
    kind(index) {
        const code = this.code(index);
        return kinds[code] ?? (code === "?" ? "unknown" : "failed");
    }

    /** The state in words, such as "failed: timeout"; empty if it is not known. */
    text(index) {
        const code = this.code(index);
        switch (this.kind(index)) {
            case "progress": return "in progress";
            case "failed": return `failed: ${this.#reasons[code] ?? "other"}`;
            case "unknown": return "";
            default: return kinds[code];
        }
    }
}

/** What the server says about single photos: names, and details of failures. */
export class Details {
    #photos = new Map();

    get(index) {
        return this.#photos.get(index);
    }

    /** Stores photos in the form of the HTTP API. */
    add(photos) {
        for (const photo of photos) this.#photos.set(photo.index, photo);
        for (const index of this.#photos.keys()) {
            if (this.#photos.size <= 20000) break;
            this.#photos.delete(index);
        }
    }
}
