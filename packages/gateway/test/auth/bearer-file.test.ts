import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { bearer, guarded } from '../support/auth.js';

const ADA = 'ada-token-0123456789abcdef';
const BOB = 'bob-token-0123456789abcdef';
const EVE = 'eve-token-0123456789abcdef';

describe('a file of tokens', () => {
  it('has named and bare tokens, comments and blank lines', async () => {
    const path = await fileOf(
      `\uFEFF# who may ask\r\n\r\nada: ${ADA}  # her laptop\r\n  bob's phone:${BOB}\r\n${EVE}\r\n`,
    );
    const { who, warnings } = await guarded({ bearerFile: path });
    expect(await who(bearer(ADA))).toBe('key:ada');
    expect(await who(bearer(BOB))).toBe("key:bob's phone");
    expect(await who({ 'x-api-key': EVE })).toBe('key:55a9fa4a9dd7');
    expect(await who(bearer('ada'))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
    expect(await who(bearer('#'))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['is empty', '', /has no tokens: write one `name: token` a line$/],
    ['has comments only', '# nothing\n\n', /has no tokens/],
    [
      'has a line of something else',
      `ada: ${ADA}\nbob: two words\n`,
      /^Line 2 of .* is neither a token nor `name: token`$/,
    ],
    ['has a name without a token', 'ada:\n', /^Line 1 of .* is neither/],
    ['gives two names to one token', `ada: ${ADA}\nbob: ${ADA}\n`, /it could be either of them$/],
  ])('is refused at the start when it %s', async (_what, text, message) => {
    const bearerFile = await fileOf(text);
    expect(() => createAuthenticate({ bearerFile })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });

  it('is refused at the start when it is not there', () => {
    const bearerFile = join(tmpdir(), 'no', 'such', 'file');
    expect(() => createAuthenticate({ bearerFile })).toThrow(
      /^The bearer file cannot be read: there is no such file$/,
    );
  });

  it('is read again when it has changed: tokens come and go', async () => {
    const clock = new FakeClock();
    const path = await fileOf(`ada: ${ADA}\n`);
    const { who, warnings } = await guarded({ bearerFile: path, clock });
    expect(await who(bearer(BOB))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
    await writeFile(path, `bob: ${BOB}\n`);
    clock.advance(1000);
    expect(await who(bearer(BOB))).toBe('key:bob');
    expect(await who(bearer(ADA))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
    expect(warnings).toEqual([]);
  });

  it('is read again when another has taken its place, as careful editors do', async () => {
    const clock = new FakeClock();
    const path = await fileOf(`ada: ${ADA}\n`);
    const { who } = await guarded({ bearerFile: path, clock });
    const next = await fileOf(`bob: ${BOB}\n`);
    await rename(next, path);
    clock.advance(1000);
    expect(await who(bearer(BOB))).toBe('key:bob');
  });

  it('keeps what was read before when it is broken or gone, and says so once', async () => {
    const clock = new FakeClock();
    const path = await fileOf(`ada: ${ADA}\n`);
    const { who, warnings } = await guarded({ bearerFile: path, clock });
    for (const spoil of [
      () => writeFile(path, 'oh dear: no\ttoken\n'),
      () => writeFile(path, ''),
      () => rm(path),
    ]) {
      await spoil();
      clock.advance(1000);
      expect(await who(bearer(ADA))).toBe('key:ada');
      clock.advance(1000);
      expect(await who(bearer(ADA))).toBe('key:ada');
    }
    expect(warnings).toEqual([
      expect.stringMatching(/^Line 1 of .* is neither .*; the tokens read before stay good$/),
      expect.stringMatching(/has no tokens.*; the tokens read before stay good$/),
      expect.stringMatching(/^ENOENT.*; the tokens read before stay good$/),
    ]);
    await writeFile(path, `bob: ${BOB}\n`, { mode: 0o600 });
    clock.advance(1000);
    expect(await who(bearer(BOB))).toBe('key:bob');
  });

  it('is looked after at most once a second', async () => {
    const clock = new FakeClock();
    const path = await fileOf(`ada: ${ADA}\n`);
    const { who } = await guarded({ bearerFile: path, clock });
    await writeFile(path, `bob: ${BOB}\n`);
    clock.advance(999);
    expect(await who(bearer(ADA))).toBe('key:ada');
    clock.advance(1);
    expect(await who(bearer(ADA))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
  });

  it.skipIf(process.platform === 'win32')(
    'that others can read is worth a warning, and so are tokens to guess',
    async () => {
      const path = await fileOf('ada: short\n');
      await chmod(path, 0o644);
      const { who, warnings } = await guarded({ bearerFile: path });
      expect(warnings).toEqual([
        `${path} can be read by everybody on this machine: chmod 600 ${path}`,
        `${path}: The API key of ada has only 5 characters and can be guessed: take 32 random ones`,
      ]);
      expect(await who(bearer('short'))).toBe('key:ada');
    },
  );

  it('goes with keys that are given otherwise', async () => {
    const bearerFile = await fileOf(`ada: ${ADA}\n`);
    const { who } = await guarded({ bearerFile, apiKeys: [{ name: 'bob', key: BOB }] });
    expect(await who(bearer(ADA))).toBe('key:ada');
    expect(await who(bearer(BOB))).toBe('key:bob');
    expect(await who(bearer(EVE))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
  });
});

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'tokens');
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
