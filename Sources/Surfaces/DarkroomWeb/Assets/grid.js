// A grid of photos in which only the visible rows exist. A million photos scroll like a hundred.

const gap = 4;
const captionHeight = 19;
// Browsers limit the height of elements. In a higher grid, the scroll bar has a coarser scale.
const mostPixels = 8_000_000;
const spareRows = 2;
const restTime = 150;

export class Grid {
    #element;
    #rows = document.createElement("div");
    #lines = new Map();
    #spare = [];
    // What all rows have in common: columns, and the size of a cell. Rows are made anew only if it changes.
    #shape = "";
    #size = 112;
    #columns = 1;
    #count = 0;
    #top = 0;
    #height = 0;
    #width = 0;
    #lastScroll = 0;
    #active = 0;
    #restTimer = 0;
    #isScrolling = false;
    #frame = 0;

    /**
     * @param {HTMLElement} element the element that scrolls.
     * @param {Object} delegate fill(cell, position, isResting), open(position), moved(first, count), rested(first, count).
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
    get count() { return this.#count; }

    set count(count) {
        if (count === this.#count) return;
        this.#count = count;
        this.#measure();
    }

    /** The height and width of a photo in pixels; "row" is one photo in each row. */
    set size(size) {
        const first = this.visible.first;
        this.#size = size;
        this.#measure();
        this.scrollTo(first);
    }

