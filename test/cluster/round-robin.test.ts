import { connect, http } from '@isthmus/sdk';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectV1 } from '../support/official-v1.js';
import { connectV2, MODERN } from '../support/official-v2.js';
import { eventually } from '../support/until.js';
import { hasClusterTools, type RunningCluster, startCluster } from './support.js';

const isLong = process.env['ISTHMUS_LONG'] === '1';
const SESSIONS = isLong ? 20 : 4;
const ROUNDS = isLong ? 15 : 4;
const CALLS = isLong ? 30 : 6;

describe.skipIf(!hasClusterTools)(
  'three replicas behind nginx, each request to the next one (skipped without redis-server and nginx)',
  () => {
    let cluster: RunningCluster;
    beforeAll(async () => {
      cluster = await startCluster();
    }, 60_000);
    afterAll(() => cluster?.stop());

    it(`keep ${SESSIONS} of ${SESSIONS} legacy sessions of the official client whole`, async () => {
      const whole = await Promise.all(
        Array.from({ length: SESSIONS }, (_, index) => wholeSession(cluster.url, `user ${index}`)),
      );
      expect(whole).toEqual(
        whole.map((_, index) => [
          'hello',
          `Elicitation completed: action=accept, content={"username":"user ${index}"}`,
        ]),
      );
    });

    it(`answer ${CALLS} of ${CALLS} modern calls of the official client`, async () => {
      const { client } = await connectV2({ url: cluster.url }, { mode: MODERN });
      onTestFinished(() => client.close());
      const answers = await Promise.all(
        Array.from({ length: CALLS }, (_, index) =>
          client.callTool({ name: 'echo', arguments: { text: `call ${index}` } }),
        ),
      );
      expect(answers.map(({ content }) => content)).toEqual(
        answers.map((_, index) => [{ type: 'text', text: `call ${index}` }]),
      );
    });

    it.each([
      ['that are run again', 'test_input_required_result_elicitation', 'Hello, Ada!'],
      ['that wait', 'test_elicitation', 'Elicitation completed: action=accept, content={"user_name":"Ada"}'],
    ])(
      `finish ${ROUNDS} of ${ROUNDS} modern calls with a question, by handlers %s`,
      async (_, name, text) => {
        const client = await connect(http(cluster.url), {
          answers: { elicit: () => ({ action: 'accept', content: NAMES[name]! }) },
        });
        onTestFinished(() => client.close());
        const answers = await Promise.all(Array.from({ length: ROUNDS }, () => client.callTool(name)));
        expect(answers.map(({ content }) => content)).toEqual(answers.map(() => [{ type: 'text', text }]));
      },
    );

    it('tell listeners at all three replicas of a change at one of them', async () => {
      const heard = await Promise.all(
        cluster.replicas.map(async ({ url }) => {
          const { client } = await connectV1({ url });
          onTestFinished(() => client.close());
          const uris: string[] = [];
          client.fallbackNotificationHandler = async ({ params }) => {
            if (typeof params?.['uri'] === 'string') uris.push(params['uri']);
          };
          await client.subscribeResource({ uri: 'demo://clock' });
          return uris;
        }),
      );
      const { client } = await connectV2({ url: cluster.replicas[0]!.url }, { mode: MODERN });
      onTestFinished(() => client.close());
      await client.callTool({ name: 'touch', arguments: {} });
      await eventually(() => expect(heard).toEqual([['demo://clock'], ['demo://clock'], ['demo://clock']]));
    });

    it('hand on what they do not own: each replica has had a part', async () => {
      const all = await Promise.all(cluster.replicas.map(({ status }) => status()));
      expect(all.map(({ cluster: { handedOn } }) => handedOn > 0)).toEqual([true, true, true]);
    });
  },
);

const NAMES: Readonly<Record<string, Record<string, string>>> = {
  test_input_required_result_elicitation: { name: 'Ada' },
  test_elicitation: { user_name: 'Ada' },
};

/** A session of the official client with its standing stream, calls and a question in a call. */
async function wholeSession(url: string, username: string): Promise<string[]> {
  const { client, endSession } = await connectV1(
    { url },
    {
      capabilities: { elicitation: {} },
      prepare: (peer) =>
        peer.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { username } })),
    },
  );
  try {
    await client.listTools();
    const echo = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    const asked = await client.callTool({ name: 'test_elicitation', arguments: {} });
    await endSession();
    return [echo, asked].map(({ content }) => (content as [{ text: string }])[0].text);
  } finally {
    await client.close();
  }
}
