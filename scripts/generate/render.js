/**
 * Files that come from the table of server options (packages/sdk/src/config/options/option-table.ts).
 * @typedef {import('../../packages/sdk/src/config/options/option-table.js').ServerOption} ServerOption
 */
import { readFileSync } from 'node:fs';

const FRAME = new URL('schema-frame.json', import.meta.url);

/** `packages/cli/config.schema.json`: the frame, with a property for each option. */
export function renderSchema(options) {
  const schema = JSON.parse(readFileSync(FRAME, 'utf8'));
  const { server } = schema.$defs;
  const entries = Object.entries(options);
  const properties = {};
  for (const [key, value] of Object.entries(server.properties)) {
    if (key === '$options') for (const [name, option] of entries) properties[name] = schemaOf(option);
    else properties[key] = value;
  }
  const { isthmus } = properties;
  const block = entries.map(([name]) => [name, { $ref: `#/$defs/server/properties/${name}` }]);
  properties.isthmus = { ...isthmus, properties: Object.fromEntries(block) };
  server.properties = properties;
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function schemaOf(option) {
  const { meaning, onlyCommands, schema, examples } = option;
  return {
    description: onlyCommands ? `${meaning} Only for commands.` : meaning,
    ...schema,
    ...(option.default !== undefined && { default: option.default }),
    ...(examples && { examples }),
  };
}

/** The page with its table of options replaced. */
export function renderPage(page, options) {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/config.md needs the lines ${BEGIN} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${tableOf(options)}\n${page.slice(end)}`;
}

const BEGIN = '<!-- options: written by npm run generate -->';
const END = '<!-- end of options -->';

function tableOf(options) {
  const aliases = aliasesByOption();
  const rows = Object.entries(options).map(([name, option]) => [
    code(name),
    option.meaning,
    `${option.expected}${option.default === undefined ? '' : `; default ${code(JSON.stringify(option.default))}`}`,
    (aliases.get(name) ?? []).map(code).join(', '),
    option.onlyCommands ? 'no' : 'yes',
    flagsOf(option).map(code).join(', '),
  ]);
  const head = ['option', 'meaning', 'values', 'also read from', 'for a URL', 'flags'];
  return `${[head, head.map(() => '---'), ...rows].map(line).join('\n')}\n`;
}

function flagsOf({ flag }) {
  return flag ? [...new Set([flag.serve, flag.attach].filter(Boolean))] : [];
}

/** The names of other applications are in the frame, and say there what ours is. */
function aliasesByOption() {
  const { properties } = JSON.parse(readFileSync(FRAME, 'utf8')).$defs.server;
  const found = new Map();
  for (const [alias, { description = '' }] of Object.entries(properties)) {
    const name = /\bOurs: (\w+)/.exec(description)?.[1];
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), alias]);
  }
  return found;
}

function code(text) {
  return `\`${text}\``;
}

function line(cells) {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
