// The contact sheet: a grid of all photos of a batch, with live states. It replaces the table of the page.

import { Cells } from "./cells.js";
import { showFacts } from "./facts.js";
import { Grid } from "./grid.js";
import { Live } from "./live.js";
import { Names } from "./names.js";
import { notice } from "./notices.js";
import { PhotoView } from "./photo.js";
import { Results } from "./results.js";
import { includes, Photos, StateTable } from "./states.js";
import { FilterTool, FollowTool, JumpTool, keepPanelsFitting, legend, SizeTool, takeKeys } from "./tools.js";
import { mostStates, rangeOf, windowAround } from "./windows.js";

function gridElement() {
    const element = document.createElement("div");
    element.className = "grid";
    element.tabIndex = 0;
    element.setAttribute("role", "grid");
    element.setAttribute("aria-label", "Contact sheet");
    element.setAttribute("aria-readonly", "true");
    return element;
}

class ContactSheet {
    // The data of the page.
    #sheet;
    // The number of photos of the batch.
    #count;
    #photos;
    #cells;
    #grid;
    #live;
    #names;
    #results;
    #view;
    #sizeTool;
    #followTool;
    #filterTool;
    #jumpTool;

    constructor(section) {
        const sheet = this.#sheet = section.dataset;
        this.#count = Number(sheet.photos);
        this.#photos = new Photos(new StateTable(JSON.parse(sheet.states)), (index) => this.#live.covers(index));
        this.#makeReaders();
        const element = gridElement();
        this.#cells = new Cells(element, sheet, this.#photos, {
            photoWidth: () => this.#grid.photoWidth,
            retry: () => this.#grid.update(),
        });
        this.#makeTools(element);
        section.replaceChildren(element, legend());
        this.#grid = new Grid(element, {
            fill: (cell, position, isResting, isActive) =>
                this.#cells.fill(cell, this.#results.index(position), isResting, isActive),
            open: (position) => {
                const index = this.#results.index(position);
                if (index !== undefined) this.#view.show(index);
            },
            rested: (first, count) => this.#rested(first, count),
        });
        this.#view = new PhotoView(sheet, this.#photos, (step) => this.#step(step));
        document.addEventListener("answered", ({ detail }) => {
            if (detail?.id === sheet.batch) this.#showBatch(detail);
        });
        keepPanelsFitting();
    }

    /** Makes the objects that read the batch from the server. */
    #makeReaders() {
        const sheet = this.#sheet;
        this.#live = new Live(sheet.api, sheet.streams, {
            batch: (batch) => this.#showBatch(batch),
            states: (parts, count) => this.#showStates(parts, count),
            unfollow: (why) => {
                this.#followTool.turnOff();
                notice("follow", why);
            },
            away: (text) => notice("connection", text),
            back: () => this.#continue(),
            gone: () => this.#end(),
        });
        this.#names = new Names(sheet.api, this.#photos, {
            wanted: () => (this.#grid.isDense || this.#results.isFiltered ? null : this.#grid.visible),
            changed: () => this.#grid.update(),
            failed: (text) => notice("names", text),
        });
        this.#results = new Results(sheet.api, this.#photos, {
            visible: () => this.#grid.visible,
            covers: (index) => this.#live.covers(index),
            changed: () => {
                this.#showCount();
                this.#grid.update();
            },
            searched: (failure) => notice("filter", failure || (this.#results.count === 0 ? sheet.empty : "")),
        });
    }

    #makeTools(element) {
        this.#sizeTool = new SizeTool({ resized: (size) => { this.#grid.size = size; } });
        this.#followTool = new FollowTool("readOnly" in this.#sheet, { followed: () => this.#follow() });
        this.#filterTool = new FilterTool({ filtered: (query) => this.#filter(query) });
        this.#jumpTool = new JumpTool({
            jumped: (index) => {
                this.#show(this.#results.position(index));
                element.focus();
            },
        });
        takeKeys(element, this.#sizeTool);
    }

    start() {
        this.#sizeTool.apply();
        this.#showCount();
        const first = Number(this.#sheet.first);
        if (this.#filterTool.query) this.#filterTool.apply();
        else if (first > 0) this.#show(first);
        this.#live.open();
    }

    /** Makes a photo the current one, in the first row. */
    #show(position) {
        this.#grid.scrollTo(position);
        this.#grid.activate(position);
    }

    /** Moves by a number of photos. Returns the index of the photo there; null at the ends of the grid. */
    #step(step) {
        const before = this.#grid.active;
        this.#grid.activate(before + step);
        return this.#grid.active === before ? null : this.#results.index(this.#grid.active) ?? null;
    }

    #showCount() {
        this.#grid.count = this.#results.count ?? this.#count;
    }

    async #filter(query) {
        await this.#results.apply(query);
        this.#grid.scrollTo(0);
    }

    // What is visible.

    async #rested(first, count) {
        if (this.#results.isFiltered) {
            await this.#results.readMore();
            const range = this.#range(first, count);
            if (range) this.#live.show(range.first, range.count);
            this.#results.refresh();
        } else {
            const wanted = windowAround(first, count);
            this.#live.show(wanted.first, wanted.count);
        }
        if (this.#followTool.isOn) this.#follow();
        this.#names.read();
    }

    /** The range of the visible photos. Null if no photo is visible, or if the visible photos are far from each other. */
    #range(first, count) {
        const most = this.#results.isFiltered ? count : Math.min(count, mostStates);
        const last = Math.min(first + most, this.#grid.count) - 1;
        return rangeOf(this.#results.index(first), this.#results.index(last));
    }

    #follow() {
        const { first, count } = this.#grid.visible;
        const range = this.#followTool.isOn ? this.#range(first, count) : null;
        const isFar = this.#followTool.isOn && count > 0 && !range;
        notice("follow", isFar ? "The visible photos do not run first: they are far from each other in the list." : "");
        this.#live.follow(range ? `${range.first}-${range.last}` : "");
    }

    // Live changes.

    #showBatch(batch) {
        if (String(batch.round) !== this.#sheet.round) {
            this.#sheet.round = batch.round;
            this.#results.startRound();
            this.#grid.update();
        }
        showFacts(batch);
        this.#jumpTool.count = batch.photos;
        // The reply to a control may be older than the last states.
        this.#count = Math.max(this.#count, batch.photos);
        this.#showCount();
        if (this.#results.isFiltered) this.#results.refresh();
    }

    #showStates(parts, count) {
        this.#count = count;
        this.#photos.merge(parts);
        this.#showCount();
        this.#grid.update();
        if (this.#view.isOpen && includes(parts, this.#view.index)) this.#view.update();
    }

    /** Goes on after an interruption. */
    #continue() {
        notice("connection", "");
        notice("control", "");
        this.#cells.forgetFailures();
        const { first, count } = this.#grid.visible;
        this.#rested(first, count);
    }

    #end() {
        notice("connection", "The batch was forgotten.");
        for (const part of document.querySelectorAll(".panel, .more")) part.hidden = true;
        if (this.#view.isOpen) this.#view.update();
    }
}

const section = document.getElementById("sheet");
if (section) new ContactSheet(section).start();
