// The facts of a batch: counts, the bar, and the controls that can be used.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressesOf, barPieces, countsOf, isUsable, stateStyle } from "../../Sources/Surfaces/DarkroomWeb/Assets/facts.js";

const states = ["filtered", "failed", "cancelled", "downloaded"];

function batch(changes = {}, counts = {}) {
    return {
        state: "executing", suspended: false, downloadsSuspended: false, filtrationsSuspended: false, cancelled: false,
        photos: 100, counts: { new: 0, downloaded: 0, filtered: 0, failed: 0, cancelled: 0, ...counts }, ...changes,
    };
}

test("The counts have the names of the page", () => {
    const counts = countsOf(batch({}, { new: 90, failed: 10 }));
    assert.deepEqual(counts, { photos: 100, new: 90, downloaded: 0, filtered: 0, failed: 10, cancelled: 0 });
});

test("The pieces of the bar follow each other", () => {
    const pieces = barPieces(batch({}, { filtered: 50, failed: 10, downloaded: 5, new: 35 }), states);
    assert.deepEqual(pieces, [{ x: 0, width: 500 }, { x: 500, width: 100 }, { x: 600, width: 0 }, { x: 600, width: 50 }]);
});

test("Rounding leaves no gap and no overlap", () => {
    const pieces = barPieces(batch({ photos: 3 }, { filtered: 1, failed: 1, cancelled: 1 }), states);
    assert.deepEqual(pieces.map(({ x }) => x), [0, 333, 666, 1000]);
    assert.equal(pieces.reduce((sum, { width }) => sum + width, 0), 1000);
});

test("The bar of an empty batch is empty, and counts that are too high do not leave it", () => {
    const empty = barPieces(batch({ photos: 0 }), states);
    assert.deepEqual(empty, new Array(4).fill({ x: 0, width: 0 }));
    const pieces = barPieces(batch({ photos: 10 }, { filtered: 8, failed: 7 }), states);
    assert.deepEqual(pieces, [{ x: 0, width: 800 }, { x: 800, width: 200 }, { x: 1000, width: 0 }, { x: 1000, width: 0 }]);
});

test("Damage decides the style before the cancellation and the state", () => {
    assert.equal(stateStyle(batch()), "executing");
    assert.equal(stateStyle(batch({ cancelled: true })), "cancelled");
    assert.equal(stateStyle(batch({ cancelled: true, damage: ["photos is \"-5\""] })), "damaged");
});

test("Open batches can be controlled", () => {
    assert.equal(isUsable("open", batch()), true);
    assert.equal(isUsable("open", batch({ state: "finished" })), false);
    assert.equal(isUsable("open", batch({ cancelled: true })), false);
});

test("What is suspended can be resumed, and the other way round", () => {
    const suspended = batch({ downloadsSuspended: true });
    assert.equal(isUsable("open suspended-downloads", suspended), true);
    assert.equal(isUsable("open not-suspended-downloads", suspended), false);
    assert.equal(isUsable("open suspended-filtrations", suspended), false);
    assert.equal(isUsable("open not-suspended-filtrations", suspended), true);
    assert.equal(isUsable("open suspended-everything", batch({ suspended: true })), true);
    assert.equal(isUsable("open suspended-downloads", batch({ downloadsSuspended: true, state: "finished" })), false);
});

test("Only failed photos of a batch that is not cancelled can be retried", () => {
    assert.equal(isUsable("retriable", batch()), false);
    assert.equal(isUsable("retriable", batch({ state: "finished" }, { failed: 1 })), true);
    assert.equal(isUsable("retriable", batch({ cancelled: true }, { failed: 1 })), false);
});

test("The addresses of remedies contain the prefix of the site, the batch and the name", () => {
    assert.deepEqual(addressesOf({ name: "resume", batch: "20261121-090501123-7f3a" }, "/photos/"), {
        page: "/photos/batches/20261121-090501123-7f3a/resume",
        api: "/photos/api/v1/batches/20261121-090501123-7f3a/resume",
    });
    assert.deepEqual(addressesOf({ name: "resume", batch: null }, "/"), { page: "/cluster/resume", api: "/api/v1/resume" });
    assert.equal(addressesOf({ name: "a/b", batch: "../x" }, "/").page, "/batches/..%2Fx/a%2Fb");
});
