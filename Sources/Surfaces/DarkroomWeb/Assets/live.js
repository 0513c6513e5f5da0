// The live changes of a batch: https://html.spec.whatwg.org/multipage/server-sent-events.html

import { call } from "./api.js";

const retryTime = 3000;
// Calls within this time cause only one request.
const viewTime = 10;
const focusLost = "Somebody else has changed the focus: other photos run first now.";

export class Live {
    #api;
    #streams;
    #delegate;
    #events = null;
    #stream = null;
    #view = { first: 0, count: 200 };
    #follow = "";
    #timer = 0;
    #isSending = false;
    // The last view that the server has accepted, and whether the focus follows this view.
    #sent = "";
    #isFollowed = false;
    // Whether the focus was lost while a view was sent: the message about the loss may arrive before the reply.
    #isLost = false;
    #isAway = false;

    /**
     * @param {Object} delegate batch(facts), states(parts, photos), unfollow(why), away(text), back(), gone().
     */
    constructor(api, streams, delegate) {
        this.#api = api;
        this.#streams = streams;
        this.#delegate = delegate;
        // The server takes up to a second to notice a closed connection.
        addEventListener("pagehide", () => {
            if (!this.#stream || !this.#follow) return;
            this.#follow = "";
            // If this request fails, the server still notices the closed connection.
            this.#put(this.#body, { keepalive: true }).catch(() => {});
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
            this.#isFollowed = this.#isLost = false;
            this.#send();
        });
        on("batch", (facts) => {
            this.#delegate.batch(facts);
            if (this.#isAway) this.#delegate.back();
            this.#isAway = false;
        });
        on("states", ({ parts, photos }) => this.#delegate.states(parts, photos));
        on("follow", ({ following }) => {
            // The page itself may have asked the server to stop following.
            if (following || !this.#follow) return;
            if (this.#isSending) this.#isLost = true;
            else if (this.#isFollowed) this.#unfollow(focusLost);
        });
        on("away", ({ detail }) => this.#leave(`${detail}. Trying again.`));
        on("gone", () => {
            events.close();
            this.#stream = null;
            this.#delegate.gone();
        });
        events.addEventListener("error", () => {
            this.#stream = null;
            this.#leave("The connection to the server is interrupted. Trying again.");
            // The browser tries again by itself, unless the server has refused the request.
            if (events.readyState === EventSource.CLOSED) this.#openLater();
        });
    }

    /** Opens the stream again, unless the batch is gone. The browser does not say why the server has refused it. */
    async #openLater() {
        try {
            await call("GET", this.#api);
            this.#leave("The server sends no live changes now; too many pages may be open. Trying again.");
        } catch (error) {
            // After a restart with another token, `call` loads the page again, which then asks for the token.
            if (error.status === 401) return;
            if (error.status === 404) {
                this.#delegate.gone();
                return;
            }
            this.#leave(`${error.message} Trying again.`);
        }
        setTimeout(() => this.open(), retryTime);
    }

    #leave(text) {
        this.#isAway = true;
        this.#delegate.away(text);
    }

    #unfollow(why) {
        this.#follow = "";
        this.#isFollowed = false;
        this.#delegate.unfollow(why);
    }

    /** Sets the photos whose states are wanted. Positions that the page only scrolls past are not sent. */
    show(first, count) {
        this.#view = { first, count };
        this.#schedule(viewTime);
    }

    /** Whether the stream sends the state of a photo. */
    covers(index) {
        return this.#stream !== null && index >= this.#view.first && index < this.#view.first + this.#view.count;
    }

    /** Lets these photos run first, for example "40-60"; with an empty text, no photos run first. */
    follow(photos) {
        this.#follow = photos;
        this.#schedule(viewTime);
    }

    #schedule(time) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#send(), time);
    }

    get #body() { return JSON.stringify({ ...this.#view, follow: this.#follow }); }

    #put(body, options = {}) {
        return fetch(`${this.#streams}/${this.#stream}/view`, {
            method: "PUT", headers: { "Content-Type": "application/json" }, body, ...options,
        });
    }

    /** Sends the latest view until the server has accepted it. The server may handle concurrent requests in any order. */
    async #send() {
        const [stream, follow, body] = [this.#stream, this.#follow, this.#body];
        if (!stream || this.#isSending || body === this.#sent) return;
        this.#isSending = true;
        let isTaken = false;
        try {
            const reply = await this.#put(body);
            isTaken = reply.status === 204;
            if (reply.status === 403 && follow) this.#unfollow((await reply.json()).detail);
        } catch {
            // The stream reports that the server does not answer.
        }
        this.#isSending = false;
        const isSame = stream === this.#stream;
        if (isTaken && isSame) {
            this.#sent = body;
            this.#isFollowed = follow !== "";
            if (this.#isLost && this.#follow) this.#unfollow(focusLost);
            this.#isLost = false;
        }
        // The view or the stream may have changed during the request.
        this.#schedule(isTaken || !isSame ? viewTime : retryTime);
    }
}
