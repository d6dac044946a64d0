import type { Head, Said, View } from '../read/view.js';
import { every, type Opinion } from './check.js';

/** The same of every POST. */
export function posts(
  said: readonly Said[],
  problem: (head: Head, said: Said) => string | undefined,
): Opinion {
  return every(
    said.filter(({ head }) => head !== undefined),
    {
      none: 'the client sent no such POST',
      problem: (each) => each.head && problem(each.head, each),
      expected: 'What the title says, on every POST',
      seen: (count) => `${count} POSTs did`,
    },
  );
}

/** As every POST of Streamable HTTP has it; those of HTTP+SSE need not. */
export function acceptsBoth(accept = ''): boolean {
  return ['application/json', 'text/event-stream'].every((type) => accept.includes(type));
}

export function modernRequests(view: View): readonly Said[] {
  return view.requests.filter(({ era }) => era === 'modern');
}

export function modernCalls(view: View): readonly Said[] {
  return modernRequests(view).filter(({ method }) => method === 'tools/call');
}