    /** The width of a photo in pixels. */
    get photoWidth() { return this.#cellWidth; }

    /** The photos on the screen. */
    get visible() {
        const first = Math.floor(this.#top / this.#rowHeight) * this.#columns;
        const last = Math.ceil((this.#top + this.#height) / this.#rowHeight) * this.#columns;
        return { first: Math.min(first, this.#count), count: Math.max(0, Math.min(last, this.#count) - first) };
    }

    get active() { return this.#active; }

    /** Makes a cell the current one, and scrolls so that it is visible. */
    activate(position) {
        this.#active = Math.max(0, Math.min(position, this.#count - 1));
        const top = Math.floor(this.#active / this.#columns) * this.#rowHeight;
        if (top < this.#top) this.#moveTo(top);
        if (top + this.#rowHeight > this.#top + this.#height) this.#moveTo(top + this.#rowHeight - this.#height);
        this.#schedule();
    }

    /** Scrolls so that a cell is in the first row. */
    scrollTo(position) {
        this.#moveTo(Math.floor(position / this.#columns) * this.#rowHeight);
        this.#schedule();
    }

    /** Draws the visible cells again. */
    update() { this.#schedule(); }

    // Geometry.

    /** The cells of a row share its width. */
    get #cellWidth() {
        if (this.#isSingle) return Math.min(this.#width - 2 * gap, 960);
        return Math.floor((this.#width - gap) / this.#columns) - gap;
    }

    get #cellHeight() {
        if (this.isDense) return this.#cellWidth;
        const height = this.#cellWidth * (this.#isSingle ? 0.66 : 1) + captionHeight;
        // A single photo is wholly visible.
        return Math.round(this.#isSingle ? Math.min(height, this.#height - 2 * gap) : height);
    }

    get isDense() { return !this.#isSingle && this.#size < 100; }

    get #isSingle() { return this.#size === "row"; }

    get #rowHeight() { return this.#cellHeight + gap; }

    get #total() { return Math.ceil(this.#count / this.#columns) * this.#rowHeight; }

    /** The pixels of the content for each pixel of the scroll bar. */
    get #scale() {
        const room = Math.min(this.#total, mostPixels) - this.#height;
        return this.#total <= mostPixels || room <= 0 ? 1 : (this.#total - this.#height) / room;
    }

    #measure() {
        const first = this.visible.first;
        this.#width = this.#element.clientWidth;
        this.#height = this.#element.clientHeight;
        this.#columns = this.#isSingle ? 1 : Math.max(1, Math.floor((this.#width - gap) / (this.#size + gap)));
        this.#rows.style.height = `${Math.min(this.#total, mostPixels)}px`;
        this.#element.setAttribute("aria-rowcount", Math.ceil(this.#count / this.#columns));
        this.#element.setAttribute("aria-colcount", this.#columns);
        this.#element.classList.toggle("is-dense", this.isDense);
        this.#element.classList.toggle("is-single", this.#isSingle);
        const shape = `${this.#columns} ${this.#cellWidth} ${this.#cellHeight}`;
        const isSame = shape === this.#shape;
        if (!isSame) {
            this.#shape = shape;
            this.#rows.replaceChildren();
            this.#lines.clear();
            this.#spare = [];
        }
        // If only the height has changed, for example because a notice above has gone, the photos stay where they are.
        const top = isSame
            ? Math.max(0, Math.min(this.#top, this.#total - this.#height))
            : Math.floor(first / this.#columns) * this.#rowHeight;
        if (top !== this.#top) this.#moveTo(top);
        this.#schedule();
        this.#rest();
    }

    // Scrolling.

    #moveTo(top) {
        this.#top = Math.max(0, Math.min(top, this.#total - this.#height));
        this.#lastScroll = Math.round(this.#top / this.#scale);
        this.#element.scrollTop = this.#lastScroll;
        this.#isScrolling = true;
        this.#rest();
    }

    #scrolled() {
        const scroll = this.#element.scrollTop;
        const step = scroll - this.#lastScroll;
        if (step === 0) return;
        this.#lastScroll = scroll;
        const end = this.#element.scrollHeight - this.#height;
        // Small steps, such as those of a wheel, move by pixels even if the scroll bar has a coarser scale.
        const isStep = Math.abs(step) < this.#height && scroll > 0 && scroll < end;
        const top = isStep ? this.#top + step : scroll * this.#scale;
        this.#top = Math.max(0, Math.min(top, this.#total - this.#height));
        this.#isScrolling = true;
        this.#schedule();
        this.#rest();
    }

    #rest() {
        clearTimeout(this.#restTimer);
        this.#restTimer = setTimeout(() => {
            this.#isScrolling = false;
            // After many small steps the scroll bar is elsewhere than the content.
            const scroll = Math.round(this.#top / this.#scale);
            if (Math.abs(scroll - this.#element.scrollTop) > 1 && this.#scale > 1) {
                this.#lastScroll = scroll;
                this.#element.scrollTop = scroll;
            }
            this.#draw();
            const { first, count } = this.visible;
            this.delegate.rested(first, count);
        }, restTime);
    }

    #pressed(event) {
        const page = Math.max(1, Math.floor(this.#height / this.#rowHeight)) * this.#columns;
        const rowStart = this.#active - this.#active % this.#columns;
        const targets = {
            ArrowRight: this.#active + 1, ArrowLeft: this.#active - 1,
            ArrowDown: this.#active + this.#columns, ArrowUp: this.#active - this.#columns,
            PageDown: this.#active + page, PageUp: this.#active - page,
            Home: event.ctrlKey ? 0 : rowStart, End: event.ctrlKey ? this.#count - 1 : rowStart + this.#columns - 1,
        };
        if (event.key in targets && !event.altKey && !event.metaKey) {
            this.activate(targets[event.key]);
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
        const height = this.#rowHeight;
        const last = Math.ceil(this.#count / this.#columns) - 1;
        const from = Math.max(0, Math.floor(this.#top / height) - spareRows);
        const to = Math.min(last, Math.floor((this.#top + this.#height) / height) + spareRows);
        for (const [number, line] of this.#lines) {
            if (number >= from && number <= to) continue;
            this.#lines.delete(number);
            this.#spare.push(line);
        }
        // The rows have their place in the scrolled element, which is smaller than the content if the scale is coarse.
        const shift = this.#element.scrollTop - this.#top;
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
        const activeLine = Math.floor(this.#active / this.#columns);
        if (this.#lines.has(activeLine)) this.#element.setAttribute("aria-activedescendant", `cell-${this.#active}`);
        else this.#element.removeAttribute("aria-activedescendant");
        const { first, count } = this.visible;
        this.delegate.moved(first, count);
    }

    #makeLine() {
        const line = document.createElement("div");
        line.className = "row";
        line.setAttribute("role", "row");
        for (let column = 0; column < this.#columns; column++) {
            const cell = document.createElement("div");
            cell.setAttribute("role", "gridcell");
            cell.setAttribute("aria-colindex", column + 1);
            cell.style.width = `${this.#cellWidth}px`;
            cell.style.height = `${this.#cellHeight}px`;
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
        for (let column = 0; column < this.#columns; column++) {
            const cell = line.children[column];
            const position = number * this.#columns + column;
            cell.hidden = position >= this.#count;
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

    /** Takes the photo from a cell, because another cell may get its id. */
    #release(cell) {
        cell.removeAttribute("id");
        delete cell.dataset.position;
    }
}
