// The photos that the filter finds, and the names: replies that arrive late, and photos that change before the reply.

import assert from "node:assert/strict";
import { test } from "node:test";

import { missingNames, Names } from "../../Sources/Surfaces/DarkroomWeb/Assets/names.js";
import { queryOf, Results } from "../../Sources/Surfaces/DarkroomWeb/Assets/results.js";
import { Clock, photo, photosWith, Server, settle, words } from "./support.mjs";

/** A page with results, of which `visible` is on the screen, and what the page was told. */
function open(test, { isLive = () => false, visible = { first: 0, count: 10 } } = {}) {
    const page = { clock: new Clock(test), server: new Server(test), photos: photosWith(isLive), visible, told: [] };
    page.results = new Results("/b", page.photos, {
        visible: () => page.visible, covers: isLive, changed() {}, searched: (failure) => page.told.push(failure),
    });
    page.found = () => Array.from({ length: page.results.count }, (_, position) => page.results.index(position));
    return page;
}

/** A reply with photos of these indexes. */
function pageOf(indexes, next = null, state = "filtered") {
    return { photos: indexes.map((index) => photo(index, state)), next };
}

const range = (first, count) => Array.from({ length: count }, (_, position) => first + position);

test("The query has the fields that are not empty", () => {
    assert.equal(queryOf([["state", "failed"], ["reason", ""], ["name", "a&b=c <d>"]]), "state=failed&name=a%26b%3Dc+%3Cd%3E");
    assert.equal(queryOf([["state", ""]]), "");
});

test("Without a filter, positions are indexes", (test) => {
    const { results } = open(test);
    assert.deepEqual([results.isFiltered, results.count, results.index(7), results.position(7)], [false, null, 7, 7]);
});

test("With a filter, positions are those of the results", async (test) => {
    const page = open(test);
    page.results.apply("state=filtered");
    assert.equal(page.results.count, 0);
    assert.deepEqual(page.told, [], "nothing is said before the end of the search");
    await page.server.last.reply(pageOf([3, 8, 20]));
    assert.deepEqual(page.server.addresses, ["/b/photos?state=filtered&first=0&limit=200"]);
    assert.deepEqual(page.found(), [3, 8, 20]);
    assert.deepEqual([0, 3, 4, 20, 21].map((index) => page.results.position(index)), [0, 0, 1, 2, 2]);
    assert.deepEqual([page.results.index(3), page.results.index(-1)], [undefined, undefined]);
    assert.deepEqual(words(page.photos, [3, 4]), ["filtered", "unknown"]);
    assert.deepEqual(page.told, [""]);
});

test("A search goes on until it has filled the screen", async (test) => {
    const page = open(test);
    page.results.apply("name=a");
    await page.server.last.reply(pageOf([], 5000));
    await page.server.last.reply(pageOf(range(5000, 6), 9000));
    assert.equal(page.server.requests.length, 3);
    await page.server.last.reply(pageOf(range(9000, 5), 12000));
    assert.equal(page.server.requests.length, 3);
    assert.deepEqual(page.server.addresses.map((address) => address.match(/first=(\d+)/)[1]), ["0", "5000", "9000"]);
    page.results.readMore();
    assert.equal(page.server.requests.length, 3, "the last result is not on the screen");
    page.visible = { first: 5, count: 10 };
    page.results.readMore();
    await settle();
    assert.match(page.server.last.address, /first=12000&/);
    page.results.readMore();
    assert.equal(page.server.requests.length, 4, "one request at a time");
    await page.server.last.reply(pageOf([12000]));
    await page.results.readMore();
    assert.equal(page.server.requests.length, 4, "this was the last page");
});

test("Results of an earlier filter that arrive late are not added", async (test) => {
    const page = open(test);
    page.results.apply("state=filtered");
    const late = page.server.last;
    page.results.apply("state=failed");
    await late.reply(pageOf([1, 2, 3]));
    assert.deepEqual(page.found(), []);
    assert.match(page.server.last.address, /state=failed&first=0&/);
    await page.server.last.reply(pageOf([7], null, "failed"));
    assert.deepEqual(page.found(), [7]);
});

