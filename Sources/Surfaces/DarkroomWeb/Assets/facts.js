// The facts and the controls of a batch above its contact sheet.

import { number, printable } from "./text.js";

/** The width of the bar that shows the shares of the states. */
const barWidth = 1000;

/** The counts of a batch in the form of the HTTP API, by the names that the page has for them. */
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

/** Whether a control can be used now. It needs all of these conditions, such as "open not-suspended-downloads". */
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

/** Shows the facts of a batch, in the form of the HTTP API. */
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
    showProblems(fact("problems"), batch.texts.problems.map(printable));
    showControls(batch);
}

function showProblems(place, texts) {
    if (place.dataset.shown === texts.join("\n")) return;
    place.dataset.shown = texts.join("\n");
    const list = document.createElement("ul");
    list.className = "problems";
    list.append(...texts.map((text) => {
        const item = document.createElement("li");
        item.textContent = text;
        return item;
    }));
    place.replaceChildren(...(texts.length > 0 ? [list] : []));
}

/** Shows the controls that the batch can take now. */
function showControls(batch) {
    const controls = [...document.querySelectorAll("[data-shown-for]")];
    const focused = controls.find((control) => control.contains(document.activeElement));
    for (const control of controls) control.hidden = !isUsable(control.dataset.shownFor, batch);
    if (focused?.hidden) {
        // "Suspend" has become "Resume": the keyboard focus moves with it.
        const partOf = (control) => control.querySelector('[name="part"]')?.value;
        const other = controls.find((control) => !control.hidden && partOf(control) === partOf(focused));
        other?.querySelector("button")?.focus();
    }
    const priority = document.querySelector('.controls select[name="priority"]');
    if (priority && document.activeElement !== priority) priority.value = batch.priority;
}
