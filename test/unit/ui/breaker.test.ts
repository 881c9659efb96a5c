// Tests that the operators' page says the same about a failing target as the commands status and doctor.
import { breakerWords, failureAdvice } from '../../../src/reconcile/breaker-words.ts';
// @ts-expect-error The page is plain JavaScript.
import { breakerNote, failureLabel } from '../../../src/ui/breaker.js';

/** The part of a target's status that says how its calls fail; `status` 0: no answer, 200: a web page. */
interface Breaker {
  open: boolean;
  status: number;
  only?: string[];
  ofOtherKey?: boolean;
}

test.each<[Breaker, string]>([
  [{ open: true, status: 0 }, 'Platform does not answer'],
  [{ open: true, status: 200 }, 'Web pages answer'],
  [{ open: true, status: 302 }, 'Redirects answer'],
  [{ open: true, status: 503 }, 'Platform answers 503'],
  [{ open: true, status: 403 }, 'Platform answers 403'],
  [{ open: true, status: 401 }, 'Key refused'],
  [{ open: false, status: 401, only: ['PATCH', 'POST'] }, 'Key refused'],
  [{ open: true, status: 401, ofOtherKey: true }, 'Key refused'],
])(
  'the operators\' page shows the breaker %j as "%s", with the words and the advice of the command status',
  (breaker, label) => {
    const note: string = breakerNote(breaker, 'main');
    expect(failureLabel(breaker)).toBe(label);
    expect(note).toContain(`The platform ${breakerWords(breaker)}: `);
    expect(note.includes('only probes go out')).toBe(breaker.open);
    expect(note).toContain(failureAdvice('main', breaker) ?? '');
  },
);

test("the operators' page shows no failure and no advice for a target that answers", () => {
  expect([failureLabel({ open: false }), breakerNote({ open: false }, 'main')]).toEqual([
    undefined,
    'Breaker closed: the platform answers',
  ]);
});
