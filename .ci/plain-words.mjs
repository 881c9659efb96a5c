// Defines an ESLint rule: sentences of comments and test names begin with a noun as subject, and use "cannot".
const OPENER = /(?:^\W*|[.!?] )(who|whoever|whom|what|whatever|nobody)\b/i;
/** "Those rows" has its noun, "those that wait" has none. */
const BARE =
  /(?:^\W*|[.!?] )(those|such)(?= (?:who|that|which|of|as|are|is|was|were|in|at|with|without|to|have|has|may|must)\b)/i;
const CAN_NOT = /\bcan not\b/i;
const TESTS = new Set(['it', 'test', 'describe']);

/** @returns the messages for the faults of a text */
function faultsOf(text) {
  const opener = (OPENER.exec(text) ?? BARE.exec(text))?.[1];
  return [
    ...(opener === undefined ? [] : [`Name the subject: a sentence begins with "${opener}".`]),
    ...(CAN_NOT.test(text) ? ['Write "cannot".'] : []),
  ];
}

/** Returns the comments as texts; line comments on consecutive lines are one text. */
function blocksOf(comments) {
  const blocks = [];
  for (const comment of comments) {
    const last = blocks.at(-1);
    const follows =
      last?.end.type === 'Line' &&
      comment.type === 'Line' &&
      comment.loc.start.line === last.end.loc.end.line + 1 &&
      comment.loc.start.column === last.end.loc.start.column;
    if (follows) {
      last.text += ` ${comment.value.trim()}`;
      last.end = comment;
    } else blocks.push({ start: comment, end: comment, text: plain(comment.value) });
  }
  return blocks;
}

/** Returns the text of a block comment without stars and line breaks. */
const plain = (text) =>
  text
    .replace(/\s*\n[ \t]*\*?[ \t]*/g, ' ')
    .replace(/^[*\s]+/, '')
    .trim();

/** Recognises `test`, `test.skip(name, ...)` and `test.each(table)(name, ...)`. */
function isTest(callee) {
  if (callee.type === 'Identifier') return TESTS.has(callee.name);
  if (callee.type === 'MemberExpression') return isTest(callee.object);
  return callee.type === 'CallExpression' && isTest(callee.callee);
}

export default {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    const report = (loc, text) => {
      for (const message of faultsOf(text)) context.report({ loc, message });
    };
    return {
      Program() {
        for (const { start, end, text } of blocksOf(context.sourceCode.getAllComments()))
          report({ start: start.loc.start, end: end.loc.end }, text);
      },
      CallExpression({ callee, arguments: [name] }) {
        if (name?.type === 'Literal' && typeof name.value === 'string' && isTest(callee))
          report(name.loc, name.value);
      },
    };
  },
};
