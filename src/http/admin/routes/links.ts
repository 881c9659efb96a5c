// Routes of links between resources and their accounts or groups (docs/glossary.md): list, export, import and remove them. `keep`
// accepts that accounts stay at a target that left the settings.
import type { TargetFeed } from '../../../directory/fleet/known-targets.ts';
import { findForOrder, toSearched } from '../../../ops/find.ts';
import { listLinks, removedFeeds, showLinks, type LinkFilter } from '../../../ops/links/link-rows.ts';
import { forgetLinks, LinkNeeded } from '../../../ops/links/links.ts';
import { importLinks, type Imported } from '../../../ops/links/import-links.ts';
import {
  findRemoved,
  keepRemoved,
  notRemovedText,
  stillFedText,
} from '../../../ops/links/removed-targets.ts';
import { Problem, severalProblem } from '../problem.ts';
import { EXPORT_TYPES } from '../log-export.ts';
import { json, requireFed, getRoute, postRoute, type AdminContext, type AdminRoute } from '../route.ts';
import {
  arrayOf,
  body,
  booleanField,
  integerField,
  kindField,
  nameField,
  object,
  onlyConnection,
  onlyTarget,
  textField,
  toQuery,
} from '../schema-fields.ts';
import { refTo } from '../schemas.ts';
import { orderRoute } from '../operator-fields.ts';

/** Body of the order to forget links. */
interface ForgetBody {
  resource: string;
  connection?: string;
  target?: string;
  leaveAccount?: boolean;
}

const query = toQuery({
  connection: onlyConnection,
  target: onlyTarget,
  kind: { ...kindField, description: 'Only users, or only groups.' },
});
const resource = nameField('A name, an id or a ref.');
const links = arrayOf(refTo('Link'));
const unknownPlace = 'There is no such connection or target.';
const UNKNOWN_NAME = 'No person and no group has this name.';
/** Most rows of an import: each row needs a call to the platform within the request. */
const MOST_ROWS = 500;

/** Most links of one list, which is kept in memory; the export has no such limit. */
const MOST_LISTED = 10_000;
const TOO_MANY = `There are more than ${MOST_LISTED} links: use /admin/v1/links/export.`;

