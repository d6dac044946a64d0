import { describe, expect, it } from 'vitest';
import type { Revision } from '../../src/shapes/index.js';
import { REVISIONS, saidOf, saidOfTool } from '../support/shapes/said.js';

const tool = { name: 'echo', inputSchema: { type: 'object' } };

describe('tools', () => {
  it.each(REVISIONS)('a name and a schema will do in %s (TOOL-006)', (revision) => {
    expect(saidOfTool(tool, revision)).toEqual([]);
    expect(
      saidOfTool(
        {
          ...tool,
          title: 'Echo',
          description: 'Says it again',
          inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          outputSchema: { type: 'object' },
          annotations: { title: 'Echo', readOnlyHint: true, openWorldHint: false },
          icons: [
            { src: 'https://example.com/a.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' },
          ],
          execution: { taskSupport: 'optional' },
          _meta: { 'com.example/tier': 1 },
          whatever: true,
        },
        revision,
      ),
    ).toEqual([]);
  });

  it.each([
    [{ name: undefined }, '.name: expected a string, got nothing'],
    [{ title: null }, '.title: expected a string, got null'],
    [{ description: ['a'] }, '.description: expected a string, got an array'],
    [{ inputSchema: undefined }, '.inputSchema: expected an object, got nothing'],
    [{ inputSchema: { type: 'array' } }, '.inputSchema.type: expected "object", got "array"'],
    [{ inputSchema: {} }, '.inputSchema.type: expected "object", got nothing'],
    [
      { inputSchema: { type: 'object', required: 'text' } },
      '.inputSchema.required: expected an array, got "text"',
    ],
    [
      { inputSchema: { type: 'object', properties: { 'a b': 'string' } } },
      '.inputSchema.properties["a b"]: expected a schema, got "string"',
    ],
    [{ inputSchema: { type: 'object', $schema: 7 } }, '.inputSchema.$schema: expected a string, got 7'],
    [{ outputSchema: true }, '.outputSchema: expected an object, got true'],
    [{ annotations: { readOnlyHint: 'yes' } }, '.annotations.readOnlyHint: expected a boolean, got "yes"'],
    [{ icons: {} }, '.icons: expected an array, got an object'],
    [{ icons: [{}] }, '.icons[0].src: expected a URI (RFC 3986), got nothing'],
    [
      { icons: [{ src: 'javascript:alert(1)' }] },
      '.icons[0].src: expected an http:, https: or data: URI, got "javascript:alert(1)"',
    ],
    [{ icons: [{ src: 'data:,', sizes: '48x48' }] }, '.icons[0].sizes: expected an array, got "48x48"'],
    [
      { icons: [{ src: 'data:,', theme: 'blue' }] },
      '.icons[0].theme: expected "light" or "dark", got "blue"',
    ],
    [
      { icons: [{ src: 'data:,', mimeType: 'png' }] },
      '.icons[0].mimeType: expected a media type such as "text/plain", got "png"',
    ],
    [{ _meta: [] }, '._meta: expected an object, got an array'],
  ])('complains about %j', (part, complaint) => {
    expect(saidOfTool({ ...tool, ...part })).toContain(`result.tools[0]${complaint}`);
  });

  it.each<[Revision, object, string[]]>([
    ['2025-03-26', { outputSchema: 'none yet' }, []],
    [
      '2025-06-18',
      { outputSchema: { type: 'array' } },
      ['outputSchema.type: expected "object", got "array"'],
    ],
    ['2026-07-28', { outputSchema: { type: 'array' } }, []],
    [
      '2025-11-25',
      { execution: { taskSupport: 'no' } },
      ['execution.taskSupport: expected "forbidden", "optional" or "required", got "no"'],
    ],
    ['2026-07-28', { execution: { taskSupport: 'no' } }, []],
    ['2024-11-05', { annotations: 'none yet', icons: 'none yet', title: 5, _meta: 5 }, []],
    [
      '2025-11-25',
      { inputSchema: { type: 'object', properties: { a: true } } },
      ['inputSchema.properties.a: expected an object, got true'],
    ],
    ['2026-07-28', { inputSchema: { type: 'object', properties: { a: true } } }, []],
  ])('in %s, %j is judged by that revision (TOOL-007, TOOL-008)', (revision, part, complaints) => {
    expect(saidOfTool({ ...tool, ...part }, revision)).toEqual(
      complaints.map((each) => `result.tools[0].${each}`),
    );
  });

  it('the place of the offence is named', () => {
    expect(
      saidOf('tools/list', { tools: [tool, tool, tool, { ...tool, inputSchema: { type: 'array' } }] }),
    ).toEqual(['result.tools[3].inputSchema.type: expected "object", got "array"']);
  });
});

