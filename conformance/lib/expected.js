// What the referee is expected to say. The version of the referee is pinned, so these are facts, not wishes: a
// run that says something else, better or worse, is red until somebody has looked and changed this file.

/**
 * Per revision: how many scenarios are scored, how many successful checks those have in all (a check that
 * silently turns into "not applicable" would otherwise stay green), and how each unscored scenario ends.
 * `passes`: at least one success, nothing else; `fails`: at least one failure; `says nothing`: no verdict; `ends`:
 * any of these.
 */
export const SERVER = {
  '2025-11-25': {
    scored: 30,
    successes: 69,
    unscored: {
      'server-session-lifecycle': { ends: 'passes', why: 'added after the release of the revision' },
      'json-schema-2020-12': { ends: 'passes', why: 'pending' },
      'server-sse-polling': {
        ends: 'says nothing',
        why: 'pending; it wants a stream for a call that is answered with plain JSON, as is allowed',
      },
    },
  },
  '2026-07-28': {
    scored: 37,
    successes: 120,
    unscored: {
      'json-schema-2020-12': { ends: 'passes', why: 'pending' },
      'http-header-validation': { ends: 'passes', why: 'pending' },
      'http-custom-header-server-validation': { ends: 'passes', why: 'pending' },
      'tasks-status-notifications': {
        ends: 'says nothing',
        why: 'an extension; the referee has no listener yet, so the scenario skips itself',
      },
    },
    // The extension for tasks: 44 checks.
    own: {
      'tasks-lifecycle': 9,
      'tasks-capability-negotiation': 5,
      'tasks-wire-fields': 4,
      'tasks-request-state-removal': 3,
      'tasks-mrtr-input': 4,
      'tasks-request-headers': 5,
      'tasks-dispatch-and-envelope': 9,
      'tasks-required-task-error': 3,
      'tasks-mrtr-composition': 2,
    },
  },
};

/** Scenarios of extensions that the demo does not have, and that are in no set: they skip themselves. */
export const SKIPPED = {
  'sep-2640-skills-enumeration': 'the demo offers no skills',
  'sep-2640-skills-manifest': 'the demo offers no skills',
  'sep-2640-skills-directory': 'the demo offers no skills',
};

const { own, ...MODERN } = SERVER['2026-07-28'];
const withoutTasks = (ends, why) => {
  const unscored = Object.fromEntries(Object.keys(own).map((name) => [name, { ends, why }]));
  return { ...SERVER, '2026-07-28': { ...MODERN, unscored: { ...MODERN.unscored, ...unscored } } };
};
/** Replicas of the demo, each with tasks of its own: what a scenario sees depends on the replica. */
export const CLUSTER = withoutTasks('ends', 'each replica of the demo has tasks of its own');

const EARLIER =
  'an earlier scenario has left a call behind that is asked something, and the messages of a process that all clients ' +
  'share do not say whose question the next one is: it depends on the time between the scenarios (docs/bridge.md)';

/**
 * Through a bridge, in front of the demo on stdio, which speaks both eras or only one: the same, apart from what
 * the wire of that one era cannot carry. `limits`: scenarios that cannot pass, with exactly the complaints that there
 * are. `isUnsteady`: it depends on the time between two scenarios, so it may pass as well.
 */
export const BRIDGE = [
  { era: undefined, sets: SERVER },
  { era: 'modern', sets: SERVER },
  {
    era: 'legacy',
    sets: {
      ...SERVER,
      '2026-07-28': {
        ...SERVER['2026-07-28'],
        // Without those of the unsteady scenarios.
        successes: 105,
        limits: {
          'server-stateless': {
            says: [
              'FAILURE sep-2575-server-rejects-undeclared-capability',
              'FAILURE sep-2575-missing-capability-http-400',
            ],
            why: 'a legacy server hears once, for all clients of its process, what they can do, and has no -32021',
          },
          'input-required-result-basic-sampling': {
            says: ['FAILURE sep-2322-sampling-incomplete'],
            why: EARLIER,
            isUnsteady: true,
          },
          'input-required-result-capability-check': {
            says: ['FAILURE sep-2322-respect-client-capabilities'],
            why: `a legacy server hears once, for all clients of its process, what they can do; and ${EARLIER}`,
            isUnsteady: true,
          },
          'input-required-result-non-tool-request': {
            says: ['FAILURE sep-2322-non-tool-incomplete'],
            why: EARLIER,
            isUnsteady: true,
          },
          'input-required-result-tampered-state': {
            says: ['FAILURE sep-2322-reject-tampered-state'],
            why: EARLIER,
            isUnsteady: true,
          },
          'tasks-required-task-error': {
            says: ['FAILURE sep-2663-server-returns-missing-capability-when-required'],
            why: 'the bridge runs the task itself and waits for it, so clients without tasks can use the tool',
          },
          'tasks-mrtr-composition': {
            says: ['FAILURE sep-2663-mrtr-synchronous-before-task-creation'],
            why: 'a legacy server asks within its task, and not before it',
          },
          'input-required-result-basic-elicitation': {
            says: ['FAILURE sep-2322-elicitation-incomplete'],
            why: 'the questions of a legacy server have no names; the scenario insists on one',
          },
          'input-required-result-ignore-extra-params': {
            says: ['WARNING sep-2322-ignore-unexpected-params'],
            why: 'the questions of a legacy server have no names; the scenario answers one before it is asked',
          },
        },
      },
    },
  },
];

