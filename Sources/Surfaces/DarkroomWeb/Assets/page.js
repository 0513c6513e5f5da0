// The script of all pages: a part that is read again every two seconds, and forms that use the HTTP API.

import { call, noAnswer } from "./api.js";
import { notice } from "./notices.js";

const interval = 2000;

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
 * Makes an element equal to a newer one, and keeps the parts that are already equal. Therefore a table keeps its scroll
 * position and the keyboard focus.
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
        throw new Error(`${noAnswer} Trying again.`);
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
    // If the part has its own address, the page has a stream, and the stream reports failures.
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
