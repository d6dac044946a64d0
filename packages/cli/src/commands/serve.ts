import { Command } from 'commander';
import { settleEnvironment } from '../compat/environment.js';
import { runServe } from '../serve/run-serve.js';
import { addServeOptions, SERVE_HELP, type ServeCommandOptions } from '../serve/serve-options.js';
import { findUpstream } from '../serve/served-spec.js';

/** `before` has the arguments before `--`, for hints that can be pasted. */
export function serveCommand(
  afterDashes: readonly string[] | undefined,
  before: readonly string[] = [],
): Command {
  const command = new Command('serve')
    .description('Serve any MCP server at any address, for clients of both eras at the same time.')
    .usage(
      [
        '[options] -- COMMAND ARGS…',
        'isthmus serve [options] --upstream URL|unix:PATH|tcp://HOST:PORT',
        'isthmus serve [options] --config FILE       (many servers)',
        'isthmus serve [options]                     (the demo server)',
      ].join('\n       '),
    )
    .argument('[args...]')
    .configureHelp({ visibleArguments: () => [] });
  return addServeOptions(command)
    .addHelpText('after', SERVE_HELP)
    .showHelpAfterError('(isthmus serve --help explains the options)')
    .exitOverride()
    .action((args: string[], given: ServeCommandOptions) => {
      const sourceOf = (name: keyof ServeCommandOptions) => command.getOptionValueSource(name);
      const options = settleEnvironment(given, sourceOf, afterDashes !== undefined);
      const { upstream } = options;
      const target = findUpstream({ before, words: args, behind: afterDashes, upstream });
      return runServe({ target, options, isTyped: (name) => sourceOf(name) === 'cli' });
    });
}
