import type { Era } from '../../exchange/call.js';
import { isAlive } from '../talk/alive.js';
import type { Talk } from '../talk/talk.js';
import type { Transcript } from '../wire/transcript.js';

/** The conversation of one era that takes all the blows, and those before it. */
export interface RoughTalk {
  /** A new one where the last is not well. */
  get(): Promise<Talk>;
  /** Puts it away unless nobody has had it before the last one who did; says whether it did. */
  renew(): Promise<boolean>;
  close(): Promise<void>;
  readonly transcripts: readonly Transcript[];
}

export function createRoughTalk(era: Era, open: (era: Era) => Promise<Talk>): RoughTalk {
  const transcripts: Transcript[] = [];
  let current: Talk | undefined;
  let users = 0;
  const close = async () => {
    const talk = current;
    users = 0;
    current = undefined;
    await talk?.close();
  };
  return {
    transcripts,
    close,
    async renew() {
      if (users <= 1) return false;
      await close();
      return true;
    },
    async get() {
      if (current && !(await isAlive(current))) await close();
      if (!current) {
        current = await open(era);
        transcripts.push(current.transcript);
      }
      users++;
      return current;
    },
  };
}
