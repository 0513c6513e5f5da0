// The states of the photos: the codes, and what the page keeps of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Details, includes, States } from "../../Sources/Surfaces/DarkroomWeb/Assets/states.js";
import { photo, photosWith, table, words } from "./support.mjs";

const block = 4096;
const [N, F] = [78, 70];

test("A code that the page does not know is that of a new failure reason", () => {
    assert.equal(table.state(103).text, "failed: timeout");
    assert.equal(table.state(0x99).text, "failed: other");
    assert.equal(table.state(255).state, "failed");
    assert.deepEqual(table.state("?".charCodeAt(0)), { state: "unknown", text: "" });
});

test("Photos of the HTTP API have the codes of the stream", () => {
    const code = (state, reason = null) => table.code({ state, reason });
    assert.deepEqual(["new", "downloaded", "filtered", "cancelled"].map((word) => code(word)), [78, 68, 70, 67]);
    assert.equal(code("failed", "host-unreachable"), 128);
    assert.equal(code("failed", "invented-later"), 122);
    assert.equal(code("failed"), 122);
    assert.equal(code("invented"), "?".charCodeAt(0));
    assert.equal(code("constructor"), "?".charCodeAt(0));
});

test("States begin and end anywhere in their blocks", () => {
    const states = new States();
    states.set(block - 2, [N, N, F, F]);
    const around = [block - 3, block - 2, block - 1, block, block + 1, block + 2];
    assert.deepEqual(around.map((index) => String.fromCharCode(states.code(index))), ["?", "N", "N", "F", "F", "?"]);
    states.set(0, new Array(3 * block).fill(F));
    assert.deepEqual([0, block, 3 * block - 1].map((index) => states.code(index)), [F, F, F]);
});

test("The states that were stored last are kept", () => {
    const all = new States();
    let count = 0;
    do all.set(count++ * block, [F]); while (all.code(0) === F);
    assert.ok((count - 1) * block >= 1_000_000, `${count - 1} blocks`);
    const states = new States();
    for (let number = 0; number < count - 1; number++) states.set(number * block, [F]);
    states.set(block - 2, [78, 78, 78, 78]);
    states.set((count - 1) * block, [F]);
    const known = [0, block - 1, block, 2 * block, (count - 1) * block].map((index) => states.code(index));
    assert.deepEqual(known, [F, 78, 78, "?".charCodeAt(0), F]);
});

test("Indexes outside of the list are unknown and change nothing", () => {
    const photos = photosWith();
    photos.merge([{ first: 0, states: "FFF" }, { first: -2, states: "NN" }]);
    assert.deepEqual(words(photos, [0, 1, 2]), ["filtered", "filtered", "filtered"]);
    assert.deepEqual(words(photos, [-1, -5000, 0.5, 2 ** 53, Infinity, NaN, undefined]), new Array(7).fill("unknown"));
});

test("A code outside of Latin-1 is not mistaken for another state", () => {
    const photos = photosWith();
    photos.merge([{ first: 0, states: "\u0146\u0143\u{1f600}F" }]);
    assert.deepEqual(words(photos, [0, 1]), ["failed", "failed"]);
});

test("The latest event of the stream decides", () => {
    const photos = photosWith();
    photos.merge([{ first: 10, states: "NNNN" }]);
    photos.merge([{ first: 11, states: "P" }, { first: 13, states: "\u0080" }]);
    assert.deepEqual(words(photos, [9, 10, 11, 12, 13, 14]), ["unknown", "new", "progress", "new", "failed", "unknown"]);
    assert.equal(photos.state(13).reason, "host-unreachable");
    photos.merge([{ first: 11, states: "F" }]);
    assert.equal(photos.state(11).text, "filtered");
    photos.merge([]);
    photos.merge([{ first: 11, states: "" }]);
    assert.equal(photos.state(11).text, "filtered");
});

test("A late reply does not replace a state of the stream", () => {
    const photos = photosWith((index) => index < 2);
    photos.merge([{ first: 0, states: "P" }, { first: 2, states: "P" }]);
    photos.add([photo(0, "new"), photo(1, "failed", "timeout"), photo(2, "new")]);
    assert.deepEqual(words(photos, [0, 1, 2]), ["progress", "failed", "new"]);
    assert.deepEqual([0, 1, 2].map((index) => photos.name(index)), ["0.jpg", "1.jpg", "2.jpg"]);
});

test("Names come without states, and a missing name was read", () => {
    const photos = photosWith();
    photos.addNames([photo(3, "filtered"), { ...photo(4), name: null }]);
    assert.deepEqual([photos.name(3), photos.name(4), photos.name(5)], ["3.jpg", null, undefined]);
    assert.equal(photos.state(3).state, "unknown");
});

test("The names that were read first are removed first", () => {
    const details = new Details();
    for (let first = 0; first < 25000; first += 1000) {
        details.add(Array.from({ length: 1000 }, (_, position) => photo(first + position)));
    }
    assert.equal(details.get(4999), undefined);
    assert.equal(details.get(5000).name, "5000.jpg");
    assert.equal(details.get(24999).name, "24999.jpg");
    details.add([photo(5000)]);
    details.add([photo(25000)]);
    assert.equal(details.get(5000).name, "5000.jpg");
    assert.equal(details.get(5001), undefined);
});

test("An event says whether it contains a photo", () => {
    const parts = [{ first: 5, states: "NN" }, { first: 20, states: "F" }];
    assert.deepEqual([4, 5, 6, 7, 20, 21].map((index) => includes(parts, index)), [false, true, true, false, true, false]);
    assert.equal(includes([], 0), false);
});
