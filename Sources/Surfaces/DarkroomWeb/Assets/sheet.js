// The contact sheet: a grid of all photos of a batch, with live states. It replaces the table of the page.

import { call, notice } from "./page.js";
import { Grid } from "./grid.js";
import { Live } from "./live.js";
import { showFacts } from "./facts.js";
import { PhotoView } from "./photo.js";
import { Details, States } from "./states.js";
import { printable } from "./text.js";

const sizes = [32, 64, 112, 168, 256, 400, "row"];
const sizeNames = ["smallest", "very small", "small", "medium", "large", "very large", "one in each row"];
const standardSize = 2;
const mostStates = 5000;
const pageOfResults = 200;
// The most results that the server sends at once.
const mostResults = 1000;
const finalStates = ["filtered", "failed", "cancelled"];

const sheet = document.getElementById("sheet");
if (sheet) start(sheet, sheet.dataset);

function start(section, sheet) {
    // The word of each failure reason, by its state code.
    const reasons = Object.fromEntries(sheet.reasons.split(" ").map((pair) => pair.split(":"))
        .map(([code, word]) => [String.fromCharCode(code), word]));
    const states = new States(reasons);
    const details = new Details();
    // The indexes of the photos that the filter has found; null without a filter.
    let found = null;
    let next = null;
    let photos = Number(sheet.photos);
    let isFollowing = false;

    const element = document.createElement("div");
    element.className = "grid";
    element.tabIndex = 0;
    element.setAttribute("role", "grid");
    element.setAttribute("aria-label", "Contact sheet");
    element.setAttribute("aria-readonly", "true");
    section.replaceChildren(element, legend());

    const indexAt = (position) => (found ? found[position] : position);

    const grid = new Grid(element, { fill, open, moved() {}, rested });
    const view = new PhotoView(sheet, (index) => states.text(index), (step) => {
        const before = grid.active;
        grid.activate(before + step);
        return grid.active === before ? null : indexAt(grid.active) ?? null;
    });
    const live = new Live(sheet.api, sheet.streams, {
        batch: showBatch,
        states(parts, count) {
            if (!found) grid.count = photos = count;
            for (const part of parts) states.set(part.first, part.states);
            if (view.isOpen && parts.some(({ first, states }) => view.index >= first && view.index < first + states.length)) {
                view.update();
            }
            grid.update();
        },
        unfollow(why) {
            isFollowing = followBox.checked = false;
            notice("follow", why);
        },
        away: (text) => notice("connection", text),
        back() {
            notice("connection", "");
            notice("control", "");
            for (const image of element.querySelectorAll("img")) forgetErrors(image);
            rested(grid.visible.first, grid.visible.count);
        },
        gone() {
            notice("connection", "The batch was forgotten.");
            for (const part of document.querySelectorAll(".panel, .more")) part.hidden = true;
            if (view.isOpen) view.update();
        },
    });

    // Cells.

    function fill(cell, position, isResting, isActive) {
        const index = indexAt(position);
        const kind = states.kind(index);
        const classes = `cell is-${kind}${isActive ? " is-active" : ""}`;
        if (cell.className !== classes) cell.className = classes;
        const [image, word, name] = cell.children;
        const title = printable(details.get(index)?.name ?? "");
        const text = states.text(index);
        if (name.textContent !== title) name.textContent = title;
        const address = imageAddress(index, kind);
        const isSeen = kind === "filtered" && address !== null;
        const shown = isSeen ? "" : kind === "failed" ? reasons[states.code(index)] ?? "other" : text;
        if (word.textContent !== shown) word.textContent = shown;
        const label = `Photo ${index}${title ? ", " + title : ""}${text ? ", " + text : ""}`;
        if (cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label);
        showImage(image, address, isResting);
    }

    function imageAddress(index, kind) {
        const width = grid.photoWidth * Math.min(window.devicePixelRatio, 2) <= 128 ? 128 : grid.photoWidth <= 300 ? 256 : 512;
        const query = `width=${grid.photoWidth > 512 ? 1024 : width}&v=${sheet.round}`;
        if (kind === "filtered" && "files" in sheet) return `${sheet.api}/photos/${index}/thumbnail?${query}`;
        if (kind === "downloaded" && "originals" in sheet) return `${sheet.api}/photos/${index}/original/thumbnail?${query}`;
        return null;
    }

    /** Loads a picture when the grid rests, so that pictures which only pass are not loaded. */
    function showImage(image, address, isResting) {
        if (image.dataset.address !== (address ?? "")) {
            image.dataset.address = address ?? "";
            forgetErrors(image);
            image.removeAttribute("src");
        }
        if (!address || !isResting || image.hasAttribute("src")) return;
        if (image.dataset.attempts <= 3 && image.dataset.retryAt <= performance.now()) image.src = address;
    }

    function forgetErrors(image) {
        image.dataset.attempts = 0;
        image.dataset.retryAt = 0;
    }

    element.addEventListener("error", (event) => {
        const image = event.target;
        const address = image.dataset.address;
        image.removeAttribute("src");
        image.dataset.attempts = Number(image.dataset.attempts) + 1;
        // The server may have too many requests, or may not see the file yet.
        const pause = 1000 * image.dataset.attempts;
        image.dataset.retryAt = performance.now() + pause;
        setTimeout(() => {
            if (image.dataset.address === address) grid.update();
        }, pause);
    }, true);

    // What is visible.

    async function rested(first, count) {
        if (found) {
            if (next !== null && first + count >= found.length) await readResults();
            const range = rangeOf(first, count);
            if (range) live.show(range.from, range.to - range.from + 1);
            refreshResults();
        } else {
            // The states of one screen before and after are read, too, if there is space for them.
            const size = Math.min(mostStates, count * 3);
            live.show(Math.max(0, first - Math.max(0, Math.floor((size - count) / 2))), size);
        }
        if (isFollowing) follow();
        readNames(first, count);
    }

    /** The indexes of the first and the last photo. Null if there is none, or if results are far from each other. */
    function rangeOf(first, count) {
        const most = found ? count : Math.min(count, mostStates);
        const from = indexAt(first), to = indexAt(Math.min(first + most, grid.count) - 1);
        return from <= to && to - from < mostStates ? { from, to } : null;
    }

    let isReadingNames = false;

    async function readNames(first, count) {
        if (grid.isDense || isReadingNames || found) return;
        let missing = first;
        while (missing < first + count && details.get(missing)) missing++;
        if (missing >= first + count) return;
        isReadingNames = true;
        try {
            const page = await call("GET", `${sheet.api}/photos?first=${missing}&limit=${first + count - missing}`);
            details.add(page.photos);
            grid.update();
            notice("names", "");
        } catch (error) {
            if (!isReportedByStream(error)) notice("names", error.message);
        }
        isReadingNames = false;
        // The grid may have moved meanwhile.
        const visible = grid.visible;
        if (visible.first !== first) readNames(visible.first, visible.count);
    }

    /** Whether the batch is gone, or Redis does not answer. */
    function isReportedByStream(error) {
        return error.status === 404 || error.status === 503;
    }

    function follow() {
        const { first, count } = grid.visible;
        const range = isFollowing ? rangeOf(first, count) : null;
        const isFar = isFollowing && count > 0 && !range;
        notice("follow", isFar ? "The visible photos do not run first: they are far from each other in the list." : "");
        live.follow(range ? `${range.from}-${range.to}` : "");
    }

    function open(position) {
        const index = indexAt(position);
        if (index !== undefined) view.show(index);
    }

    // The facts of the batch.

    function showBatch(batch) {
        if (String(batch.round) !== sheet.round) {
            sheet.round = batch.round;
            settled.clear();
            grid.update();
        }
        showFacts(batch);
        jump.elements.first.max = Math.max(0, batch.photos - 1);
        if (!found && batch.photos > photos) grid.count = photos = batch.photos;
        if (found) refreshResults();
    }

    document.addEventListener("answered", ({ detail }) => {
        if (detail?.id === sheet.batch) showBatch(detail);
    });

    // The tools.

    const tools = document.querySelector(".tools");
    const zoom = tool("Size", "range", { min: 0, max: sizes.length - 1, value: localStorage.getItem("size") ?? standardSize });
    zoom.addEventListener("input", applySize);
    const followBox = tool("Visible photos run first", "checkbox", {});
    followBox.parentElement.hidden = "readOnly" in sheet;
    followBox.addEventListener("change", () => {
        isFollowing = followBox.checked;
        follow();
    });

    function tool(label, type, attributes) {
        const input = document.createElement("input");
        input.type = type;
        Object.assign(input, attributes);
        const place = document.createElement("label");
        place.append(...(type === "checkbox" ? [input, ` ${label}`] : [`${label} `, input]));
        tools.append(place);
        return input;
    }

    function applySize() {
        localStorage.setItem("size", zoom.value);
        zoom.setAttribute("aria-valuetext", sizeNames[zoom.value]);
        grid.size = sizes[zoom.value] ?? sizes[standardSize];
    }

    const jump = document.getElementById("jump");
    jump.addEventListener("submit", (event) => {
        event.preventDefault();
        const index = Number(jump.elements.first.value);
        const later = found?.findIndex((other) => other >= index);
        const position = !found ? index : later < 0 ? found.length - 1 : later;
        grid.scrollTo(position);
        grid.activate(position);
        element.focus();
    });

    // Single keys that act on the whole page are easily pressed by mistake, for example by speech input (WCAG 2.1.4).
    element.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = {
            "+": () => resize(1), "-": () => resize(-1),
            "/": () => enter(document.querySelector('#filter [name="name"]')),
            g: () => enter(document.querySelector('#jump [name="first"]')),
        }[event.key];
        if (!act) return;
        act();
        event.preventDefault();
    });

    function resize(step) {
        zoom.stepUp(step);
        applySize();
    }

    /** Moves the keyboard focus to a field, which may be in a closed panel. */
    function enter(field) {
        field.closest("details").open = true;
        field.focus();
        field.select();
    }

    // In narrow windows the panels are closed, so that there is space for the photos.
    const narrow = matchMedia("(max-width: 50rem)");
    const openPanels = () => {
        for (const panel of document.querySelectorAll(".panel")) panel.open = !narrow.matches;
    };
    narrow.addEventListener("change", openPanels);
    openPanels();

    // The filter.

    const filter = document.getElementById("filter");
    let query = "";
    filter.addEventListener("submit", (event) => {
        event.preventDefault();
        applyFilter();
    });
    filter.addEventListener("change", () => applyFilter());

    async function applyFilter() {
        const chosen = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value !== ""));
        query = chosen.toString();
        history.replaceState(null, "", query ? `?${query}` : location.pathname);
        if (!query) {
            found = next = null;
            notice("filter", "");
            grid.count = photos;
            grid.scrollTo(0);
            return;
        }
        [found, next] = [[], 0];
        grid.count = 0;
        await readResults();
        grid.scrollTo(0);
    }

    let isReadingResults = false;

    /** Reads the next photos that the filter finds. */
    async function readResults() {
        if (isReadingResults) return;
        isReadingResults = true;
        const asked = query;
        try {
            do {
                const page = await call("GET", `${sheet.api}/photos?${query}&first=${next}&limit=${pageOfResults}`);
                if (asked !== query) break;
                add(page.photos);
                next = page.next;
                // A search for a name may end early; it goes on until it has found something.
            } while (next !== null && found.length < grid.visible.first + grid.visible.count + 1);
            if (asked === query) showWhetherFound();
        } catch (error) {
            if (asked === query) notice("filter", error.message);
        }
        isReadingResults = false;
        if (asked !== query && found) readResults();
    }

    function showWhetherFound() {
        notice("filter", found.length === 0 ? "No photo matches the filter." : "");
    }

    function add(results) {
        store(results);
        const indexes = results.map(({ index }) => index);
        found = [...new Set([...found, ...indexes])].sort((left, right) => left - right);
        grid.count = found.length;
        grid.update();
    }

    /** Stores names and states of photos. The states of the stream are newer, and tell which photos are in progress. */
    function store(photos) {
        details.add(photos);
        for (const photo of photos) {
            const isLive = live.covers(photo.index) && states.kind(photo.index) !== "unknown";
            if (!isLive) states.set(photo.index, codeOf(photo));
        }
    }

    function codeOf(photo) {
        const codes = { new: "N", downloaded: "D", filtered: "F", cancelled: "C" };
        if (photo.state !== "failed") return codes[photo.state] ?? "?";
        const codeOfReason = (word) => Object.keys(reasons).find((code) => reasons[code] === word);
        return codeOfReason(photo.reason) ?? codeOfReason("other");
    }

    let refreshTimer = 0;
    // Whether something may have changed since the last reading began.
    let isOutdated = false;
    // The photos that were final in the present round when they were last read.
    const settled = new Set();

    /** Reads the visible results again, and new results among them, at most every two seconds. */
    function refreshResults() {
        isOutdated = true;
        refreshTimer ||= setTimeout(async () => {
            isOutdated = false;
            const asked = query;
            try {
                if (found) await readVisible(asked);
            } catch (error) {
                if (asked === query && !isReportedByStream(error)) notice("filter", error.message);
            }
            refreshTimer = 0;
            if (isOutdated) refreshResults();
        }, 2000);
    }

    async function readVisible(asked) {
        const { first, count } = grid.visible;
        const shown = found.slice(first, first + count);
        const from = first > 0 ? shown[0] ?? 0 : 0;
        // New results may be between and after the visible ones.
        const limit = Math.min(count + pageOfResults, mostResults);
        const page = await call("GET", `${sheet.api}/photos?${asked}&first=${from}&limit=${limit}`);
        if (asked !== query) return;
        add(page.photos);
        showWhetherFound();
        // The page may end before the last result, so the photos after that are searched when the user scrolls there.
        if (next === null && page.next !== null) next = Math.max(page.next, (found.at(-1) ?? -1) + 1);
        // Results that no longer match stay, with their new states.
        const matching = new Set(page.photos.map(({ index }) => index));
        for (const index of shown) {
            if (matching.has(index) || index >= (page.next ?? Infinity) || live.covers(index) || settled.has(index)) continue;
            const round = sheet.round;
            const photo = await call("GET", `${sheet.api}/photos/${index}`);
            if (round === sheet.round && finalStates.includes(photo.state)) settled.add(index);
            if (asked !== query) return;
            store([photo]);
            grid.update();
        }
    }

    applySize();
    grid.count = photos;
    const first = Number(sheet.first);
    if ([...new FormData(filter).values()].some((value) => value !== "")) {
        applyFilter();
    } else if (first > 0) {
        grid.scrollTo(first);
        grid.activate(first);
    }
    live.open();
}

function legend() {
    const place = document.createElement("p");
    place.className = "legend";
    place.textContent = "Keys in the grid: arrows move, Enter opens, + and - change the size, g goes to an index, "
        + "/ searches a name.";
    return place;
}