test("A late page of the same filter does not begin its second application", async (test) => {
    const page = open(test, { visible: { first: 0, count: 3 } });
    page.results.apply("name=a");
    await page.server.last.reply(pageOf(range(0, 5), 100));
    page.visible = { first: 3, count: 3 };
    page.results.readMore();
    const late = page.server.last;
    assert.match(late.address, /first=100&/);
    page.results.apply("name=b");
    page.results.apply("name=a");
    page.visible = { first: 0, count: 3 };
    await late.reply(pageOf(range(100, 5), 200));
    assert.deepEqual(page.found(), []);
    assert.match(page.server.last.address, /name=a&first=0&/);
    await page.server.last.reply(pageOf(range(0, 5), 100));
    assert.deepEqual(page.found(), [0, 1, 2, 3, 4]);
});

test("A filter that has ended takes no results", async (test) => {
    const page = open(test);
    page.results.apply("name=a");
    await page.results.apply("");
    await page.server.last.reply(pageOf([1]));
    assert.deepEqual([page.results.isFiltered, page.results.count], [false, null]);
    assert.equal(page.server.requests.length, 1);
    assert.deepEqual(page.told, [""]);
});

test("Only the failure of the present filter is told", async (test) => {
    const page = open(test);
    page.results.apply("name=a");
    const late = page.server.last;
    page.results.apply("name=b");
    await late.reply({ detail: "a is wrong" }, 400);
    assert.deepEqual(page.told, []);
    await page.server.last.reply({ detail: "b is wrong" }, 400);
    assert.deepEqual(page.told, ["b is wrong"]);
});

test("Visible results are read again every two seconds at most, with new results among them", async (test) => {
    const page = open(test);
    page.results.apply("state=filtered");
    await page.server.last.reply(pageOf([3, 8]));
    page.results.refresh();
    page.results.refresh();
    await page.clock.advance(1999);
    assert.equal(page.server.requests.length, 1);
    await page.clock.advance(1);
    assert.equal(page.server.last.address, "/b/photos?state=filtered&first=0&limit=210");
    page.results.refresh();
    await page.server.last.reply(pageOf([3, 5, 8, 9]));
    assert.deepEqual(page.found(), [3, 5, 8, 9]);
    await page.clock.advance(2000);
    assert.equal(page.server.requests.length, 3, "something has changed during the reading");
    await page.server.last.reply(pageOf([3, 5, 8, 9]));
    await page.clock.advance(10_000);
    assert.equal(page.server.requests.length, 3);
});

test("Photos that no longer match stay with their new states, and final ones are read once in a round", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3, 8], null, "new"));
    const refresh = async () => {
        page.results.refresh();
        await page.clock.advance(2000);
        await page.server.last.reply(pageOf([8], null, "new"));
    };
    await refresh();
    assert.equal(page.server.last.address, "/b/photos/3");
    await page.server.last.reply(photo(3, "failed", "timeout"));
    assert.deepEqual(page.found(), [3, 8]);
    assert.deepEqual(words(page.photos, [3, 8]), ["failed", "new"]);
    await refresh();
    assert.match(page.server.last.address, /photos\?/, "photo 3 is final");
    page.results.startRound();
    await refresh();
    assert.equal(page.server.last.address, "/b/photos/3");
});

test("A photo that no longer matches is read again until it is final", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3], null, "new"));
    for (const state of ["downloaded", "downloaded", "filtered"]) {
        page.results.refresh();
        await page.clock.advance(2000);
        await page.server.last.reply(pageOf([]));
        assert.equal(page.server.last.address, "/b/photos/3");
        await page.server.last.reply(photo(3, state));
        assert.equal(page.photos.state(3).state, state);
    }
});

test("Results that were read again for an earlier filter are not added", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3, 8], null, "new"));
    page.results.refresh();
    await page.clock.advance(2000);
    const late = page.server.last;
    page.results.apply("state=failed");
    await page.server.last.reply(pageOf([5], null, "failed"));
    await late.reply(pageOf([3, 8, 9], null, "new"));
    assert.deepEqual(page.found(), [5]);
});