/** Per revision: the scenarios of the client, with the number of successful checks of each. */
export const CLIENT = {
  '2025-03-26': {
    'auth/2025-03-26-oauth-metadata-backcompat': 12,
    'auth/2025-03-26-oauth-endpoint-fallback': 7,
  },
  '2025-06-18': {
    initialize: 1,
    tools_call: 2,
    'auth/token-endpoint-auth-basic': 19,
    'auth/token-endpoint-auth-post': 19,
    'auth/token-endpoint-auth-none': 19,
  },
  '2025-11-25': {
    initialize: 1,
    tools_call: 2,
    'elicitation-sep1034-client-defaults': 5,
    'sse-retry': 3,
    'json-schema-2020-12-preservation': 9,
    'auth/metadata-default': 18,
    'auth/metadata-var1': 18,
    'auth/metadata-var2': 18,
    'auth/metadata-var3': 18,
    'auth/basic-cimd': 13,
    'auth/scope-from-www-authenticate': 14,
    'auth/scope-from-scopes-supported': 14,
    'auth/scope-omitted-when-undefined': 14,
    'auth/scope-step-up': 22,
    'auth/scope-retry-limit': 26,
    'auth/token-endpoint-auth-basic': 19,
    'auth/token-endpoint-auth-post': 19,
    'auth/token-endpoint-auth-none': 19,
    'auth/pre-registration': 13,
  },
  '2026-07-28': {
    tools_call: 2,
    'request-metadata': 8,
    'sep-2322-client-request-state': 5,
    // Two more are skipped: they are about initialize, which this revision does not have.
    'http-standard-headers': 9,
    'http-custom-headers': 18,
    'http-invalid-tool-headers': 12,
    'json-schema-ref-no-deref': 1,
    'json-schema-2020-12-preservation': 9,
    'auth/metadata-default': 18,
    'auth/metadata-var1': 18,
    'auth/metadata-var2': 18,
    'auth/metadata-var3': 18,
    'auth/basic-cimd': 12,
    'auth/scope-from-www-authenticate': 14,
    'auth/scope-from-scopes-supported': 14,
    'auth/scope-omitted-when-undefined': 14,
    'auth/scope-step-up': 25,
    'auth/scope-retry-limit': 27,
    'auth/token-endpoint-auth-basic': 19,
    'auth/token-endpoint-auth-post': 19,
    'auth/token-endpoint-auth-none': 19,
    'auth/pre-registration': 12,
    'auth/resource-mismatch': 2,
    'auth/offline-access-scope': 12,
    'auth/offline-access-not-supported': 14,
    'auth/authorization-server-migration': 27,
    'auth/iss-supported': 14,
    'auth/iss-not-advertised': 14,
    'auth/iss-supported-missing': 8,
    'auth/iss-wrong-issuer': 8,
    'auth/iss-unexpected': 8,
    'auth/iss-normalized': 8,
    'auth/metadata-issuer-mismatch': 3,
  },
};

/** Scenarios about extensions, which the referee does not score. Those that are not named here are not built. */
export const CLIENT_EXTENSIONS = {
  'auth/client-credentials-jwt': 7,
  'auth/client-credentials-basic': 7,
};

/** It warns when a reconnection is 200 ms late, which a busy machine may be: one good attempt of three will do. */
export const ATTEMPTS = { 'sse-retry': 3 };
