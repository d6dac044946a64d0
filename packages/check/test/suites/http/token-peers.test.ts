import { describe, expect, it } from 'vitest';
import { checkServer, httpTarget } from '../../../src/index.js';
import { IN_A_HURRY } from '../../support/suites/expect-caught.js';
import { AUDIENCE, ISSUER, PUBLIC_KEY, SIGNED } from '../../support/suites/guard.js';
import { officialV1, officialV2 } from '../../support/suites/official-guards.mjs';

const TRUST = { audience: AUDIENCE, issuer: ISSUER, publicKey: PUBLIC_KEY };

describe('the checks of tokens', () => {
  it.each([
    ['v2', officialV2, [], ['http-tokens/broad', 'http-tokens/sessions-apart']],
    // It leaves the users of its sessions to the program around it.
    [
      'v1',
      officialV1,
      ['warn http-tokens/sessions-apart'],
      ['http-tokens/weak-complete', 'http-tokens/broad'],
    ],
  ] as const)(
    'AUTH-030, AUTH-036: hold for the official %s server with its own guard',
    async (_name, open, known, left) => {
      const { url, close } = await open(TRUST);
      try {
        const { broadScope: _, ...signer } = SIGNED.signer!;
        const report = await checkServer(httpTarget(url), {
          ...IN_A_HURRY,
          tokens: { signer },
          only: ['http-tokens/*'],
        });
        const broken = report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip');
        expect(broken.map(({ outcome, id }) => `${outcome} ${id}`)).toEqual(known);
        expect(report.findings.filter(({ outcome }) => outcome === 'skip').map(({ id }) => id)).toEqual(left);
      } finally {
        await close();
      }
    },
  );
});
