// Shows doctor, which checks the surroundings of the bridge, and verify-access, which shows the data that one person sees.
// Both only read.
import { get, post } from './api.js';
import { actionButton, advised, duration, h, pill, say, table } from './dom.js';

const TONES = { ok: 'good', warning: 'warn', error: 'bad' };

/** Shows the button that runs doctor. It runs on request only, because each check calls Redis and the platform. */
export function doctor() {
  const answer = h('div', { 'aria-live': 'polite', id: 'findings' });
  const examine = async () => {
    const findings = await get('/doctor');
    answer.replaceChildren(
      h(
        'ul',
        { class: 'notes' },
        findings.map(({ level, area, message, advice }) =>
          h(
            'li',
            {},
            pill(TONES[level] ?? 'calm', level),
            ` ${area}: `,
            advised(message),
            advice && h('p', { class: 'soft' }, advised(advice)),
          ),
        ),
      ),
    );
  };
  return h(
    'section',
    { class: 'card', 'aria-label': 'Examination' },
    h(
      'p',
      { class: 'soft' },
      'Looks at Redis, every target, clocks and settings, as this process sees them. Nothing is written.',
    ),
    h('div', { class: 'buttons' }, actionButton('Examine', examine, { class: 'main' })),
    answer,
  );
}

const STAGES = { push: 'Pushed', stored: 'Stored', applied: 'Applied', visible: 'Visible' };

/** Shows what a person sees at a target, read back from the platform. */
export function access(user, connection, target, name) {
  const answer = h('div', { 'aria-live': 'polite', class: 'access', 'data-kept': true });
  const ask = async () => {
    try {
      answer.replaceChildren(...report(await post('/verify-access', { user, connection, target })));
    } catch (error) {
      answer.replaceChildren();
      say(error.message, 'bad');
    }
  };
  const verify = actionButton('Verify access', ask, {
    'aria-label': `Verify access of ${name} at ${target}`,
  });
  return [h('div', { class: 'buttons' }, verify), answer];
}

const RESULTS = {
  complete: ['good', 'Access is as desired'],
  missing: ['bad', 'A link is missing'],
  unknown: ['warn', 'A link could not be checked'],
};

/** Returns the answer of verify-access as elements. */
function report({ result, chain, differences, notes, entities }) {
  return [
    h('p', { class: 'lead' }, pill(...RESULTS[result])),
    table(
      'From push to what is visible',
      ['Step', 'State', 'Detail', 'After'],
      chain.map(({ stage, ok: isThere, detail, afterMs }) => [
        STAGES[stage] ?? stage,
        isThere === undefined
          ? pill('calm', 'not looked at')
          : pill(isThere ? 'good' : 'bad', isThere ? 'yes' : 'no'),
        detail,
        // Clocks that differ may show a step before the one that it follows.
        afterMs === undefined ? '–' : duration(Math.max(0, afterMs)),
      ]),
    ),
    differences.length > 0 && h('p', {}, `Different: ${differences.map((each) => each.name).join(', ')}`),
    entities &&
      h(
        'p',
        { class: 'soft' },
        `Visible: ${entities.map((each) => each.name ?? each).join(', ') || 'nothing'}`,
      ),
    notes.length > 0 &&
      h(
        'ul',
        { class: 'notes' },
        notes.map((note) => h('li', {}, advised(note))),
      ),
  ].filter(Boolean);
}
