// Formats times for people and JSON.

/** Converts Unix milliseconds to ISO 8601 in UTC. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
