import { createContext, Script } from 'node:vm';

/** What `runWithin` throws when the time is over. */
export class TimeIsOver extends Error {}

/**
 * Runs a synchronous function and stops it when it takes longer: V8 interrupts loops, recursion and regular
 * expressions alike. A function that is stopped may leave its own state half changed.
 */
export function runWithin<T>(ms: number, work: () => T): T {
  context ??= createContext({ work: undefined });
  script ??= new Script('work()');
  const outer = context['work'];
  context['work'] = work;
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TimeIsOver(`it took longer than ${ms} ms`);
  } finally {
    context['work'] = outer;
  }
}

let context: ReturnType<typeof createContext> | undefined;
let script: Script | undefined;
