// Builds the findings of the command `doctor` about the last delivery to each channel of notices.
import type { NoticeChannelState, NoticeStore } from '../directory/notice-store.ts';
import { findingFor, type DoctorFinding } from '../ops/doctor/doctor-finding.ts';
import { isoTime } from '../support/sources.ts';

/** Returns one finding for each channel. @param channels names of the channels in the settings */
export async function noticeFindings(
  store: Pick<NoticeStore, 'read'>,
  channels: readonly string[],
): Promise<DoctorFinding[]> {
  return Promise.all(channels.map(async (channel) => findingOf(channel, await store.read(channel))));
}

function findingOf(
  channel: string,
  { lastSuccessAt, lastFailureAt, problem, pause, message: undelivered }: NoticeChannelState,
): DoctorFinding {
  const { ok, warning, error } = findingFor(`notices ${channel}`);
  const last =
    lastSuccessAt === null ? 'nothing was delivered yet' : `last delivered ${isoTime(lastSuccessAt)}`;
  const failed = lastFailureAt === null ? 'no attempt failed' : `last failure ${isoTime(lastFailureAt)}`;
  if (problem === null) return ok(`${last}, ${failed}`);
  const message = `${problem}: ${last}, ${failed}`;
  // A pause without end: the receiver answered that it is gone for good.
  if (pause?.until === null)
    return error(
      message,
      `No more notices are sent to this address: change notices.channels.${channel}.url, or run scim-bridge notices test ${channel}.`,
    );
  const againAt = undelivered?.nextAt ?? pause?.until;
  const again =
    againAt === undefined
      ? 'Undelivered notices are sent again.'
      : `Undelivered notices are sent again at ${isoTime(againAt)}, or soon after a test that succeeds.`;
  return warning(
    message,
    `Check notices.channels.${channel}, then run scim-bridge notices test ${channel}. ${again}`,
  );
}
