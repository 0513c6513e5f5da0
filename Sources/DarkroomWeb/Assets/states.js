// The states of the photos that the page knows: one code for each photo, as in Redis, and P for a photo that a worker
// holds. Small letters are the reasons of failed photos.

const blockSize = 4096;
const mostBlocks = 64;

const kinds = { N: "new", P: "progress", D: "downloaded", F: "filtered", C: "cancelled" };

/** The codes of photos, in blocks, of which the latest are kept. */
export class States {
    #blocks = new Map();
    #reasons;

    /** @param {Object} reasons the word of each reason, by its letter. */
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
        for (let position = 0; position < codes.length; position++) {
            const index = first + position;
            const number = Math.floor(index / blockSize);
            let block = this.#blocks.get(number);
            if (!block) {
                block = new Uint8Array(blockSize);
                this.#blocks.set(number, block);
                if (this.#blocks.size > mostBlocks) this.#blocks.delete(this.#blocks.keys().next().value);
            }
            block[index % blockSize] = codes.charCodeAt(position);
        }
    }

    /** A word for styles: new, progress, downloaded, filtered, failed, cancelled, or unknown. */
    kind(index) {
        const code = this.code(index);
        return kinds[code] ?? (code >= "a" && code <= "z" ? "failed" : "unknown");
    }

    /** The state in words, such as "failed: timeout"; empty if it is not known. */
    text(index) {
        const code = this.code(index);
        switch (this.kind(index)) {
            case "new": return "waiting";
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
