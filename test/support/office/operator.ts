// Simulates the operator of an office: random decisions and orders.
import type { Dice } from './dice.ts';
import type { OfficePlace } from './place.ts';
import type { Source } from './source.ts';

export function createOperator(place: OfficePlace, { random, chance, pick }: Dice, { people }: Source) {
  const json = async (...args: string[]): Promise<any> => (await place.commands.run(...args, '--json')).json;

  /** Makes a random decision about held or rejected changes. @returns the decision in words, for the diary */
  async function decide(): Promise<string> {
    const lists: any[] = await json('approvals', 'list', '--all');
    const held = lists.find(({ state }) => state === 'held');
    const rejected = pick(
      lists.filter(({ state, stillRejected }) => state === 'rejected' && stillRejected > 0),
    );
    if (rejected && chance(0.3)) return decision('withdraw', rejected.id);
    if (!held) return 'decides nothing';
    const { items } = await json('approvals', 'show', held.id);
    const item = pick(items as any[]);
    const selection = chance(0.6) && item ? selectionWith(item) : [];
    return decision(chance(0.6) ? 'approve' : 'reject', held.id, ...selection);
  }
  /** Returns options that limit a decision to a part of the held changes, which contains this one. */
  function selectionWith(item: { kind: string; ref: string; member?: string }): string[] {
    const roll = random();
    if (roll < 0.4) return ['--kind', item.kind];
    return roll < 0.7 || !item.member ? ['--ref', item.ref] : ['--person', item.member];
  }
  const decision = (...words: string[]): Promise<string> => order('approvals', ...words, '--yes');

  /** Runs a command. @returns the command with its exit code and first line, for the diary */
  async function order(...words: string[]): Promise<string> {
    const { code, text } = await place.commands.run(...words);
    return `${words.join(' ')} (${code}): ${text.split('\n')[0]}`;
  }

  async function forget(): Promise<string> {
    const person = pick(people.filter(({ deleted, forgotten }) => deleted && !forgotten));
    if (!person) return 'forgets nobody';
    const words = ['forget', person.id, '--yes', ...(chance(0.5) ? ['--leave-account'] : [])];
    const text = await order(...words);
    const forgotten = new RegExp(`forgotten .*User:${person.id}`).test(text);
    person.forgotten = forgotten;
    return text;
  }
  async function handleDeadLetter(): Promise<string> {
    const letter = pick((await json('dead-letters', 'list')) as { ref: string }[]);
    return order('dead-letters', chance(0.6) ? 'retry' : 'drop', ...(letter ? [letter.ref] : ['--all']));
  }
  const giveOrder = (): Promise<string> => {
    const roll = random();
    if (roll < 0.5) return forget();
    if (roll < 0.9) return handleDeadLetter();
    return order('resync');
  };

  /** Approves what is held, withdraws rejections, and tries again what was refused or dropped. */
  async function settleEverything(): Promise<void> {
    for (const { id, state, stillRejected } of (await json('approvals', 'list', '--all')) as any[])
      if (state === 'held') await decision('approve', id);
      else if (state === 'rejected' && stillRejected > 0) await decision('withdraw', id);
    await order('dead-letters', 'retry', '--all');
    const dropped: any[] = await json('exceptions', '--reason', 'Dropped');
    for (const { ref } of dropped) await order('sync', ref);
  }
  return { json, decide, giveOrder, settleEverything };
}
