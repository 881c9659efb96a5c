// Tests the words about memberships that the bridge wrote and does not manage since an operator dropped the link.
import '../support/load-modules.ts';
import { openPlace } from '../support/situation.ts';

const ANN = 'ann@acme.example';

test('links forget of a person → memberships of the remaining account are reported as no longer managed, not as added at the platform', async () => {
  const place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const { commands, idp } = place;
  const outputOf = async (...words: string[]) => (await commands.run(...words)).text.replaceAll(/\s+/g, ' ');
  try {
    const ids = [await idp.createUser(ANN), await idp.createUser('bob@acme.example')];
    await idp.createGroup('sales', ids);
    await place.idle();
    await idp.send('DELETE', `/Users/${ids[0]}`);
    await place.idle();
    expect(await outputOf('links', 'forget', ANN, '--leave-account')).toContain('Forgotten: User:');
    await place.idle();
    await commands.run('reconcile', '--yes');
    await place.idle();
    expect(await outputOf('plan')).toContain('1 member is not managed through this connection now and stays');
    expect(await outputOf('explain', 'sales')).toContain(
      'At the platform it has 1 member more, which the bridge does not manage through this connection now and leaves: ',
    );
  } finally {
    await place.stop();
  }
}, 60_000);
