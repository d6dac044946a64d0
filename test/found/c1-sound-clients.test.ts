import { CLIENT_CHECKS } from '@isthmus/check/internal/client/catalogue.js';
import { type ClientReport, checkClient } from '@isthmus/check/internal/client/run/check-client.js';
import { factsOf, judge, viewsOf } from '@isthmus/check/internal/client/run/judge.js';
import type { Player, ScriptedServer } from '@isthmus/check/internal/client/run/player.js';
import { RULES } from '@isthmus/check/internal/rules/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { fails, givesIn, hangs, looksFine } from '../../packages/check/test/support/client/break.js';
import { ownClient } from '../../packages/check/test/support/client/own-client.js';
import type { PeerAddress } from '../support/official.js';
import { connectV1 } from '../support/official-v1.js';

const run = { label: 'client', version: '0', jobs: 16 };

describe('C1: a sound client over HTTP', () => {
  it('C1: is not judged by its requests for OAuth metadata and registration', async () => {
    const report = await judged(
      async ({ url }) => {
        const base = new URL(url!);
        const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', base));
        const registered = await fetch(new URL('/register', base), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ client_name: 'client', redirect_uris: ['http://127.0.0.1:1/callback'] }),
        });
        expect([metadata.status, registered.status]).toEqual([404, 404]);
        await useOfficial({ url: base });
      },
      ['legacy-2025-11-25', 'dual'],
    );
    expect(brokenMusts(report)).toEqual([]);
    expect(report.findings.find(({ id }) => id === 'messages/jsonrpc')?.outcome).toBe('pass');
  });

  it('C1: needs no Accept on the POSTs of HTTP+SSE (HTTP-007 is for Streamable HTTP)', async () => {
    const report = await judged(
      ({ url }) => useOfficial({ url: url!, transport: 'sse' }),
      ['legacy-2024-11-05'],
    );
    expect(brokenMusts(report)).toEqual([]);
    expect(outcomeOf(report, 'sessions/sse-endpoint')).toBe('pass');
    expect(outcomeOf(report, 'negotiation/legacy-2024-11-05')).toBe('pass');
  });

  it('C1: is not asked for the endpoint of HTTP+SSE when it speaks Streamable HTTP only', async () => {
    const report = await judged(
      async ({ url }) => {
        // Some clients open the GET stream before they send anything.
        const stop = new AbortController();
        const stream = await fetch(url!, {
          headers: { accept: 'text/event-stream' },
          signal: stop.signal,
        });
        expect(stream.status).toBe(200);
        await useOfficial({ url: url! }).finally(() => stop.abort());
      },
      ['legacy-2024-11-05'],
    );
    expect(brokenMusts(report)).toEqual([]);
    expect(outcomeOf(report, 'sessions/sse-endpoint')).toBe('skip');
  });
});

describe('C1: a client that calls no tool', () => {
  let report: ClientReport;
  beforeAll(async () => {
    const listing = ownClient();
    report = await checkClient({
      ...run,
      player: async (stage) => ({
        ...(await listing({ ...stage, steps: [{ do: 'list' }] })),
        // It knows nothing of MCP_STEPS.
        stderr: '',
      }),
    });
  });

  it('C1: breaks nothing, and passes what needs no call', () => {
    const broken = report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip');
    expect(broken.map(({ id, seen }) => `${id}: ${seen}`)).toEqual([]);
    expect(outcomeOf(report, 'negotiation/dual')).toBe('pass');
    expect(outcomeOf(report, 'negotiation/probe-32601')).toBe('pass');
  });

  it('C1: is not judged by the checks that need a call', () => {
    const needing = ['rounds/missing-result-type', 'rounds/bounded', 'robustness/noise', 'robustness/split'];
    expect(needing.map((id) => outcomeOf(report, id))).toEqual(['skip', 'skip', 'skip', 'skip']);
  });
});

