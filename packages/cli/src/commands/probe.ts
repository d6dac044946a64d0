import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { usageError } from '../cli-error.js';
import { type CommonOptions, clientCommand } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { toReport } from '../probe/probe-report.js';
import { countDropped, probeServer } from '../probe/probe-server.js';
import { withSession } from '../session.js';
import { renderProbe } from '../terminal/render-probe.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function probeCommand(behind: readonly string[] | undefined): Command {
  return clientCommand('probe', '', {
    description:
      'Find out what a server is: its era and why, what it offers, how fast, and what is odd about it.',
    examples: [
      'isthmus probe -- npx -y @modelcontextprotocol/server-everything',
      'isthmus probe unix:/tmp/demo.sock',
      'isthmus probe --config .mcp.json weather',
      'isthmus probe tcp://127.0.0.1:4000 --json | jq .odd',
    ],
  })
    .option('--cache', 'believe what was remembered about the server; otherwise it is asked')
    .action(async (words: string[], given: GivenOptions<CommonOptions & { cache?: boolean }>) => {
      const { target, rest, options } = await chooseTarget('probe', words, behind, given);
      if (rest.length > 0) throw usageError(`probe takes a target and nothing else; what is "${rest[0]}"?`);
      const terminal = processTerminal();
      const noise = { count: 0, sample: '' };
      const dropped = countDropped();
      process.exitCode = await withSession(
        target,
        {
          ...options,
          cache: options.cache === true,
          onNoise(line) {
            noise.count += 1;
            if (noise.count === 1) noise.sample = oneLine(line.error.message);
          },
        },
        terminal,
        async (session) => {
          const report = toReport(await probeServer(session, noise, dropped.counts));
          if (options.json) writeJson(terminal, report);
          else terminal.stdout.write(renderProbe(report, terminal));
          return EXIT.ok;
        },
      ).finally(dropped.stop);
    });
}