test("A reply from before a retry does not make a photo final", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3], null, "new"));
    page.results.refresh();
    await page.clock.advance(2000);
    await page.server.last.reply(pageOf([]));
    const late = page.server.last;
    page.results.startRound();
    await late.reply(photo(3, "failed", "timeout"));
    page.results.refresh();
    await page.clock.advance(2000);
    await page.server.last.reply(pageOf([]));
    assert.equal(page.server.last.address, "/b/photos/3");
    await page.server.last.reply(photo(3, "filtered"));
    assert.equal(page.photos.state(3).state, "filtered");
});

test("The stream reads the photos that it covers", async (test) => {
    const page = open(test, { isLive: (index) => index === 3 });
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3, 8], null, "new"));
    page.results.refresh();
    await page.clock.advance(2000);
    await page.server.last.reply(pageOf([]));
    assert.equal(page.server.last.address, "/b/photos/8");
});

test("Photos after the end of the page are not taken for photos that no longer match", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3, 8, 50], null, "new"));
    page.results.refresh();
    await page.clock.advance(2000);
    await page.server.last.reply(pageOf([3], 9, "new"));
    assert.equal(page.server.last.address, "/b/photos/8");
    await page.server.last.reply(photo(8, "filtered"));
    assert.equal(page.server.last.address, "/b/photos/8", "photo 50 was not in the page");
    page.visible = { first: 0, count: 3 };
    page.results.readMore();
    await settle();
    assert.match(page.server.last.address, /first=51&/, "the search goes on after the last result");
});

test("Photos of an earlier filter are not read any more", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3, 8], null, "new"));
    page.results.refresh();
    await page.clock.advance(2000);
    await page.server.last.reply(pageOf([]));
    assert.equal(page.server.last.address, "/b/photos/3");
    const late = page.server.last;
    page.results.apply("state=failed");
    await page.server.last.reply(pageOf([]));
    const count = page.server.requests.length;
    await late.reply(photo(3, "new"));
    assert.equal(page.server.requests.length, count);
});

test("Only results from the first visible one are read again, and not more than the server sends", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf(range(0, 200), null, "new"));
    for (const [count, query] of [[10, "first=50&limit=210"], [900, "first=50&limit=1000"]]) {
        page.visible = { first: 50, count };
        page.results.refresh();
        await page.clock.advance(2000);
        assert.equal(page.server.last.address, `/b/photos?state=new&${query}`);
        await page.server.last.reply(pageOf(range(50, 200), null, "new"));
    }
});

test("An outage that the stream reports is not told twice", async (test) => {
    const page = open(test);
    page.results.apply("state=new");
    await page.server.last.reply(pageOf([3], null, "new"));
    page.told.length = 0;
    for (const [status, told] of [[503, []], [404, []], [500, ["broken"]]]) {
        page.results.refresh();
        await page.clock.advance(2000);
        await page.server.last.reply({ detail: "broken" }, status);
        assert.deepEqual(page.told, told, `${status}`);
    }
});

test("Only names that were not read are asked for", () => {
    const isKnown = (index) => index < 5 || index === 7;
    assert.deepEqual(missingNames(3, 10, isKnown), { first: 5, count: 8 });
    assert.equal(missingNames(0, 5, isKnown), null);
    assert.equal(missingNames(7, 1, isKnown), null);
    assert.equal(missingNames(0, 0, isKnown), null);
});

test("Names are read for the place to which the grid has moved meanwhile", async (test) => {
    const server = new Server(test), photos = photosWith(), failures = [];
    let wanted = { first: 0, count: 3 };
    const names = new Names("/b", photos, { wanted: () => wanted, changed() {}, failed: (text) => failures.push(text) });
    names.read();
    names.read();
    assert.deepEqual(server.addresses, ["/b/photos?first=0&limit=3"]);
    wanted = { first: 90, count: 3 };
    await server.last.reply(pageOf(range(0, 3)));
    assert.deepEqual(server.addresses.slice(1), ["/b/photos?first=90&limit=3"]);
    assert.equal(photos.name(2), "2.jpg");
    assert.equal(photos.state(2).state, "unknown", "the states come from the stream");
    wanted = null;
    await server.last.reply({ detail: "too slow" }, 500);
    assert.deepEqual(failures, ["", "too slow"]);
    names.read();
    assert.equal(server.requests.length, 2, "small photos have no names");
});