describe('C1: an expired limit', () => {
  const late = { code: null, late: true, stderr: '' };

  it('C1: leaves a MUST undecided when the client ends elsewhere, and a SHOULD says that it hangs', async () => {
    const own = ownClient();
    const player: Player = async (stage) =>
      stage.scenario.name === 'stderr-flood' || stage.scenario.name === 'split'
        ? own(stage).then(() => late)
        : own(stage);
    const only = ['robustness/split', 'robustness/packed', 'robustness/ends', 'split', 'packed'];
    const report = await checkClient({ ...run, player, only, over: ['stdio'] });
    expect(outcomeOf(report, 'robustness/packed')).toBe('pass');
    expect(outcomeOf(report, 'robustness/split')).toBe('skip');
    expect(report.findings.find(({ id }) => id === 'robustness/split')?.seen).toMatch(
      /^Undecided, since the/,
    );
    expect(outcomeOf(report, 'robustness/ends')).toBe('warn');
  });

  it('C1: fails the run as not finished when the client never ends', async () => {
    const report = await checkClient({ ...run, player: async () => late, only: ['dual'], eras: ['legacy'] });
    expect(outcomeOf(report, 'negotiation/dual')).toBe('error');
    expect(report.counts.fail).toBe(0);
  });
});

describe('C1: the catalogue', () => {
  it('C1: calls nothing a MUST that no rule of the specification demands', () => {
    const bold = CLIENT_CHECKS.filter(
      ({ level, rules }) => level === 'MUST' && !rules.some((id) => /^MUST/.test(RULES.get(id)?.level ?? '')),
    );
    // LHTTP-015 is a MAY with a header that is mandatory in it.
    expect(bold.map(({ id }) => id)).toEqual(['sessions/get-accept']);
  });

  it('C1: holds a legacy client to no MUST that only the modern era has', async () => {
    const player = ownClient({ mode: 'legacy' });
    const report = await checkClient({ ...run, player });
    // It goes on to the modern era where a server insists on it.
    const transcripts = viewsOf(report.transcripts)
      .filter(({ requests }) => requests.every(({ era }) => era === 'legacy'))
      .map(({ transcript }) => transcript);
    const facts = factsOf(transcripts);
    expect(facts).toMatchObject({ legacy: true, modern: false, calls: true });
    const demanded = (id: string) =>
      CLIENT_CHECKS.find((check) => check.id === id)!.rules.some((rule) => {
        const found = RULES.get(rule);
        return found?.era !== 'modern' && /^MUST/.test(found?.level ?? '');
      });
    const blamed = [hangs, fails, looksFine, givesIn].flatMap((breaking) => {
      const views = viewsOf(transcripts.map(breaking));
      return CLIENT_CHECKS.map((check) => judge(check, views, facts)).filter(
        ({ outcome }) => outcome === 'fail',
      );
    });
    expect(blamed.filter(({ id }) => !demanded(id)).map(({ id }) => id)).toEqual([]);
    expect(blamed.length).toBeGreaterThan(0);
  });
});

async function judged(work: (stage: ScriptedServer) => Promise<void>, only: string[]): Promise<ClientReport> {
  const player: Player = async (stage) =>
    work(stage).then(
      () => ({ code: 0, late: false, stderr: '' }),
      (error: unknown) => ({ code: 1, late: false, stderr: String(error) }),
    );
  return checkClient({ ...run, player, only, over: ['http'], eras: ['legacy'] });
}

async function useOfficial(address: PeerAddress): Promise<void> {
  const { client, endSession } = await connectV1(address);
  try {
    const { tools } = await client.listTools();
    await client.callTool({ name: tools[0]!.name, arguments: { text: 'hi' } });
    await endSession();
  } finally {
    await client.close();
  }
}

function outcomeOf(report: ClientReport, id: string): string | undefined {
  return report.findings.find((finding) => finding.id === id)?.outcome;
}

function brokenMusts(report: ClientReport): string[] {
  return report.findings
    .filter(({ outcome }) => outcome === 'fail' || outcome === 'error')
    .map(({ id, seen }) => `${id}: ${seen}`);
}
