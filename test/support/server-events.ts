// Reads server-sent events of an answer.
export interface ServerEvent {
  event: string;
  data: any;
}

export interface EventReader {
  /** All events so far. */
  events: ServerEvent[];
  /** Resolves when the stream has ended, whether cleanly or not. */
  ended: Promise<void>;
}

/** Reads until the stream ends. */
export function readServerEvents(answer: Response): EventReader {
  const events: ServerEvent[] = [];
  const read = async (): Promise<void> => {
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
        events.push({ event, data: JSON.parse(data) });
      }
    }
  };
  return { events, ended: read().catch(() => undefined) };
}
