import { withNewSpellings } from 'isthmus/internal/compat/old-spellings.js';
import { describe, expect, it } from 'vitest';
import { demo, isthmus } from '../support/isthmus.js';

describe('spellings of earlier versions', () => {
  it.each([
    ['call', ['--mode', 'legacy'], ['--era', 'legacy'], ['--mode is now --era']],
    ['attach', ['-m', 'modern', 'x'], ['--era', 'modern', 'x'], ['-m is now --era']],
    ['serve', ['--upstream-protocol=auto'], ['--era=auto'], ['--upstream-protocol is now --era']],
    ['bench', ['-n', '5'], ['-j', '5'], ['-n is now -j']],
    [
      'serve',
      ['--processes', 'per-client'],
      ['--processes', 'per-conversation'],
      ['--processes per-client is now --processes per-conversation'],
    ],
    ['serve', ['--processes', 'shared'], ['--processes', 'shared'], []],
    ['serve', ['python', '-m', 'server'], ['python', '-m', 'server'], []],
    ['logs', ['-n', '5'], ['-n', '5'], []],
  ])('%s %j', (command, typed, now, expected) => {
    const notes: string[] = [];
    expect(withNewSpellings(command, typed, (note) => notes.push(note))).toEqual(now);
    expect(notes).toEqual(expected);
  });

  it('work, with a note on stderr', async () => {
    const { code, stdout, stderr } = await isthmus('call', '--mode', 'legacy', 'echo', 'text=hi', ...demo());
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'hi\n',
      stderr: 'isthmus: note: --mode is now --era\n',
    });
  });
});
