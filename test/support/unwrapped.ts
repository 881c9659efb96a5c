// Joins the lines that a command has made of one long line.

/** Returns a printed line as it was before it was wrapped. */
export const unwrapped = (line: string): string => line.replaceAll(/\n */g, ' ');
