// A server with skills, made with the official helpers, over stdio:
//   node test/apps/skills-server.mjs NAME
// Each of these servers has a skill at the same address, and one of its own.
import { McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , name = 'one'] = process.argv;

const skill = (called) =>
  `---\nname: ${called}\ndescription: A skill of ${name}\n---\n\nAsk ${name} – twice.\n`;
const files = memorySkillFiles({
  'common/SKILL.md': skill('common'),
  'common/references/guide.md': `The guide of ${name}`,
  [`common/references/only-${name}.md`]: `Only ${name} has it`,
  [`only-${name}/SKILL.md`]: skill(`only-${name}`),
});
const skills = await SkillsExtension.load(files, { pageSize: 1 });

serveStdio(() => {
  const server = new McpServer({ name, version: '1.0.0' });
  skills.attach(server);
  return server;
});
