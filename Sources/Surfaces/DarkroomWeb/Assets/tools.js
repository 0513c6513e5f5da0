// The tools of the contact sheet: the size of the photos, the photos that run first, the search and the keys.

import { queryOf } from "./results.js";

const sizes = [32, 64, 112, 168, 256, 400, "row"];
const sizeNames = ["smallest", "very small", "small", "medium", "large", "very large", "one in each row"];
const standardSize = 2;
const keys = "Keys in the grid: arrows move, Enter opens, + and - change the size, g goes to an index, / searches a name.";

/** Adds a tool to the page. Returns its input. */
function tool(label, type, attributes) {
    const input = document.createElement("input");
    input.type = type;
    Object.assign(input, attributes);
    const place = document.createElement("label");
    place.append(...(type === "checkbox" ? [input, ` ${label}`] : [`${label} `, input]));
    document.querySelector(".tools").append(place);
    return input;
}

/** The slider for the size of the photos. The browser keeps the size. */
export class SizeTool {
    #input;
    #delegate;

    /** @param {Object} delegate resized(size), see `Grid.size`. */
    constructor(delegate) {
        this.#delegate = delegate;
        const value = localStorage.getItem("size") ?? standardSize;
        this.#input = tool("Size", "range", { min: 0, max: sizes.length - 1, value });
        this.#input.addEventListener("input", () => this.apply());
    }

    apply() {
        const value = this.#input.value;
        localStorage.setItem("size", value);
        this.#input.setAttribute("aria-valuetext", sizeNames[value]);
        this.#delegate.resized(sizes[value] ?? sizes[standardSize]);
    }

    step(steps) {
        this.#input.stepUp(steps);
        this.apply();
    }
}

/** The check box that lets the focus of the batch follow the visible photos. */
export class FollowTool {
    #input = tool("Visible photos run first", "checkbox", {});

    /** @param {Object} delegate followed(). */
    constructor(isReadOnly, delegate) {
        this.#input.parentElement.hidden = isReadOnly;
        this.#input.addEventListener("change", () => delegate.followed());
    }

    get isOn() { return this.#input.checked; }

    turnOff() { this.#input.checked = false; }
}

/** The form that chooses photos by their state, reason and name. */
export class FilterTool {
    #form = document.getElementById("filter");
    #delegate;

    /** @param {Object} delegate filtered(query), with an empty query for all photos. */
    constructor(delegate) {
        this.#delegate = delegate;
        this.#form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.apply();
        });
        this.#form.addEventListener("change", () => this.apply());
    }

    get query() { return queryOf(new FormData(this.#form)); }

    apply() {
        const query = this.query;
        history.replaceState(null, "", query ? `?${query}` : location.pathname);
        this.#delegate.filtered(query);
    }
}

/** The form that goes to an index. */
export class JumpTool {
    #input;

    /** @param {Object} delegate jumped(index). */
    constructor(delegate) {
        const form = document.getElementById("jump");
        this.#input = form.elements.first;
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            delegate.jumped(Number(this.#input.value));
        });
    }

    /** The number of photos. */
    set count(count) { this.#input.max = Math.max(0, count - 1); }
}

/** Handles the keys of the grid other than the keys that move. */
export function takeKeys(grid, sizeTool) {
    // Single keys that act on the whole page are easily pressed by mistake, for example by speech input (WCAG 2.1.4).
    grid.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = {
            "+": () => sizeTool.step(1), "-": () => sizeTool.step(-1),
            "/": () => enter(document.querySelector('#filter [name="name"]')),
            g: () => enter(document.querySelector('#jump [name="first"]')),
        }[event.key];
        if (!act) return;
        act();
        event.preventDefault();
    });
}

/** Moves the keyboard focus to a field, which may be in a closed panel. */
function enter(field) {
    field.closest("details").open = true;
    field.focus();
    field.select();
}

/** The explanation of the keys. */
export function legend() {
    const place = document.createElement("p");
    place.className = "legend";
    place.textContent = keys;
    return place;
}

/** Closes the panels in narrow windows, so that there is space for the photos. */
export function keepPanelsFitting() {
    const narrow = matchMedia("(max-width: 50rem)");
    const fit = () => {
        for (const panel of document.querySelectorAll(".panel")) panel.open = !narrow.matches;
    };
    narrow.addEventListener("change", fit);
    fit();
}
