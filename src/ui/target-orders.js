// Creates the orders for a whole target: compare, reconcile, resync, hold and release.
import { order } from './api.js';
import { actionButton, count, h, say } from './dom.js';

/** Creates the buttons of a target. @param redraw draws the overview again after an order */
export function orders({ connection, target, hold }, redraw) {
  /** Returns the work of a button that sends one order. */
  const orderAt = (path, said) => async () => {
    await order(path, { target });
    say(said);
    redraw();
  };
  const where = `${connection} → ${target}`;
  const release = async () => {
    const released = await order('/release', { target });
    const refused = released.find((each) => each.connection === connection)?.refused;
    say(refused ? `${where} ${refused}` : `${where} is released.`);
    redraw();
  };
  const resync = async () => {
    const marked = await order('/resync', { target });
    const leftOut =
      marked.dropped > 0
        ? ` ${count(marked.dropped, 'dropped dead letter is', 'dropped dead letters are')} left out.`
        : '';
    say(`${count(marked.count, 'resource', 'resources')} will be looked at again.${leftOut}`);
    redraw();
  };
  return h(
    'div',
    { class: 'buttons' },
    actionButton('Compare', orderAt('/plan', 'The comparison has begun.'), {
      class: 'main',
      needsRight: 'operate',
    }),
    actionButton('Reconcile', orderAt('/reconcile', 'Reconcile has begun.'), {
      needsRight: 'operate',
      question: {
        title: 'Reconcile now?',
        text: `Everything at ${target} is compared with what is desired, and what differs is repaired. The guard holds what takes away too much.`,
        action: 'Reconcile',
      },
    }),
    actionButton('Resync', resync, {
      needsRight: 'operate',
      question: {
        title: 'Look at everybody again?',
        text: `All users and groups are marked for ${target}, behind all other work. Only what differs is written.`,
        action: 'Resync',
      },
    }),
    // The key keeps the listeners of Hold and Release apart (patch.js).
    hold
      ? actionButton('Release', release, {
          'data-key': 'release',
          class: 'main',
          needsRight: 'operate',
          question: {
            title: 'Release?',
            text: `What has gathered for ${target} meanwhile is written, as it is desired now. The guard holds what takes away too much.`,
            action: 'Release',
          },
        })
      : actionButton('Hold', orderAt('/hold', `${where} is on hold.`), {
          'data-key': 'hold',
          needsRight: 'operate',
          question: {
            title: 'Stop all writes?',
            text: `Nothing is written to ${target} until you release it. Pushes are still accepted.`,
            action: 'Hold',
            danger: true,
          },
        }),
  );
}
