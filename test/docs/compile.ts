/** Compiles the programs of pages against the built packages, all at once. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import * as check from '@isthmus/check';
import * as sdk from '@isthmus/sdk';
import { placeOf } from './block-kinds.js';
import { type CodeBlock, root } from './markdown.js';

/** What a part of a program uses and does not show. */
const GIVEN: Readonly<Record<string, string>> = {
  app: "declare const app: import('hono').Hono",
  askTheUser: "declare const askTheUser: NonNullable<import('isthmus').Answers['elicit']>",
  branches: 'declare const branches: (typed: string) => string[]',
  config: 'declare const config: object',
  connector: "declare const connector: import('isthmus').Connector",
  express: "import express from 'express'",
  expressApp: "declare const expressApp: ReturnType<typeof import('express')>",
  expect: "import { expect } from 'vitest'",
  files: 'declare const files: (typed: string) => string[]',
  key: 'declare const key: string',
  messages: "declare const messages: import('@anthropic-ai/sdk').default.MessageParam[]",
  model:
    "declare const model: { complete(question: object): ReturnType<Extract<import('isthmus').Answers['sample'], Function>> }",
  nodeServer: "declare const nodeServer: import('node:http').Server",
  notes: 'declare const notes: Map<string, string>',
  notFound: 'declare const notFound: (id: unknown) => never',
  options: "declare const options: import('isthmus').ServeOptions",
  server: "declare const server: import('isthmus').Server",
  showForm:
    'declare const showForm: (question: object, signal: AbortSignal) => Promise<Record<string, string>>',
  test: "import { test } from 'vitest'",
  token: 'declare const token: string',
  users:
    'declare const users: { page(cursor: string | undefined): Promise<{ ids: string[]; next?: string }>; describe(id: string): string }',
  userOf: 'declare const userOf: (header: string | undefined) => Promise<string | undefined>',
  workspace: 'declare const workspace: { folders(): { uri: string }[] }',
  z: "import { z } from 'zod'",
  ...Object.fromEntries(Object.keys(sdk).map((name) => [name, `import { ${name} } from 'isthmus'`])),
  ...Object.fromEntries(Object.keys(check).map((name) => [name, `import { ${name} } from 'isthmus/check'`])),
};

/** The errors of the compiler, by the place of the block. */
export async function compileBlocks(blocks: readonly CodeBlock[]): Promise<ReadonlyMap<string, string[]>> {
  // Inside the repository, so that the names of packages mean what they mean there.
  const folder = `${root}.cache/docs-${process.pid}`;
  const files = new Map(blocks.map((block) => [pathOf(block), block] as const));
  try {
    for (const [path, block] of files) {
      mkdirSync(dirname(`${folder}/${path}`), { recursive: true });
      writeFileSync(`${folder}/${path}`, `${preludeOf(block)}\n${block.text}`);
    }
    const compilerOptions = {
      ...{ noEmit: true, allowJs: true, checkJs: true, customConditions: [], lib: ['esnext', 'dom'] },
      // Express has no types here.
      noImplicitAny: false,
    };
    const config = { extends: '../../tsconfig.base.json', compilerOptions, include: ['.'] };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config));
    return errorsOf(await runCompiler(folder), files);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The blocks of a page have one folder, and may import each other by the names of their first lines. */
function pathOf({ page, line, language, text }: CodeBlock): string {
  const [, own] = /^\/\/ ([\w./-]+\.m?[jt]s)\n/.exec(text) ?? [];
  return `${page.replaceAll(/\W/g, '-')}/${own ?? `line-${line}.${language === 'js' ? 'mjs' : 'ts'}`}`;
}

/** One line, so that lines can be counted. */
function preludeOf({ language, text }: CodeBlock): string {
  if (language === 'js') return '';
  const isMissing = (name: string) =>
    new RegExp(`(?<![.\\w'"])${name}\\b(?!['":])`).test(text) &&
    !new RegExp(`(?:const|let|function|class)[^=(]*\\b${name}\\b|import [^;'"]*\\b${name}\\b`).test(text);
  const lines = Object.keys(GIVEN)
    .filter(isMissing)
    .map((name) => GIVEN[name]);
  return ['export {}', ...lines].join('; ');
}

async function runCompiler(folder: string): Promise<string> {
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  const run = promisify(execFile)(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], { cwd: folder });
  return run.then(
    () => '',
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );
}

function errorsOf(output: string, files: ReadonlyMap<string, CodeBlock>): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of output.split('\n').filter((each) => /\berror TS/.test(each))) {
    const [, path = '', at = '', message = line] = /^(.*)\((\d+),\d+\): (.*)/.exec(line) ?? [];
    const block = files.get(path);
    const key = block === undefined ? 'elsewhere' : placeOf(block);
    const where = block === undefined ? path : `${block.page}:${block.line + Number(at) - 1}`;
    found.set(key, [...(found.get(key) ?? []), `${where} ${message}`]);
  }
  return found;
}
