import { sharedLogin } from '@isthmus/gateway/internal/logins/login-source.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { connectorOfSpec } from '@isthmus/sdk/internal/host/spec-connector.js';
import { type CommandTarget, labelOf, type TargetSettings, withSettings } from '../target.js';
import { oneLine } from '../terminal/text.js';

/**
 * Errors call a server of a file by its name: that is how the user knows it, and its arguments may contain secrets from
 * variables.
 */
export function connectorOf(target: CommandTarget, settings: TargetSettings, tap?: Tap): Connector {
  return connectorOfSpec(withSettings(target, settings), {
    ...labelOf(target),
    logins: sharedLogin,
    tap,
    onWarning: (warning) => process.stderr.write(`isthmus: warning: ${oneLine(warning)}\n`),
  });
}
