// The positions of the photos in a grid: the calculations of `Grid`, without elements.

export const gap = 4;
const captionHeight = 19;
// Browsers limit the height of elements. In a taller grid, the scroll bar has a coarser scale.
const mostPixels = 8_000_000;
const spareRows = 2;

export class Layout {
    /** The number of cells. */
    count = 0;
    #size = 112;
    #columns = 1;
    #top = 0;
    #height = 0;
    #width = 0;

    /** The height and width of a photo in pixels; "row" is one photo in each row. */
    set size(size) { this.#size = size; }

    /** Applies the size of the grid in pixels, and a new `size` or `count`. */
    measure(width, height) {
        this.#width = width;
        this.#height = height;
        this.#columns = this.isSingle ? 1 : Math.max(1, Math.floor((width - gap) / (this.#size + gap)));
    }

    get columns() { return this.#columns; }

    /** The width of a cell: the cells of a row divide the width of the grid among them. */
    get cellWidth() {
        if (this.isSingle) return Math.min(this.#width - 2 * gap, 960);
        return Math.floor((this.#width - gap) / this.#columns) - gap;
    }

    get cellHeight() {
        if (this.isDense) return this.cellWidth;
        const height = this.cellWidth * (this.isSingle ? 0.66 : 1) + captionHeight;
        // A single photo is wholly visible.
        return Math.round(this.isSingle ? Math.min(height, this.#height - 2 * gap) : height);
    }

    get isDense() { return !this.isSingle && this.#size < 100; }

    get isSingle() { return this.#size === "row"; }

    get rowHeight() { return this.cellHeight + gap; }

    get rowCount() { return Math.ceil(this.count / this.#columns); }

    /** The position in the content, in pixels, that is at the upper edge of the grid. */
    get top() { return this.#top; }

    set top(top) { this.#top = this.clampTop(top); }

    /** The nearest top at which the grid shows only content. */
    clampTop(top) { return Math.max(0, Math.min(top, this.#total - this.#height)); }

    /** The cells on the screen. */
    get visible() {
        const first = Math.floor(this.#top / this.rowHeight) * this.#columns;
        const last = Math.ceil((this.#top + this.#height) / this.rowHeight) * this.#columns;
        return { first: Math.min(first, this.count), count: Math.max(0, Math.min(last, this.count) - first) };
    }

    /** The first and the last row that must exist. */
    get rows() {
        const height = this.rowHeight;
        return {
            from: Math.max(0, Math.floor(this.#top / height) - spareRows),
            to: Math.min(this.rowCount - 1, Math.floor((this.#top + this.#height) / height) + spareRows),
        };
    }

    rowOf(position) { return Math.floor(position / this.#columns); }

    /** The top at which a cell is in the first row. */
    topOf(position) { return this.rowOf(position) * this.rowHeight; }

    /** The nearest top at which a cell is visible. */
    topToShow(position) {
        const top = this.topOf(position);
        return Math.max(Math.min(this.#top, top), top + this.rowHeight - this.#height);
    }

    // The scroll bar.

    /** The height of the scrolled element: the height of the content, limited to `mostPixels`. */
    get scrollHeight() { return Math.min(this.#total, mostPixels); }

    get isCoarse() { return this.#scale > 1; }

    /** The position of the scroll bar for the current top. */
    get scroll() { return Math.round(this.#top / this.#scale); }

    /**
     * Follows the scroll bar.
     * @param {number} scroll its new position.
     * @param {number} step the distance from its last position.
     * @param {number} end its last possible position.
     */
    follow(scroll, step, end) {
        // Small steps, such as those of a wheel, move by pixels even if the scroll bar has a coarser scale.
        const isStep = Math.abs(step) < this.#height && scroll > 0 && scroll < end;
        this.top = isStep ? this.#top + step : scroll * this.#scale;
    }

    get #total() { return this.rowCount * this.rowHeight; }

    /** The number of pixels of the content for each pixel of the scroll bar. */
    get #scale() {
        const room = this.scrollHeight - this.#height;
        return this.#total <= mostPixels || room <= 0 ? 1 : (this.#total - this.#height) / room;
    }

    // The keyboard.

    /** The cell to which a key moves from the cell at `position`; undefined for other keys. */
    target(key, position, isControl) {
        const page = Math.max(1, Math.floor(this.#height / this.rowHeight)) * this.#columns;
        const rowStart = position - position % this.#columns;
        switch (key) {
            case "ArrowRight": return position + 1;
            case "ArrowLeft": return position - 1;
            case "ArrowDown": return position + this.#columns;
            case "ArrowUp": return position - this.#columns;
            case "PageDown": return position + page;
            case "PageUp": return position - page;
            case "Home": return isControl ? 0 : rowStart;
            case "End": return isControl ? this.count - 1 : rowStart + this.#columns - 1;
            default: return undefined;
        }
    }

    /** The position of the cell that is nearest to a position. */
    clamp(position) { return Math.max(0, Math.min(position, this.count - 1)); }
}