export const linkRoutes = (context: AdminContext): AdminRoute[] => [
  getRoute<LinkFilter>('/links', 'listLinks', {
    command: 'links list --json',
    summary: `Lists all links, up to ${MOST_LISTED}, also at targets that were taken out of the settings (removed).`,
    query,
    answers: { description: 'The links, in no order.', schema: links },
    refuses: { 404: unknownPlace, 413: TOO_MANY },
    handle: async ({ query: filter }) => {
      await requireListed(context, filter);
      const rows = [];
      for await (const row of listLinks(context, filter)) {
        if (rows.length === MOST_LISTED) throw new Problem(413, TOO_MANY);
        rows.push(row);
      }
      return json(rows);
    },
  }),
  getRoute<LinkFilter>('/links/export', 'exportLinks', {
    command: 'links export',
    summary:
      'Exports all links, one JSON object on each line, also at targets that were taken out of the settings (removed).',
    query,
    answers: {
      description: 'The links, in no order.',
      contentType: EXPORT_TYPES.ndjson,
      schema: textField,
    },
    refuses: { 404: unknownPlace },
    handle: async ({ query: filter }) => {
      await requireListed(context, filter);
      return context.logExports.file('links.ndjson', EXPORT_TYPES.ndjson, linesOf(context, filter));
    },
  }),
  orderRoute<{ rows: object[]; dryRun?: boolean }>('/links/import', 'importLinks', {
    command: 'links import FILE',
    summary: 'Imports links from an export; each is checked at the platform.',
    fields: {
      rows: { ...arrayOf({ type: 'object' }), minItems: 1, maxItems: MOST_ROWS },
      dryRun: { ...booleanField, description: 'Reports what would be imported, and stores nothing.' },
    },
    required: ['rows'],
    answers: {
      description: 'The outcome of each row, in the order of the rows.',
      schema: object({ dryRun: booleanField, outcomes: arrayOf(textField) }),
    },
    refuses: { 502: 'The platform does not answer; the links stored so far stay. Import the rows again.' },
    handle: async ({ rows, dryRun = false }, actor, { signal }) => {
      const scopes = context.scopes.map(({ scope }) => scope);
      const outcomes: Imported[] = [];
      for await (const { outcome } of importLinks(scopes, rows, { ...actor, dryRun, signal }))
        outcomes.push(outcome);
      return json({ dryRun, outcomes });
    },
  }),
  postRoute<{ resource: string }>('/links/show', 'showLinks', {
    command: 'links show USER|GROUP --json',
    right: 'read',
    summary:
      'Shows the links of a person or group, at every target, also at targets that were taken out of the settings.',
    body: body({ resource }, ['resource']),
    answers: { description: 'The shown links.', schema: links },
    refuses: { 404: UNKNOWN_NAME },
    handle: async (call) => {
      const rows = await showLinks(context, call.body.resource);
      if (!rows) throw new Problem(404, UNKNOWN_NAME);
      return json(rows);
    },
  }),
  orderRoute<ForgetBody>('/links/forget', 'forgetLinks', {
    command: 'links forget USER|GROUP --json',
    summary:
      'Removes the links of a person or group. The next sync looks for the account or group again and adopts it by the setting adopt.',
    fields: {
      resource,
      connection: onlyConnection,
      target: { ...textField, description: 'Only at this target.' },
      leaveAccount: {
        ...booleanField,
        description:
          'Removes the link also while access is to be taken away at the platform: the access stays until the account or group is adopted again.',
      },
    },
    required: ['resource'],
    answers: { description: 'The removed links.', schema: links },
    refuses: {
      404: 'No person and no group has this name, or there is no such connection or target.',
      409: 'The name means more than one, or access is still to be taken away at the platform.',
    },
    handle: async ({ resource: text, connection, target, leaveAccount }, actor) => {
      requireFed(context, { connection, target });
      const searched = toSearched(context.states);
      const found = await findForOrder(
        searched.filter((each) => each.connection === (connection ?? each.connection)),
        text,
      );
      if (found.length === 0) throw new Problem(404, UNKNOWN_NAME);
      // Several connections may have pushed a resource under one ref: a ref in the call means the links of all of them.
      if (new Set(found.map(({ ref }) => ref)).size > 1) throw severalProblem(found);
      try {
        return json(await forgetLinks(context.states, { resources: found, target, leaveAccount }, actor));
      } catch (error) {
        if (!(error instanceof LinkNeeded)) throw error;
        throw new Problem(
          409,
          `${error.message} Or send leaveAccount${found.length > 1 ? ', or the connection whose links are meant' : ''}.`,
        );
      }
    },
  }),
  orderRoute<TargetFeed>('/links/keep', 'keepLinks', {
    command: 'links keep --connection CONNECTION --target TARGET --yes',
    summary:
      'Accepts that the accounts and groups stay at a target that was taken out of the settings. People who leave keep their access there.',
    fields: {
      connection: { ...textField, description: 'The connection that has fed it.' },
      target: textField,
    },
    required: ['connection', 'target'],
    answers: {
      description: 'What stays.',
      schema: object({
        connection: textField,
        target: textField,
        accounts: integerField,
        groups: integerField,
      }),
    },
    refuses: {
      404: 'The settings have this target, or no open account is linked there.',
      409: 'A running process of the service may feed the target, because its settings have it.',
    },
    handle: async (feed, actor) => {
      const { knownTargets, fed: targetsInSettings, states } = context;
      const found = await findRemoved(knownTargets, targetsInSettings, feed);
      if (!found) throw new Problem(404, notRemovedText(feed));
      const refusal = stillFedText(found);
      if (refusal !== undefined) throw new Problem(409, refusal);
      await keepRemoved(states, knownTargets, found, actor);
      const { connection, target, accounts, groups } = found;
      return json({ connection, target, accounts, groups });
    },
  }),
];

/** @throws Problem 404 for a name that neither the settings nor the removed targets have */
async function requireListed(context: AdminContext, filter: LinkFilter): Promise<void> {
  if ((await removedFeeds(context, filter)).length === 0) requireFed(context, filter);
}

async function* linesOf(context: AdminContext, filter: LinkFilter): AsyncGenerator<string> {
  for await (const row of listLinks(context, filter)) yield JSON.stringify(row);
}
