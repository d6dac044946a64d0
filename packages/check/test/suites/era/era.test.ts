import { http } from '@isthmus/sdk/http';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { describe, expect, it } from 'vitest';
import { checkServer, httpTarget } from '../../../src/index.js';
import { serverTarget } from '../../../src/wire/targets.js';
import { expectCaught, expectSound, IN_A_HURRY } from '../../support/suites/expect-caught.js';
import { eraMutants } from '../mutants/era.js';

expectCaught('the checks of the eras', eraMutants);
expectSound('the checks of the eras', ['era/*']);

describe('the checks of the eras, for a server of one era', () => {
  const judge = async (target: Parameters<typeof checkServer>[0]) => {
    const { findings } = await checkServer(target, { ...IN_A_HURRY, only: ['era/*'] });
    expect(findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')).toEqual([]);
    return findings.filter(({ outcome }) => outcome === 'pass').map(({ id }) => id);
  };

  it('hold on streams for one that is modern only', async () => {
    const passed = await judge(serverTarget(createDemoServer(), { eras: ['modern'] }));
    expect(passed).toContain('era/names-versions');
  });

  it('hold on streams for one that is legacy only', async () => {
    const passed = await judge(serverTarget(createDemoServer(), { eras: ['legacy'] }));
    expect(passed).toEqual(expect.arrayContaining(['era/no-accidental-service', 'era/failed-probe']));
  });

  it('hold at a URL for one that is modern only', async () => {
    const served = await serve(createDemoServer(), http({ port: 0 }), { eras: ['modern'] });
    try {
      const passed = await judge(httpTarget(served.addresses[0]!));
      expect(passed).toEqual(
        expect.arrayContaining(['era/names-versions', 'era/refuses-initialize-with-400']),
      );
    } finally {
      await served.close({ graceMs: 0 });
    }
  });
});
