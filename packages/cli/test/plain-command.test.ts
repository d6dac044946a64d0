/** Command lines of `isthmus serve` that need no parser. */
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { settleEnvironment } from '../src/compat/environment.js';
import { findPlainCommand, typedServe } from '../src/plain-command.js';
import { addServeOptions } from '../src/serve/serve-options.js';

describe('a plain command line', () => {
  it.each<[readonly string[], boolean]>([
    [['--listen', 'stdio'], false],
    [['--listen=stdio'], false],
    [['-l', 'stdio'], false],
    [['--listen', 'stdio', '--quiet'], true],
    [['-q', '-l', 'stdio'], true],
  ])('%j', (options, isQuiet) => {
    const typed = ['serve', ...options, '--', 'node', 'a b.js', '--', '--quiet'];
    expect(findPlainCommand(typed, { PATH: '/bin' })).toEqual({
      command: 'node',
      args: ['a b.js', '--', '--quiet'],
      isQuiet,
    });
  });

  it.each([
    ['another command', ['demo', '--listen', 'stdio', '--', 'node']],
    ['no address', ['serve', '--', 'node']],
    ['another address', ['serve', '--listen', 'stdio', '--listen', 'unix:a', '--', 'node']],
    ['another option', ['serve', '--listen', 'stdio', '--env', 'A=1', '--', 'node']],
    ['an option before the address', ['serve', '--env', 'A=1', '--listen', 'stdio', '--', 'node']],
    ['a word', ['serve', '--listen', 'stdio', 'node', '--', 'node']],
    ['two words in one', ['serve', '--listen stdio', '--', 'node']],
    ['no --', ['serve', '--listen', 'stdio', 'node']],
    ['no command', ['serve', '--listen', 'stdio', '--']],
    ['an empty command', ['serve', '--listen', 'stdio', '--', '']],
  ])('is not one with %s', (_, typed) => {
    expect(findPlainCommand(typed, {})).toBeUndefined();
  });

  it('is not one where a variable may add an option', () => {
    const typed = ['serve', '--listen', 'stdio', '--', 'node'];
    expect(findPlainCommand(typed, { ISTHMUS_LOG_LEVEL: 'debug' })).toBeUndefined();
    expect(findPlainCommand(typed, { isthmus_log_level: 'debug' })).toBeUndefined();
  });

  it.each([
    { typed: ['--listen', 'stdio'], isQuiet: false },
    { typed: ['-q', '-l', 'stdio'], isQuiet: true },
  ])('has the options that the parser makes of $typed', ({ typed, isQuiet }) => {
    const command = addServeOptions(new Command('serve')).argument('[args...]');
    command.action(() => {}).parse(typed, { from: 'user' });
    const sourceOf = (name: string) => command.getOptionValueSource(name);
    const parsed = settleEnvironment(command.opts(), sourceOf, true);
    const plain = typedServe(undefined, isQuiet);
    expect(plain.options).toEqual(parsed);
    const names = Object.keys(parsed) as (keyof typeof parsed)[];
    expect(names.filter(plain.isTyped)).toEqual(names.filter((name) => sourceOf(name) === 'cli'));
  });
});