describe('resources and templates', () => {
  const resource = { uri: 'test://a', name: 'a' };
  const template = { uriTemplate: 'test://{id}', name: 'a' };
  const saidOfResource = (part: object) =>
    saidOf('resources/list', { resources: [{ ...resource, ...part }] });
  const saidOfTemplate = (uriTemplate: unknown) =>
    saidOf('resources/templates/list', { resourceTemplates: [{ ...template, uriTemplate }] });

  it.each(REVISIONS)('a URI and a name will do in %s', (revision) => {
    expect(saidOf('resources/list', { resources: [resource] }, revision)).toEqual([]);
    expect(saidOf('resources/templates/list', { resourceTemplates: [template] }, revision)).toEqual([]);
  });

  it.each([
    [{ uri: undefined }, '.uri: expected a URI (RFC 3986), got nothing'],
    [{ uri: 'plain' }, '.uri: expected a URI (RFC 3986), got "plain"'],
    [{ uri: 'my_scheme://a' }, '.uri: expected a URI (RFC 3986), got "my_scheme://a"'],
    [{ uri: 'test://a%zz' }, '.uri: expected a URI (RFC 3986), got "test://a%zz"'],
    [{ uri: 'test://a#b#c' }, '.uri: expected a URI (RFC 3986), got "test://a#b#c"'],
    [{ uri: 'test://ü' }, '.uri: expected a URI (RFC 3986), got "test://ü"'],
    [{ name: 7 }, '.name: expected a string, got 7'],
    [{ mimeType: 'text' }, '.mimeType: expected a media type such as "text/plain", got "text"'],
    [{ size: -1 }, '.size: expected an integer of 0 or more, got -1'],
    [{ size: 1.5 }, '.size: expected an integer of 0 or more, got 1.5'],
    [{ annotations: { priority: 2 } }, '.annotations.priority: expected a number from 0 to 1, got 2'],
  ])('complains about %j (RES-015)', (part, complaint) => {
    expect(saidOfResource(part)).toEqual([`result.resources[0]${complaint}`]);
  });

  it.each([
    'urn:isbn:0451450523',
    'file:///a%20b',
    'x:',
    'http://[::1]:80/a?b=c&d#e',
    'test://{id}'.replace(/[{}]/g, ''),
  ])('takes %s for a URI', (uri) => {
    expect(saidOfResource({ uri })).toEqual([]);
  });

  it.each([
    'test://a',
    'test://{id}',
    '{+path}',
    '{?q,lang:3,list*}',
    '{#a.b}',
    'x{;a}{/b*}{.c}{&d}',
    'ü{v%41r}',
  ])('takes %s for a template (RES-010)', (uriTemplate) => {
    expect(saidOfTemplate(uriTemplate)).toEqual([]);
  });

  it.each([
    'test://{id',
    'test://id}',
    '{}',
    '{a b}',
    '{=a}',
    '{a:0}',
    '{a:99999}',
    '{a,}',
    '{{a}}',
    '{.}',
    'a b',
    '%zz',
  ])('does not take %s for a template (RES-010)', (uriTemplate) => {
    expect(saidOfTemplate(uriTemplate)).toEqual([
      `result.resourceTemplates[0].uriTemplate: expected a URI template (RFC 6570), got "${uriTemplate}"`,
    ]);
  });
});

describe('prompts', () => {
  const prompt = { name: 'review', arguments: [{ name: 'code', required: true }] };

  it.each(REVISIONS)('a name and arguments are known in %s', (revision) => {
    expect(saidOf('prompts/list', { prompts: [prompt, { name: 'plain' }] }, revision)).toEqual([]);
  });

  it.each([
    [{ name: undefined }, '.name: expected a string, got nothing'],
    [{ arguments: { code: {} } }, '.arguments: expected an array, got an object'],
    [{ arguments: [{}] }, '.arguments[0].name: expected a string, got nothing'],
    [{ arguments: [{ name: 'a', required: 1 }] }, '.arguments[0].required: expected a boolean, got 1'],
    [{ arguments: [{ name: 'a', title: 1 }] }, '.arguments[0].title: expected a string, got 1'],
  ])('complains about %j', (part, complaint) => {
    expect(saidOf('prompts/list', { prompts: [{ ...prompt, ...part }] })).toEqual([
      `result.prompts[0]${complaint}`,
    ]);
  });
});
