// The provisioning log: what was done at the platform and what was not.
import { get, post } from './api.js';
import { act, ago, empty, field, h, pill, say, shown, table } from './dom.js';

const TONES = { success: 'good', failure: 'bad', warning: 'warn', skipped: 'calm' };
const option = (value, text = value) => h('option', { value }, text);

export async function log() {
  const resource = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const status = h(
    'select',
    {},
    option('', 'Any'),
    ['success', 'failure', 'retry', 'held', 'skipped'].map((each) => option(each)),
  );
  const limit = h(
    'select',
    {},
    ['50', '200', '1000'].map((each) => option(each)),
  );
  const place = h('div', { id: 'entries' });
  const read = async () => {
    const records = await post('/log/search', {
      ...(resource.value.trim() && { resource: resource.value.trim() }),
      ...(status.value && { status: [status.value] }),
      limit: Number(limit.value),
    });
    place.replaceChildren(
      records.length === 0
        ? empty('Nothing matches', 'Changes at the platform, refusals, holds and skips appear here.')
        : entries(records),
    );
  };
  const onsubmit = async (event) => {
    event.preventDefault();
    await read().catch((error) => say(error.message, 'bad'));
  };
  const verify = async () => {
    const broken = (await get('/log/verify')).filter((each) => each.broken !== null);
    say(
      broken.length === 0
        ? 'No entry was altered or taken out.'
        : `Altered or taken out at ${broken[0].broken}.`,
      broken.length === 0 ? 'good' : 'bad',
    );
  };
  await read();
  return [
    h(
      'form',
      { class: 'search', onsubmit, role: 'search' },
      field('Person or group', resource),
      field('Status', status),
      field('Entries', limit),
      h('button', { class: 'main' }, 'Show'),
      act('Verify', verify),
    ),
    place,
  ];
}

const entries = (records) =>
  table(
    'Provisioning log',
    ['When', 'Who', 'What', 'Status', 'Detail'],
    records.map(
      ({
        activityDateTime,
        sourceIdentity,
        operation,
        target,
        provisioningStatusInfo,
        modifiedProperties,
        members,
      }) => [
        ago(activityDateTime),
        h('strong', {}, sourceIdentity.displayName),
        operation === 'none' ? `nothing at ${target}` : `${operation} at ${target}`,
        pill(TONES[provisioningStatusInfo.status] ?? 'calm', provisioningStatusInfo.status),
        detail(provisioningStatusInfo.errorInformation, modifiedProperties, members),
      ],
    ),
  );

function detail(error, properties, members) {
  if (error) return [h('p', {}, error.reason), h('p', { class: 'soft' }, error.recommendedAction)];
  if (members.length > 0) return `${members.length} ${members.length === 1 ? 'member' : 'members'}`;
  const first = properties
    .slice(0, 3)
    .map(({ displayName, newValue }) => `${displayName}: ${shown(newValue)}`);
  return first.join(', ') + (properties.length > 3 ? ` and ${properties.length - 3} more` : '') || '–';
}
