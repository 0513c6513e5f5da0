// The modules as files: the server sends all of them, and none makes markup from text.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const web = new URL("../../Sources/Surfaces/DarkroomWeb/", import.meta.url);
const read = (path) => readFileSync(new URL(path, web), "utf8");
const names = readdirSync(new URL("Assets/", web)).filter((name) => name.endsWith(".js"));

test("The server sends each script and the style sheet", () => {
    const listed = read("Pages/StaticFiles.swift");
    for (const name of [...names, "style.css"]) assert.ok(listed.includes(`StaticFile("${name}"`), name);
});

test("Each import is an export of a module", () => {
    let count = 0;
    for (const name of names) {
        for (const [, imported, from] of read(`Assets/${name}`).matchAll(/^import \{([^}]*)\} from "\.\/([^"]*)";$/gm)) {
            for (const word of imported.split(",").map((word) => word.trim())) {
                const exported = new RegExp(`^export (async )?(class|const|function) ${word}\\b`, "m");
                assert.match(read(`Assets/${from}`), exported, name);
                count++;
            }
        }
    }
    assert.ok(count > 20, `${count} imports`);
});

test("No script makes markup or code from text", () => {
    const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|javascript:/;
    for (const name of names) assert.doesNotMatch(read(`Assets/${name}`), markup, name);
});
