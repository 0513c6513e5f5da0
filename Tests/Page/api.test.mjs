// Requests to the HTTP API: replies, failures and their messages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { call, isReportedByStream } from "../../Sources/Surfaces/DarkroomWeb/Assets/api.js";
import { Server } from "./support.mjs";

test("Fields are sent as JSON, and the reply is an object", async (test) => {
    const server = new Server(test);
    const result = call("POST", "/b/suspend", { part: "downloads" });
    const { method, address, body } = server.last;
    assert.deepEqual([method, address, body], ["POST", "/b/suspend", { part: "downloads" }]);
    await server.last.reply({ id: "b" });
    assert.deepEqual(await result, { id: "b" });
    assert.equal(server.reloads, 0);
});

test("A reply without a body is null", async (test) => {
    const server = new Server(test);
    const result = call("DELETE", "/b");
    assert.equal(server.last.body, null);
    globalThis.fetch = async () => new Response(null, { status: 204 });
    assert.equal(await call("DELETE", "/b"), null);
    await server.last.reply({});
    await result;
});

test("A failure has the text of the server and its status", async (test) => {
    const server = new Server(test);
    const result = call("GET", "/b");
    await Promise.all([
        assert.rejects(result, { message: "batch <b>x</b> is not in Redis", status: 404 }),
        server.last.reply({ detail: "batch <b>x</b> is not in Redis" }, 404),
    ]);
});

test("A failure that is not from the HTTP API has its status, and its body is not shown", async (test) => {
    new Server(test);
    const headers = { "Content-Type": "text/html" };
    globalThis.fetch = async () => new Response("<h1>Bad gateway</h1>", { status: 502, headers });
    await assert.rejects(call("GET", "/b"), { message: "The server answered with status 502.", status: 502 });
});

test("A server that is away is named", async (test) => {
    const server = new Server(test);
    const result = call("GET", "/b");
    await Promise.all([assert.rejects(result, { message: "The server does not answer." }), server.last.fail()]);
});

test("A page without a login is loaded again", async (test) => {
    const server = new Server(test);
    const result = call("GET", "/b");
    await Promise.all([assert.rejects(result, { status: 401 }), server.last.reply({ detail: "log in" }, 401)]);
    assert.equal(server.reloads, 1);
});

test("The stream reports that the batch is gone and that Redis is away", () => {
    const statuses = [400, 401, 404, 500, 502, 503, undefined];
    assert.deepEqual(statuses.filter((status) => isReportedByStream({ status })), [404, 503]);
});
