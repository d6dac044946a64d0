import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withClusterOfFile } from '../../src/cluster/cluster-of-file.js';
import { type ClusterFlags, exposureOf, readClusterPlan } from '../../src/cluster/cluster-options.js';

const SECRET = 'a-secret-for-tests-with-enough-characters';
const OTHER = 'another-secret-for-tests-that-is-long-enough';
const URL = 'redis://isthmus:p%40ss@redis:6379';

let secretFile: string;
beforeEach(() => {
  delete process.env['ISTHMUS_CLUSTER_SECRET'];
  secretFile = join(mkdtempSync(join(tmpdir(), 'isthmus-cluster-')), 'secret');
  writeFileSync(secretFile, `# the new one first\n${OTHER}\n${SECRET}\n`);
});
afterEach(() => {
  delete process.env['ISTHMUS_CLUSTER_SECRET'];
});

describe('the listener for the other processes', () => {
  const tls = { cert: 'c', key: 'k', ca: 'a' };
  const warningOf = (join: object, worker?: object) =>
    exposureOf({ join: { secret: SECRET, ...join }, worker, drainMs: 0, secrets: [] } as never);

  it.each([
    [{}, 'http://0.0.0.0:0'],
    [{ listen: 'http://0.0.0.0:7946' }, 'http://0.0.0.0:7946'],
    [{ listen: 'http://[::]:7946' }, 'http://[::]:7946'],
  ])('is warned of when it is plain and at all addresses: %j', (join, listen) => {
    expect(warningOf(join)).toBe(
      `isthmus: warning: the other processes reach this one at all addresses of this machine, without TLS (--cluster-listen ${listen}). Who can read the traffic of one of these networks can read the requests and the tokens of clients. Set --cluster-listen to the address of a private network, or --cluster-tls-cert, -key and -ca`,
    );
  });

  it.each([
    [{ listen: 'http://10.0.0.7:7946' }],
    [{ listen: 'http://127.0.0.1:0' }],
    [{ tls }],
    [{ listen: 'http://[::]:7946', tls }],
    // The store of --workers, whose members listen at 127.0.0.1.
    [{ store: {} }],
  ])('is not warned of otherwise: %j', (join) => expect(warningOf(join)).toBeUndefined());

  it('is warned of by one of several workers', () => {
    expect(warningOf({}, { speaks: true })).toContain('without TLS');
    expect(warningOf({}, { speaks: false })).toBeUndefined();
  });
});

describe('gateway.cluster of a file', () => {
  it('says all that the command line does not say', () => {
    const options = withClusterOfFile<ClusterFlags>(
      { clusterName: 'green' },
      { url: URL, name: 'blue', listen: 'http://0.0.0.0:7946', secretFile, events: 'owner', drainDelayMs: 7 },
    );
    expect(readClusterPlan(options)).toMatchObject({
      join: {
        url: URL,
        name: 'green',
        listen: 'http://0.0.0.0:7946',
        secret: [OTHER, SECRET],
        events: 'owner',
      },
      drainMs: 7,
      // The password too, in both forms.
      secrets: [OTHER, SECRET, 'p%40ss', 'p@ss'],
    });
  });

  it('does not win over a secret of the environment, which children do not get', () => {
    process.env['ISTHMUS_CLUSTER_SECRET'] = SECRET;
    const plan = readClusterPlan(withClusterOfFile<ClusterFlags>({}, { url: URL, secretFile }));
    expect(plan?.join.secret).toEqual([SECRET]);
    expect(process.env['ISTHMUS_CLUSTER_SECRET']).toBeUndefined();
  });

  it.each<[object, string]>([
    [{ name: 'blue' }, 'gateway.cluster.name needs gateway.cluster.url, --cluster or ISTHMUS_CLUSTER_URL'],
    [{ url: URL }, 'A cluster needs a secret that all processes share'],
    [
      { url: URL, secretFile: '/nowhere/secret' },
      'The file of gateway.cluster.secretFile cannot be read: there is no such file',
    ],
    [{ url: URL, secretFile: '/dev/null' }, 'The file of gateway.cluster.secretFile holds no secret'],
  ])('names its keys when %j is wrong', (settings, message) => {
    expect(() => readClusterPlan(withClusterOfFile<ClusterFlags>({}, settings))).toThrow(message);
  });

  it('names the flag when the command line is wrong', () => {
    const options: ClusterFlags = { clusterSecretFile: '/nowhere/secret', cluster: URL };
    expect(() => readClusterPlan(withClusterOfFile(options, { tlsCert: 'c' }))).toThrow(
      'The file of --cluster-secret-file cannot be read',
    );
    expect(() => readClusterPlan({ clusterName: 'blue' })).toThrow('--cluster-name needs --cluster');
    process.env['ISTHMUS_CLUSTER_SECRET'] = SECRET;
    expect(() =>
      readClusterPlan(withClusterOfFile<ClusterFlags>({ cluster: URL }, { tlsCert: 'c' })),
    ).toThrow('TLS between the processes needs --cluster-tls-key, too');
  });
});
