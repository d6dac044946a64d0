/** Which tools of a server are let through. */
import { expect, it } from 'vitest';
import { allowsTool, type ToolLists } from '../../src/config/index.js';

it.each<[ToolLists, readonly string[]]>([
  [{}, ['get', 'get_all', 'set', 'a*b']],
  [{ allow: [] }, []],
  [{ allow: ['get'] }, ['get']],
  [{ allow: ['*'] }, ['get', 'get_all', 'set', 'a*b']],
  [{ allow: ['get*'] }, ['get', 'get_all']],
  [{ allow: ['*et'] }, ['get', 'set']],
  [{ allow: ['g*t*l'] }, ['get_all']],
  [{ allow: ['get*get'] }, []],
  [{ allow: ['*a*b*'] }, ['a*b']],
  [{ deny: ['set'] }, ['get', 'get_all', 'a*b']],
  [{ allow: ['get*'], deny: ['get'] }, ['get_all']],
  [{ allow: ['get'], deny: ['*'] }, []],
  [{ allow: ['GET'] }, []],
])('%j', (lists, expected) => {
  const tools = ['get', 'get_all', 'set', 'a*b'];
  expect(tools.filter((tool) => allowsTool(lists, tool))).toEqual(expected);
});
