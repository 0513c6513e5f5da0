// A grid of photos in which only the visible rows exist, so that a million photos scroll as fast as a hundred.

import { gap, Layout } from "./layout.js";

const restTime = 150;

export class Grid {
    #element;
    #layout = new Layout();
    #rows = document.createElement("div");
    #lines = new Map();
    #spare = [];
    // The number of columns and the size of a cell. Only a change of this number or of this size recreates the rows.
    #shape = "";
    #lastScroll = 0;
    #active = 0;
    #restTimer = 0;
    #isScrolling = false;
    #frame = 0;

    /**
     * @param {HTMLElement} element the element that scrolls.
     * @param {Object} delegate fill(cell, position, isResting, isActive), open(position), rested(first, count).
     */
    constructor(element, delegate) {
        this.#element = element;
        this.delegate = delegate;
        this.#rows.className = "rows";
        this.#rows.setAttribute("role", "presentation");
        element.append(this.#rows);
        element.addEventListener("scroll", () => this.#scrolled(), { passive: true });
        element.addEventListener("keydown", (event) => this.#pressed(event));
        element.addEventListener("click", (event) => {
            const cell = event.target.closest(".cell");
            if (!cell) return;
            this.activate(Number(cell.dataset.position));
            this.delegate.open(this.#active);
        });
        new ResizeObserver(() => this.#measure()).observe(element);
    }

    /** The number of cells. */
    get count() { return this.#layout.count; }

    set count(count) {
        if (count === this.#layout.count) return;
        this.#layout.count = count;
        this.#measure();
    }

    /** The height and width of a photo in pixels; "row" is one photo in each row. */
    set size(size) {
        const first = this.visible.first;
        this.#layout.size = size;
        this.#measure();
        this.scrollTo(first);
    }

    /** The width of a photo in pixels. */
    get photoWidth() { return this.#layout.cellWidth; }

    /** The photos on the screen. */
    get visible() { return this.#layout.visible; }

    get isDense() { return this.#layout.isDense; }

    get active() { return this.#active; }

    /** Makes a cell the current one, and scrolls so that it is visible. */
    activate(position) {
        this.#active = this.#layout.clamp(position);
        const top = this.#layout.topToShow(this.#active);
        if (top !== this.#layout.top) this.#moveTo(top);
        this.#schedule();
    }

    /** Scrolls so that a cell is in the first row. */
    scrollTo(position) {
        this.#moveTo(this.#layout.topOf(position));
        this.#schedule();
    }

    /** Draws the visible cells again. */
    update() { this.#schedule(); }

    #measure() {
        const layout = this.#layout;
        const first = layout.visible.first;
        layout.measure(this.#element.clientWidth, this.#element.clientHeight);
        this.#rows.style.height = `${layout.scrollHeight}px`;
        this.#element.setAttribute("aria-rowcount", layout.rowCount);
        this.#element.setAttribute("aria-colcount", layout.columns);
        this.#element.classList.toggle("is-dense", layout.isDense);
        this.#element.classList.toggle("is-single", layout.isSingle);
        const shape = `${layout.columns} ${layout.cellWidth} ${layout.cellHeight}`;
        const isSame = shape === this.#shape;
        if (!isSame) {
            this.#shape = shape;
            this.#rows.replaceChildren();
            this.#lines.clear();
            this.#spare = [];
        }
        // If only the height has changed, for example because a notice above has gone, the photos stay where they are.
        const top = isSame ? layout.clampTop(layout.top) : layout.topOf(first);
        if (top !== layout.top) this.#moveTo(top);
        this.#schedule();
        this.#rest();
    }

    // Scrolling.

    #moveTo(top) {
        this.#layout.top = top;
        this.#lastScroll = this.#layout.scroll;
        this.#element.scrollTop = this.#lastScroll;
        this.#isScrolling = true;
        this.#rest();
    }

    #scrolled() {
        const { scrollTop, scrollHeight, clientHeight } = this.#element;
        const step = scrollTop - this.#lastScroll;
        if (step === 0) return;
        this.#lastScroll = scrollTop;
        this.#layout.follow(scrollTop, step, scrollHeight - clientHeight);
        this.#isScrolling = true;
        this.#schedule();
        this.#rest();
    }

    #rest() {
        clearTimeout(this.#restTimer);
        this.#restTimer = setTimeout(() => {
            this.#isScrolling = false;
            // After many small steps, the position of the scroll bar differs from the position of the content.
            const scroll = this.#layout.scroll;
            if (Math.abs(scroll - this.#element.scrollTop) > 1 && this.#layout.isCoarse) {
                this.#lastScroll = scroll;
                this.#element.scrollTop = scroll;
            }
            this.#draw();
            const { first, count } = this.visible;
            this.delegate.rested(first, count);
        }, restTime);
    }

    #pressed(event) {
        const target = this.#layout.target(event.key, this.#active, event.ctrlKey);
        if (target !== undefined && !event.altKey && !event.metaKey) {
            this.activate(target);
        } else if (event.key === "Enter" || event.key === " ") {
            this.delegate.open(this.#active);
        } else {
            return;
        }
        event.preventDefault();
    }

    // Drawing.

    #schedule() {
        if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
    }

    #draw() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        const height = this.#layout.rowHeight;
        const { from, to } = this.#layout.rows;
        for (const [number, line] of this.#lines) {
            if (number >= from && number <= to) continue;
            this.#lines.delete(number);
            this.#spare.push(line);
        }
        // The rows have their place in the scrolled element, which is smaller than the content if the scale is coarse.
        const shift = this.#element.scrollTop - this.#layout.top;
        for (let number = from; number <= to; number++) {
            let line = this.#lines.get(number);
            if (!line) {
                line = this.#spare.pop() ?? this.#makeLine();
                line.hidden = false;
                line.setAttribute("aria-rowindex", number + 1);
                this.#lines.set(number, line);
            }
            line.style.transform = `translateY(${number * height + shift + gap}px)`;
            this.#fill(line, number);
        }
        for (const line of this.#spare) this.#hide(line);
        const activeLine = this.#layout.rowOf(this.#active);
        if (this.#lines.has(activeLine)) this.#element.setAttribute("aria-activedescendant", `cell-${this.#active}`);
        else this.#element.removeAttribute("aria-activedescendant");
    }

    #makeLine() {
        const line = document.createElement("div");
        line.className = "row";
        line.setAttribute("role", "row");
        for (let column = 0; column < this.#layout.columns; column++) {
            const cell = document.createElement("div");
            cell.setAttribute("role", "gridcell");
            cell.setAttribute("aria-colindex", column + 1);
            cell.style.width = `${this.#layout.cellWidth}px`;
            cell.style.height = `${this.#layout.cellHeight}px`;
            const image = document.createElement("img");
            image.alt = "";
            const word = document.createElement("span");
            word.className = "word";
            const name = document.createElement("span");
            name.className = "name";
            cell.append(image, word, name);
            line.append(cell);
        }
        this.#rows.append(line);
        return line;
    }

    #fill(line, number) {
        for (let column = 0; column < this.#layout.columns; column++) {
            const cell = line.children[column];
            const position = number * this.#layout.columns + column;
            cell.hidden = position >= this.#layout.count;
            if (cell.hidden) {
                this.#release(cell);
                continue;
            }
            if (cell.dataset.position !== String(position)) {
                cell.dataset.position = position;
                cell.id = `cell-${position}`;
            }
            cell.setAttribute("aria-selected", position === this.#active);
            this.delegate.fill(cell, position, !this.#isScrolling, position === this.#active);
        }
    }

    /** Hides a row until it is used again, also from screen readers. */
    #hide(line) {
        if (line.hidden) return;
        line.hidden = true;
        for (const cell of line.children) this.#release(cell);
    }

    /** Removes the id and the photo of a cell, because another cell may get this id. */
    #release(cell) {
        cell.removeAttribute("id");
        delete cell.dataset.position;
    }
}
