import { PassThrough } from 'node:stream';
import { type ControlAddress, openControl } from '@isthmus/gateway/internal/control/index.js';
import { onTestFinished } from 'vitest';
import { type FakeGateway, type FakeOptions, fakeGateway } from '../../../gateway/test/support/control.js';
import type { CliError } from '../../src/cli-error.js';
import type { ControlContext } from '../../src/control/control-command.js';
import { createStyle } from '../../src/terminal/terminal.js';
import { freeFolder } from './isthmus.js';

/** A command at work: what it wrote, its exit code, and what it failed with. */
export interface Worked {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: CliError | undefined;
}

/** Where gateways of this test are looked for: nobody else's are there. */
export function freePlace(): ControlAddress & { readonly folder: string } {
  const root = freeFolder();
  const env = { ISTHMUS_RUNTIME_DIR: root };
  return { env, home: () => root, tmp: root, platform: 'linux', folder: root };
}

export async function openFake(
  place: { readonly folder: string },
  options: FakeOptions = {},
  name = 'gateway',
): Promise<FakeGateway & { readonly path: string }> {
  const gateway = fakeGateway(options);
  const control = await openControl(gateway, { path: `${place.folder}/${name}.sock` });
  onTestFinished(() => control.close());
  return { ...gateway, path: control.path };
}

/** Runs the action of a command without a process of its own. */
export async function work(
  run: (context: ControlContext) => Promise<number>,
  place: ControlAddress,
  width = Number.POSITIVE_INFINITY,
): Promise<Worked> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const style = createStyle(false, {});
  const terminal = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    readsOutput: false,
    readsErrors: false,
    canAsk: false,
    width,
    out: style,
    err: style,
  };
  let error: CliError | undefined;
  // Whatever is thrown is looked at by the test.
  const code = await run({ terminal, address: place }).catch((thrown: CliError) => {
    error = thrown;
    return thrown.exitCode;
  });
  const written = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, stdout: written(stdout), stderr: written(stderr), error };
}
