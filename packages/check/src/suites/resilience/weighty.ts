import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod } from '../../conversation/alive.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import type { CheckContext } from '../../run/check-context.js';

/** A request with a long answer, and about how long that is. */
export interface Weighty {
  readonly method: string;
  readonly params: JsonObject;
  readonly answerBytes: number;
}

/** The longest answer to be had without harm: what an echo gives back, or the longest list. */
export function weightyRequest({ facts }: CheckContext, talk: CheckConversation, echoBytes: number): Weighty {
  const echo = facts.callable.find(({ name }) => /echo/i.test(name));
  const key = echo && Object.entries(echo.args).find(([, value]) => typeof value === 'string')?.[0];
  const text = 'echo'.repeat(echoBytes / 4);
  const echoed: Weighty[] =
    echo && key !== undefined
      ? [
          {
            method: 'tools/call',
            params: { name: echo.name, arguments: { ...echo.args, [key]: text } },
            answerBytes: echoBytes,
          },
        ]
      : [];
  const lists = [
    ['tools/list', facts.tools],
    ['resources/list', facts.resources],
    ['prompts/list', facts.prompts],
    [aliveMethod(talk), talk.era === 'modern' ? facts.hello : {}],
  ] as const;
  const listed = lists.map(([method, content]) => ({
    method,
    params: {},
    answerBytes: JSON.stringify(content).length,
  }));
  return [...echoed, ...listed].reduce((best, each) => (each.answerBytes > best.answerBytes ? each : best));
}
