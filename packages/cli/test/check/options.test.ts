/** What `isthmus check` says before it runs anything: help, the catalogue, and what it does not understand. */

import { CHECKS, SUITES } from '@isthmus/check';
import { describe, expect, it } from 'vitest';
import { renderCatalogue } from '../../src/check/render-catalogue.js';
import { targetToCheck, toCheckOptions } from '../../src/check/to-check-options.js';
import { type CheckCommandOptions, checkCommand } from '../../src/commands/check.js';
import { commandTarget, targetAt } from '../../src/target.js';
import { createStyle } from '../../src/terminal/terminal.js';

describe('isthmus check --help', () => {
  const help = helpOf();

  it('shows every way to name a target', () => {
    expect(help).toContain(
      [
        'Usage: isthmus check TARGET [options]',
        '       isthmus check [options] -- COMMAND ARGS…',
        '       isthmus check --config FILE NAME [options]',
      ].join('\n'),
    );
  });

  it('teaches by examples, consent first', () => {
    expect(help).toContain('  isthmus check -- node my-server.js\n');
    expect(help).toContain('  isthmus check http://127.0.0.1:8080/mcp --html report.html\n');
    expect(help).toMatch(/calls only tools that are marked as read-only \(readOnlyHint\)/);
    expect(help).toMatch(/\{command\.\.\.\} in it becomes the command of the target/);
  });

  it('names the suites, and says what its codes mean', () => {
    expect(help.replace(/\s+/g, ' ')).toContain(`only this suite: ${SUITES.join(', ')}; repeatable`);
    for (const code of ['0', '1', '2', '3', '4', '130']) expect(help).toMatch(new RegExp(`\n  ${code}  `));
  });
});

describe('isthmus check --list', () => {
  const plain = { out: createStyle(false, {}) };

  it('has a line for every check, by suite', () => {
    const text = renderCatalogue(CHECKS, false, plain);
    expect(text).toMatch(/\n {2}ping\/answered +MUST +\S.*\n/);
    expect(text.split('\n').filter((line) => /^ {2}\S+\/\S+ +(MUST|SHOULD) /.test(line))).toHaveLength(
      CHECKS.length,
    );
    for (const suite of SUITES) {
      const number = CHECKS.filter((check) => check.suite === suite).length;
      expect(text).toContain(`${suite} (${number})\n`);
    }
    expect(text).toMatch(new RegExp(`\n${CHECKS.length} checks\n$`));
  });

  it('--json has all that is known of them, for programs', () => {
    const list = JSON.parse(renderCatalogue(CHECKS, true, plain));
    expect(list).toHaveLength(CHECKS.length);
    expect(list.find(({ id }: { id: string }) => id === 'ping/answered')).toEqual({
      id: 'ping/answered',
      suite: 'protocol',
      title: expect.any(String),
      level: 'MUST',
      rules: expect.arrayContaining([expect.stringMatching(/^[A-Z]+-\d+$/)]),
      era: 'legacy',
      over: ['command', 'socket', 'http'],
      hint: expect.any(String),
    });
  });
});

describe('what isthmus check does not understand', () => {
  it.each([
    ['a suite', { suite: ['tols'] }, 'There is no suite "tols"', 'Did you mean tools?'],
    [
      'a suite like none',
      { suite: ['xyz'] },
      'There is no suite "xyz"',
      'There are protocol, resilience, lifetime, http, tools, era',
    ],
    ['a check', { only: ['ping/answer'] }, 'There is no check "ping/answer"', 'Did you mean ping/answered?'],
    [
      'a pattern that fits nothing',
      { skip: ['nothing/*'] },
      'There is no check "nothing/*"',
      'isthmus check --list names them',
    ],
    [
      'a baseline to write without a file',
      { updateBaseline: true },
      '--update-baseline needs a file to write',
      '--baseline mcp-baseline.json --update-baseline',
    ],
    ['arguments for no tool', { args: ['{}'] }, '--args "{}" names no tool', `--args 'echo={"text": "hi"}'`],
    ['a path for no bridge', { throughPath: '/x' }, '--through-path needs --through BRIDGE', undefined],
    [
      'one report of two runs',
      { through: 'x', junit: 'a.xml' },
      '--junit works for one report, and --through compares two',
      '--json has both reports and every difference',
    ],
  ] satisfies [string, Partial<CheckCommandOptions>, string, string | undefined][])(
    'is %s, and it says what might be meant',
    (_, given, message, hint) => {
      expect(thrownBy(() => toCheckOptions(options(given)))).toMatchObject({ exitCode: 2, message, hint });
    },
  );

  it.each([
    [['--seed', 'x'], /--seed <number>.* 'x' is invalid\. It must be a whole number\./],
    [['--era', 'old'], /--era <era>.* 'old' is invalid\. Allowed choices are modern, legacy\./],
    [['--fail-on', 'all'], /--fail-on <level>.* 'all' is invalid\. Allowed choices are must, should\./],
    [['--sute', 'tools'], /unknown option '--sute'\n\(Did you mean --suite\?\)/],
  ])('is %s', (words, message) => {
    const command = checkCommand(undefined);
    command.configureOutput({ writeErr: () => {} });
    expect(thrownBy(() => command.parse(words, { from: 'user' })).message).toMatch(message);
  });

  it('is a header for a command, or a folder for an address', () => {
    const command = commandTarget('x', []);
    const address = targetAt('http://127.0.0.1:1/mcp')!;
    expect(() => targetToCheck(command, options({ header: ['A: b'] }))).toThrow(
      '--header needs a URL, but the server is a command',
    );
    expect(() => targetToCheck(address, options({ cwd: '/' }))).toThrow(
      '--cwd needs a command, but http://127.0.0.1:1/mcp is an address',
    );
  });
});

describe('the options of isthmus check', () => {
  it('are what the run is told', () => {
    const given = options({
      suite: ['tools', 'era'],
      only: ['tools/*'],
      skip: ['tools/names-usable'],
      era: 'modern',
      callTools: true,
      allow: ['delete'],
      args: ['echo={"text": "hi"}'],
      seed: 7,
      fuzz: 20,
      timeout: 100,
    });
    expect(toCheckOptions(given)).toEqual({
      suites: ['tools', 'era'],
      only: ['tools/*'],
      skip: ['tools/names-usable'],
      eras: ['modern'],
      callTools: true,
      allow: ['delete'],
      args: { echo: { text: 'hi' } },
      seed: 7,
      fuzzRuns: 20,
      patience: { answerMs: 100, helloMs: 20_000 },
    });
    expect(toCheckOptions(options({}))).toEqual({});
  });
});

function options(given: Partial<CheckCommandOptions>): CheckCommandOptions {
  return { mode: 'auto', failOn: 'must', ...given };
}

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown');
}

function helpOf(): string {
  let text = '';
  const command = checkCommand(undefined).configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 100,
  });
  // As under the program, whose name is in front.
  command.name('isthmus check');
  command.outputHelp();
  return text;
}
