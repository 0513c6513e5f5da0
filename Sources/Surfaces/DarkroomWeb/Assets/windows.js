// The photos that the page requests from the stream.

// The largest number of photos of a view, as in the server.
export const mostStates = 5000;

/** The photos whose states are read: those of one screen, and of one screen before and after, if there is space. */
export function windowAround(first, count) {
    const size = Math.min(mostStates, count * 3);
    return { first: Math.max(0, first - Math.max(0, Math.floor((size - count) / 2))), count: size };
}

/** The photos between two indexes, which are undefined without photos. Null if there is none, or if there are too many. */
export function rangeOf(first, last) {
    return first <= last && last - first < mostStates ? { first, last, count: last - first + 1 } : null;
}
