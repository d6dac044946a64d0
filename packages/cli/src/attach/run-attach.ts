import { controlClient } from '@isthmus/gateway/internal/control/index.js';
import { attach } from '@isthmus/gateway/internal/daemon/attach.js';
import { openPaths } from '@isthmus/gateway/internal/daemon/daemon-paths.js';
import type { AttachParams } from '@isthmus/gateway/internal/daemon/definition.js';
import { runShim } from '@isthmus/gateway/internal/daemon/shim/shim.js';
import { planDeparture } from '@isthmus/sdk/internal/async/departure.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { onSignals } from '@isthmus/sdk/internal/server/own-process.js';
import { EXIT } from '../cli-error.js';
import { oneLine } from '../terminal/text.js';
import { PROGRAM } from './own-program.js';

/** Runs as the stdio server of a host, until the host is gone. `read` reads the definition of the server again. */
export async function runAttach(first: AttachParams, read: () => Promise<AttachParams>): Promise<void> {
  let params = first;
  let isFirst = true;
  let isTold = false;
  const shim = runShim({
    name: first.server.name,
    input: process.stdin,
    output: process.stdout,
    async attach() {
      // Another daemon gets the current definition. A broken file changes nothing.
      if (!isFirst) params = await read().catch(() => params);
      isFirst = false;
      return attach(params, { paths: openPaths(), program: PROGRAM });
    },
    async isAlive() {
      await controlClient(openPaths().socket).status();
      return true;
    },
    onTrouble(error) {
      isTold = true;
      process.stderr.write(`isthmus: ${oneLine(messageOf(error))}\n`);
    },
  });
  const departure = planDeparture({ isStdio: true });
  onSignals({ departure, begin: () => shim.end({ graceMs: departure.graceMs + departure.abortMs }) });
  // A host may have closed its end of stderr.
  process.stderr.on('error', () => {});
  const { wasAttached } = await shim.ended;
  if (!wasAttached && !isTold) process.stderr.write('isthmus: stdin ended before the server was reached\n');
  process.exit(wasAttached ? EXIT.ok : EXIT.cannotConnect);
}
