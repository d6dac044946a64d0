import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Call, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { expect, it } from 'vitest';
import { AccessPolicy } from '../../src/access/access-policy.js';
import { createAuthorize } from '../../src/access/create-authorize.js';
import { enforceAccess } from '../../src/access/enforce-access.js';
import { ToolHints } from '../../src/access/tool-hints.js';
import { callOf, serviceOf } from '../support/telemetry.js';

const ACCESS = {
  scopes: { all: ['mcp:read'], tools: { 'delete_*': ['mcp:delete'] }, readOnly: [], other: ['mcp:write'] },
  implies: { 'mcp:admin': ['mcp:write', 'mcp:read'] },
  rules: [
    { effect: 'deny', principals: ['key:*'], tools: ['delete_*'] },
    { effect: 'allow', scopes: ['mcp:write'] },
  ],
} as const;

const GRANT = { principal: 'jwt:https://login.example|ada', scopes: ['mcp:admin', 'mcp:mail'] };

/** A call with its decision at the endpoint and in the pipeline. */
function decided(access: AccessPolicy | undefined, inner: Service) {
  const hints = new ToolHints(systemClock);
  hints.learn({ tools: [{ name: 'echo', annotations: { readOnlyHint: false } }] });
  const service = enforceAccess(inner, { server: 'files', access, hints });
  const server = { name: 'files', bare: inner, hints };
  const authorize = access && createAuthorize({ access, server });
  return (call: Call) => {
    if (!authorize || authorize.isIdle?.()) return service.handle(call);
    const { principal } = GRANT;
    const { method, params } = call;
    const request = { principal, grant: GRANT, messages: [{ method, params }], remote: undefined };
    if (authorize.decide({ ...request, header: () => undefined })) throw new Error('It was denied');
    return service.handle(call);
  };
}

it('the decision for a tool costs less than 2 µs a call, and nothing where no rule is set', async () => {
  const plain = serviceOf(() => ({ content: [] }) as never);
  const request = { headers: {}, scopes: GRANT.scopes, claims: undefined, sessionId: undefined };
  const base = callOf('tools/call', { name: 'echo', arguments: {} });
  const call = Object.assign(Object.create(base), {
    peer: { ...base.peer, principal: GRANT.principal },
    request,
  }) as Call;
  const work = {
    bare: decided(undefined, plain),
    empty: decided(new AccessPolicy(), plain),
    ruled: decided(new AccessPolicy(ACCESS), plain),
  };
  expect(enforceAccess(plain, { server: 'files' })).toBe(plain);
  /** Processor time, since others use the machine, too; the best of several, since code warms up. */
  const best = { bare: 1e9, empty: 1e9, ruled: 1e9 };
  for (let round = 0; round < 30; round += 1) {
    for (const name of ['bare', 'empty', 'ruled'] as const) {
      const run = work[name];
      const began = process.cpuUsage();
      for (let n = 0; n < CALLS; n += 1) run(call);
      const { user, system } = process.cpuUsage(began);
      best[name] = Math.min(best[name], (user + system) / CALLS);
    }
  }
  expect(best.ruled - best.bare).toBeLessThan(2);
  expect(best.empty - best.bare).toBeLessThan(0.5);
});

const CALLS = 5000;
