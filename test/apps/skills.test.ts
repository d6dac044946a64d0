/**
 * Servers with skills that were made with the official helpers, behind `isthmus serve` and among others at one address, read
 * and verified by the official client, and judged by the official suite.
 */
import { fileURLToPath } from 'node:url';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runScenario } from '../../conformance/lib/referee.js';
import { ensureInstalled } from '../../scripts/setup.js';
import { type ServedFile, serveFile } from '../solved/support/serve-file.js';
import { connectV2, MODERN } from '../support/official-v2.js';

const PROGRAM = fileURLToPath(new URL('skills-server.mjs', import.meta.url));
const MODES = ['legacy', 'modern'] as const;

let gateway: ServedFile;

beforeAll(async () => {
  await ensureInstalled('conformance');
  const entry = (name: string, mode: string) => ({ command: process.execPath, args: [PROGRAM, name], mode });
  gateway = await serveFile({ one: entry('one', 'modern'), two: entry('two', 'legacy') });
}, 300_000);

afterAll(() => gateway?.reap());

async function openSkills(url: string, mode: (typeof MODES)[number]): Promise<SkillsClient> {
  const { client } = await connectV2({ url }, { mode: mode === 'modern' ? MODERN : 'legacy' });
  onTestFinished(() => client.close());
  return new SkillsClient(client);
}

/** Everything that the client can read, and verifies. */
async function readAll(skills: SkillsClient) {
  const { skills: entries } = await skills.list();
  const read: unknown[] = [];
  for (const entry of entries) {
    expect((await skills.get(entry.uri)).skill).toEqual(entry);
    const files = entry.resources === 'dynamic' ? [] : entry.resources.map(({ uri }) => uri);
    for (const uri of files) {
      const file = await skills.read(entry, uri);
      expect(file.verified).toBe(true);
      read.push([uri, (file.body ?? file.text)?.trim()]);
    }
  }
  return read;
}

describe.each(MODES)('skills of official servers, for an official client of the %s era', (mode) => {
  it.each(['one', 'two'])('behind serve: all files of %s are the right ones', async (name) => {
    const skills = await openSkills(gateway.at(`/mcp/${name}`), mode);
    expect([skills.supported, skills.directoryRead]).toEqual([true, true]);
    expect(await readAll(skills)).toEqual([
      ['skill://common/SKILL.md', `Ask ${name} – twice.`],
      ['skill://common/references/guide.md', `The guide of ${name}`],
      [`skill://common/references/only-${name}.md`, `Only ${name} has it`],
      [`skill://only-${name}/SKILL.md`, `Ask ${name} – twice.`],
    ]);
  });

  it('among others: each skill is whole, also if two servers have one of the same name', async () => {
    const skills = await openSkills(gateway.url, mode);
    const of = (name: string) => [
      [`skill://${name}~/common/SKILL.md`, `Ask ${name} – twice.`],
      [`skill://${name}~/common/references/guide.md`, `The guide of ${name}`],
      [`skill://${name}~/common/references/only-${name}.md`, `Only ${name} has it`],
    ];
    const own = (name: string) => [`skill://${name}~/only-${name}/SKILL.md`, `Ask ${name} – twice.`];
    expect(await readAll(skills)).toEqual([...of('one'), ...of('two'), own('one'), own('two')]);
  });

  it('among others: the folders of a skill are those of its server', async () => {
    const skills = await openSkills(gateway.url, mode);
    const uris = async (uri: string) =>
      (await skills.readDirectory(uri)).resources.map((resource) => resource.uri);
    expect(await uris('skill://two~/common')).toEqual([
      'skill://two~/common/SKILL.md',
      'skill://two~/common/references',
    ]);
    expect(await uris('skill://two~/common/references')).toEqual([
      'skill://two~/common/references/guide.md',
      'skill://two~/common/references/only-two.md',
    ]);
  });
});

describe.each([
  ['behind serve, a modern server', '/mcp/one', []],
  ['behind serve, a legacy server', '/mcp/two', []],
  // Both have a skill with the name `common`.
  ['among others', '/mcp', ['WARNING sep-2640-names-should-be-unique']],
])('the official suite for skills, %s', (_where, path, complaints) => {
  it.each(['enumeration', 'manifest', 'directory'])('%s', async (scenario) => {
    const checks = await runScenario(gateway.at(path), `sep-2640-skills-${scenario}`, '2026-07-28');
    const bad = checks?.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO') ?? [];
    expect(bad.map(({ status, id }) => `${status} ${id}`)).toEqual(
      scenario === 'enumeration' ? complaints : [],
    );
    expect(checks?.some(({ status }) => status === 'SUCCESS')).toBe(true);
  });
});
