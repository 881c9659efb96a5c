// Creates inbound tokens, shows each once, and revokes them.
import { get, operator, order, remove } from './api.js';
import { actionButton, ago, field, h, pill, say, select, table } from './dom.js';

/** Shows the form that creates a token, and the list of tokens. @param view.redraw draws the view again after an order */
export async function tokens({ redraw }) {
  const [all, rows] = await Promise.all([get('/tokens'), get('/status')]);
  const connections = [...new Set([...rows, ...all].map(({ connection }) => connection))];
  return [tokenForm(connections, redraw), tokenTable(all, redraw)];
}

/** Creates the form; a new token is shown below. */
function tokenForm(connections, redraw) {
  const connection = select(connections.map((each) => [each]));
  const name = h('input', {
    required: true,
    maxlength: 32,
    pattern: '[a-z0-9]([a-z0-9\\-]{0,30}[a-z0-9])?',
    title: 'Lower-case letters, digits, inner hyphens',
    autocomplete: 'off',
  });
  // Values for the service; '': the order has no `expires`, so the token never ends.
  const expires = select([
    ['90d', '90 days'],
    ['365d', 'A year'],
    ['30d', '30 days'],
    ['', 'Never'],
  ]);
  const place = h('div', { role: 'status' });
  const onsubmit = async (event) => {
    event.preventDefault();
    try {
      const made = await order('/tokens', {
        connection: connection.value,
        name: name.value,
        ...(expires.value && { expires: expires.value }),
      });
      place.replaceChildren(secretCard(made, redraw));
    } catch (error) {
      say(error.message, 'bad');
    }
  };
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, 'Make a token'),
    h(
      'form',
      { class: 'search', onsubmit },
      field('Connection', connection),
      field('Name', name),
      field('Ends', expires),
      h('button', { class: 'main', needsRight: 'operate' }, 'Make'),
    ),
    place,
  );
}

/** Shows a new token, which the service does not show again. */
const secretCard = ({ name, secret }, redraw) =>
  h(
    'div',
    { class: 'secret' },
    h('p', {}, h('strong', {}, `${name} is shown this once.`), ' Put it into the identity provider now.'),
    h('code', {}, secret),
    h(
      'div',
      { class: 'buttons' },
      actionButton('Copy', async () => {
        await navigator.clipboard.writeText(secret);
        say('Copied.');
      }),
      actionButton('Done', () => redraw(), { class: 'main' }),
    ),
  );

/** Shows all tokens. Only a stored one can be revoked; the others (`source` is `settings`) are in the settings file. */
function tokenTable(all, redraw) {
  const revoke = (connection, name) => async () => {
    await remove(`/tokens/${connection}/${name}?by=${encodeURIComponent(operator())}`);
    say(`${name} is revoked.`);
    redraw();
  };
  return table(
    'Tokens',
    ['Name', 'Connection', 'State', 'Ends', 'Last used', 'Made', 'Act'],
    all.map(({ connection, name, source, state, createdAt, createdBy, expiresAt, lastUsedAt }) => [
      h('strong', {}, name),
      connection,
      pill(state === 'valid' ? 'good' : 'bad', state),
      expiresAt === null ? 'never' : ago(expiresAt),
      lastUsedAt === null ? 'not yet' : ago(lastUsedAt),
      source === 'settings' ? 'in the settings' : [ago(createdAt), ` by ${createdBy}`],
      source === 'stored'
        ? actionButton('Revoke', revoke(connection, name), {
            class: 'quiet',
            needsRight: 'operate',
            'aria-label': `Revoke ${name}`,
            question: {
              title: 'Revoke?',
              text: `${name} of ${connection} is refused within two seconds, everywhere.`,
              action: 'Revoke',
              danger: true,
            },
          })
        : '',
    ]),
  );
}
