// The stream: the view that the page sends, late replies, and reconnection.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Live } from "../../Sources/Surfaces/DarkroomWeb/Assets/live.js";
import { Clock, Server, settle, Streams } from "./support.mjs";

/** A page whose stream is open, and what the page was told. */
async function open(test, { isOpen = true } = {}) {
    const page = { clock: new Clock(test), server: new Server(test), streams: new Streams(test), told: [] };
    const note = (name) => (...values) => page.told.push([name, ...values]);
    const names = ["batch", "states", "unfollow", "away", "back", "gone"];
    page.live = new Live("/b", "/streams", Object.fromEntries(names.map((name) => [name, note(name)])));
    page.live.open();
    if (isOpen) {
        await page.streams.last.send("stream", { id: "s1" });
        await page.server.last.reply(null, 204);
        await page.clock.advance(100);
    }
    return page;
}

const viewsOf = ({ server }) => server.requests.filter(({ method }) => method === "PUT");

test("The stream gets the view, and the page gets its events", async (test) => {
    const page = await open(test, { isOpen: false });
    assert.equal(page.streams.last.address, "/b/events?first=0&count=200");
    page.live.show(40, 20);
    await page.clock.advance(100);
    assert.equal(page.server.requests.length, 0, "the page does not know the stream yet");
    await page.streams.last.send("stream", { id: "s1" });
    const { address, method, body } = page.server.last;
    assert.deepEqual([address, method, body], ["/streams/s1/view", "PUT", { first: 40, count: 20, follow: "" }]);
    await page.streams.last.send("batch", { round: 1 });
    await page.streams.last.send("states", { parts: [{ first: 0, states: "N" }], photos: 9 });
    assert.deepEqual(page.told, [["batch", { round: 1 }], ["states", [{ first: 0, states: "N" }], 9]]);
});

test("Several views at the same moment are one request, and the same view is not sent again", async (test) => {
    const page = await open(test);
    const before = page.server.requests.length;
    for (const first of [10, 20, 30]) page.live.show(first, 5);
    await page.clock.advance(100);
    assert.deepEqual(page.server.requests.slice(before).map(({ body }) => body.first), [30]);
    await page.server.last.reply(null, 204);
    page.live.show(30, 5);
    await page.clock.advance(100);
    assert.equal(page.server.requests.length, before + 1);
});

test("The server gets one view at a time, and the last one after its reply", async (test) => {
    const page = await open(test);
    const before = viewsOf(page).length;
    for (const first of [10, 20, 30]) {
        page.live.show(first, 5);
        await page.clock.advance(100);
    }
    assert.deepEqual(viewsOf(page).slice(before).map(({ body }) => body.first), [10]);
    await page.server.last.reply(null, 204);
    await page.clock.advance(100);
    assert.deepEqual(viewsOf(page).slice(before).map(({ body }) => body.first), [10, 30]);
});

test("A view that the server has not taken is sent again, after a pause", async (test) => {
    const page = await open(test);
    const before = viewsOf(page).length;
    page.live.show(10, 5);
    await page.clock.advance(100);
    await page.server.last.reply({ detail: "busy" }, 503);
    await page.clock.advance(2900);
    assert.equal(viewsOf(page).length, before + 1);
    await page.clock.advance(200);
    assert.equal(viewsOf(page).length, before + 2);
    await page.server.last.fail();
    await page.clock.advance(3100);
    assert.equal(viewsOf(page).length, before + 3);
    assert.equal(page.server.last.body.first, 10);
});

test("The stream covers the photos of its view, as long as it is open", async (test) => {
    const page = await open(test);
    page.live.show(40, 20);
    assert.deepEqual([39, 40, 59, 60].map((index) => page.live.covers(index)), [false, true, true, false]);
    await page.streams.last.break();
    assert.equal(page.live.covers(40), false);
});

test("The browser connects again: the page says so, and sends its view to the new stream", async (test) => {
    const page = await open(test);
    page.live.show(40, 20);
    await page.clock.advance(100);
    await page.server.last.reply(null, 204);
    await page.clock.advance(100);
    await page.streams.last.break();
    assert.deepEqual(page.told.at(-1), ["away", "The connection to the server is interrupted. Trying again."]);
    const before = page.server.requests.length;
    await page.clock.advance(10_000);
    assert.equal(page.server.requests.length, before, "nothing is sent without a stream");
    assert.equal(page.streams.all.length, 1, "the browser itself connects again");
    await page.streams.last.send("stream", { id: "s2" });
    assert.equal(page.server.last.address, "/streams/s2/view");
    assert.equal(page.server.last.body.first, 40);
    page.told.length = 0;
    await page.streams.last.send("batch", { round: 1 });
    await page.streams.last.send("batch", { round: 1 });
    assert.deepEqual(page.told.map(([name]) => name), ["batch", "back", "batch"]);
});

test("A late reply about an earlier stream does not count for the new one", async (test) => {
    const page = await open(test);
    page.live.show(40, 20);
    await page.clock.advance(100);
    const late = page.server.last;
    await page.streams.last.break();
    await page.streams.last.send("stream", { id: "s2" });
    assert.equal(page.server.last, late, "one request at a time");
    await late.reply(null, 204);
    await page.clock.advance(100);
    assert.deepEqual([page.server.last.address, page.server.last.body.first], ["/streams/s2/view", 40]);
});

