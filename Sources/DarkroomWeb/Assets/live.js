// The live changes of a batch: https://html.spec.whatwg.org/multipage/server-sent-events.html

const retryTime = 3000;
// Several calls at the same moment are one request.
const viewTime = 10;

export class Live {
    #api;
    #streams;
    #delegate;
    #events = null;
    #stream = null;
    #view = { first: 0, count: 200 };
    #follow = "";
    #timer = 0;
    #sent = "";
    #isAway = false;

    /**
     * @param {Object} delegate batch(facts), states(parts, photos), follow(isFollowing), away(text), back(), gone().
     */
    constructor(api, streams, delegate) {
        this.#api = api;
        this.#streams = streams;
        this.#delegate = delegate;
        // The server takes up to a second to notice a closed connection.
        addEventListener("pagehide", () => {
            if (!this.#follow) return;
            this.#follow = "";
            this.#send({ keepalive: true });
        });
    }

    open() {
        this.#events?.close();
        const { first, count } = this.#view;
        const events = new EventSource(`${this.#api}/events?first=${first}&count=${count}`);
        this.#events = events;
        const on = (name, handle) => events.addEventListener(name, (event) => handle(JSON.parse(event.data)));
        on("stream", ({ id }) => {
            this.#stream = id;
            this.#sent = "";
            this.#send();
        });
        on("batch", (facts) => {
            this.#delegate.batch(facts);
            if (this.#isAway) this.#delegate.back();
            this.#isAway = false;
        });
        on("states", ({ parts, photos }) => this.#delegate.states(parts, photos));
        on("follow", ({ following }) => {
            if (!following) this.#follow = "";
            this.#delegate.follow(following);
        });
        on("away", ({ detail }) => this.#leave(`Redis does not answer: ${detail}. Trying again.`));
        on("gone", () => {
            events.close();
            this.#delegate.gone();
        });
        events.addEventListener("error", () => {
            this.#stream = null;
            this.#leave("The connection to the server is interrupted. Trying again.");
            // The browser tries again by itself, unless the server has refused the request.
            if (events.readyState === EventSource.CLOSED) setTimeout(() => this.open(), retryTime);
        });
    }

    #leave(text) {
        this.#isAway = true;
        this.#delegate.away(text);
    }

    /** The photos whose states are wanted. Positions that the page only passes are not sent. */
    show(first, count) {
        this.#view = { first, count };
        this.#schedule();
    }

    /** Lets these photos run first, for example "40-60"; an empty text ends this. */
    follow(photos) {
        this.#follow = photos;
        this.#schedule();
    }

    #schedule() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#send(), viewTime);
    }

    async #send(options = {}) {
        const body = JSON.stringify({ ...this.#view, follow: this.#follow });
        if (!this.#stream || body === this.#sent) return;
        this.#sent = body;
        try {
            const reply = await fetch(`${this.#streams}/${this.#stream}/view`, {
                method: "PUT", headers: { "Content-Type": "application/json" }, body, ...options,
            });
            if (reply.status === 403) this.#delegate.away((await reply.json()).detail);
        } catch {
            // The stream reports that the server does not answer.
        }
    }
}
