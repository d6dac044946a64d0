import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { short } from './answers.js';
import { askFirst } from './exact.js';
import { listsOf } from './lists.js';

/** What a modern server says of itself. */
export const discoverChecks: readonly Check[] = [
  {
    id: 'discover/again',
    suite: 'protocol',
    title: 'Answers server/discover at any time, and the same each time',
    level: 'MUST',
    rules: ['DISC-001', 'STATE-001'],
    era: 'modern',
    hint: 'Treat server/discover as a plain request: it opens nothing, and may come at any time.',
    async run(table) {
      const talk = await table.talk();
      const ask = async () =>
        table.needResult(await talk.request('server/discover'), 'server/discover, once more,');
      const told = [table.facts.hello, talk.hello, await ask(), await ask(), (await table.openTalk()).hello];
      for (const member of ['supportedVersions', 'capabilities', 'instructions']) {
        const [first, ...later] = told.map((result) => JSON.stringify(result[member]) ?? 'nothing');
        const at = later.findIndex((text) => text !== first);
        if (at < 0) continue;
        table.fail(
          `${member} differs between two answers to server/discover: first ${short(first!)}, later ${short(later[at]!)}`,
          'the same each time',
        );
      }
      return 'server/discover was answered four times, and the same';
    },
  },
  {
    id: 'discover/not-needed',
    suite: 'protocol',
    title: 'Serves a client that never asks server/discover',
    level: 'MUST',
    rules: ['STATE-001', 'VER-003', 'DISC-006'],
    era: 'modern',
    lane: 'own',
    hint: 'Everything about a request is in the request: do not wait for a greeting.',
    async run(table) {
      const method = listsOf(table)[0]?.method;
      if (method === undefined) return table.skip('there is nothing else to ask this server for');
      table.needResult(await askFirst(table, method), `${method} as the first request`);
      return `${method} was served as the first request of a connection`;
    },
  },
  {
    id: 'discover/identity-in-meta',
    suite: 'protocol',
    title: 'Says who it is in _meta of server/discover, and nowhere else',
    level: 'SHOULD',
    rules: ['DISC-004', 'META-010'],
    era: 'modern',
    hint: `Put name and version at _meta["${META.serverInfo}"] of the result.`,
    run(table) {
      const { _meta, serverInfo } = table.facts.hello;
      const info = isJsonObject(_meta) ? _meta[META.serverInfo] : undefined;
      if (serverInfo !== undefined)
        table.fail('the result has a member serverInfo', `the identity at _meta["${META.serverInfo}"]`);
      if (!isJsonObject(info) || typeof info['name'] !== 'string' || typeof info['version'] !== 'string')
        table.fail(
          `_meta["${META.serverInfo}"] is ${JSON.stringify(info) ?? 'absent'}`,
          'a name and a version',
        );
      return `it says that it is ${String((info as { name: unknown }).name)}`;
    },
  },
  {
    id: 'discover/extension-names',
    suite: 'protocol',
    title: 'Names its extensions with a prefix, and gives each an object of settings',
    level: 'MUST',
    rules: ['VER-020', 'VER-023'],
    era: 'modern',
    hint: 'Write "com.example/name": {} for an extension without settings.',
    run(table) {
      const { extensions } = table.facts.capabilities;
      if (extensions === undefined) return table.skip('the server announces no extensions');
      if (!isJsonObject(extensions)) return table.fail('capabilities.extensions is no object', 'an object');
      for (const [name, settings] of Object.entries(extensions)) {
        if (!EXTENSION.test(name))
          table.fail(`an extension is called ${JSON.stringify(name)}`, 'prefix/name');
        if (!isJsonObject(settings))
          table.fail(`the settings of ${name} are ${JSON.stringify(settings)}`, 'an object');
      }
      return `it announces ${Object.keys(extensions).join(', ') || 'no extension by name'}`;
    },
  },
];

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const EXTENSION = new RegExp(`^${LABEL}(?:\\.${LABEL})*/(?:[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?)?$`);
