import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveCommand } from 'isthmus/internal/commands/serve.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { hasHaproxy } from '../support/haproxy.js';
import { hasNginx } from '../support/nginx.js';

const path = (name: string) => new URL(`../../deploy/cluster/${name}`, import.meta.url).pathname;
const text = (name: string) => readFileSync(path(name), 'utf8');

describe('deploy/cluster', () => {
  it.skipIf(!hasNginx)('has a configuration that nginx accepts (skipped without nginx)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-nginx-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'nginx.conf');
    // The names of the replicas exist only where they run.
    writeFileSync(file, `pid ${folder}/pid;\n${text('nginx.conf').replaceAll(/\br[123]:/g, '127.0.0.1:')}`);
    const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', file, '-e', 'stderr']);
    expect(status, String(stderr)).toBe(0);
    // POST would be repeated after it was sent, and calls would run twice.
    expect(text('nginx.conf').match(/proxy_next_upstream .*/)).toEqual(
      expect.objectContaining({ 0: 'proxy_next_upstream error timeout;' }),
    );
  });

  it.skipIf(!hasHaproxy)('has a configuration that HAProxy accepts (skipped without haproxy)', () => {
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', path('haproxy.cfg')]);
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
    expect(text('haproxy.cfg').match(/retry-on .*/)?.[0]).toBe('retry-on conn-failure');
  });

  it('starts the replicas of compose with options and variables that exist', () => {
    const { services } = parse(text('compose.yaml')) as { services: Record<string, Service> };
    const { command, environment, volumes, stop_grace_period } = services['isthmus']!;
    const options = holdAgainstServe(command, Object.keys(environment));
    const mounted = volumes.map((volume) => volume.split(':')[1]);
    for (const name of ['--config', '--bearer-file', '--cluster-secret-file']) {
      expect(mounted).toContain(options.get(name));
    }
    expect(1000 * Number.parseInt(stop_grace_period, 10)).toBeGreaterThanOrEqual(leavingMs(options));
    expect(environment['ISTHMUS_CLUSTER_URL']).toBe('redis://redis:6379');
    expect(services['redis']!.command).toEqual(expect.arrayContaining(['--maxmemory-policy', 'noeviction']));
    // HAProxy finds them by the name of the service.
    expect(text('haproxy.cfg')).toContain(`isthmus:${options.get('--port')} `);
    expect(services['haproxy']!.volumes).toContain('./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro');
  });

  it('starts the replicas of Kubernetes with options and variables that exist', () => {
    const objects = parseAllDocuments(text('kubernetes.yaml')).map((each) => each.toJS() as KubernetesObject);
    expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'apps/v1 Deployment',
      'v1 Service',
      'networking.k8s.io/v1 NetworkPolicy',
      'policy/v1 PodDisruptionBudget',
      'autoscaling/v2 HorizontalPodAutoscaler',
    ]);
    const spec = objects[0]!.spec as Deployment;
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const variables = container.env.map(({ name }) => name).filter((name) => name !== 'POD_IP');
    const options = holdAgainstServe(container.args, variables);
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(ports).toEqual({ http: Number(options.get('--port')), peers: 7946 });
    expect(options.get('--cluster-listen')).toBe('http://0.0.0.0:7946');
    expect(options.get('--cluster-advertise')).toBe('http://$(POD_IP):7946');
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(1000 * pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leavingMs(options));
    const mounted = container.volumeMounts.map(({ mountPath }) => mountPath);
    for (const name of ['--config', '--bearer-file']) {
      expect(mounted).toContain(options.get(name)!.replace(/\/[^/]*$/, ''));
    }
    // All objects mean the same pods.
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    expect(JSON.stringify(objects.slice(1, 4)).match(/"app":"isthmus"/g)).toHaveLength(4);
  });
});

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly stop_grace_period: string;
}

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: unknown;
}

interface Deployment {
  readonly selector: { readonly matchLabels: object };
  readonly template: {
    readonly metadata: { readonly labels: object };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly containers: readonly [
        {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string }[];
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
          readonly readinessProbe: { readonly httpGet: object };
          readonly livenessProbe: { readonly httpGet: object };
          readonly volumeMounts: readonly { readonly mountPath: string }[];
        },
      ];
    };
  };
}

/** How long a replica takes to end: the drain delay, then the grace. */
function leavingMs(options: ReadonlyMap<string, string>): number {
  return Number(options.get('--drain-delay')) + Number(options.get('--grace'));
}

/** The options of a command line of `isthmus serve`, after all of them and the variables were found in the real command. */
function holdAgainstServe(
  [command, ...args]: readonly string[],
  variables: readonly string[],
): ReadonlyMap<string, string> {
  expect(command).toBe('serve');
  const { options } = serveCommand(undefined);
  const known = new Map(options.map((option) => [option.long, option]));
  const given = args.map((arg) => /^(--[a-z-]+)=(.+)$/.exec(arg)?.slice(1) as [string, string]);
  for (const [name, value] of given) {
    const option = known.get(name);
    expect(option, `${name} is an option`).toBeDefined();
    option?.parseArg?.(value, undefined);
  }
  const names = new Set([...options.map(({ envVar }) => envVar), 'ISTHMUS_CLUSTER_SECRET']);
  for (const variable of variables) expect(names, `${variable} is a variable`).toContain(variable);
  return new Map(given);
}
