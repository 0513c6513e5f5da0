// The states of the photos that the page knows: one code for each photo, as in Redis, and P for a photo that a worker
// holds. The page has a list of the codes with their texts.

const blockSize = 4096;
// Enough for a million photos, with one byte for each photo: results of a filter may be far from each other.
const mostBlocks = 256;
const mostDetails = 20000;
const unknownCode = "?".charCodeAt(0);
const unknown = { state: "unknown", text: "" };
// The code of every failure reason without its own code.
const otherReason = "z".charCodeAt(0);

/** The states that a photo can have. */
export class StateTable {
    #states;

    /** @param {Object[]} states the code, the state and the text of each state, and the reason of each failed state. */
    constructor(states) {
        this.#states = new Map(states.map((state) => [state.code, state]));
    }

    /** The state with a code. A code that the page does not know belongs to a new failure reason. */
    state(code) {
        return code === unknownCode ? unknown : this.#states.get(code) ?? this.#states.get(otherReason);
    }

    /** The code of a photo that is an object of the HTTP API. */
    code({ state, reason }) {
        for (const [code, known] of this.#states) {
            if (known.state === state && known.reason === (reason ?? undefined)) return code;
        }
        return state === this.#states.get(otherReason).state ? otherReason : unknownCode;
    }
}

/** The codes of photos, in blocks. Only the blocks that were changed last are kept. */
export class States {
    #blocks = new Map();

    /** The code of a photo; `unknownCode` if the code is not known. */
    code(index) {
        return this.#blocks.get(Math.floor(index / blockSize))?.[index % blockSize] || unknownCode;
    }

    /** Stores the codes of consecutive photos. */
    set(first, codes) {
        let block = null;
        for (let position = 0; position < codes.length; position++) {
            const place = (first + position) % blockSize;
            if (!block || place === 0) block = this.#blockToChange(Math.floor((first + position) / blockSize));
            block[place] = codes[position];
        }
    }

    #blockToChange(number) {
        const block = this.#blocks.get(number) ?? new Uint8ClampedArray(blockSize);
        // A map has the order of insertion, so the first block is the one that was not changed for the longest time.
        this.#blocks.delete(number);
        this.#blocks.set(number, block);
        if (this.#blocks.size > mostBlocks) this.#blocks.delete(this.#blocks.keys().next().value);
        return block;
    }
}

/** Photos as objects of the HTTP API. If there are too many, those that were not read for the longest time are removed. */
export class Details {
    #photos = new Map();

    get(index) {
        return this.#photos.get(index);
    }

    add(photos) {
        for (const photo of photos) {
            this.#photos.delete(photo.index);  // the map keeps the order of insertion
            this.#photos.set(photo.index, photo);
        }
        for (const index of this.#photos.keys()) {
            if (this.#photos.size <= mostDetails) break;
            this.#photos.delete(index);
        }
    }
}

/** Whether parts of the stream contain a photo. */
export function includes(parts, index) {
    return parts.some(({ first, states }) => index >= first && index < first + states.length);
}

/** The states and names of the photos of a batch, from the stream and from replies of the HTTP API. */
export class Photos {
    #table;
    #states = new States();
    #details = new Details();
    #isLive;

    /**
     * @param {StateTable} table
     * @param {Function} isLive returns whether the stream sends the state of a photo.
     */
    constructor(table, isLive) {
        this.#table = table;
        this.#isLive = isLive;
    }

    /** The state of a photo: `state` is a word for styles, `text` is for users, and a failed photo has a `reason`. */
    state(index) { return this.#table.state(this.#states.code(index)); }

    /** The name of a photo; undefined if it was not read, null if the server does not know it. */
    name(index) { return this.#details.get(index)?.name; }

    /** The text of the state of `photo`, an object of the HTTP API. */
    text(photo) { return this.#table.state(this.#table.code(photo)).text; }

    /** Takes states from the stream: parts of consecutive photos, with a character for each photo. */
    merge(parts) {
        for (const { first, states } of parts) {
            this.#states.set(first, Array.from(states, (character) => character.charCodeAt(0)));
        }
    }

    /** Stores photos without their states. */
    addNames(photos) { this.#details.add(photos); }

    /** Stores photos. The states of the stream are newer, and tell which photos are in progress. */
    add(photos) {
        this.#details.add(photos);
        for (const photo of photos) {
            const isNewer = this.#isLive(photo.index) && this.state(photo.index) !== unknown;
            if (!isNewer) this.#states.set(photo.index, [this.#table.code(photo)]);
        }
    }
}
