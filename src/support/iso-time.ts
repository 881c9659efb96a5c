// Formats times for people and JSON.

/** Latest time that a Date of JavaScript can have, Unix milliseconds. */
export const LATEST_MS = 8.64e15;

/** Converts Unix milliseconds to ISO 8601 in UTC. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
