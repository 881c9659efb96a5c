// Tests the comparison of desired values with the platform's.
import { differences } from '../../../src/reconcile/compare/compare.ts';
import type { DesiredAccount } from '../../../src/reconcile/compare/compare.ts';
import { createVisibility } from '../../../src/reconcile/compare/shown-attributes.ts';
import type { WireUser } from '../../../src/platform/wire.ts';

const wanted = (core: DesiredAccount['core']): DesiredAccount => ({
  inScope: true,
  active: true,
  core,
  attributes: {},
});
const shown = (more: Partial<WireUser>): WireUser => ({ id: '1', userName: 'jo', active: true, ...more });
const namesOf = (core: DesiredAccount['core'], user: WireUser): string[] =>
  differences(wanted(core), user, {}, {}, createVisibility()).map(({ name }) => name);

test.each([
  ['blanks around a text', { displayName: ' Jo Doe ' }, shown({ displayName: 'Jo Doe' })],
  ['the case of a userName', { userName: 'Jo' }, shown({ userName: 'jo' })],
  ['blanks and case of an address', { emails: 'Jo@x ' }, shown({ emails: [{ value: 'jo@x' }] })],
])('a value whose only difference at the platform is %s counts as equal', (_what, core, user) => {
  expect(namesOf(core, user)).toEqual([]);
});

test.each([
  ['differs in blanks within the text', { displayName: 'Jo  Doe' }, shown({ displayName: 'Jo Doe' })],
  ['differs in letter case', { displayName: 'jo doe' }, shown({ displayName: 'Jo Doe' })],
  ['the platform does not show', { displayName: 'Jo' }, shown({})],
])('a displayName that %s counts as different', (_what, core, user) => {
  expect(namesOf(core, user)).toEqual(['displayName']);
});