test("A late failure of an earlier stream does not delay the view of the new one", async (test) => {
    const page = await open(test);
    page.live.show(40, 20);
    await page.clock.advance(100);
    const late = page.server.last;
    await page.streams.last.break();
    await page.streams.last.send("stream", { id: "s2" });
    await late.fail();
    await page.clock.advance(100);
    assert.equal(page.server.last.address, "/streams/s2/view");
});

test("A refused stream is opened again at the present view, with the reason as a notice", async (test) => {
    const page = await open(test);
    page.live.show(40, 20);
    await page.streams.last.break({ isRefused: true });
    assert.deepEqual([page.server.last.method, page.server.last.address], ["GET", "/b"]);
    await page.server.last.reply({ id: "b" });
    assert.match(page.told.at(-1)[1], /too many pages may be open/);
    await page.clock.advance(2999);
    assert.equal(page.streams.all.length, 1);
    await page.clock.advance(1);
    assert.equal(page.streams.all.length, 2);
    assert.equal(page.streams.last.address, "/b/events?first=40&count=20");
    await page.streams.last.break({ isRefused: true });
    await page.server.last.fail();
    assert.deepEqual(page.told.at(-1), ["away", "The server does not answer. Trying again."]);
    await page.clock.advance(3000);
    assert.equal(page.streams.all.length, 3);
});

test("A batch that is gone is not asked for again", async (test) => {
    const page = await open(test);
    await page.streams.last.break({ isRefused: true });
    await page.server.last.reply({ detail: "no such batch" }, 404);
    assert.deepEqual(page.told.at(-1), ["gone"]);
    await page.clock.advance(10_000);
    assert.equal(page.streams.all.length, 1);
});

test("A stream that says that the batch is gone is closed", async (test) => {
    const page = await open(test);
    await page.streams.last.send("gone", {});
    assert.deepEqual(page.told.at(-1), ["gone"]);
    assert.equal(page.streams.last.readyState, 2);
    assert.equal(page.live.covers(0), false);
});

test("A page that must log in again is loaded again, and asks for nothing else", async (test) => {
    const page = await open(test);
    await page.streams.last.break({ isRefused: true });
    await page.server.last.reply({ detail: "not logged in" }, 401);
    assert.equal(page.server.reloads, 1);
    await page.clock.advance(10_000);
    assert.equal(page.streams.all.length, 1);
});

test("The notice of Redis is the text of the server", async (test) => {
    const page = await open(test);
    await page.streams.last.send("away", { detail: "Redis does not answer: <b>refused</b>" });
    assert.deepEqual(page.told.at(-1), ["away", "Redis does not answer: <b>refused</b>. Trying again."]);
});

test("The focus follows the view until somebody else takes it", async (test) => {
    const page = await open(test);
    page.live.follow("0-9");
    await page.clock.advance(100);
    assert.equal(page.server.last.body.follow, "0-9");
    await page.server.last.reply(null, 204);
    await page.streams.last.send("follow", { following: true });
    assert.deepEqual(page.told, []);
    await page.streams.last.send("follow", { following: false });
    assert.match(page.told.at(-1)[1], /^Somebody else has changed the focus/);
    await page.clock.advance(100);
    page.live.show(10, 10);
    await page.clock.advance(100);
    assert.equal(page.server.last.body.follow, "", "the page does not take the focus again");
});

test("A lost focus is reported once, also if the message overtakes the reply", async (test) => {
    const page = await open(test);
    page.live.follow("0-9");
    await page.clock.advance(100);
    await page.streams.last.send("follow", { following: false });
    assert.deepEqual(page.told, []);
    await page.server.last.reply(null, 204);
    assert.deepEqual(page.told.map(([name]) => name), ["unfollow"]);
    await page.streams.last.send("follow", { following: false });
    assert.equal(page.told.length, 1);
});

test("A message about an end that the page itself has caused is no loss", async (test) => {
    const page = await open(test);
    page.live.follow("0-9");
    await page.clock.advance(100);
    await page.server.last.reply(null, 204);
    page.live.follow("");
    await page.streams.last.send("follow", { following: false });
    assert.deepEqual(page.told, []);
});

test("A loss from before the page has asked for the focus is none", async (test) => {
    const page = await open(test);
    page.live.follow("0-9");
    await page.streams.last.send("follow", { following: false });
    assert.deepEqual(page.told, []);
    await page.clock.advance(100);
    assert.equal(page.server.last.body.follow, "0-9");
});

test("A loss of a focus that the page has ended meanwhile does not count for the next one", async (test) => {
    const page = await open(test);
    page.live.follow("0-9");
    await page.clock.advance(100);
    await page.streams.last.send("follow", { following: false });
    for (const photos of ["", "5-9"]) {
        page.live.follow(photos);
        await page.server.last.reply(null, 204);
        await page.clock.advance(100);
        assert.equal(page.server.last.body.follow, photos);
    }
    await page.server.last.reply(null, 204);
    assert.deepEqual(page.told, []);
});

test("A server that forbids the focus says why", async (test) => {
    const page = await open(test);
    page.live.follow("0-9");
    await page.clock.advance(100);
    await page.server.last.reply({ detail: "this server changes nothing" }, 403);
    assert.deepEqual(page.told, [["unfollow", "this server changes nothing"]]);
});

test("A page that is left gives the focus back at once", async (test) => {
    const page = await open(test);
    const before = viewsOf(page).length;
    page.streams.leave();
    await settle();
    assert.equal(viewsOf(page).length, before, "there is no focus to give back");
    page.live.follow("0-9");
    await page.clock.advance(100);
    await page.server.last.reply(null, 204);
    page.streams.leave();
    await settle();
    assert.equal(page.server.last.body.follow, "");
});
