// The photos that the page requests from the stream.

// The largest number of photos of a view, as in the server.
export const mostStates = 5000;

/** The photos whose states are read: one screen, and a screen before and after it if the limit allows this. */
export function windowAround(first, count) {
    const size = Math.min(mostStates, count * 3);
    return { first: Math.max(0, first - Math.max(0, Math.floor((size - count) / 2))), count: size };
}

/** The photos from `first` to `last`. Null if there are too many photos, or none (the indexes are undefined). */
export function rangeOf(first, last) {
    return first <= last && last - first < mostStates ? { first, last, count: last - first + 1 } : null;
}
