import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { ChildOptions } from '@isthmus/sdk/internal/process/spawn-child.js';
import { type CheckTarget, commandTarget, httpTarget, serverTarget, socketTarget } from '../wire/targets.js';

/** Whom to judge, as it is written in a test. */
export type Subject =
  /** Started anew for every connection. It gets a clean environment: `env` adds to it, `inheritEnv: 'all'` passes on yours. */
  | (Pick<ChildOptions, 'command' | 'args' | 'cwd' | 'env' | 'inheritEnv'> & { readonly label?: string })
  | {
      readonly url: string | URL;
      readonly headers?: Readonly<Record<string, string>>;
      readonly label?: string;
    }
  /** `unix:PATH` or `tcp://HOST:PORT`. */
  | { readonly address: string }
  /** A server object of this process, served in memory. */
  | { readonly server: Service; readonly label?: string }
  | CheckTarget;

/** The subject, or a function that gives it when the tests run: a port is known only then. */
export type SubjectOrLater = Subject | (() => Subject | Promise<Subject>);

export async function toTarget(subject: SubjectOrLater): Promise<CheckTarget> {
  const given = typeof subject === 'function' ? await subject() : subject;
  if ('transport' in given) return given;
  if ('server' in given)
    return serverTarget(given.server, given.label === undefined ? {} : { label: given.label });
  if ('url' in given) return httpTarget(given.url, given);
  if ('command' in given) return commandTarget(given);
  if ('address' in given) return socketTarget(given.address);
  throw new IsthmusError('INVALID_OPTION', `Whom to judge? ${WANTED}`);
}

const WANTED = 'Give { command, args }, { url }, { address }, { server } or a target';
