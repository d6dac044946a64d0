import {
  andThen,
  call,
  cannotBeAskedEarly,
  hear,
  isModern,
  lists,
  logFrom,
  type Player,
  ping,
  request,
  type Step,
  watch,
} from '../script.js';

/** Ours hear of changes where they listen, and only then, like modern ones. */
const mustListen = (who: Player) => who.client.startsWith('own') || isModern(who);

/** With the reference server `server-everything`. */
export const everythingScript: readonly Step[] = [
  // It asks for roots 350 ms after it was connected to, or when somebody calls for them.
  hear('roots', 'Roots updated', cannotBeAskedEarly),
  call('get-roots-list'),
  ...lists,
  call('echo', { message: 'hello' }),
  call('echo', { message: 7 }),
  call('no-such-tool'),
  call('get-sum', { a: 2, b: 3 }),
  call('get-structured-content', { location: 'Chicago' }),
  call('get-tiny-image'),
  call('get-annotated-message', { messageType: 'error', includeImage: true }),
  call('get-resource-links', { count: 2 }),
  call('get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
  call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
  andThen(
    'resources/list_changed',
    call('gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }),
    mustListen,
  ),
  call('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { progress: true }),
  call('trigger-long-running-operation', { duration: 9, steps: 900 }, { progress: true, cancel: true }),
  call('trigger-elicitation-request'),
  call('trigger-sampling-request', { prompt: 'Say something', maxTokens: 10 }),
  call('trigger-url-elicitation', { url: 'https://example.com/', elicitationId: 'e1' }),
  call('trigger-url-elicitation', { url: 'https://example.com/2', elicitationId: 'e2', errorPath: true }),
  { ...call('simulate-research-query', { topic: 'bridges' }), unless: (name) => name !== 'own-legacy' },
  request('read text', 'resources/read', { uri: 'demo://resource/dynamic/text/1' }),
  request('read bytes', 'resources/read', { uri: 'demo://resource/dynamic/blob/2' }),
  request('read nothing', 'resources/read', { uri: 'demo://nothing' }),
  request('get a prompt', 'prompts/get', { name: 'simple-prompt' }),
  request('get a prompt with arguments', 'prompts/get', {
    name: 'args-prompt',
    arguments: { city: 'Panama', state: 'Panama' },
  }),
  request('get a prompt without its arguments', 'prompts/get', { name: 'args-prompt' }),
  request('get no prompt', 'prompts/get', { name: 'no-such-prompt' }),
  request('get a prompt with a resource', 'prompts/get', {
    name: 'resource-prompt',
    arguments: { resourceType: 'Text', resourceId: '1' },
  }),
  request('complete a prompt', 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'department', value: 'E' },
  }),
  request('complete with context', 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'name', value: 'A' },
    context: { arguments: { department: 'Engineering' } },
  }),
  request('complete a template', 'completion/complete', {
    ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
    argument: { name: 'resourceId', value: '1' },
  }),
  ping,
  request('a method that nobody knows', 'no/such/method'),
  request('a call without a name', 'tools/call', { arguments: {} }),
  logFrom('info'),
  andThen('Received Subscribe', watch('demo://resource/dynamic/text/1'), isModern),
  andThen('resource/dynamic/text/1', call('toggle-subscriber-updates')),
];

/** The same server, for a client that cannot be asked anything. */
export const poorScript: readonly Step[] = [
  request('list tools', 'tools/list'),
  call('get-sum', { a: 2, b: 3 }),
  call('trigger-elicitation-request'),
];
