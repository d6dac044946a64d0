// Its vice: what it throws and returns is not what anybody expects. It must never cost the connection.
import { createServer, serve, stdio } from '@isthmus/sdk';

function circularWithoutPrototype() {
  const value = Object.create(null);
  value.self = value;
  return value;
}

const hostile = {
  nothing: undefined,
  null: null,
  text: 'just text',
  symbol: Symbol('s'),
  bigint: 10n,
  circular: circularWithoutPrototype(),
  bigintMessage: Object.assign(new Error('x'), { message: 10n }),
  throwingMessage: Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('no message for you');
    },
  }),
  proxy: new Proxy(
    {},
    {
      get() {
        throw new Error('no property for you');
      },
      ownKeys() {
        throw new Error('no keys for you');
      },
    },
  ),
};

const returned = {
  bigint: 10n,
  symbol: Symbol('s'),
  circular: circularWithoutPrototype(),
  toJson: {
    toJSON() {
      throw new Error('no JSON for you');
    },
  },
  thenGetter: Object.defineProperty({}, 'then', {
    get() {
      throw new Error('no then for you');
    },
  }),
  deep: nested(100_000),
  proxy: hostile.proxy,
};

function nested(depth) {
  let value = {};
  for (let i = 0; i < depth; i++) value = { value };
  return value;
}

const server = createServer({ name: 'throws', version: '1' });
for (const [name, thrown] of Object.entries(hostile)) {
  server.tool(`throw_${name}`, {}, () => {
    throw thrown;
  });
  server.tool(`reject_${name}`, {}, async () => {
    throw thrown;
  });
  server.resource(`bad://throw/${name}`, { name }, () => {
    throw thrown;
  });
  server.resource(`bad://reject/${name}`, { name }, async () => {
    throw thrown;
  });
}
for (const [name, value] of Object.entries(returned)) {
  server.tool(`return_${name}`, {}, () => value);
  server.tool(`resolve_${name}`, {}, async () => value);
}
server.prompt('null_messages', {}, () => [null]);
server.prompt('async_null_messages', {}, async () => [null]);
server.tool('hello', {}, () => 'hello');
await serve(server, stdio());
