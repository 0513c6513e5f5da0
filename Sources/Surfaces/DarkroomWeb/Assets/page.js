// What all pages share: a part that is read again every two seconds, and forms that use the HTTP API.

import { printable } from "./text.js";

const interval = 2000;
const notices = new Map();

/**
 * Shows a message above the page until the same source has another message. An empty text removes the message.
 * @param {string} source what the message is about, such as "connection".
 */
export function notice(source, text) {
    if (text) notices.set(source, printable(text));
    else notices.delete(source);
    const place = document.getElementById("notice");
    const shown = [...notices.values()].join("\n");
    if (place.textContent !== shown) place.textContent = shown;
}

/**
 * Calls the HTTP API.
 * @returns the object of the reply; null if it has no body.
 * @throws an Error whose message says what failed.
 */
export async function call(method, address, fields) {
    const options = { method, headers: { Accept: "application/json" } };
    if (fields) {
        options.headers["Content-Type"] = "application/json";
        options.body = JSON.stringify(fields);
    }
    let reply;
    try {
        reply = await fetch(address, options);
    } catch {
        throw new Error("The server does not answer.");
    }
    if (reply.status === 401) location.reload();
    const text = await reply.text();
    const isJSON = (reply.headers.get("Content-Type") ?? "").includes("json");
    if (!reply.ok) {
        const error = new Error(isJSON ? JSON.parse(text).detail : `The server answered with status ${reply.status}.`);
        error.status = reply.status;
        throw error;
    }
    return isJSON ? JSON.parse(text) : null;
}

/** The fields of a form: a text for each name, or an array if the form has several values for it. */
function fieldsOf(form) {
    const fields = {};
    const data = new FormData(form);
    for (const name of new Set(data.keys())) {
        const values = data.getAll(name);
        fields[name] = values.length === 1 ? values[0] : values;
    }
    return fields;
}

document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.dataset.api) return;
    event.preventDefault();
    notice("control", "");
    try {
        const reply = await call(form.dataset.method, form.dataset.api, fieldsOf(form));
        form.dispatchEvent(new CustomEvent("answered", { bubbles: true, detail: reply }));
    } catch (error) {
        notice("control", error.message);
    }
});

/**
 * Makes an element equal to another one, and keeps its parts that are equal already: so a table keeps its scroll position
 * and the keyboard focus.
 */
function update(current, newer) {
    if (current.nodeName !== newer.nodeName) {
        current.replaceWith(newer);
    } else if (current.nodeType !== Node.ELEMENT_NODE) {
        if (current.data !== newer.data) current.data = newer.data;
    } else if (!current.isEqualNode(newer)) {
        for (const { name } of [...current.attributes]) {
            if (!newer.hasAttribute(name)) current.removeAttribute(name);
        }
        for (const { name, value } of newer.attributes) {
            if (current.getAttribute(name) !== value) current.setAttribute(name, value);
        }
        const [children, others] = [[...current.childNodes], [...newer.childNodes]];
        for (const extra of children.slice(others.length)) extra.remove();
        others.forEach((other, position) => {
            if (position < children.length) update(children[position], other);
            else current.append(other);
        });
    }
}

/** Reads the page of a part again, and updates the part. */
async function refresh(part) {
    let reply;
    try {
        reply = await fetch(part.dataset.refresh || location.href, { headers: { Accept: "text/html" } });
    } catch {
        throw new Error("The server does not answer. Trying again.");
    }
    if (reply.status === 401) location.reload();
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    if (!reply.ok) throw new Error(page.querySelector(".problem")?.textContent ?? "The server reports an error.");
    const newer = page.getElementById(part.id);
    if (newer) update(part, newer);
}

const part = document.querySelector("[data-refresh]");
if (part) {
    // The next request waits for the reply, so that an older reply does not overwrite a newer one.
    // A page with an address of its own for the part has a stream, which reports failures.
    const tell = part.dataset.refresh ? () => {} : (text) => notice("connection", text);
    const refreshAgain = async () => {
        if (!document.hidden && part.checkVisibility()) {
            try {
                await refresh(part);
                tell("");
            } catch (error) {
                tell(error.message);
            }
        }
        setTimeout(refreshAgain, interval);
    };
    setTimeout(refreshAgain, interval);
}
