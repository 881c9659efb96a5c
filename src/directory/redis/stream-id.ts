// Takes apart the id of an entry of a Redis stream, `<Unix milliseconds>-<sequence number>`. The time is that of the Redis server.

/** Returns the time in an id, Unix milliseconds. */
export const timeOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

/** Returns the sequence number in an id. It distinguishes entries of the same millisecond. */
export const sequenceOf = (id: string): number => Number(id.slice(id.indexOf('-') + 1));
