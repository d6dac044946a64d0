import type { CheckContext } from '../../../../run/check-context.js';

/** Fails if the id of a task can be predicted from another one. */
export function needUnguessable(context: CheckContext, one: string, other: string): string {
  if (one === other) context.fail(`two tasks have the id ${one}`, 'a unique id for each');
  const [a, b] = [one, other].map((id) => id.replace(/\d+/g, ''));
  const digits = [...one.matchAll(/\d+/g)].map(([run]) => run.length);
  if (a === b && Math.max(0, ...digits) < GUESSABLE)
    context.fail(`two tasks have the ids ${one} and ${other}`, 'ids that cannot be predicted');
  if (one.length < 8) context.fail(`a task has the id ${one}`, 'a longer id');
  return `two tasks have the ids ${one} and ${other}`;
}

/** So many digits are not a counter. A time in milliseconds has fewer. */
const GUESSABLE = 16;
