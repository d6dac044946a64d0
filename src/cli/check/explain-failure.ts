import { IsthmusError, messageOf } from '../../errors.js';
import { CliError, usageError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import { commandLine, type Target } from '../target.js';
import { oneLine } from '../terminal/text.js';

/** Why there is no report, with the code for it. What nobody foresaw stays as it is. */
export function explainFailure(error: unknown, target: Target): unknown {
  if (!(error instanceof IsthmusError)) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code === undefined || !/^E[A-Z]+$/.test(code)) return error;
    return new CliError(EXIT.cannotConnect, `Cannot connect: ${oneLine(messageOf(error))}`);
  }
  const evidence = (error.evidence ?? []).map((line) => oneLine(line)).filter(Boolean);
  if (error.code === 'INVALID_OPTION') return usageError(error.message);
  if (error.code === 'CANNOT_START')
    return new CliError(EXIT.cannotConnect, oneLine(error.message), { evidence });
  if (error.code !== 'NO_COMMON_REVISION') return error;
  if (evidence.every((line) => UNREACHABLE.test(line))) {
    const why = evidence.map((line) =>
      line.replace(/^(modern|legacy): (server\/discover: |initialize: )?/, ''),
    );
    // Of the target, or of the bridge in front of it.
    const [label] = oneLine(error.message).split(' speaks no era of MCP ', 1);
    return new CliError(EXIT.cannotConnect, `Cannot connect to ${label}`, { evidence: [...new Set(why)] });
  }
  return new CliError(EXIT.protocol, oneLine(error.message), {
    evidence,
    hint: `${commandLine('probe', target)} shows more`,
  });
}

const UNREACHABLE = /ECONNREFUSED|ENOENT|EACCES|ENOTFOUND|could not be started|the process exited/;
