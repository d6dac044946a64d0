/** What is drawn on a terminal, and what never is. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgressLine } from '../../src/terminal/progress-line.js';
import { fit, table, widthOf, wrap, wrapAndCut } from '../../src/terminal/table.js';
import { createStyle } from '../../src/terminal/terminal.js';
import { cut, oneLine, printable } from '../../src/terminal/text.js';

describe('text of a server', () => {
  it('loses what moves the cursor, paints, or turns the direction around', () => {
    expect(printable('a\u001b[31mb\u001b[2J\u0007\u0008c\r\n\td\u202ee\u009b')).toBe('abc\n\tde');
    expect(oneLine('  a\n\n b\tc \u001b]0;title\u0007')).toBe('a b c');
  });

  it('is measured in columns', () => {
    expect([widthOf('abc'), widthOf('日本'), widthOf('e\u0301'), widthOf('🌍')]).toEqual([3, 4, 1, 2]);
    // A family and a flag are one picture each.
    expect([widthOf('👨‍👩‍👧'), widthOf('🇩🇪')]).toEqual([2, 2]);
  });

  it('is wrapped at spaces, in words that are too long anywhere, and cut', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefgh i', 3)).toEqual(['abc', 'def', 'gh', 'i']);
    expect(wrap('', 10)).toEqual(['']);
    expect(wrap('one two', Number.POSITIVE_INFINITY)).toEqual(['one two']);
    expect(wrapAndCut('one two three four', 7, 2)).toEqual(['one two', 'three…']);
    expect(fit('abcdef', 4)).toBe('abc…');
    expect(fit('日本語', 4)).toBe('日…');
    expect(cut('日本語', 2)).toBe('日…');
  });
});

describe('a table', () => {
  const rows = [
    ['a', 'first'],
    ['longer', 'the second one goes on'],
  ];

  it('aligns its columns and wraps the last', () => {
    expect(table(rows, { width: 22 })).toBe('a       first\nlonger  the second one\n        goes on\n');
  });

  it('has one line for a row when there is no width', () => {
    const width = Number.POSITIVE_INFINITY;
    expect(table(rows, { width })).toBe('a       first\nlonger  the second one goes on\n');
    expect(table([], { width })).toBe('');
  });

  it('never exceeds the width, whatever is in it', () => {
    for (const width of [40, 60, 80]) {
      const wide = table([['x'.repeat(50), 'y'.repeat(90), 'z '.repeat(90)]], { width });
      for (const line of wide.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width);
    }
  });
});

describe('colours', () => {
  it.each([
    { tty: true, env: {}, painted: true },
    { tty: false, env: {}, painted: false },
    { tty: true, env: { NO_COLOR: '1' }, painted: false },
    { tty: true, env: { NO_COLOR: '' }, painted: true },
    { tty: false, env: { FORCE_COLOR: '1' }, painted: true },
    { tty: true, env: { FORCE_COLOR: '0' }, painted: false },
    { tty: true, env: { FORCE_COLOR: '1', NO_COLOR: '1' }, painted: false },
    { tty: true, env: { TERM: 'dumb' }, painted: false },
  ])('terminal $tty, $env: $painted', ({ tty, env, painted }) => {
    expect(createStyle(tty, env).red('x')).toBe(painted ? '\u001b[31mx\u001b[39m' : 'x');
  });
});

describe('progress', () => {
  it('is drawn over itself, with lines above it', () => {
    const { line, text } = draw('live');
    line.update({ progress: 1, total: 4, message: 'one\u001b[2J\n' });
    line.write('log\n');
    line.update({ progress: 7 });
    line.hide();
    line.hide();
    const bar = '[#####...............]  25%  1/4 one';
    expect(text()).toBe(`${bar}\r\u001b[Klog\n${bar}\r\u001b[K… 7\r\u001b[K`);
  });

  it('is a plain line each, or nothing', () => {
    const plain = draw('plain');
    plain.line.update({ progress: 0.333_333, total: 1, message: 'x' });
    plain.line.hide();
    expect(plain.text()).toBe('progress 0.33/1 x\n');
    const none = draw('none');
    none.line.update({ progress: 1 });
    expect(none.text()).toBe('');
  });
});

function draw(mode: 'live' | 'plain' | 'none') {
  const stream = new PassThrough();
  return {
    line: createProgressLine(stream, mode, createStyle(false, {})),
    text: () => String(stream.read() ?? ''),
  };
}
