// Defines the JSON Schema of an explanation: the answer of the route and command `explain`. The types in
// explain/explanation.ts explain the fields.
import { RESOURCE_REASONS } from '../../directory/outbox/exceptions.ts';
import { PRIORITIES } from '../../directory/records.ts';
import {
  VERDICTS,
  type AttributeState,
  type Explanation,
  type MembershipState,
  type PlatformDifference,
} from '../../explain/explanation.ts';
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import { ACTIONS } from '../../reconcile/entry.ts';
import { fleetFinding, PAUSE_FIELDS } from './fleet-schemas.ts';
import { logEntry } from './log-schemas.ts';
import type { JsonSchema } from './route.ts';
import {
  eachOf,
  anyField,
  arrayOf,
  booleanField,
  dateTime,
  integerField,
  kindField,
  nullable,
  objectOf,
  nullOr,
  omittable,
  textField,
} from './schema-fields.ts';

type Part<Name extends keyof Explanation> = NonNullable<Explanation[Name]>;
const described = (schema: JsonSchema, description: string): JsonSchema => ({ ...schema, description });

const platform = nullOr(
  objectOf<Part<'platform'>>()({
    at: dateTime,
    state: { enum: ['equal', 'differs', 'unread'] },
    why: described(nullable('string'), 'The call that failed, with its answer, if the state is `unread`.'),
    differences: arrayOf(
      objectOf<PlatformDifference>()({
        action: { enum: ACTIONS },
        subject: nullable('string'),
        reason: textField,
        before: nullable('object'),
        after: nullable('object'),
      }),
    ),
    addedByOthers: described(
      arrayOf(textField),
      'Groups of a person, or members of a group, that the bridge does not manage through this connection now and that stay.',
    ),
    leftOutGroups: described(arrayOf(textField), 'Groups of a person that the settings leave out.'),
    leftByPolicy: described(
      arrayOf(textField),
      'Groups of a person, or members of a group, that stay against the source because of the policy.',
    ),
    leftDifferences: described(
      integerField,
      'Number of all differences that stay because of the policy, also those of `leftByPolicy`.',
    ),
    defaults: described(
      arrayOf(textField),
      'Sentences about mapped attributes whose value the person has only by the default of the definition.',
    ),
    done: described(integerField, 'Number of held or rejected changes that the platform has already.'),
    toBeHeld: described(
      integerField,
      'Number of differences that the guard holds when a run is to write them.',
    ),
    readInTurn: described(booleanField, 'Whether a truth value or list differs that not every run reads.'),
    notCompared: described(
      integerField,
      'Number of groups of a person, or of removals of members of a group, that were not compared, because they are too many for one look or could not be read.',
    ),
    accountGone: described(
      booleanField,
      'Whether the platform does not have the linked account of a person any more; no difference if none is wanted there.',
    ),
  }),
  'The resource as the platform showed it just now; null: not asked, because nothing is linked or a change is known already.',
);

