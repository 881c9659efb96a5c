// Replaces the commands in sentences of the service by the places of the page that do the same. The service names commands,
// because the command line and the admin API give the same sentences.

/** Words of the page in place of each command, and the view to which they link; no view: no link. */
const PLACES = {
  'approvals show': ['see Approvals', 'approvals'],
  'approvals list': ['Approvals', 'approvals'],
  'approvals approve': ['Approve under Approvals', 'approvals'],
  'approvals withdraw': ['Withdraw under Approvals', 'approvals'],
  'dead-letters retry': ['Retry under Dead letters', 'dead-letters'],
  'dead-letters list': ['Dead letters', 'dead-letters'],
  'token create': ['Make a token under Tokens', 'tokens'],
  'token list': ['Tokens', 'tokens'],
  'token revoke': ['Revoke under Tokens', 'tokens'],
  exceptions: ['Exceptions', 'exceptions'],
  explain: ['People and groups', 'people'],
  reconcile: ['Reconcile', 'overview'],
  release: ['Release', 'overview'],
  status: ['Overview', 'overview'],
  doctor: ['Doctor', 'doctor'],
  plan: ['Compare', 'overview'],
  // The page of each person and group has this button.
  sync: ['Sync now'],
  log: ['Log', 'log'],
  acts: ['Acts', 'acts'],
};
/** Patterns of commands that the page has no order for. The first pattern that matches counts, so these come behind PLACES. */
const COMMANDS_ONLY = [
  'serve',
  'apply',
  'backup',
  'restore',
  'check-config',
  'verify-access',
  'forget',
  'resync',
  'links [a-z]+',
  'handover [a-z]+',
  'notices [a-z]+',
  'events [a-z]+',
  'dead-letters [a-z]+',
  'token [a-z]+',
  'approvals [a-z]+',
  'hold',
];
const NAMES = [...Object.keys(PLACES), ...COMMANDS_ONLY].join('|');
/** A command (group 1), and behind it (group 2) options with values, FILE, NAME, the id of an approval or the ref of a resource. */
const COMMAND = new RegExp(
  String.raw`(?<![\w./-])scim-bridge (${NAMES})(?![\w-])((?: --[a-z-]+| (?:FILE|NAME)\b|(?<=--(?:connection|target|role)) [\w.-]*\w|(?<=approvals (?:show|approve|withdraw)) [\w.~-]*\w|(?<=sync|dead-letters retry|--ref) (?:User|Group):[\w.-]*\w|(?<=links forget) [\w:.-]*\w)*)`,
  'g',
);
/** Options and arguments for which the page has no control. */
const OPTION_ONLY = /--out|FILE|--(?:accept-tenant|deep|repair)/;

/** Returns the parts of a sentence: texts, and `{ text, view, id }` for places of the page. */
export function partsOf(sentence) {
  const parts = [];
  let end = 0;
  for (const { 0: whole, 1: command, 2: rest, index } of sentence.matchAll(COMMAND)) {
    const before = sentence.slice(end, index);
    const place = placeOf(command, rest);
    // Both the sentence and the words of the page may say `see`.
    const hasVerb = /\bsee $/i.test(before) && place.text?.startsWith('see ');
    parts.push(before, hasVerb ? { ...place, text: place.text.slice('see '.length) } : place);
    end = index + whole.length;
  }
  return [...parts, sentence.slice(end)].filter((part) => part !== '');
}

/** Returns a sentence with the words of the page in place of commands. */
export const pageWords = (sentence) =>
  partsOf(sentence)
    .map((part) => part.text ?? part)
    .join('');

/** Returns `{ text, view, id }` for a command; a text when the page has no view for it. @param rest options and arguments */
function placeOf(command, rest) {
  if (command === 'serve') {
    const [, role] = /--role ([\w-]+)/.exec(rest) ?? [];
    return `a process of the bridge${role ? ` with the role ${role}` : ''}`;
  }
  const place = PLACES[command];
  if (!place || OPTION_ONLY.test(rest)) return `the command ${command}${wordsOf(command, rest)}`;
  const [text, view] = place;
  // The first argument of these commands is the id of an approval.
  const [, id] = command.startsWith('approvals') ? (/^ (\w[\w.~-]+)/.exec(rest) ?? []) : [];
  return view ? { text, view, ...(id && { id }) } : text;
}

/** Returns words for the rest of a command: an option that the page has no control for; of `links forget` resource and target. */
function wordsOf(command, rest) {
  if (command === 'links forget') {
    const [, resource = ''] = /^( [\w:.-]*\w)/.exec(rest) ?? [];
    const [, target] = /--target ([\w.-]*\w)/.exec(rest) ?? [];
    return `${resource}${target ? ` for the target ${target}` : ''}`;
  }
  const [, option] = /--(accept-tenant|deep|repair)/.exec(rest) ?? [];
  return option ? ` with the option ${option}` : '';
}
