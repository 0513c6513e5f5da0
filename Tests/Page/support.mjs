// A server, streams and a clock for the tests of the page's scripts. They do something when the test says so.

import { Photos, StateTable } from "../../Sources/Surfaces/DarkroomWeb/Assets/states.js";

/** Some of the states in the form in which the page has them. */
export const table = new StateTable([
    { code: 80, state: "progress", text: "in progress" },
    { code: 78, state: "new", text: "new" },
    { code: 68, state: "downloaded", text: "downloaded" },
    { code: 70, state: "filtered", text: "filtered" },
    { code: 67, state: "cancelled", text: "cancelled" },
    { code: 103, state: "failed", reason: "timeout", text: "failed: timeout" },
    { code: 122, state: "failed", reason: "other", text: "failed: other" },
    { code: 128, state: "failed", reason: "host-unreachable", text: "failed: host-unreachable" },
]);

/** Photos of which the stream sends those for which `isLive` holds. */
export function photosWith(isLive = () => false) {
    return new Photos(table, isLive);
}

/** The words for the states of some photos. */
export function words(photos, indexes) {
    return indexes.map((index) => photos.state(index).state);
}

/** A photo in the form of the HTTP API. */
export function photo(index, state = "new", reason = null) {
    return { index, state, reason, name: `${index}.jpg`, url: null, files: [], detail: null };
}

/** Waits until all promises that can be settled are. */
export async function settle() {
    for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
}

function replace(test, name, value) {
    const before = globalThis[name];
    globalThis[name] = value;
    test.after(() => { globalThis[name] = before; });
}

/** Timers that run when the test says so. */
export class Clock {
    #now = 0;
    #last = 0;
    #timers = new Map();

    constructor(test) {
        replace(test, "setTimeout", (act, time = 0) => {
            this.#timers.set(++this.#last, { act, at: this.#now + time });
            return this.#last;
        });
        replace(test, "clearTimeout", (id) => this.#timers.delete(id));
    }

    /** The number of timers that have not run. */
    get waiting() { return this.#timers.size; }

    /** Lets time pass, and runs the timers that are due. */
    async advance(milliseconds) {
        const end = this.#now + milliseconds;
        for (;;) {
            const due = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at);
            if (due.length === 0) break;
            const [id, { act, at }] = due[0];
            this.#timers.delete(id);
            this.#now = at;
            act();
            await settle();
        }
        this.#now = end;
    }
}

/** A server that replies when the test says so. */
export class Server {
    requests = [];
    reloads = 0;

    constructor(test) {
        replace(test, "fetch", (address, options) => new Promise((resolve, reject) => {
            this.requests.push({
                address, method: options.method, body: options.body ? JSON.parse(options.body) : null,
                reply: (body, status = 200) => {
                    const headers = { "Content-Type": status < 400 ? "application/json" : "application/problem+json" };
                    resolve(new Response(body === null ? null : JSON.stringify(body), { status, headers }));
                    return settle();
                },
                fail: () => {
                    reject(new TypeError("no connection"));
                    return settle();
                },
            });
        }));
        replace(test, "location", { reload: () => { this.reloads++; } });
    }

    get last() { return this.requests.at(-1); }

    get addresses() { return this.requests.map(({ address }) => address); }
}

/** The streams that the page has opened, and the events of its window. */
export class Streams {
    all = [];
    #window = new EventTarget();

    constructor(test) {
        const all = this.all;
        replace(test, "EventSource", class extends EventTarget {
            static CLOSED = 2;
            readyState = 1;

            constructor(address) {
                super();
                this.address = address;
                all.push(this);
            }

            close() { this.readyState = 2; }

            send(name, data) {
                this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
                return settle();
            }

            /** Breaks. The browser opens it again unless the server has refused it. */
            break({ isRefused = false } = {}) {
                this.readyState = isRefused ? 2 : 0;
                this.dispatchEvent(new Event("error"));
                return settle();
            }
        });
        replace(test, "addEventListener", (name, act) => this.#window.addEventListener(name, act));
    }

    get last() { return this.all.at(-1); }

    /** Leaves the page. */
    leave() { this.#window.dispatchEvent(new Event("pagehide")); }
}
