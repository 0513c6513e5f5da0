// Requests to the HTTP API.

export const noAnswer = "The server does not answer.";

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
        throw new Error(noAnswer);
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

/** Whether the stream of a batch reports this failure: the batch is gone, or Redis does not answer. */
export function isReportedByStream(error) {
    return error.status === 404 || error.status === 503;
}
