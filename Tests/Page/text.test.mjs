// Texts from photo lists and servers, and the notices.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Attempts, cellTexts, pictureAddress, thumbnailWidth } from "../../Sources/Surfaces/DarkroomWeb/Assets/cells.js";
import { Notices } from "../../Sources/Surfaces/DarkroomWeb/Assets/notices.js";
import { linksOf } from "../../Sources/Surfaces/DarkroomWeb/Assets/photo.js";
import { number, photoName, printable } from "../../Sources/Surfaces/DarkroomWeb/Assets/text.js";
import { table } from "./support.mjs";

test("Characters without a visible form are escaped", () => {
    assert.equal(printable("line\nbreak\r\ttab"), "line\\nbreak\\r\\ttab");
    assert.equal(printable("right \u202e gpj.exe"), "right \\u{202e} gpj.exe");
    assert.equal(printable("zero\u200bwidth\u2066isolate"), "zero\\u{200b}width\\u{2066}isolate");
    assert.equal(printable("\0 \x1b[31m \x9b"), "\\u{0} \\u{1b}[31m \\u{9b}");
    assert.equal(printable("\u2028 \ufeff \u{e0041}"), "\\u{2028} \\u{feff} \\u{e0041}");
});

test("Joiners stay in emoji and in scripts that need them, but not between Latin letters", () => {
    const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u2764\ufe0f";
    assert.equal(printable(family), family);
    const persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645";
    assert.equal(printable(persian), persian);
    assert.equal(printable("a\u200db"), "a\\u{200d}b");
});

test("Visible text stays as it is", () => {
    const texts = ["", "plain", "é 中文 ع", "<b>&amp;</b>", "\\u{202e}", "\u05e6\u05d9"];
    assert.deepEqual(texts.map(printable), texts);
});

test("Numbers have separators", () => {
    assert.deepEqual([0, 999, 1000, 1234567, -1234].map(number), ["0", "999", "1,000", "1,234,567", "-1,234"]);
    assert.equal(photoName(12), "Photo 12");
});

test("A cell shows the name, and the state in place of a picture", () => {
    const filtered = table.state(70), failed = table.state(103);
    assert.deepEqual(cellTexts(5, filtered, "a.jpg", true), { title: "a.jpg", word: "", label: "Photo 5, a.jpg, filtered" });
    assert.deepEqual(cellTexts(5, filtered, "a.jpg", false).word, "filtered");
    assert.deepEqual(cellTexts(6, failed, null, false), { title: "", word: "timeout", label: "Photo 6, failed: timeout" });
    assert.deepEqual(cellTexts(7, table.state(63), undefined, false), { title: "", word: "", label: "Photo 7" });
});

test("A hostile name remains text in the title and in the label", () => {
    const { title, label } = cellTexts(1, table.state(78), "<img src=x onerror=alert(1)>\u202e", false);
    assert.equal(title, "<img src=x onerror=alert(1)>\\u{202e}");
    assert.equal(label, `Photo 1, ${title}, new`);
});

test("The width of a thumbnail fits the screen", () => {
    const widths = [[112, 1], [128, 1], [129, 1], [112, 2], [64, 2], [64, 3], [300, 1], [301, 1], [512, 1], [513, 1]];
    const found = widths.map(([width, ratio]) => thumbnailWidth(width, ratio));
    assert.deepEqual(found, [128, 128, 256, 256, 128, 128, 256, 512, 512, 1024]);
});

test("Only photos whose files the server shows have pictures", () => {
    const all = { api: "/b", round: "2", files: "", originals: "" };
    assert.equal(pictureAddress(all, 3, "filtered", 128), "/b/photos/3/thumbnail?width=128&v=2");
    assert.equal(pictureAddress(all, 3, "downloaded", 256), "/b/photos/3/original/thumbnail?width=256&v=2");
    for (const state of ["new", "progress", "failed", "cancelled", "unknown", "constructor"]) {
        assert.equal(pictureAddress(all, 3, state, 128), null, state);
    }
    assert.equal(pictureAddress({ api: "/b", round: "2" }, 3, "filtered", 128), null);
    assert.equal(pictureAddress({ api: "/b", round: "2", files: "" }, 3, "downloaded", 128), null);
});

test("A picture is read four times, with growing pauses", () => {
    const attempts = new Attempts();
    assert.ok(attempts.isDue(0));
    let now = 5;
    for (const pause of [1000, 2000, 3000]) {
        assert.equal(attempts.fail(now), pause);
        assert.ok(!attempts.isDue(now + pause - 1));
        now += pause;
        assert.ok(attempts.isDue(now));
    }
    attempts.fail(now);
    assert.ok(!attempts.isDue(Infinity));
});

test("The large view has links to the files that exist", () => {
    const sheet = { api: "/api/b", page: "/b", round: "1", files: "", originals: "" };
    const photo = { index: 4, state: "filtered", url: "https://a.example/" };
    assert.deepEqual(linksOf(sheet, photo), {
        page: "/b/photos/4", file: "/api/b/photos/4/file?download=1",
        picture: "/api/b/photos/4/thumbnail?width=1024&v=1", original: "/api/b/photos/4/original/thumbnail?width=1024&v=1",
    });
    const failed = linksOf(sheet, { ...photo, state: "failed" });
    assert.deepEqual([failed.file, failed.picture, failed.original !== null], [null, null, true]);
    assert.equal(linksOf(sheet, { ...photo, state: "new" }).original, null);
    assert.equal(linksOf(sheet, { ...photo, url: null }).original, null);
    const { file, picture, original } = linksOf({ api: "/api/b", page: "/b", round: "1" }, photo);
    assert.deepEqual([file, picture, original], [null, null, null]);
});

test("Each source has one notice, until it removes it", () => {
    const notices = new Notices();
    notices.set("connection", "away");
    notices.set("filter", "nothing\nfound");
    notices.set("connection", "still away");
    assert.equal(notices.text, "still away\nnothing\\nfound");
    notices.set("connection", "");
    notices.set("names", "");
    assert.equal(notices.text, "nothing\\nfound");
});
