// Builds the findings of the command `doctor` about the last delivery to each channel of notices.
import { digestOfAddress, type NoticeReceiver } from './deliver.ts';
import type { NoticeChannelState, NoticeStore } from '../directory/notice-store.ts';
import { findingFor, type DoctorFinding } from '../ops/doctor/doctor-finding.ts';
import { isoTime } from '../support/sources.ts';

/** Returns one finding for each channel. @param channels the channels in the settings, by name @param now Unix milliseconds */
export async function noticeFindings(
  store: Pick<NoticeStore, 'read'>,
  channels: Readonly<Record<string, Pick<NoticeReceiver, 'url'>>>,
  now: number,
): Promise<DoctorFinding[]> {
  return Promise.all(
    Object.entries(channels).map(async ([channel, { url }]) =>
      findingOf({ channel, url, now }, await store.read(channel)),
    ),
  );
}

function findingOf(
  { channel, url, now }: { channel: string; url: string; now: number },
  { lastSuccessAt, lastFailureAt, problem, pause, message: undelivered }: NoticeChannelState,
): DoctorFinding {
  const { ok, warning, error } = findingFor(`notices ${channel}`);
  const last =
    lastSuccessAt === null ? 'nothing was delivered yet' : `last delivered ${isoTime(lastSuccessAt)}`;
  const failed = lastFailureAt === null ? 'no attempt failed' : `last failure ${isoTime(lastFailureAt)}`;
  if (problem === null) return ok(`${last}, ${failed}`);
  // The receiver at another address refused for good, and nothing has failed at the address of the settings since.
  if (pause && pause.address !== digestOfAddress(url) && !undelivered?.attempts)
    return warning(
      `a former address ${problem}, and no message went to the address of these settings yet: ${last}, ${failed}`,
      `Run scim-bridge notices test ${channel}. Notices go to this address when each process has it, from its file or after a restart.`,
    );
  const message = `${problem}: ${last}, ${failed}`;
  // A pause without end: the receiver answered that it is gone for good.
  if (pause?.until === null && undelivered === null)
    return error(
      message,
      `No more notices are sent to this address: change notices.channels.${channel}.url, or run scim-bridge notices test ${channel}.`,
    );
  // A pause that has ended stays stored, and the first attempt of a message has no time.
  const nextAt = (undelivered ? undelivered.nextAt : pause?.until) ?? 0;
  const again =
    nextAt > now
      ? `Undelivered notices are sent again at ${isoTime(nextAt)}, or soon after a test that succeeds.`
      : 'Undelivered notices are sent again.';
  return warning(
    message,
    `Check notices.channels.${channel}, then run scim-bridge notices test ${channel}. ${again}`,
  );
}
