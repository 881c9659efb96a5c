// Creates the orders for a whole target: compare, reconcile, resync, hold and release.
import { operator, post } from './api.js';
import { actionButton, confirmed, count, h, say } from './dom.js';

/** Creates the buttons of a target. @param redraw draws the overview again after an order */
export function orders({ connection, target, hold }, redraw) {
  const by = operator();
  const start = (path, said) => async () => {
    await post(path, { target, by });
    say(said);
    redraw();
  };
  const where = `${connection} → ${target}`;
  const pause = async () => {
    if (
      !(await confirmed(
        'Stop all writes?',
        `Nothing is written to ${target} until you release it. Pushes are still accepted.`,
        'Hold',
        { danger: true },
      ))
    )
      return;
    await post('/hold', { target, by });
    say(`${where} is on hold.`);
    redraw();
  };
  const release = async () => {
    if (
      !(await confirmed(
        'Release?',
        `What has gathered for ${target} meanwhile is written, as it is desired now. The guard holds what takes away too much.`,
        'Release',
      ))
    )
      return;
    const released = await post('/release', { target, by });
    const refused = released.find((each) => each.connection === connection)?.refused;
    say(refused ? `${where} ${refused}` : `${where} is released.`);
    redraw();
  };
  const repair = async () => {
    if (
      await confirmed(
        'Reconcile now?',
        `Everything at ${target} is compared with what is desired, and what differs is repaired. The guard holds what takes away too much.`,
        'Reconcile',
      )
    )
      await start('/reconcile', 'Reconcile has begun.')();
  };
  const resync = async () => {
    if (
      !(await confirmed(
        'Look at everybody again?',
        `All users and groups are marked for ${target}, behind all other work. Only what differs is written.`,
        'Resync',
      ))
    )
      return;
    const marked = await post('/resync', { target, by });
    say(`${count(marked.count, 'resource', 'resources')} will be looked at again.`);
    redraw();
  };
  return h(
    'div',
    { class: 'buttons' },
    actionButton('Compare', start('/plan', 'The comparison has begun.'), { class: 'main', right: 'operate' }),
    actionButton('Reconcile', repair, { right: 'operate' }),
    actionButton('Resync', resync, { right: 'operate' }),
    // The key prevents that a button gets the listener of the other one.
    hold
      ? actionButton('Release', release, { 'data-key': 'release', class: 'main', right: 'operate' })
      : actionButton('Hold', pause, { 'data-key': 'hold', right: 'operate' }),
  );
}
