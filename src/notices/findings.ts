// Returns findings of doctor about the last delivery to each channel.
import type { NoticeChannelState, NoticeStore } from '../directory/notice-store.ts';
import type { DoctorFinding } from '../ops/doctor.ts';

/** One finding for each channel. @param channels names of the settings */
export async function noticeFindings(
  store: Pick<NoticeStore, 'read'>,
  channels: readonly string[],
): Promise<DoctorFinding[]> {
  return Promise.all(channels.map(async (channel) => findingOf(channel, await store.read(channel))));
}

function findingOf(
  channel: string,
  { lastSuccessAt, lastFailureAt, problem, pause }: NoticeChannelState,
): DoctorFinding {
  const area = `notices ${channel}`;
  const last =
    lastSuccessAt === null ? 'nothing was delivered yet' : `last delivered ${moment(lastSuccessAt)}`;
  const failed = lastFailureAt === null ? 'no attempt failed' : `last failure ${moment(lastFailureAt)}`;
  if (problem === null) return { area, level: 'ok', message: `${last}, ${failed}`, advice: null };
  const message = `${problem}: ${last}, ${failed}`;
  if (pause?.until === null)
    return {
      ...{ area, level: 'error', message },
      advice: `Nothing more is sent to this address: set notices.channels.${channel}.url anew, or run scim-bridge notices test ${channel}.`,
    };
  return {
    ...{ area, level: 'warning', message },
    advice: `Check notices.channels.${channel}, then scim-bridge notices test ${channel}; what is not delivered is sent again.`,
  };
}

const moment = (ms: number): string => new Date(ms).toISOString();
