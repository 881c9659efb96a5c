// Route of the order to forget a person who is no longer pushed (command `forget`).
import { forgetPerson, type ForgetOutcome } from '../../../ops/person/forget.ts';
import { createAccountLook } from '../../../ops/person/account-look.ts';
import type { Ref } from '../../../directory/records.ts';
import { Problem } from '../problem.ts';
import { json, policyOf, type AdminContext, type AdminRoute } from '../route.ts';
import {
  arrayOf,
  booleanField,
  eachOf,
  integerField,
  nameField,
  nullable,
  object,
  textField,
} from '../schema-fields.ts';
import { orderRoute } from '../operator-fields.ts';

interface Order {
  person: string;
  yes: true;
  connection?: string;
  leaveAccount?: boolean;
  otherPeople?: Ref[];
}

const report = object({
  connection: textField,
  refs: arrayOf(textField),
  order: { ...textField, description: 'Id that log entries have in place of the removed data.' },
  removed: object(
    eachOf(
      ['tombstones', 'links', 'heldChanges', 'deadLetters', 'logEntries', 'acts', 'events', 'mentions'],
      integerField,
    ),
  ),
  accounts: arrayOf(
    object({
      connection: textField,
      target: textField,
      platformId: nullable('string'),
      state: { enum: ['closed', 'active', 'pending', 'gone', 'unread'] },
      unrecognised: {
        enum: ['address', 'tenant', null],
        description:
          'Why the account was not looked at: no linked account was found yet at the new address of the target, or a reconcile holds the target because it may be another tenant.',
      },
      groups: {
        ...arrayOf(textField),
        description: 'Groups that the account stays in at the target, because its removal was not written.',
      },
      handover: {
        type: ['object', 'null'],
        description: 'A planned or unfinished handover, or its return to the person; forgetting ends it.',
        properties: {
          state: { enum: ['planned', 'unfinished', 'moved'] },
          at: textField,
          items: integerField,
          folder: nullable('string'),
        },
        required: ['state'],
      },
    }),
  ),
});

export const forgetRoutes = (context: AdminContext): AdminRoute[] => [
  orderRoute<Order>('/forget', 'forgetPerson', {
    command: 'forget PERSON --yes --json',
    summary:
      'Removes what is kept of a person who was deleted at the identity provider, and keeps a record of it.',
    fields: {
      person: nameField('A userName, externalId, address, id or ref.'),
      yes: { const: true, description: 'Confirms that the data is removed for good.' },
      connection: { ...textField, description: 'Only in this connection.' },
      leaveAccount: {
        ...booleanField,
        description:
          'Forgets the person although an account may be active or has work to be handed over. The bridge then neither closes the account nor moves its work.',
      },
      otherPeople: {
        ...arrayOf(textField),
        description:
          'Refs of pushed users who have a name of the person now and are somebody else, as the answer 409 names them.',
      },
    },
    required: ['person', 'yes'],
    answers: {
      description: 'One report of the removed data for each connection.',
      schema: arrayOf(report),
    },
    refuses: {
      404: 'There is no data of such a person.',
      409: 'The person is still pushed, or was pushed again during the order; a sync of the person runs; a pushed user may be the same person; or an account may be active or has work to be handed over.',
    },
    handle: async ({ person, connection, otherPeople = [], leaveAccount: leaveAccounts = false }, actor) => {
      const lookAt = createAccountLook(context.scopes.map(({ scope }) => scope.target));
      const handoverRules = policyOf(context);
      const options = { connection, leaveAccounts, otherPeople, actor, lookAt, handoverRules };
      const outcome = await forgetPerson(context, context.states, person, options);
      if (outcome.kind !== 'forgotten') throw toProblem(outcome);
      return json(outcome.reports);
    },
  }),
];

/** Returns the error for a refusal. Its message leaves out the name, because problem documents may be stored in logs. */
function toProblem(outcome: Exclude<ForgetOutcome, { kind: 'forgotten' }>): Problem {
  switch (outcome.kind) {
    case 'unknown':
      return new Problem(404, 'Nothing is kept of such a person.');
    case 'pushed':
      return new Problem(
        409,
        `${outcome.connection} still pushes this person as ${outcome.ref}: delete the user at the identity provider first.${outcome.former.length > 0 ? ` A person who had the same name before is meant by the ref: ${outcome.former.join(' or ')}.` : ''}`,
      );
    case 'unclear':
      return new Problem(
        409,
        `${outcome.connection} pushes ${outcome.refs.join(' and ')} with a name of this person, and it is not known whether this is the same person. If it is, delete the user at the identity provider first. If it is somebody else, send the ref in otherPeople.`,
      );
    case 'busy':
      return new Problem(
        409,
        `A sync of this person runs in ${outcome.connection}: the service completes the order within ten minutes. To complete it sooner, order it again.`,
      );
    case 'pushedAgain':
      return new Problem(
        409,
        `${outcome.connection} pushed this person again during the order, as ${outcome.ref}, so the order is not complete. Delete the user at the identity provider, then order it again.`,
      );
    case 'open':
      return new Problem(
        409,
        'An account is active or was not seen at the platform, a change of it is pending, or its work is still to be handed over: wait until that is done, or send leaveAccount.',
        { extra: { accounts: outcome.accounts } },
      );
  }
}
