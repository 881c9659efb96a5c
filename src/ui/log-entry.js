// Shows one entry of the provisioning log: its status as a word, and all details in a dialog.
import { advised, duration, h, personLink, pill, shown, table } from './dom.js';
import { at } from './log-list.js';

/** Tone of the label for each status of an entry or step; the others are calm. */
const TONES = { success: 'good', failure: 'bad', warning: 'warn', skipped: 'calm' };
const NOTHING = '–';
/** Returns a value as text; NOTHING for none and for an empty text. */
const text = (value) => (value === undefined || value === null || value === '' ? NOTHING : shown(value));
const auto = (value) => h('span', { dir: 'auto' }, text(value));
/** Shows a sentence of the service, with links to views in place of commands. */
const worded = (sentence) => h('span', { dir: 'auto' }, advised(text(sentence)));

export const statusPill = ({ status, errorInformation }) =>
  pill(TONES[status] ?? 'calm', wordOf(status, errorInformation));

/** Returns the status as the filter of the log names it: a warning is either held by the guard or retried. */
function wordOf(status, error) {
  if (status !== 'warning') return status;
  return error?.errorCategory === 'guard' ? 'held' : 'retry';
}

export const actionOf = ({ operation }) => (operation === 'none' ? 'nothing written' : operation);

/**
 * Shows all details of an entry in a dialog.
 * @param place element of the view; the dialog leaves the document together with it
 */
export function openEntry(record, place) {
  const close = h('button', { type: 'submit', class: 'quiet' }, 'Close');
  const dialog = h(
    'dialog',
    { class: 'wide', 'aria-labelledby': 'entry-title', onclose: () => dialog.remove() },
    h(
      'form',
      { method: 'dialog', class: 'head' },
      h(
        'h2',
        { id: 'entry-title', dir: 'auto' },
        record.sourceIdentity.displayName || record.sourceIdentity.id,
      ),
      close,
    ),
    content(record),
  );
  place.append(dialog);
  dialog.showModal();
}

/** Closes the dialog of a clicked link, because a link to the address that is shown already would leave the dialog open. */
const closeDialog = ({ target }) => target.closest('dialog').close();

function content(record) {
  const { sourceIdentity, provisioningStatusInfo, modifiedProperties, members } = record;
  const { errorInformation: error } = provisioningStatusInfo;
  const ref = `${sourceIdentity.identityType}:${sourceIdentity.id}`;
  return [
    h(
      'p',
      {},
      statusPill(provisioningStatusInfo),
      ` ${actionOf(record)} at ${record.target}, `,
      at(record.activityDateTime),
    ),
    h(
      'p',
      {},
      personLink(sourceIdentity.id, 'State of this person or group'),
      ' · ',
      h('a', { href: `#/log?resource=${encodeURIComponent(ref)}`, onclick: closeDialog }, 'All its entries'),
    ),
    error && refusal(error, TONES[provisioningStatusInfo.status]),
    h('h3', {}, 'Steps'),
    h('ol', { class: 'steps' }, record.provisioningSteps.map(step)),
    h('h3', {}, 'Changes'),
    modifiedProperties.length === 0
      ? h('p', {}, NOTHING)
      : table(
          'Changes',
          ['Name', 'Before, as last known', 'After'],
          modifiedProperties.map(({ displayName, oldValue, newValue }) => [
            displayName,
            auto(oldValue),
            auto(newValue),
          ]),
        ),
    h('h3', {}, 'Members'),
    members.length === 0
      ? h('p', {}, NOTHING)
      : h(
          'ul',
          { class: 'chips' },
          members.map((id) => h('li', {}, personLink(id))),
        ),
    h('h3', {}, 'Record'),
    h(
      'dl',
      { class: 'facts' },
      factsOf(record).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    ),
  ];
}

const refusal = ({ errorCode, reason, additionalDetails, recommendedAction }, tone) =>
  h(
    'div',
    { class: `refusal ${tone}` },
    h('p', {}, h('strong', {}, errorCode), ': ', worded(reason)),
    additionalDetails && h('p', {}, h('code', {}, additionalDetails)),
    h('p', {}, advised(recommendedAction)),
  );

const step = ({ name, status, description }) =>
  h(
    'li',
    {},
    name,
    ' ',
    pill(TONES[status] ?? 'calm', status),
    description && h('p', { class: 'soft', dir: 'auto' }, advised(description)),
  );

/** Returns pairs of a name and a value. */
function factsOf(record) {
  const { sourceIdentity, targetIdentity, initiatedBy, request } = record;
  const code = (value) => (text(value) === NOTHING ? NOTHING : h('code', {}, text(value)));
  return [
    ['Kind', sourceIdentity.identityType],
    ['Connection', record.connection],
    ['Target', record.target],
    ['Id at the source', code(sourceIdentity.id)],
    ['Id at the platform', code(targetIdentity.id)],
    ['Entry', code(record.id)],
    ['Correlation id', code(record.changeId)],
    ['Run', code(record.cycleId)],
    ['Ordered by', `${initiatedBy.type} ${initiatedBy.id}`],
    ['Priority', text(record.priority)],
    ['Attempt', text(record.attempt)],
    ['Generation', text(record.generation)],
    ['Accepted', at(record.acceptedDateTime)],
    ['Time since then', duration(record.lagMs)],
    ['Call took', record.durationInMilliseconds === null ? NOTHING : duration(record.durationInMilliseconds)],
    ['Refused call', code(request && `${request.method} ${request.route} ${request.status ?? 'no answer'}`)],
    ['Id of the refused call', code(request?.requestId)],
  ];
}
