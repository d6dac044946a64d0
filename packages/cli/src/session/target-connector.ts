import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';
import { type CommandTarget, labelOf, type TargetSettings, withSettings } from '../target.js';
import { oneLine } from '../terminal/text.js';

/**
 * Errors call a server of a file by its name: that is how the user knows it, and its arguments may contain secrets from
 * variables.
 */
export function connectorOf(target: CommandTarget, settings: TargetSettings): Connector {
  return connectorOfSpec(withSettings(target, settings), {
    ...labelOf(target),
    onWarning: (warning) => process.stderr.write(`isthmus: warning: ${oneLine(warning)}\n`),
  });
}
