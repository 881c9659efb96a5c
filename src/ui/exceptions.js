// Shows exceptions: resources that differ from the desired state until a person acts, with reason, time and advice.
import { get } from './api.js';
import { ago, count, empty, h, personLink } from './dom.js';

const WORDS = {
  Rejected: 'Rejected',
  Protected: 'Protected',
  LastAdministrator: 'Last administrator',
  Dropped: 'Dropped from the dead letters',
  NotAdopted: 'Not adopted',
  Held: 'Held by the guard',
  OnHold: 'On hold',
};

export async function exceptions() {
  const all = await get('/exceptions');
  if (all.length === 0)
    return empty('No exceptions', 'What stays otherwise than desired until a person acts is listed here.');
  return [
    h('p', { class: 'soft' }, count(all.length, 'exception', 'exceptions')),
    h(
      'ul',
      { class: 'rows card' },
      all.map(({ name, ref, target, connection, reason, message, advice, since }) =>
        h(
          'li',
          {},
          h(
            'div',
            { class: 'grow' },
            ref === null ? h('strong', {}, name) : personLink(ref, name),
            h(
              'p',
              { class: 'soft' },
              `${ref === null ? 'Target' : ref}, ${connection} → ${target}, `,
              ago(since),
            ),
            h('p', {}, `${WORDS[reason]}: ${message}`),
            h('p', { class: 'soft' }, advice),
          ),
        ),
      ),
    ),
  ];
}
