import { describe, expect, it } from 'vitest';
import { REVISIONS, saidOf, saidOfBlock } from '../support/shapes/said.js';

const text = { type: 'text', text: 'hello' };
const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const audio = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' };
const link = { type: 'resource_link', uri: 'file:///notes/a.md', name: 'a.md' };
const embedded = {
  type: 'resource',
  resource: { uri: 'test://a', mimeType: 'text/plain', text: 'a' },
};

describe('blocks of content', () => {
  it.each(REVISIONS)('text, images and embedded resources are known in %s', (revision) => {
    expect(saidOf('tools/call', { content: [text, image, embedded] }, revision)).toEqual([]);
  });

  it('sound came with 2025-03-26 (TOOL-024)', () => {
    expect(saidOfBlock(audio, '2024-11-05')).toEqual([
      'result.content[0].type: expected "text", "image" or "resource", got "audio"',
    ]);
    expect(saidOfBlock(audio, '2025-03-26')).toEqual([]);
  });

  it('links came with 2025-06-18 (TOOL-023)', () => {
    expect(saidOfBlock(link, '2025-03-26')).toEqual([
      'result.content[0].type: expected "text", "image", "audio" or "resource", got "resource_link"',
    ]);
    expect(saidOfBlock(link, '2025-06-18')).toEqual([]);
  });

  it.each([
    ['a string', 'content[0]: expected an object, got "hi"', 'hi'],
    [
      'no type',
      'content[0].type: expected "text", "image", "audio", "resource_link" or "resource", got nothing',
      {},
    ],
    ['text that is a number', 'content[0].text: expected a string, got 3', { ...text, text: 3 }],
    ['no text', 'content[0].text: expected a string, got nothing', { type: 'text' }],
    [
      'data that is not base64',
      'content[0].data: expected base64 (RFC 4648, padded), got "not base64!"',
      { ...image, data: 'not base64!' },
    ],
    [
      'data in the alphabet of URLs',
      'content[0].data: expected base64 (RFC 4648, padded), got "ab-_"',
      { ...image, data: 'ab-_' },
    ],
    [
      'data without its padding',
      'content[0].data: expected base64 (RFC 4648, padded), got "UklGRg"',
      { ...audio, data: 'UklGRg' },
    ],
    [
      'no media type',
      'content[0].mimeType: expected a media type such as "text/plain", got nothing',
      { ...image, mimeType: undefined },
    ],
    [
      'a media type that is none',
      'content[0].mimeType: expected a media type such as "text/plain", got "png"',
      { ...image, mimeType: 'png' },
    ],
    [
      'a link without a name',
      'content[0].name: expected a string, got nothing',
      { ...link, name: undefined },
    ],
    [
      'a link that is no URI',
      'content[0].uri: expected a URI (RFC 3986), got "notes/a.md"',
      { ...link, uri: 'notes/a.md' },
    ],
    [
      'no resource',
      'content[0].resource: expected an object, got nothing',
      { ...embedded, resource: undefined },
    ],
  ])('%s is a complaint', (_title, complaint, block) => {
    expect(saidOfBlock(block)).toContain(`result.${complaint}`);
  });

  it('a media type may have parameters, and an extension need not be registered', () => {
    for (const mimeType of [
      'text/html;profile=mcp-app',
      'application/vnd.x+json',
      'text/plain; charset="utf-8"',
    ])
      expect(saidOfBlock({ ...image, mimeType })).toEqual([]);
  });
});

describe('contents of resources (RES-007)', () => {
  const read = (contents: unknown) => saidOf('resources/read', { contents: [contents] });

  it('text or blob', () => {
    expect(read({ uri: 'test://a', text: '' })).toEqual([]);
    expect(read({ uri: 'test://a', blob: '' })).toEqual([]);
    expect(read({ uri: 'test://a' })).toEqual([
      'result.contents[0]: expected either text or blob, got neither',
    ]);
    expect(read({ uri: 'test://a', text: '', blob: '' })).toEqual([
      'result.contents[0]: expected either text or blob, got both',
    ]);
  });

  it('binary data is properly encoded (RES-016)', () => {
    expect(read({ uri: 'test://a', blob: 'raw bytes' })).toEqual([
      'result.contents[0].blob: expected base64 (RFC 4648, padded), got "raw bytes"',
    ]);
  });

  it('every item has a URI (RES-015)', () => {
    expect(read({ text: 'a' })).toEqual(['result.contents[0].uri: expected a URI (RFC 3986), got nothing']);
    expect(read({ uri: 'file:///C:\\x y', text: 'a' })).toEqual([
      'result.contents[0].uri: expected a URI (RFC 3986), got "file:///C:\\\\x y"',
    ]);
  });
});

describe('annotations', () => {
  const annotated = (annotations: unknown, revision?: '2025-03-26') =>
    saidOfBlock({ ...text, annotations }, revision);

  it('say for whom, how much it matters, and how old it is', () => {
    expect(annotated({ audience: ['user', 'assistant'], priority: 0.5 })).toEqual([]);
    for (const lastModified of [
      '2025-01-12T15:00:58Z',
      '2025-01-12T15:00:58.123+02:00',
      '2025-01-12',
      '2025-02',
    ])
      expect(annotated({ lastModified })).toEqual([]);
  });

  it.each([
    ['audience', 'everyone', ': expected an array, got "everyone"'],
    ['audience', ['user', 'model'], '[1]: expected "user" or "assistant", got "model"'],
    ['priority', 1.5, ': expected a number from 0 to 1, got 1.5'],
    ['priority', -0.1, ': expected a number from 0 to 1, got -0.1'],
    ['priority', '1', ': expected a number from 0 to 1, got "1"'],
    ['lastModified', 'yesterday', ': expected a date or time of ISO 8601, got "yesterday"'],
    ['lastModified', '2025-02-30', ': expected a date or time of ISO 8601, got "2025-02-30"'],
    ['lastModified', '2025-13-01', ': expected a date or time of ISO 8601, got "2025-13-01"'],
    ['lastModified', 1736694058, ': expected a date or time of ISO 8601, got 1736694058'],
  ])('%s cannot be %j', (name, value, complaint) => {
    expect(annotated({ [name]: value })).toEqual([`result.content[0].annotations.${name}${complaint}`]);
  });

  it('what a revision does not know is no complaint', () => {
    expect(annotated({ lastModified: 5 }, '2025-03-26')).toEqual([]);
  });
});
