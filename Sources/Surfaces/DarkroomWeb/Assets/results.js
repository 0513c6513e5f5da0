// The photos that the filter has found. They are read page by page, while the user scrolls, and again while they change.

import { call, isReportedByStream } from "./api.js";

const pageOfResults = 200;
// The largest number of results that the server sends at once.
const mostResults = 1000;
const refreshTime = 2000;
const finalStates = ["filtered", "failed", "cancelled"];

/** The query for the fields of the filter. Empty fields are left out. */
export function queryOf(fields) {
    return new URLSearchParams([...fields].filter(([, value]) => value !== "")).toString();
}

/** One application of the filter. */
class Search {
    /** The indexes of the photos that were found, sorted. */
    found = [];
    /** The index at which the search continues; null at the end of the list. */
    next = 0;

    constructor(query) {
        this.query = query;
    }

    add(photos) {
        const indexes = photos.map(({ index }) => index);
        this.found = [...new Set([...this.found, ...indexes])].sort((left, right) => left - right);
    }
}

export class Results {
    #api;
    #photos;
    #delegate;
    // The current search; null without a filter. Replies to an earlier search are ignored.
    #search = null;
    #isReading = false;
    #refreshTimer = 0;
    // Whether something may have changed since the last reading began.
    #isOutdated = false;
    // The photos that were final in the present round when they were last read.
    #settled = new Set();
    #round = 0;

    /**
     * @param {Object} delegate visible(), the positions on the screen; covers(index), whether the stream sends the state of
     *     a photo; changed(), after the results or their states have changed; searched(failure), after a search, with an
     *     empty text if it has not failed.
     */
    constructor(api, photos, delegate) {
        this.#api = api;
        this.#photos = photos;
        this.#delegate = delegate;
    }

    get isFiltered() { return this.#search !== null; }

    /** The number of photos that were found; null without a filter. */
    get count() { return this.#search?.found.length ?? null; }

    /** The index of the photo at a position of the grid; undefined after the end of the results. */
    index(position) { return this.#search ? this.#search.found[position] : position; }

    /** The position of a photo in the grid. If it was not found, the position of the next result, or else of the last. */
    position(index) {
        if (!this.#search) return index;
        const { found } = this.#search;
        const position = found.findIndex((other) => other >= index);
        return position < 0 ? found.length - 1 : position;
    }

    /** Finds the first photos for a query. An empty query ends the filter. */
    async apply(query) {
        this.#search = query ? new Search(query) : null;
        this.#delegate.changed();
        if (query) await this.#readNext();
        else this.#delegate.searched("");
    }

    /** Reads further results if the last result is on the screen. */
    async readMore() {
        if (this.#search && this.#search.next !== null && this.#visibleEnd >= this.count) await this.#readNext();
    }

    get #visibleEnd() {
        const { first, count } = this.#delegate.visible();
        return first + count;
    }

    async #readNext() {
        if (this.#isReading) return;
        this.#isReading = true;
        const search = this.#search;
        try {
            do {
                const page = await this.#page(search, search.next, pageOfResults);
                if (search !== this.#search) break;
                this.#add(page.photos);
                search.next = page.next;
                // A reply to a search for a name may have few results. The search continues until the screen is full.
            } while (search.next !== null && this.count < this.#visibleEnd + 1);
            if (search === this.#search) this.#delegate.searched("");
        } catch (error) {
            if (search === this.#search) this.#delegate.searched(error.message);
        }
        this.#isReading = false;
        if (search !== this.#search && this.#search) this.#readNext();
    }

    #page({ query }, first, limit) {
        return call("GET", `${this.#api}/photos?${query}&first=${first}&limit=${limit}`);
    }

    #add(photos) {
        this.#photos.add(photos);
        this.#search.add(photos);
        this.#delegate.changed();
    }

    /** Reads the visible results again, and new results among them, at most every two seconds. */
    refresh() {
        this.#isOutdated = true;
        this.#refreshTimer ||= setTimeout(async () => {
            this.#isOutdated = false;
            const search = this.#search;
            try {
                if (search) await this.#readVisible(search);
            } catch (error) {
                if (search === this.#search && !isReportedByStream(error)) this.#delegate.searched(error.message);
            }
            this.#refreshTimer = 0;
            if (this.#isOutdated) this.refresh();
        }, refreshTime);
    }

    /** Notes that photos which were final may have changed. */
    startRound() {
        this.#settled.clear();
        this.#round++;
    }

    async #readVisible(search) {
        const { first, count } = this.#delegate.visible();
        const shown = search.found.slice(first, first + count);
        const from = first > 0 ? shown[0] ?? 0 : 0;
        // New results may be between and after the visible ones.
        const page = await this.#page(search, from, Math.min(count + pageOfResults, mostResults));
        if (search !== this.#search) return;
        this.#add(page.photos);
        this.#delegate.searched("");
        // The page may end before the last result. Later photos are searched when the user scrolls there.
        if (search.next === null && page.next !== null) search.next = Math.max(page.next, (search.found.at(-1) ?? -1) + 1);
        // Results that no longer match stay, with their new states.
        const matching = new Set(page.photos.map(({ index }) => index));
        const end = page.next ?? Infinity;
        for (const index of shown.filter((index) => index < end && !matching.has(index))) {
            if (this.#delegate.covers(index) || this.#settled.has(index)) continue;
            const round = this.#round;
            const photo = await call("GET", `${this.#api}/photos/${index}`);
            if (round === this.#round && finalStates.includes(photo.state)) this.#settled.add(index);
            if (search !== this.#search) return;
            this.#photos.add([photo]);
            this.#delegate.changed();
        }
    }
}
