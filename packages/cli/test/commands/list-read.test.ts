/** `isthmus list` and `isthmus read`. */
import { describe, expect, it } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { demo, EVERYTHING, FILESYSTEM, freeFolder, isthmus, node } from '../support/isthmus.js';

describe.each(['legacy', 'modern'])('isthmus list, %s', (era) => {
  const target = demo('--era', era);

  it('lists tools by default: one aligned line each, with arguments', async () => {
    const { code, stdout, stderr } = await isthmus('list', ...target);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^echo +text:string +Gives back the text it got$/m);
    const lines = stdout.trimEnd().split('\n');
    const column = lines[0]!.indexOf('Gives back');
    expect(lines.every((line) => line.length <= column || line[column - 1] === ' ')).toBe(true);
  });

  it.each([
    {
      kind: 'resources',
      shows: /^demo:\/\/clock +text\/plain +The time of day/m,
      member: 'resources',
      count: 4,
    },
    { kind: 'templates', shows: /\{id\}/, member: 'resourceTemplates', count: 1 },
    { kind: 'prompts', shows: /^test_prompt_with_arguments +\S+/m, member: 'prompts', count: 5 },
  ])('lists $kind, and with --json exactly', async ({ kind, shows, member, count }) => {
    const { code, stdout } = await isthmus('list', kind, ...target);
    expect(code).toBe(0);
    expect(stdout).toMatch(shows);
    const json = await isthmus('list', kind, '--json', ...target);
    expect(JSON.parse(json.stdout)).toEqual({ [member]: expect.any(Array) });
    expect(JSON.parse(json.stdout)[member]).toHaveLength(count);
  });
});

describe('isthmus list', () => {
  it('follows all pages', async () => {
    const { stdout } = await isthmus('list', ...node(fixture('server-with-pages.mjs')));
    expect(stdout.trimEnd().split('\n')).toHaveLength(25);
  });

  it('fits into the width of a terminal', async () => {
    process.env['COLUMNS'] = '60';
    const { stdout } = await isthmus('list', ...node(EVERYTHING)).finally(
      () => delete process.env['COLUMNS'],
    );
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    expect(stdout).toContain('…');
  });

  it('of something that is not offered is empty, and says so', async () => {
    const target = node(FILESYSTEM, freeFolder());
    expect(await isthmus('list', 'prompts', ...target)).toEqual({
      code: 0,
      stdout: '',
      stderr: 'secure-filesystem-server offers no prompts\n',
    });
    expect((await isthmus('list', 'prompts', '--json', ...target)).stdout).toBe('{"prompts":[]}\n');
  });
});

describe.each(['legacy', 'modern'])('isthmus read, %s', (era) => {
  const target = demo('--era', era);

  it('prints text as it is', async () => {
    const { code, stdout, stderr } = await isthmus('read', 'demo://clock', ...target);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('--json prints the exact result', async () => {
    const { stdout } = await isthmus('read', 'test://static-binary', '--json', ...target);
    expect(JSON.parse(stdout).contents).toEqual([
      { uri: 'test://static-binary', mimeType: 'image/png', blob: expect.any(String) },
    ]);
  });

  it('writes bytes into a pipe', async () => {
    const { stdout } = await isthmus('read', 'test://static-binary', ...target);
    expect(stdout.slice(1, 4)).toBe('PNG');
  });

  it('of what does not exist ends with 4', async () => {
    const { code, stdout, stderr } = await isthmus('read', 'demo://nothing', ...target);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('hint: isthmus list');
  });
});
