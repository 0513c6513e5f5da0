// The large view of one photo.

import { call } from "./api.js";
import { photoName, printable } from "./text.js";

const pictureWidth = 1024;

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/**
 * The addresses of the file, of the original and of the page of a photo; null in place of a missing file or original.
 * @param {DOMStringMap} sheet the data of the page.
 * @param {Object} photo in the form of the HTTP API.
 */
export function linksOf(sheet, photo) {
    const address = `${sheet.api}/photos/${photo.index}`, query = `width=${pictureWidth}&v=${sheet.round}`;
    const hasFile = "files" in sheet && photo.state === "filtered";
    const hasOriginal = "originals" in sheet && photo.url !== null && photo.state !== "new";
    return {
        page: `${sheet.page}/photos/${photo.index}`,
        file: hasFile ? `${address}/file?download=1` : null,
        picture: hasFile ? `${address}/thumbnail?${query}` : null,
        original: hasOriginal ? `${address}/original/thumbnail?${query}` : null,
    };
}

export class PhotoView {
    #sheet;
    #photos;
    #step;
    #index = 0;
    #dialog = document.getElementById("photo-view").content.firstElementChild.cloneNode(true);
    #title = this.#dialog.querySelector("h1");
    #stage = this.#dialog.querySelector(".stage");
    #facts = this.#dialog.querySelector(".facts");
    #file = this.#dialog.querySelector('[data-link="file"]');
    #page = this.#dialog.querySelector('[data-link="page"]');
    #compare = this.#dialog.querySelector(".compare");

    /**
     * @param {DOMStringMap} sheet the data of the page.
     * @param {Function} step moves the grid by a number of photos, and returns the index of the photo there; null at the
     *     ends of the grid.
     */
    constructor(sheet, photos, step) {
        this.#sheet = sheet;
        this.#photos = photos;
        this.#step = step;
        const actions = { previous: () => this.#move(-1), next: () => this.#move(1), close: () => this.#dialog.close() };
        for (const [name, act] of Object.entries(actions)) {
            this.#dialog.querySelector(`[data-action="${name}"]`).addEventListener("click", act);
        }
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
            const photo = await call("GET", `${this.#sheet.api}/photos/${index}`);
            if (index === this.#index) this.#draw(photo);
        } catch (error) {
            if (index !== this.#index) return;
            this.#title.textContent = photoName(index);
            this.#showFacts([{ name: "error", value: error.message }]);
            this.#stage.replaceChildren();
            for (const part of [this.#file, this.#page, this.#compare]) part.hidden = true;
        }
    }

    #move(step) {
        const index = this.#step(step);
        if (index !== null) this.show(index);
    }

    #draw(photo) {
        const { page, file, picture, original } = linksOf(this.#sheet, photo);
        const name = printable(photo.name ?? photoName(photo.index));
        this.#title.textContent = name;
        this.#file.hidden = file === null;
        this.#file.href = file ?? "";
        this.#page.hidden = false;
        this.#page.href = page;
        this.#compare.hidden = picture === null || original === null;
        const words = element("p", {}, this.#text(photo));
        const pictures = picture ? [element("img", { alt: name, src: picture })] : [];
        if (original) {
            const before = element("img", { class: "before", alt: this.#stage.dataset.original, src: original });
            // Not every photo has an original: the download may have failed, or somebody has removed the file.
            before.addEventListener("error", () => {
                this.#compare.hidden = true;
                before.replaceWith(...(picture ? [] : [words]));
            });
            pictures.push(before);
        }
        this.#stage.replaceChildren(...(pictures.length > 0 ? pictures : [words]));
        this.#divide();
        this.#showFacts(photo.facts);
    }

    /** The state in words. The stream knows whether the photo is in progress; the reply knows why the photo has failed. */
    #text(photo) {
        return photo.reason ? this.#photos.text(photo) : this.#photos.state(photo.index).text || this.#photos.text(photo);
    }

    #showFacts(facts) {
        this.#facts.replaceChildren(...facts.flatMap(({ name, value }) =>
            [element("dt", {}, name), element("dd", {}, printable(value))]));
    }

    /** Shows the original to the left of the slider, and the filtered photo to its right. */
    #divide() {
        const before = this.#stage.querySelector(".before");
        if (!before) return;
        const share = this.#compare.hidden ? 100 : Number(this.#compare.value);
        before.style.clipPath = `inset(0 ${100 - share}% 0 0)`;
    }
}