export const explanationSchema: JsonSchema = {
  ...objectOf<Explanation>()({
    ...eachOf(['connection', 'target', 'ref', 'id', 'name'], textField),
    kind: kindField,
    verdict: { enum: VERDICTS },
    summary: textField,
    reasons: arrayOf(textField),
    stored: nullOr(
      objectOf<Part<'stored'>>()({
        version: integerField,
        created: dateTime,
        lastModified: dateTime,
        active: nullable('boolean'),
        externalId: nullable('string'),
      }),
      'The pushed resource; null: deleted at the identity provider.',
    ),
    deletedAt: nullable('string'),
    inScope: nullable('boolean'),
    nameAtTarget: nullable('string'),
    values: arrayOf(
      objectOf<AttributeState>()({
        name: textField,
        desired: omittable(anyField),
        applied: omittable(anyField),
        state: { enum: ['equal', 'differs', 'unsure', 'unmappable', 'unmapped', 'kept'] },
        reason: omittable(described(textField, 'Why the value cannot be mapped.')),
        observed: omittable(
          described(
            anyField,
            'Value at the platform, `[hidden]` if it differs and the name tells of a secret; absent: not read.',
          ),
        ),
      }),
    ),
    link: objectOf<Part<'link'>>()({
      platformId: nullable('string'),
      account: nullable('string'),
      origin: { enum: ['created', 'adopted', null] },
      active: nullable('boolean'),
      departed: booleanField,
      creating: booleanField,
      attempts: integerField,
      lastFailure: described(
        nullable('string'),
        'The newest failed attempt, such as a call with its answer.',
      ),
      waitsForName: described(
        booleanField,
        'Whether the sync waits for the name or the account at the platform: its holder is to give it up, or is not shown yet.',
      ),
      lastWrite: nullable('string'),
    }),
    platform,
    condition: nullOr(
      objectOf<Part<'condition'>>()({
        reason: textField,
        message: textField,
        since: dateTime,
        status: nullable('integer'),
        advice: textField,
      }),
    ),
    exception: nullOr(
      objectOf<Part<'exception'>>()({ reason: { enum: RESOURCE_REASONS }, since: dateTime }),
      'As /exceptions lists it.',
    ),
    deadLetterSince: nullable('string'),
    mark: nullOr(
      objectOf<Part<'mark'>>()({
        generation: textField,
        since: dateTime,
        request: textField,
        priority: { enum: [...PRIORITIES, null] },
        state: { enum: ['due', 'queued', 'running'] },
        nextTry: nullable('string'),
      }),
      'A change that is not applied yet.',
    ),
    lookAgainAt: described(nullable('string'), 'Time of the next sync without a change.'),
    memberships: described(
      arrayOf(
        objectOf<MembershipState>()({
          ref: textField,
          name: textField,
          state: { enum: ['applied', 'toAdd', 'toRemove', 'notForTarget'] },
          because: omittable(described(textField, 'Why the membership waits; absent: it is written next.')),
          condition: omittable(described(textField, 'Reason of the condition of the other side.')),
          isExpired: omittable(
            described(
              booleanField,
              'The approval has expired, and the guard has not judged the change anew.',
            ),
          ),
          triedSince: omittable(
            described(dateTime, 'Since when writes of the other side fail and are tried again.'),
          ),
        }),
      ),
      'Groups of a person, or up to a hundred pending members of a group.',
    ),
    leftByHand: described(
      arrayOf(textField),
      'Groups that the person is not in at the platform, although the removal from them is pending, held or rejected.',
    ),
    members: nullOr(
      objectOf<Part<'members'>>()({
        desired: integerField,
        leftAlone: described(integerField, 'Desired members that are protected or out of scope.'),
        leftOutByPolicy: described(
          integerField,
          'Desired members whom the policy create-only leaves out, because the group was complete before they joined it.',
        ),
        toAdd: integerField,
        toRemove: integerField,
        unknown: arrayOf(textField),
        nestedGroups: described(
          arrayOf(textField),
          'Groups that are members; groups in groups are not written.',
        ),
      }),
      'Of a group.',
    ),
    guard: arrayOf(
      objectOf<Part<'guard'>[number]>()({
        kind: { enum: DESTRUCTIVE_KINDS },
        subject: nullable('string'),
        state: { enum: ['held', 'expired', 'approved', 'rejected'] },
        until: omittable(described(dateTime, 'End of the approval of a change that is not written yet.')),
      }),
    ),
    approval: described(nullable('string'), 'Id of the approval that covers the held changes.'),
    approvalExpired: described(
      nullable('string'),
      'When the changes of an expired approval are judged anew; null: the approval can be decided.',
    ),
    rejections: described(
      arrayOf(
        objectOf<Part<'rejections'>[number]>()({
          id: textField,
          by: textField,
          at: dateTime,
          ref: textField,
          group: nullable('string'),
        }),
      ),
      'The newest rejection of the own changes (group null), and of the removal from each group.',
    ),
    firstApprovals: described(
      arrayOf(
        objectOf<Part<'firstApprovals'>[number]>()({
          id: textField,
          by: textField,
          at: dateTime,
          total: integerField,
        }),
      ),
      'Approvals of one person that wait for a second one.',
    ),
    suspectedDrift: described(arrayOf(textField), 'Names of values that others may have changed.'),
    hold: nullOr(objectOf<Part<'hold'>>()({ since: dateTime, by: textField, note: nullable('string') })),
    hasMoved: described(booleanField, 'Nothing is written: the new address is not recognised yet.'),
    breaker: nullOr(
      objectOf<Part<'breaker'>>()({
        open: booleanField,
        since: dateTime,
        status: described(integerField, '0: no answer; 200: a web page.'),
        only: nullOr(
          arrayOf(textField),
          'Methods that are answered with 401 while the key is accepted for others.',
        ),
        ofOtherKey: described(booleanField, 'The refused key is not the one of these settings.'),
      }),
      'While changes wait for a target whose calls fail.',
    ),
    pause: nullOr(
      objectOf<Part<'pause'>>()({ until: dateTime, ...PAUSE_FIELDS }),
      'Pause of all calls to the target; asked false: the bridge chose its length.',
    ),
    fleet: arrayOf(fleetFinding),
    policy: objectOf<Part<'policy'>>()({
      ...eachOf(['policy', 'adopt', 'deprovision', 'activation'], textField),
      deleteAfterDays: described(
        nullable('integer'),
        'Days after which the account of a deleted person is deleted; null: never.',
      ),
      protected: booleanField,
    }),
    lastReconcile: nullOr(objectOf<Part<'lastReconcile'>>()({ at: dateTime, outcome: textField })),
    handover: nullOr(
      objectOf<Part<'handover'>>()({
        state: textField,
        closedAt: dateTime,
        at: dateTime,
        deployment: textField,
        folder: nullable('string'),
        moved: nullable('integer'),
        text: textField,
      }),
    ),
    restored: nullOr(
      objectOf<Part<'restored'>>()({ at: dateTime, backup: textField }),
      'The last restore, and its backup in words, until a reconcile has converged.',
    ),
    timeline: arrayOf(
      objectOf<Part<'timeline'>[number]>()({
        at: dateTime,
        event: { enum: ['stored', 'accepted', 'applied', 'noted', 'compared'] },
        text: textField,
      }),
    ),
    log: arrayOf(logEntry),
    isLogCut: described(booleanField, 'There may be older entries of the log.'),
  }),
  description: 'First plain sentences, then all that is known.',
};
