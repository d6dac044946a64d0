import type { Answers } from '../era/answers.js';
import type { ClientCapabilities, InputRequest, InputResponse } from '../wire/model.js';

/** Answers to what belongs to no call, by asking a client what it has declared to answer. */
export function answersBy(
  { elicitation, sampling, roots }: ClientCapabilities,
  ask: (request: InputRequest, signal: AbortSignal) => Promise<InputResponse>,
): Answers {
  return {
    ...(elicitation && {
      elicit: (params, { signal }) => ask({ method: 'elicitation/create', params }, signal) as Promise<never>,
      urls: elicitation.url !== undefined,
    }),
    ...(sampling && {
      sample: (params, { signal }) =>
        ask({ method: 'sampling/createMessage', params }, signal) as Promise<never>,
      tools: sampling.tools !== undefined,
    }),
    ...(roots && {
      roots: async () => {
        const never = new AbortController().signal;
        return ((await ask({ method: 'roots/list' }, never)) as { roots: [] }).roots;
      },
    }),
  };
}
