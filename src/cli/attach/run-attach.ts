import { planDeparture } from '../../async/departure.js';
import { attach, connectIfThere } from '../../daemon/attach.js';
import type { AttachParams } from '../../daemon/definition.js';
import { openPlaces } from '../../daemon/open-places.js';
import { runShim } from '../../daemon/shim/shim.js';
import { messageOf } from '../../errors.js';
import { onSignals } from '../../server/own-process.js';
import { EXIT } from '../exit-codes.js';
import { oneLine } from '../terminal/text.js';

/** Is the server that a host has launched, until the host is gone. `read` tells anew what the server is. */
export async function runAttach(first: AttachParams, read: () => Promise<AttachParams>): Promise<void> {
  let params = first;
  let isFirst = true;
  const shim = runShim({
    name: first.unit.name,
    input: process.stdin,
    output: process.stdout,
    async attach() {
      // Another daemon is told what the file says now; a file that is broken changes nothing.
      if (!isFirst) params = await read().catch(() => params);
      isFirst = false;
      return attach(params, { places: openPlaces() });
    },
    async isAlive() {
      const client = await connectIfThere(openPlaces().socket);
      if (!client) return false;
      try {
        await client.status();
        return true;
      } finally {
        client.close();
      }
    },
    onTrouble: (error) => process.stderr.write(`isthmus: ${oneLine(messageOf(error))}\n`),
  });
  const departure = planDeparture({ isStdio: true });
  onSignals({ departure, begin: () => shim.end({ graceMs: departure.graceMs + departure.abortMs }) });
  // A host may have closed its end of stderr.
  process.stderr.on('error', () => {});
  const { wasAttached } = await shim.ended;
  process.exit(wasAttached ? EXIT.ok : EXIT.cannotConnect);
}
