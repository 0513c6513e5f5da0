// The facts and the controls of a batch above its contact sheet.

import { number, printable } from "./text.js";

/** The width of the bar that shows the shares of the states. */
const barWidth = 1000;

/** The counts of `batch`, an object of the HTTP API, by their names in the page. */
export function countsOf(batch) {
    return { ...batch.counts, photos: batch.photos };
}

/** The pieces of the bar for some states: positions and widths. */
export function barPieces(batch, states) {
    const position = (count) => (batch.photos === 0 ? 0 : Math.min(barWidth, Math.floor((count / batch.photos) * barWidth)));
    let start = 0;
    return states.map((state) => {
        const end = start + batch.counts[state];
        const piece = { x: position(start), width: position(end) - position(start) };
        start = end;
        return piece;
    });
}

/** The word for the style of a state. */
export function stateStyle(batch) {
    return batch.damage ? "damaged" : batch.cancelled ? "cancelled" : batch.state;
}

/** Whether a control can be used now: all its conditions hold, such as "open not-suspended-downloads". */
export function isUsable(conditions, batch) {
    const suspended = {
        everything: batch.suspended, downloads: batch.downloadsSuspended, filtrations: batch.filtrationsSuspended,
    };
    return conditions.split(" ").every((condition) => {
        if (condition === "open") return batch.state !== "finished" && !batch.cancelled;
        if (condition === "retriable") return batch.counts.failed > 0 && !batch.cancelled;
        if (condition.startsWith("not-suspended-")) return !suspended[condition.slice(14)];
        return suspended[condition.slice(10)];
    });
}

/** Shows the facts of `batch`, an object of the HTTP API. */
export function showFacts(batch) {
    const counts = countsOf(batch);
    for (const place of document.querySelectorAll("[data-count]")) {
        place.textContent = number(counts[place.dataset.count]);
    }
    const bars = [...document.querySelectorAll("#facts [data-bar]")];
    barPieces(batch, bars.map((bar) => bar.dataset.bar)).forEach(({ x, width }, position) => {
        bars[position].setAttribute("x", x);
        bars[position].setAttribute("width", width);
    });
    const fact = (name) => document.querySelector(`#facts [data-fact="${name}"]`);
    fact("failures").textContent = batch.texts.failures;
    fact("speed").textContent = batch.texts.speed;
    if (fact("state").textContent !== batch.texts.state) fact("state").textContent = batch.texts.state;
    fact("state").className = `state state-${stateStyle(batch)}`;
    showProblems(fact("problems"), batch.texts.problems.map(printable), batch.texts.actions);
    showControls(batch);
}

/**
 * The addresses of an action that carries out a remedy: the page for browsers without scripts, and the call of the HTTP API.
 * `site` is the address of the first page, which ends with a slash.
 */
export function addressesOf(action, site) {
    const part = encodeURIComponent(action.name);
    if (action.batch === null) return { page: `${site}cluster/${part}`, api: `${site}api/v1/${part}` };
    const batch = `batches/${encodeURIComponent(action.batch)}/${part}`;
    return { page: site + batch, api: `${site}api/v1/${batch}` };
}

/** A button, or a link to a page that asks for a confirmation. */
function elementOf(action, site) {
    const { page, api } = addressesOf(action, site);
    if (action.isLink) {
        const link = document.createElement("a");
        [link.className, link.href, link.textContent] = ["button", page, printable(action.text)];
        return link;
    }
    const form = document.createElement("form");
    [form.method, form.action] = ["post", page];
    Object.assign(form.dataset, { api, method: "POST" });
    for (const [name, value] of Object.entries(action.fields)) {
        const field = document.createElement("input");
        [field.type, field.name, field.value] = ["hidden", name, value];
        form.append(field);
    }
    const button = document.createElement("button");
    button.textContent = printable(action.text);
    form.append(button);
    return form;
}

function showProblems(place, texts, actions) {
    const shown = JSON.stringify([texts, actions]);
    if (place.dataset.shown === shown) return;
    place.dataset.shown = shown;
    const list = document.createElement("ul");
    list.className = "problems";
    list.append(...texts.map((text, number) => {
        const item = document.createElement("li");
        item.textContent = text;
        if (!("readOnly" in place.dataset)) {
            item.append(...actions[number].map((action) => elementOf(action, place.dataset.site)));
        }
        return item;
    }));
    place.replaceChildren(...(texts.length > 0 ? [list] : []));
}

/** Shows the controls that can be used for the batch now. */
function showControls(batch) {
    const controls = [...document.querySelectorAll("[data-shown-for]")];
    const focused = controls.find((control) => control.contains(document.activeElement));
    for (const control of controls) control.hidden = !isUsable(control.dataset.shownFor, batch);
    if (focused?.hidden) {
        // If "Suspend" becomes "Resume", the keyboard focus moves to "Resume".
        const partOf = (control) => control.querySelector('[name="part"]')?.value;
        const other = controls.find((control) => !control.hidden && partOf(control) === partOf(focused));
        other?.querySelector("button")?.focus();
    }
    const priority = document.querySelector('.controls select[name="priority"]');
    if (priority && document.activeElement !== priority) priority.value = batch.priority;
}
