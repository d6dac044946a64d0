import { readHeaderParams } from '@isthmus/sdk/internal/era/modern/headers.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Answer, ask, needRefusal, needServed } from './asking/answer.js';
import { callMirrored, mirroredCall, withValue } from './asking/header-params.js';
import { modernRequest, namedRequests } from './asking/requests.js';

const HEADER_MISMATCH = -32020;

const about = { suite: 'http', era: 'modern', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Arguments of tools that are headers, too (`x-mcp-header`). */
export const paramHeaderChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-params/served',
    title: 'Serves a call whose Mcp-Param header says what the argument says, plain and in Base64',
    rules: ['HTTP-034'],
    hint: 'Decode Mcp-Param values of the form =?base64?…?= before comparing them with the arguments.',
    async run(table) {
      const call = mirroredCall(table);
      const encoded = `=?base64?${Buffer.from(String(call.value)).toString('base64')}?=`;
      for (const value of [String(call.value), encoded]) {
        const answer = await callMirrored(table, call, call.args, { [call.header]: value });
        needNoMismatch(table, answer, `${call.tool.name} with ${call.header}: ${value}`);
      }
      return `${call.tool.name} was served with ${call.header}, plain and in Base64`;
    },
  },
  {
    ...about,
    id: 'http-params/required',
    title: 'Refuses a call whose argument has no Mcp-Param header: 400 and -32020',
    rules: ['HTTP-052'],
    hint: 'Where an argument with x-mcp-header has a value and its header is missing, answer with HTTP 400 and error -32020.',
    async run(table) {
      const call = mirroredCall(table);
      const answer = await callMirrored(table, call, call.args, { [call.header]: undefined });
      needRefusal(table, answer, `${call.tool.name} without ${call.header}`, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-params/match-body',
    title: 'Refuses an Mcp-Param header that is not what the argument says: 400 and -32020',
    rules: ['HTTP-058', 'HTTP-033'],
    hint: 'Compare every Mcp-Param header of the tool with its argument; where they differ, answer with HTTP 400 and error -32020.',
    async run(table) {
      const call = mirroredCall(table);
      const other = typeof call.value === 'boolean' ? String(!call.value) : `${call.value}1`;
      const answer = await callMirrored(table, call, call.args, { [call.header]: other });
      const what = `${call.tool.name} with ${call.header}: ${other} and ${JSON.stringify(call.value)} in the body`;
      needRefusal(table, answer, what, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-params/none-for-null',
    title: 'Asks for no Mcp-Param header where the argument is null or absent',
    rules: ['HTTP-051'],
    hint: 'Demand an Mcp-Param header only where the argument has a value; null and absent arguments have none.',
    async run(table) {
      const call = mirroredCall(table);
      const { path } = call.param;
      for (const [value, word] of [
        [undefined, 'absent'],
        [null, 'null'],
      ] as const) {
        const answer = await callMirrored(table, call, withValue(call.args, path, value), {
          [call.header]: undefined,
        });
        needNoMismatch(table, answer, `${call.tool.name} without ${call.header}, ${path.join('.')} ${word}`);
      }
      return `${call.tool.name} needs no ${call.header} for null, and none where the argument is absent`;
    },
  },
  {
    ...about,
    id: 'http-params/integers-as-numbers',
    title: 'Compares Mcp-Param headers of integers as numbers: 7.0 is 7',
    level: 'SHOULD',
    rules: ['HTTP-037'],
    hint: 'Parse the header of an integer argument and compare numbers, not texts.',
    async run(table) {
      const call = mirroredCall(table, 'integer');
      const header = `${call.value}.0`;
      const answer = await callMirrored(table, call, call.args, { [call.header]: header });
      needNoMismatch(table, answer, `${call.tool.name} with ${call.header}: ${header} for ${call.value}`);
      return `${call.header}: ${header} was taken for ${call.value}`;
    },
  },
  {
    ...about,
    id: 'http-params/illegal-characters',
    title: 'Refuses an Mcp-Param header with characters that have no place in one',
    rules: ['HTTP-057'],
    hint: 'Header values are printable ASCII; anything else has to come in Base64. Answer others with HTTP 400 and error -32020, also where some decoding would make them match.',
    async run(table) {
      const call = mirroredCall(table, 'string');
      const args = withValue(call.args, call.param.path, 'caf\u00e9');
      // Two ways to put it into bytes: Latin-1 and UTF-8.
      for (const header of ['caf\u00e9', Buffer.from('caf\u00e9').toString('latin1')]) {
        const answer = await callMirrored(table, call, args, { [call.header]: header });
        const bytes = Buffer.from(header, 'latin1').toString('hex');
        needRefusal(table, answer, `${call.tool.name} with ${call.header} of the bytes ${bytes}`, {});
      }
      return 'refused, as Latin-1 and as UTF-8';
    },
  },
  {
    ...about,
    id: 'http-params/unknown-ignored',
    title: 'Ignores Mcp-Param headers that it does not know',
    level: 'SHOULD',
    rules: [],
    reason:
      'Only recognised parameter headers are compared with the body; proxies pass on and add others (HTTP-060).',
    hint: 'Look only at the Mcp-Param headers that the schema of the called tool names.',
    async run(table) {
      const [{ method, params }] = namedRequests(table) as [{ method: string; params: object }];
      const { body, headers } = modernRequest(table, method, { ...params });
      const answer = await ask(table, table.openHttp(), {
        body,
        headers: { ...headers, 'mcp-param-isthmus-check': 'anything' },
      });
      needServed(table, answer, `${method} with Mcp-Param-Isthmus-Check`);
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-params/no-secrets',
    lane: 'shared',
    title: 'Does not put secrets into headers',
    level: 'SHOULD',
    rules: ['HTTP-068'],
    hint: 'Take x-mcp-header off arguments that hold passwords, keys, tokens or personal data: proxies and logs see headers.',
    run(table) {
      const params = table.facts.tools.flatMap((tool) => {
        const read = readHeaderParams(tool['inputSchema']);
        const found = read.kind === 'valid' ? read.params : [];
        return found.map(({ header, path }) => ({
          where: `${tool['name']}.${path.join('.')}`,
          header,
          path,
        }));
      });
      if (params.length === 0) return table.skip('no tool has x-mcp-header in its schema');
      const bad = params.filter(({ header, path }) => SECRET.test(header) || SECRET.test(path.at(-1) ?? ''));
      if (bad.length > 0) {
        table.fail(
          `${bad.map(({ where, header }) => `${where} is mirrored in Mcp-Param-${header}`).join('; ')}`,
          'no secrets in headers',
        );
      }
      return `${params.map(({ where }) => where).join(', ')}: nothing that sounds secret`;
    },
  },
];

const SECRET =
  /pass(word|phrase|wd)|secret|api[-_]?key|private[-_]?key|credential|(access|auth|bearer|refresh)[-_]?token|^token$|ssn|email/i;

/** The tool itself may still fail; the headers must not be why. */
function needNoMismatch(table: CheckContext, answer: Answer, what: string): void {
  if (answer.status !== 0 && answer.status < 500 && answer.code !== HEADER_MISMATCH) return;
  table.fail(`${what} was answered with ${answer.said}`, 'nothing is wrong with the headers');
}
