// The facts and the controls of a batch above its contact sheet.

import { duration, number, printable } from "./text.js";

/** Shows the facts of a batch, in the form of the HTTP API. */
export function showFacts(batch) {
    const counts = { ...batch.counts, photos: batch.photos };
    for (const place of document.querySelectorAll("[data-count]")) {
        place.textContent = number(counts[place.dataset.count]);
    }
    let start = 0;
    for (const bar of document.querySelectorAll("#facts [data-bar]")) {
        const end = start + counts[bar.dataset.bar];
        const position = (count) => (batch.photos === 0 ? 0 : Math.floor((count / batch.photos) * 1000));
        bar.setAttribute("x", position(start));
        bar.setAttribute("width", position(end) - position(start));
        start = end;
    }
    const fact = (name) => document.querySelector(`#facts [data-fact="${name}"]`);
    fact("failures").textContent = Object.entries(batch.failures).sort(([, one], [, other]) => other - one)
        .map(([reason, count]) => `${reason} ${number(count)}`).join(", ");
    fact("speed").textContent = speed(batch);
    showState(fact("state"), batch);
    showProblems(fact("problems"), batch.problems);
    showControls(batch);
}

function speed(batch) {
    const parts = [];
    if (batch.photosPerSecond !== null) {
        parts.push(`${batch.photosPerSecond.toFixed(batch.photosPerSecond < 100 ? 1 : 0)}/s`);
    }
    if (batch.secondsLeft !== null) parts.push(`${duration(batch.secondsLeft)} left`);
    if (batch.state === "finished" && batch.seconds !== null) parts.push(`took ${duration(batch.seconds)}`);
    return parts.join(", ");
}

function showState(place, batch) {
    const suspended = [["downloads", batch.downloadsSuspended], ["filtrations", batch.filtrationsSuspended]]
        .filter(([, isSuspended]) => isSuspended).map(([name]) => name).join(" and ");
    const flag = batch.cancelled ? "cancelled" : batch.suspended ? "suspended" : suspended && `${suspended} suspended`;
    const text = batch.damage ? "damaged" : flag ? `${batch.state}, ${flag}` : batch.state;
    if (place.textContent !== text) place.textContent = text;
    place.className = `state state-${batch.damage ? "damaged" : batch.cancelled ? "cancelled" : batch.state}`;
}

function showProblems(place, problems) {
    const texts = problems.map(({ text, remedy }) => printable(`${text}; ${remedy}`));
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
    const suspended = {
        everything: batch.suspended, downloads: batch.downloadsSuspended, filtrations: batch.filtrationsSuspended,
    };
    const holds = (condition) => {
        if (condition === "open") return batch.state !== "finished" && !batch.cancelled;
        if (condition === "retriable") return batch.counts.failed > 0 && !batch.cancelled;
        if (condition.startsWith("not-suspended-")) return !suspended[condition.slice(14)];
        return suspended[condition.slice(10)];
    };
    const controls = [...document.querySelectorAll("[data-shown-for]")];
    const focused = controls.find((control) => control.contains(document.activeElement));
    for (const control of controls) control.hidden = !control.dataset.shownFor.split(" ").every(holds);
    if (focused?.hidden) {
        // "Suspend" has become "Resume": the keyboard focus moves with it.
        const partOf = (control) => control.querySelector('[name="part"]')?.value;
        const other = controls.find((control) => !control.hidden && partOf(control) === partOf(focused));
        other?.querySelector("button")?.focus();
    }
    const priority = document.querySelector('.controls select[name="priority"]');
    if (priority && document.activeElement !== priority) priority.value = batch.priority;
}
