// The large view of one photo.

import { call } from "./page.js";
import { bytes, duration, printable } from "./text.js";

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

const span = (milliseconds) => duration(milliseconds / 1000);

/** The facts of a photo: the field of the HTTP API, its name for users, and how it is written. */
const rows = [
    ["index", "index", String], ["state", "state", String], ["reason", "reason", String], ["detail", "detail", String],
    ["name", "name", String], ["url", "URL", String], ["filters", "filters", String],
    ["size", "size", String], ["bytes", "bytes", bytes], ["attempts", "attempts", String],
    ["downloadMilliseconds", "time of download", span], ["filterMilliseconds", "time of filters", span],
    ["writeMilliseconds", "time of write", span], ["sha256", "SHA-256", String],
];

export class PhotoView {
    #api;
    #page;
    #round;
    #hasFiles;
    #hasOriginals;
    #stateText;
    #step;
    #index = 0;
    #dialog = element("dialog", { "aria-labelledby": "photo-title" });
    #title = element("h1", { id: "photo-title" });
    #stage = element("div", { class: "stage" });
    #facts = element("dl", { class: "facts" });
    #download = element("a", { class: "button" }, "Download");
    #open = element("a", { class: "button" }, "Details");
    #compare = element("input", { type: "range", class: "compare", min: "0", max: "100", value: "50", "aria-label": "Before and after" });

    /**
     * @param {Function} stateText returns the state of a photo in words.
     * @param {Function} step moves the grid by a number of photos, and returns the index of the photo there; null at the
     *     ends of the grid.
     */
    constructor(sheet, stateText, step) {
        this.#api = sheet.api;
        this.#page = sheet.page;
        this.#round = () => sheet.round;
        this.#hasFiles = "files" in sheet;
        this.#hasOriginals = "originals" in sheet;
        this.#stateText = stateText;
        this.#step = step;
        const button = (text, act, key) => {
            const made = element("button", { type: "button", "aria-keyshortcuts": key }, text);
            made.addEventListener("click", act);
            return made;
        };
        this.#dialog.append(
            element("div", { class: "controls" },
                button("Previous", () => this.#move(-1), "ArrowLeft"), button("Next", () => this.#move(1), "ArrowRight"),
                this.#download, this.#open, button("Close", () => this.#dialog.close(), "Escape")),
            this.#title,
            element("div", { class: "photo" }, element("div", { class: "picture" }, this.#stage, this.#compare), this.#facts));
        this.#dialog.addEventListener("keydown", (event) => {
            if (event.target === this.#compare) return;
            if (event.key === "ArrowRight") this.#move(1);
            if (event.key === "ArrowLeft") this.#move(-1);
        });
        this.#compare.addEventListener("input", () => this.#divide());
        document.body.append(this.#dialog);
    }

    get isOpen() { return this.#dialog.open; }

    get index() { return this.#index; }

    /** Shows a photo. */
    async show(index) {
        this.#index = index;
        if (!this.#dialog.open) this.#dialog.showModal();
        await this.update();
    }

    /** Reads the photo again. */
    async update() {
        const index = this.#index;
        try {
            const photo = await call("GET", `${this.#api}/photos/${index}`);
            if (index === this.#index) this.#draw(photo);
        } catch (error) {
            if (index !== this.#index) return;
            this.#title.textContent = `Photo ${index}`;
            this.#facts.replaceChildren(element("dt", {}, "error"), element("dd", {}, printable(error.message)));
            this.#stage.replaceChildren();
            for (const part of [this.#download, this.#open, this.#compare]) part.hidden = true;
        }
    }

    #move(step) {
        const index = this.#step(step);
        if (index !== null) this.show(index);
    }

    #draw(photo) {
        const address = `${this.#api}/photos/${photo.index}`;
        const isShown = this.#hasFiles && photo.state === "filtered";
        const hasOriginal = this.#hasOriginals && photo.url !== null && photo.state !== "new";
        const name = printable(photo.name ?? `Photo ${photo.index}`);
        this.#title.textContent = name;
        this.#download.hidden = !isShown;
        this.#download.href = `${address}/file?download=1`;
        this.#open.hidden = false;
        this.#open.href = `${this.#page}/photos/${photo.index}`;
        this.#compare.hidden = !(isShown && hasOriginal);
        const words = element(
            "p", {}, photo.reason ? `failed: ${photo.reason}` : this.#stateText(photo.index) || photo.state);
        const pictures = [];
        const query = `width=1024&v=${this.#round()}`;
        if (isShown) pictures.push(element("img", { alt: name, src: `${address}/thumbnail?${query}` }));
        if (hasOriginal) {
            const before = element("img", { class: "before", alt: "The original", src: `${address}/original/thumbnail?${query}` });
            // Not every photo has an original: the download may have failed, or somebody has removed the file.
            before.addEventListener("error", () => {
                this.#compare.hidden = true;
                before.replaceWith(...(isShown ? [] : [words]));
            });
            pictures.push(before);
        }
        if (pictures.length === 0) pictures.push(words);
        this.#stage.replaceChildren(...pictures);
        this.#divide();
        const manifest = photo.manifest ?? {};
        const size = manifest.width ? `${manifest.width} x ${manifest.height}` : null;
        const all = { ...manifest, ...photo, size };
        const facts = rows.filter(([key]) => (all[key] ?? "") !== "").map(([key, label, write]) => [label, write(all[key])]);
        for (const file of photo.files) facts.push(["file", file]);
        this.#facts.replaceChildren(
            ...facts.flatMap(([label, value]) => [element("dt", {}, label), element("dd", {}, printable(value))]));
    }

    /** Shows the original to the left of the slider, and the filtered photo to its right. */
    #divide() {
        const before = this.#stage.querySelector(".before");
        if (!before) return;
        const share = this.#compare.hidden ? 100 : Number(this.#compare.value);
        before.style.clipPath = `inset(0 ${100 - share}% 0 0)`;
    }
}
