// Its vice: it is another server each time it is started. What it is then stands in FOLDER/script.json, a list of
// stages, one for each start; the last one stays. What it does is noted in FOLDER/journal, a line of JSON each.
// node server-never-the-same.mjs FOLDER
//
// A stage: { eras, tools: { name: annotations }, resources: true, die: code, say: text on stderr,
//   dieOn: method, failOn: method, silent: true, silentOn: method, deaf: true, stubborn: true }
// Its tools: echo, whoami, note {token}, hold (until SIGUSR2), die {code}, close-ears (stops reading), spin {ms}.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isModern, NO_ANSWER, serveLines, stayAlive } from './support/line-server.mjs';

const folder = process.argv[2];
const note = (what, more = {}) =>
  appendFileSync(join(folder, 'journal'), `${JSON.stringify({ what, pid: process.pid, ...more })}\n`);
note('start');
const stages = JSON.parse(readFileSync(join(folder, 'script.json'), 'utf8'));
const stage = stages[Math.min(countStarts(), stages.length) - 1];
process.on('exit', (code) => note('end', { code }));

if (stage.say) process.stderr.write(`${stage.say}\n`);
if (stage.die !== undefined) process.exit(stage.die);
if (stage.deaf) {
  // It lives, but never reads a word.
  stayAlive();
} else serve();

function serve() {
  const held = [];
  const subscriptions = [];
  process.on('SIGUSR2', () => {
    for (const go of held.splice(0)) go('released');
  });
  if (stage.stubborn) {
    process.on('SIGTERM', () => {});
    stayAlive();
  }
  const server = serveLines({
    name: 'never-the-same',
    eras: stage.eras ?? 'dual',
    list: () => ({ tools: [...OWN.map((name) => [name]), ...Object.entries(stage.tools ?? {})].map(toTool) }),
    tools: {
      ...Object.fromEntries(Object.keys(stage.tools ?? {}).map((name) => [name, () => run(name, {})])),
      whoami: () => String(process.pid),
      note: ({ token }) => {
        note('run', { token });
        return `noted ${token}`;
      },
      hold: ({ token }) => {
        note('run', { token });
        return new Promise((resolve) => held.push(resolve));
      },
      die: ({ code = 7, token }) => {
        if (token !== undefined) note('run', { token });
        process.stderr.write('it was asked to die\n', () => process.exit(code));
        return NO_ANSWER;
      },
      'close-ears': () => {
        process.stdin.pause();
        stayAlive();
        return 'what?';
      },
      spin: ({ ms }) => {
        note('run', { token: 'spin' });
        for (const until = Date.now() + ms; Date.now() < until; );
        return 'dizzy';
      },
      // News for whoever has subscribed.
      tell: ({ uri }) => {
        for (const meta of subscriptions) {
          server.send({
            jsonrpc: '2.0',
            method: 'notifications/resources/updated',
            params: { uri, ...meta },
          });
        }
        return 'told';
      },
    },
    intercept,
    onAnswer: (message) => server.send(declaring(message)),
    ...(stage.stubborn && { onEnd: () => {} }),
  });

  function run(token) {
    note('run', { token });
    return token;
  }

  function intercept(message) {
    const { method, id, params } = message;
    if (method)
      note('got', {
        method,
        ...(params?.uri && { uri: params.uri }),
        ...(params?.level && { level: params.level }),
      });
    if (stage.silent || method === stage.silentOn) return method !== undefined;
    if (method !== undefined && method === stage.dieOn) {
      process.stderr.write(`fatal: ${method}\n`, () => process.exit(1));
      return true;
    }
    if (method !== undefined && method === stage.failOn) {
      server.fail(id, -32603, 'not today');
      return true;
    }
    switch (method) {
      case 'resources/list':
        server.answer(message, {
          resources: [{ uri: 'memo://1', name: 'memo' }],
          ttlMs: 0,
          cacheScope: 'private',
        });
        return true;
      case 'resources/subscribe':
        subscriptions.push({});
        server.answer(message, {});
        return true;
      case 'resources/unsubscribe':
      case 'logging/setLevel':
        server.answer(message, {});
        return true;
      case 'subscriptions/listen': {
        if (!isModern(message)) return false;
        const meta = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
        subscriptions.push(meta);
        server.send({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { ...meta, notifications: params.notifications },
        });
        return true;
      }
      default:
        return false;
    }
  }
}

function declaring(message) {
  if (!message.result?.capabilities) return message;
  const capabilities = {
    tools: { listChanged: true },
    logging: {},
    ...(stage.resources && { resources: { subscribe: true, listChanged: true } }),
  };
  return { ...message, result: { ...message.result, capabilities } };
}

function toTool([name, annotations]) {
  return { name, inputSchema: { type: 'object' }, ...(annotations && { annotations }) };
}

function countStarts() {
  const lines = readFileSync(join(folder, 'journal'), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('{"what":"start"')).length;
}

const OWN = ['echo', 'whoami', 'note', 'hold', 'die', 'close-ears', 'spin', 'tell'];
