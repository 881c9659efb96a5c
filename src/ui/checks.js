// Shows doctor, which checks the surroundings of the bridge, and verify-access, which shows the data that one person sees.
// Both only read.
import { get, post } from './api.js';
import { actionButton, advised, duration, h, noteList, pill, say, table } from './dom.js';

/** Tone of the label for each level of a finding. */
const TONES = { ok: 'good', warning: 'warn', error: 'bad' };

/** Shows the button that runs doctor. It runs on request only, because each check calls Redis and the platform. */
export function doctor() {
  const answer = h('div', { 'aria-live': 'polite', id: 'findings' });
  const examine = async () => {
    const findings = await get('/doctor');
    answer.replaceChildren(
      noteList(
        findings.map(({ level, area, message, advice }) => [
          pill(TONES[level] ?? 'calm', level),
          ` ${area}: `,
          advised(message),
          advice && h('p', { class: 'soft' }, advised(advice)),
        ]),
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

/** Words for each stage of the chain from a push to the data. */
const STAGES = { push: 'Pushed', stored: 'Stored', applied: 'Applied', visible: 'Visible' };

/** Creates the button that shows the data that a person sees at a target. @param user ref @param name userName, for the label */
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

/** Tone and text of the label for each result. */
const RESULTS = {
  complete: ['good', 'Access is as desired'],
  missing: ['bad', 'A link is missing'],
  unknown: ['warn', 'A link could not be checked'],
};

/** Returns the answer of verify-access as elements. @param chain the stages; `ok` is undefined for one that was not checked */
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
        // Clocks that differ may give a stage a time before that of the previous stage.
        afterMs === undefined ? '–' : duration(Math.max(0, afterMs)),
      ]),
    ),
    differences.length > 0 && h('p', {}, `Different: ${differences.map((each) => each.name).join(', ')}`),
    entities &&
      h('p', { class: 'soft' }, `Visible: ${entities.map(({ name }) => name).join(', ') || 'nothing'}`),
    notes.length > 0 && noteList(notes.map(advised)),
  ].filter(Boolean);
}
