// Where the photos of the grid are, and which of them the page asks for.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Layout } from "../../Sources/Surfaces/DarkroomWeb/Assets/layout.js";
import { rangeOf, windowAround } from "../../Sources/Surfaces/DarkroomWeb/Assets/windows.js";

/** A grid of 1,164 x 500 pixels: 10 photos of 112 pixels and more in each row. */
function layoutOf(count, { size = 112, width = 1164, height = 500 } = {}) {
    const layout = new Layout();
    layout.count = count;
    layout.size = size;
    layout.measure(width, height);
    return layout;
}

test("The cells of a row share its width", () => {
    const layout = layoutOf(1000);
    assert.equal(layout.columns, 10);
    assert.equal(layout.cellWidth, 112);
    assert.equal(layout.cellHeight, 112 + 19);
    assert.equal(layoutOf(1000, { width: 1279 }).columns, 10);
    assert.equal(layoutOf(1000, { width: 1279 }).cellWidth, 123);
    assert.equal(layoutOf(1000, { width: 1280 }).columns, 11);
    assert.equal(layoutOf(1000, { width: 50 }).columns, 1);
});

test("Small photos have no names, and a single photo is wholly visible", () => {
    const dense = layoutOf(1000, { size: 32 });
    assert.ok(dense.isDense);
    assert.equal(dense.cellHeight, dense.cellWidth);
    assert.equal(layoutOf(1, { size: 99 }).isDense, true);
    assert.equal(layoutOf(1, { size: 100 }).isDense, false);
    const single = layoutOf(1000, { size: "row" });
    assert.deepEqual([single.columns, single.isDense, single.cellWidth], [1, false, 960]);
    assert.equal(single.cellHeight, 492);
    assert.equal(layoutOf(1000, { size: "row", width: 408, height: 900 }).cellHeight, 283);
});

test("Partly visible rows are visible", () => {
    const layout = layoutOf(1000);
    const height = layout.rowHeight;
    assert.deepEqual(layout.visible, { first: 0, count: 40 });
    layout.top = height - 1;
    assert.deepEqual(layout.visible, { first: 0, count: 50 });
    layout.top = height;
    assert.deepEqual(layout.visible, { first: 10, count: 40 });
});

test("The last row may be incomplete", () => {
    const layout = layoutOf(23);
    assert.equal(layout.rowCount, 3);
    assert.deepEqual(layout.visible, { first: 0, count: 23 });
    assert.deepEqual(layoutOf(0).visible, { first: 0, count: 0 });
    assert.deepEqual(layoutOf(0).rows, { from: 0, to: -1 });
});

test("Two rows before and after the screen exist", () => {
    const layout = layoutOf(1000);
    assert.deepEqual(layout.rows, { from: 0, to: 5 });
    layout.top = 50 * layout.rowHeight;
    assert.deepEqual(layout.rows, { from: 48, to: 55 });
    layout.top = Infinity;
    assert.equal(layout.rows.to, 99);
    assert.equal(layout.visible.first + layout.visible.count, 1000);
});

test("The grid shows only content", () => {
    const layout = layoutOf(1000);
    layout.top = -5;
    assert.equal(layout.top, 0);
    layout.top = 1e12;
    assert.equal(layout.top, 100 * layout.rowHeight - 500);
    const small = layoutOf(5);
    small.top = 300;
    assert.equal(small.top, 0);
});

test("A cell is shown with the shortest way", () => {
    const layout = layoutOf(1000);
    const height = layout.rowHeight;
    layout.top = 10 * height;
    assert.equal(layout.topToShow(115), 10 * height, "already visible");
    assert.equal(layout.topToShow(95), 9 * height, "above");
    assert.equal(layout.topToShow(205), 21 * height - 500, "below");
    assert.equal(layout.topOf(205), 20 * height);
});

test("Positions outside of the grid become the nearest cell", () => {
    const layout = layoutOf(100);
    assert.deepEqual([-1, 0, 99, 100, 1e9].map((position) => layout.clamp(position)), [0, 0, 99, 99, 99]);
    assert.equal(layoutOf(0).clamp(5), 0);
});

test("The scroll bar of a high grid has a coarser scale, but a wheel moves by pixels", () => {
    const layout = layoutOf(1_000_000);
    assert.equal(layout.scrollHeight, 8_000_000);
    assert.ok(layout.isCoarse);
    assert.ok(!layoutOf(1000).isCoarse);
    const end = layout.scrollHeight - 500;
    layout.follow(4_000_000, 4_000_000, end);
    assert.ok(Math.abs(layout.visible.first - 500_000) < 1000, `${layout.visible.first}`);
    assert.ok(Math.abs(layout.scroll - 4_000_000) <= 1);
    const before = layout.top;
    layout.follow(4_000_100, 100, end);
    assert.equal(layout.top, before + 100);
    layout.follow(end, 200, end);
    assert.equal(layout.visible.first + layout.visible.count, 1_000_000, "the end of the bar is the end of the grid");
    layout.follow(0, -200, end);
    assert.equal(layout.top, 0);
});

test("Keys move by cells, rows and screens", () => {
    const layout = layoutOf(1000);
    const from = (key, isControl = false) => layout.target(key, 234, isControl);
    const keys = ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"];
    assert.deepEqual(keys.map((key) => from(key)), [235, 233, 244, 224, 264, 204, 230, 239]);
    assert.deepEqual([from("Home", true), from("End", true)], [0, 999]);
    assert.deepEqual(["a", "Enter", "toString", "constructor"].map((key) => from(key)), new Array(4).fill(undefined));
});

test("The window has a screen before and after the visible photos", () => {
    assert.deepEqual(windowAround(1000, 50), { first: 950, count: 150 });
    assert.deepEqual(windowAround(20, 50), { first: 0, count: 150 });
    assert.deepEqual(windowAround(0, 0), { first: 0, count: 0 });
});

test("The window is not larger than the server allows", () => {
    assert.deepEqual(windowAround(10_000, 3000), { first: 9000, count: 5000 });
    assert.deepEqual(windowAround(10_000, 5000), { first: 10_000, count: 5000 });
    assert.deepEqual(windowAround(10_000, 6000), { first: 10_000, count: 5000 });
});

test("A range has all photos from the first to the last, if they are not far from each other", () => {
    assert.deepEqual(rangeOf(40, 60), { first: 40, last: 60, count: 21 });
    assert.deepEqual(rangeOf(7, 7), { first: 7, last: 7, count: 1 });
    assert.equal(rangeOf(0, 4999).count, 5000);
    assert.equal(rangeOf(0, 5000), null);
    assert.equal(rangeOf(0, -1), null);
    assert.equal(rangeOf(undefined, undefined), null);
});
