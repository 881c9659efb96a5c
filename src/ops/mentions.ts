// Finds and replaces mentions of a person in stored texts: whole names and ids, in any case, not parts of longer ones.

/** A shorter id is too common to be searched for in the data of others. */
const SHORTEST = 4;
const REPLACEMENT = '(forgotten)';

export interface Mentions {
  isIn: (text: string) => boolean;
  replaceIn: (text: string) => string;
}

/** @param names of the person; short ones are left out. The texts may be JSON, so escaped forms are found too. */
export function createMentions(names: Iterable<string>): Mentions {
  const forms = [...names]
    .filter((name) => name.length >= SHORTEST)
    .flatMap((name) => [name, JSON.stringify(name).slice(1, -1)]);
  if (forms.length === 0) return { isIn: () => false, replaceIn: (text) => text };
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length).map(escaped);
  const source = `(?<![\\p{L}\\p{N}@._+-])(?:${longestFirst.join('|')})(?![\\p{L}\\p{N}@_+-]|\\.[\\p{L}\\p{N}])`;
  const [once, all] = [new RegExp(source, 'iu'), new RegExp(source, 'giu')];
  return { isIn: (text) => once.test(text), replaceIn: (text) => text.replaceAll(all, REPLACEMENT) };
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
